//! Which connections lanes wait for, and when each broker may be dialled again. Pure.

use std::collections::{BTreeMap, VecDeque};

use super::control::LaneRef;
use super::retry::Backoff;
use super::snapshot::Snapshot;
use crate::base::clock::Nanos;
use crate::net::address::Address;
use crate::net::connect::Target;

/// A connection that a lane waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub lane: LaneRef,
    pub ticket: u64,
}

/// The connections that lanes wait for, by broker.
#[derive(Debug)]
pub(super) struct Dials {
    nodes: BTreeMap<i32, Node>,
    running: usize,
    running_max: usize,
    backoff: Backoff,
}

#[derive(Debug, Default)]
struct Node {
    address: Option<Address>,
    waiting: VecDeque<Wanted>,
    running: usize,
    failures: u32,
    not_before: Nanos,
    reached: bool,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Dial.
    Dial(Target, Wanted),
    /// The broker is no longer part of the cluster.
    Gone(i32, Wanted),
}

impl Dials {
    /// At most `running_max` at once; waits of `backoff` between failures, per broker.
    pub fn new(running_max: usize, backoff: Backoff) -> Self {
        Self {
            nodes: BTreeMap::new(),
            running: 0,
            running_max: running_max.max(1),
            backoff,
        }
    }

    /// One more is wanted.
    pub fn want(&mut self, node_id: i32, wanted: Wanted) {
        let node = self.nodes.entry(node_id).or_default();
        node.waiting.push_back(wanted);
    }

    /// The next thing to do at `now`, if there is one. A dial counts as running until
    /// [`Self::succeeded`], [`Self::failed`] or [`Self::gave_up`].
    pub fn next(&mut self, now: Nanos, snapshot: &Snapshot) -> Option<Next> {
        for (&node_id, node) in &mut self.nodes {
            if node.waiting.is_empty() {
                continue;
            }
            let Some(broker) = snapshot.broker(node_id) else {
                let wanted = node.waiting.pop_front()?;
                return Some(Next::Gone(node_id, wanted));
            };
            let address = Address {
                host: broker.host.clone(),
                port: broker.port,
            };
            if node.address.as_ref() != Some(&address) {
                node.moved(address.clone());
            }
            // A broker that failed is tried by one at a time.
            let tried = node.failures > 0 && node.running > 0;
            if tried || node.not_before > now || self.running >= self.running_max {
                continue;
            }
            let wanted = node.waiting.pop_front()?;
            node.running += 1;
            self.running += 1;
            return Some(Next::Dial(Target { node_id, address }, wanted));
        }
        None
    }

    /// When a broker that failed may be dialled again; `None` as long as too many are under way.
    pub fn due(&self) -> Option<Nanos> {
        if self.running >= self.running_max {
            return None;
        }
        let waiting = self.nodes.values().filter(|node| !node.waiting.is_empty());
        let idle = waiting.filter(|node| node.failures > 0 && node.running == 0);
        idle.map(|node| node.not_before).min()
    }

    /// A dial succeeded.
    pub fn succeeded(&mut self, node_id: i32) {
        let node = self.ended(node_id);
        node.failures = 0;
        node.not_before = 0;
        node.reached = true;
    }

    /// A dial failed and will be tried again. `unit` is a random number in `[0, 1)`.
    pub fn failed(&mut self, now: Nanos, node_id: i32, wanted: Wanted, unit: f64) {
        let backoff = self.backoff;
        let node = self.ended(node_id);
        node.failures += 1;
        node.not_before = now.saturating_add(backoff.wait(node.failures, unit));
        node.waiting.push_front(wanted);
    }

    /// A dial failed and will not be tried again.
    pub fn gave_up(&mut self, node_id: i32) {
        self.ended(node_id);
    }

    /// Whether a connection to the broker's address was made before.
    pub fn reached(&self, node_id: i32) -> bool {
        self.nodes.get(&node_id).is_some_and(|node| node.reached)
    }

    /// How often in a row dialling the broker failed.
    pub fn failures(&self, node_id: i32) -> u32 {
        self.nodes.get(&node_id).map_or(0, |node| node.failures)
    }

    fn ended(&mut self, node_id: i32) -> &mut Node {
        self.running = self.running.saturating_sub(1);
        let node = self.nodes.entry(node_id).or_default();
        node.running = node.running.saturating_sub(1);
        node
    }
}

impl Node {
    /// What was learnt of another address says nothing of this one.
    fn moved(&mut self, address: Address) {
        self.address = Some(address);
        self.failures = 0;
        self.not_before = 0;
        self.reached = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MILLISECOND;
    use crate::cluster::snapshot::{Broker, Parts};

    fn wanted(ticket: u64) -> Wanted {
        let lane = LaneRef { worker: 0, lane: 0 };
        Wanted { lane, ticket }
    }

    fn cluster(brokers: &[(i32, &str)]) -> Snapshot {
        let broker = |&(id, host): &(i32, &str)| Broker {
            id,
            host: host.into(),
            port: 1,
            rack: None,
        };
        Snapshot::new(Parts {
            brokers: brokers.iter().map(broker).collect(),
            ..Parts::default()
        })
    }

    fn dials(running_max: usize) -> Dials {
        let backoff = Backoff {
            base: 50 * MILLISECOND,
            max: 1000 * MILLISECOND,
        };
        Dials::new(running_max, backoff)
    }

    fn ticket(next: Option<Next>) -> Option<u64> {
        match next {
            Some(Next::Dial(_, wanted)) => Some(wanted.ticket),
            _ => None,
        }
    }

    #[test]
    fn no_more_than_so_many_are_dialled_at_once() {
        let mut dials = dials(2);
        let cluster = cluster(&[(1, "a")]);
        (0..3).for_each(|ticket| dials.want(1, wanted(ticket)));
        assert_eq!(ticket(dials.next(0, &cluster)), Some(0));
        assert_eq!(ticket(dials.next(0, &cluster)), Some(1));
        assert_eq!(dials.next(0, &cluster), None);
        dials.succeeded(1);
        assert_eq!(ticket(dials.next(0, &cluster)), Some(2));
    }

    #[test]
    fn a_broker_that_fails_is_tried_by_one_at_a_time_and_ever_later() {
        let mut dials = dials(10);
        let cluster = cluster(&[(1, "a"), (2, "b")]);
        (0..2).for_each(|ticket| dials.want(1, wanted(ticket)));
        assert_eq!(ticket(dials.next(0, &cluster)), Some(0));
        assert_eq!(ticket(dials.next(0, &cluster)), Some(1));
        dials.failed(0, 1, wanted(0), 0.5);
        dials.failed(0, 1, wanted(1), 0.5);
        assert_eq!(dials.next(0, &cluster), None);
        assert_eq!(dials.due(), Some(100 * MILLISECOND));
        dials.want(2, wanted(7));
        assert_eq!(ticket(dials.next(0, &cluster)), Some(7), "others go on");
        assert!(ticket(dials.next(100 * MILLISECOND, &cluster)).is_some());
        assert_eq!(dials.next(100 * MILLISECOND, &cluster), None);
        dials.succeeded(1);
        assert!(ticket(dials.next(100 * MILLISECOND, &cluster)).is_some());
    }

    #[test]
    fn a_broker_at_a_new_address_is_dialled_at_once() {
        let mut dials = dials(10);
        dials.want(1, wanted(0));
        assert!(dials.next(0, &cluster(&[(1, "a")])).is_some());
        dials.failed(0, 1, wanted(0), 0.5);
        assert_eq!(dials.next(0, &cluster(&[(1, "a")])), None);
        let Some(Next::Dial(target, _)) = dials.next(0, &cluster(&[(1, "b")])) else {
            panic!("not dialled");
        };
        assert_eq!(target.address.to_string(), "b:1");
    }

    #[test]
    fn a_broker_that_vanished_is_not_dialled() {
        let mut dials = dials(10);
        dials.want(1, wanted(0));
        let gone = Some(Next::Gone(1, wanted(0)));
        assert_eq!(dials.next(0, &cluster(&[(2, "b")])), gone);
        assert_eq!(dials.next(0, &cluster(&[(2, "b")])), None);
    }
}
