//! Consumer groups of the classic protocol: who belongs to them, what they committed.

mod membership;
mod offsets;

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use mio::Token;

pub use membership::{Join, Joined, Refused, Synced};
pub use offsets::Committed;

use crate::base::clock::{MILLISECOND, Nanos};
use crate::wire::broker_error::BrokerError;

/// All groups.
#[derive(Debug)]
pub struct Groups {
    by_id: HashMap<String, Group>,
    /// How long the first members of a group wait for more.
    initial_delay: Nanos,
    /// No group has anything to do on its own before this.
    next: Nanos,
}

/// One group.
#[derive(Debug)]
pub struct Group {
    phase: Phase,
    generation: i32,
    protocol_type: String,
    /// How the members agreed to share partitions.
    protocol: Option<String>,
    leader: String,
    members: BTreeMap<String, Member>,
    /// Ids that were given to clients who have not joined with them, and until when they may.
    promised: HashMap<String, Nanos>,
    offsets: offsets::Offsets,
    initial_delay: Nanos,
    /// Connections whose request may be answered now.
    woken: Vec<Token>,
}

/// Where a group stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nobody belongs to it.
    Empty,
    /// Members join; those who have not by `until` are out.
    Joining {
        /// When that is over.
        until: Nanos,
        /// In the first round of an empty group, which waits for more members: how long at most.
        initial: Option<Nanos>,
    },
    /// The leader's assignment is awaited; those who have not asked for theirs by then are out.
    Syncing {
        /// When that is over.
        until: Nanos,
    },
    /// Every member has its assignment.
    Stable,
}

#[derive(Debug)]
struct Member {
    instance_id: Option<String>,
    session_timeout: Nanos,
    rebalance_timeout: Nanos,
    /// Name and metadata of each way to share that it knows, the best first.
    protocols: Vec<(String, Bytes)>,
    assignment: Bytes,
    /// It is out unless it is heard of before this.
    expires: Nanos,
    /// Whether it takes part in the round of joining that goes on.
    joined: bool,
    /// Whether it has asked for its assignment since.
    synced: bool,
    /// The connection of its last JoinGroup or SyncGroup request.
    connection: Option<Token>,
}

impl Groups {
    /// No groups.
    pub fn new(initial_delay: Nanos) -> Self {
        Self {
            by_id: HashMap::new(),
            initial_delay,
            next: Nanos::MAX,
        }
    }

    /// Lets `act` change the group called `id`, made where there is none; wakes who it concerns.
    pub fn with_made<T>(
        &mut self,
        id: &str,
        woken: &mut impl Extend<Token>,
        act: impl FnOnce(&mut Group) -> T,
    ) -> T {
        let initial_delay = self.initial_delay;
        let group = self.by_id.entry(id.to_owned());
        let group = group.or_insert_with(|| Group::new(initial_delay));
        changed(group, &mut self.next, woken, act)
    }

    /// Lets `act` change the group called `id`, if there is one; wakes who it concerns.
    pub fn with<T>(
        &mut self,
        id: &str,
        woken: &mut impl Extend<Token>,
        act: impl FnOnce(&mut Group) -> T,
    ) -> Option<T> {
        let group = self.by_id.get_mut(id)?;
        Some(changed(group, &mut self.next, woken, act))
    }

    /// When a group has something to do on its own.
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// Does what is due: members that were not heard of are out, rounds end.
    pub fn tick(&mut self, now: Nanos, woken: &mut impl Extend<Token>) {
        if now < self.next {
            return;
        }
        for group in self.by_id.values_mut() {
            group.tick(now);
            woken.extend(group.woken.drain(..));
        }
        let times = self.by_id.values().map(Group::next);
        self.next = times.min().unwrap_or(Nanos::MAX);
    }
}

fn changed<T>(
    group: &mut Group,
    next: &mut Nanos,
    woken: &mut impl Extend<Token>,
    act: impl FnOnce(&mut Group) -> T,
) -> T {
    let outcome = act(group);
    woken.extend(group.woken.drain(..));
    *next = (*next).min(group.next());
    outcome
}

impl Group {
    fn new(initial_delay: Nanos) -> Self {
        Self {
            phase: Phase::Empty,
            generation: 0,
            protocol_type: String::new(),
            protocol: None,
            leader: String::new(),
            members: BTreeMap::new(),
            promised: HashMap::new(),
            offsets: HashMap::new(),
            initial_delay,
            woken: Vec::new(),
        }
    }

    fn next(&self) -> Nanos {
        let round = match self.phase {
            Phase::Joining { until, .. } | Phase::Syncing { until } => until,
            Phase::Empty | Phase::Stable => Nanos::MAX,
        };
        let members = self.members.values();
        let members = members.filter(|member| !self.is_waiting(member));
        let expiries = members.map(|member| member.expires);
        let promises = self.promised.values().copied();
        expiries.chain(promises).min().unwrap_or(round).min(round)
    }

    /// Whether a request of `member` waits here, so that it is known to be alive.
    fn is_waiting(&self, member: &Member) -> bool {
        match self.phase {
            Phase::Joining { .. } => member.joined,
            Phase::Syncing { .. } => member.synced,
            Phase::Empty | Phase::Stable => false,
        }
    }

    fn wake(&mut self, id: &str) {
        if let Some(connection) = self.members.get(id).and_then(|member| member.connection) {
            self.woken.push(connection);
        }
    }

    fn wake_all(&mut self) {
        let connections = self.members.values().filter_map(|member| member.connection);
        self.woken.extend(connections);
    }
}

/// A time-out of the wire; what is below zero is none.
fn timeout(ms: i32) -> Nanos {
    Nanos::from(ms.max(0).cast_unsigned()) * MILLISECOND
}

type Outcome<T> = Result<T, BrokerError>;
