//! What the virtual brokers share: topics, producer ids, what is kept, who waits for more of it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;

use mio::Token;

use super::group::{Group, Groups};
use super::options::{BrokerOptions, LogKind};
use super::partition::{Appended, Offered, Partition};
use crate::base::clock::Nanos;
use crate::wire::broker_error::BrokerError;
use crate::wire::produce::TopicRef;

/// A topic's id, as on the wire.
pub type TopicId = [u8; 16];

/// All there is to know.
#[derive(Debug)]
pub struct State {
    /// Where the virtual brokers listen; their ids count from 1.
    pub brokers: Vec<SocketAddr>,
    /// Partitions of a topic made by being asked for.
    pub partitions: u32,
    /// Topics by name.
    pub topics: HashMap<String, Topic>,
    /// Connections whose wait may be over.
    pub woken: HashSet<Token>,
    groups: Groups,
    log: LogKind,
    names: HashMap<TopicId, String>,
    next_producer_id: i64,
    kept: Kept,
    /// Where records are inflated to be looked at.
    scratch: Vec<u8>,
}

/// One topic.
#[derive(Debug)]
pub struct Topic {
    /// Its id.
    pub id: TopicId,
    /// Its partitions.
    pub partitions: Vec<Partition>,
}

/// A partition that a request names.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The broker that was asked.
    pub node_id: i32,
    /// The topic.
    pub topic: TopicRef<'a>,
    /// The partition.
    pub partition: i32,
}

/// Which batches are kept, over all partitions.
#[derive(Debug, Default)]
struct Kept {
    bytes: u64,
    /// Topic and partition of each batch, oldest first.
    order: VecDeque<(TopicId, u32)>,
}

impl State {
    /// A state without topics, of brokers at `addresses`.
    pub fn new(addresses: Vec<SocketAddr>, options: &BrokerOptions) -> Self {
        Self {
            brokers: addresses,
            partitions: options.partitions,
            topics: HashMap::new(),
            woken: HashSet::new(),
            groups: Groups::new(options.initial_rebalance_delay),
            log: options.log,
            names: HashMap::new(),
            next_producer_id: 1,
            kept: Kept::default(),
            scratch: Vec::new(),
        }
    }

    /// Whether records are kept.
    pub fn keeps(&self) -> bool {
        self.log != LogKind::Sink
    }

    /// The topic called `name`, made where there is none.
    pub fn topic_or_made(&mut self, name: &str) -> &mut Topic {
        let keeps = self.keeps();
        let (names, count) = (&mut self.names, self.partitions);
        self.topics.entry(name.to_owned()).or_insert_with(|| {
            let topic = Topic::new(count, keeps);
            names.insert(topic.id, name.to_owned());
            topic
        })
    }

    /// The name of the topic with `id`.
    pub fn name_of(&self, id: &TopicId) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// The topic that a request names.
    ///
    /// # Errors
    /// When there is none.
    pub fn topic(&mut self, topic: TopicRef<'_>) -> Result<&mut Topic, BrokerError> {
        let (name, unknown) = match topic {
            TopicRef::Name(name) => (Some(name), BrokerError::UNKNOWN_TOPIC_OR_PARTITION),
            TopicRef::Id(id) => (
                self.names.get(&id).map(String::as_str),
                BrokerError::UNKNOWN_TOPIC_ID,
            ),
        };
        let name = name.ok_or(unknown)?;
        self.topics.get_mut(name).ok_or(unknown)
    }

    /// The partition at `place`.
    ///
    /// # Errors
    /// When there is none, or another broker leads it.
    pub fn partition(&mut self, place: &Place<'_>) -> Result<&mut Partition, BrokerError> {
        let unknown = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
        let index = usize::try_from(place.partition).map_err(|_| unknown)?;
        let leader = self.leader_of(index);
        let topic = self.topic(place.topic)?;
        let partition = topic.partitions.get_mut(index).ok_or(unknown)?;
        match leader == place.node_id {
            true => Ok(partition),
            false => Err(BrokerError::NOT_LEADER_OR_FOLLOWER),
        }
    }

    /// Appends a batch at `place`, lets it be read, and drops what is too much now.
    ///
    /// # Errors
    /// The error a broker answers.
    pub fn append(
        &mut self,
        place: &Place<'_>,
        offered: &Offered<'_>,
    ) -> Result<Appended, BrokerError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let appended = self
            .partition(place)
            .and_then(|partition| partition.append(offered, &mut scratch));
        self.scratch = scratch;
        let appended = appended?;
        if appended.kept_bytes > 0 {
            let topic = self.topic(place.topic)?.id;
            let partition = self.partition(place)?;
            let waiting = partition.reveal(partition.end_offset());
            self.woken.extend(waiting);
            self.kept.bytes += appended.kept_bytes;
            self.kept.order.push_back((topic, place.partition as u32));
            self.drop_oldest();
        }
        Ok(appended)
    }

    /// Drops the oldest batches until what is left is within the retention.
    fn drop_oldest(&mut self) {
        let LogKind::Memory { retention_bytes } = self.log else {
            return;
        };
        while self.kept.bytes > retention_bytes
            && let Some((id, index)) = self.kept.order.pop_front()
        {
            let topic = self
                .names
                .get(&id)
                .and_then(|name| self.topics.get_mut(name));
            let partition = topic.and_then(|topic| topic.partitions.get_mut(index as usize));
            self.kept.bytes -= partition.and_then(Partition::drop_oldest).unwrap_or(0);
        }
    }

    /// The broker that leads a partition.
    pub fn leader_of(&self, partition: usize) -> i32 {
        (partition % self.brokers.len()) as i32 + 1
    }

    /// The broker that answers for the group, or whatever else, called `key`.
    pub fn coordinator_of(&self, key: &str) -> i32 {
        let hash = crc32c::crc32c(key.as_bytes()) as usize;
        (hash % self.brokers.len()) as i32 + 1
    }

    /// Lets `act` change the group called `id`, made where there is none; for broker `node_id`.
    ///
    /// # Errors
    /// When that is not the group's coordinator, or `id` is none.
    pub fn group_made<T>(
        &mut self,
        id: &str,
        node_id: i32,
        act: impl FnOnce(&mut Group) -> T,
    ) -> Result<T, BrokerError> {
        if id.is_empty() {
            return Err(BrokerError::INVALID_GROUP_ID);
        }
        self.check_coordinator(id, node_id)?;
        Ok(self.groups.with_made(id, &mut self.woken, act))
    }

    /// Lets `act` change the group called `id`; for broker `node_id`.
    ///
    /// # Errors
    /// When that is not the group's coordinator; `None` where there is no such group.
    pub fn group<T>(
        &mut self,
        id: &str,
        node_id: i32,
        act: impl FnOnce(&mut Group) -> T,
    ) -> Result<Option<T>, BrokerError> {
        self.check_coordinator(id, node_id)?;
        Ok(self.groups.with(id, &mut self.woken, act))
    }

    fn check_coordinator(&self, id: &str, node_id: i32) -> Result<(), BrokerError> {
        match self.coordinator_of(id) == node_id {
            true => Ok(()),
            false => Err(BrokerError::NOT_COORDINATOR),
        }
    }

    /// When something has to be done that nobody asks for.
    pub fn next(&self) -> Nanos {
        self.groups.next()
    }

    /// Does what is due without being asked for.
    pub fn tick(&mut self, now: Nanos) {
        self.groups.tick(now, &mut self.woken);
    }

    /// A producer id that nobody has.
    pub fn producer_id(&mut self) -> i64 {
        self.next_producer_id += 1;
        self.next_producer_id - 1
    }
}

impl Topic {
    /// An empty topic with an id of its own.
    fn new(partitions: u32, keeps: bool) -> Self {
        let mut id = [0; 16];
        for byte in &mut id {
            *byte = fastrand::u8(1..);
        }
        let partitions = (0..partitions).map(|_| Partition::new(keeps));
        Self {
            id,
            partitions: partitions.collect(),
        }
    }
}
