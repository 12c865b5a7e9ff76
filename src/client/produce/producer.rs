//! The producer's parts and its public face.

use super::batch::{Batch, Pool};
use super::options::ProducerOptions;
use super::request::Request;
use super::topic::Topic;
use crate::base::clock::Nanos;
use crate::base::rng::Rng;
use crate::client::partition::Choice;
use crate::cluster::merge::Hint;
use crate::cluster::snapshot::Snapshot;
use crate::records::compress::Codec;
use crate::records::writer::EncodedHeaders;

/// A topic, as [`Producer::add_topic`] numbered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicIndex(pub u32);

/// A way to a broker: one of the connections to it. Routes are numbered from 0 as they come up, and
/// never go away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RouteIndex(pub u32);

/// What the caller notes of the records of a batch; it travels with the batch.
pub trait Trace: Default {
    /// Forgets everything and keeps its room.
    fn clear(&mut self);
    /// Keeps the first `records` notes and gives the rest.
    fn split_off(&mut self, records: u32) -> Self;
}

/// One record to send.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: &'a EncodedHeaders,
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Where it goes.
    pub choice: Choice,
}

/// Why a record was not taken. Nothing of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// `buffer.memory` is used up; an acknowledgement makes room.
    BufferFull,
    /// Nothing is known of the topic yet.
    NoMetadata,
    /// It is larger than `max.request.size` or `buffer.memory`.
    TooLarge {
        /// What it takes, as Java counts it.
        bytes: usize,
        /// What is allowed.
        limit: u64,
    },
    /// The topic has no such partition.
    NoPartition(u32),
}

/// How records ended that were not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Surely not appended.
    Failed,
    /// Perhaps appended.
    Unknown,
    /// Never written to a socket, because the run ended.
    Unsent,
}

/// A batch that was acknowledged; with acks=0, one that was written.
#[derive(Debug)]
pub struct Done<'a, T> {
    /// What the caller noted of its records.
    pub trace: &'a T,
    /// Its records.
    pub records: u32,
    /// Keys, values and headers in it.
    pub payload_bytes: u64,
    /// Keys in it; 0 for a prepared batch.
    pub key_bytes: u64,
    /// Its bytes before compression, header included.
    pub raw_bytes: u64,
    /// Its bytes as sent.
    pub wire_bytes: u64,
    /// Its topic.
    pub topic: TopicIndex,
    /// Its partition.
    pub partition: u32,
    /// The offset of its first record; −1 where the broker doesn't tell.
    pub base_offset: i64,
    /// The broker had it already.
    pub duplicate: bool,
    /// A broker said so; with acks=0 nobody does.
    pub answered: bool,
    /// When it could first be sent.
    pub ready: Nanos,
    /// When the socket took its request's first byte, in the attempt that succeeded.
    pub first_byte_written: Nanos,
    /// When the socket took its request's last byte.
    pub last_byte_written: Nanos,
    /// When the first byte of the answer was read.
    pub first_byte_read: Nanos,
    /// When the answer had been read.
    pub done: Nanos,
    /// Time between ready and first byte in which a throttle held the connection.
    pub throttled: Nanos,
    /// Time between ready and first byte that earlier attempts used, back-off included.
    pub earlier_attempts: Nanos,
}

/// A batch that ended otherwise.
#[derive(Debug)]
pub struct Ended<'a, T> {
    /// How.
    pub ending: Ending,
    /// Kafka's name of the error, or kdyno's own.
    pub name: &'static str,
    /// What the caller noted of its records.
    pub trace: &'a T,
    /// Its records.
    pub records: u32,
    /// Its topic.
    pub topic: TopicIndex,
    /// Its partition.
    pub partition: u32,
}

/// Who is told what became of batches.
pub trait Outcomes<T> {
    /// A batch was acknowledged.
    fn acked(&mut self, done: &Done<'_, T>);
    /// A batch ended otherwise.
    fn ended(&mut self, ended: &Ended<'_, T>);
    /// A batch will be sent again.
    fn retried(&mut self, records: u32);
    /// A batch was too large and goes on in `parts` parts.
    fn split(&mut self, parts: u32);
    /// A broker told of a newer leader; the producer believes it already.
    fn hint(&mut self, hint: Hint);
}

/// A producer without sockets and clock.
#[derive(Debug)]
pub struct Producer<T> {
    pub(super) options: ProducerOptions,
    pub(super) topics: Vec<Topic<T>>,
    pub(super) routes: Vec<Route>,
    /// Partitions with waiting batches, in no order.
    pub(super) active: Vec<(u32, u32)>,
    pub(super) pool: Pool<T>,
    #[allow(clippy::vec_box)]
    pub(super) requests: Vec<Request<T>>,
    pub(super) codec: Codec,
    pub(super) buffer: BufferMemory,
    pub(super) identity: Option<(i64, i16)>,
    pub(super) flushing: Option<Nanos>,
    /// Somebody waits for memory: every batch is ready.
    pub(super) starved: Option<Nanos>,
    pub(super) outstanding_records: u64,
    pub(super) needs_metadata: bool,
    pub(super) rng: Rng,
    pub(super) replies: Vec<super::reply::PartitionOutcome>,
}

/// `buffer.memory`, as Java accounts for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BufferMemory {
    pub used: u64,
    pub used_max: u64,
}

/// Partitions that are reached by one connection.
#[derive(Debug)]
pub(super) struct Route {
    pub node_id: i32,
    /// Which of the connections to that broker.
    pub slot: u32,
    pub partitions: Vec<(u32, u32)>,
    /// Where the next drain begins.
    pub cursor: usize,
    /// It is in the list being made.
    pub listed: bool,
}

impl<T: Trace> Producer<T> {
    /// A producer without topics. `seed` decides over its random choices.
    pub fn new(options: ProducerOptions, seed: u64) -> Self {
        Self {
            codec: Codec::new(options.compression),
            topics: Vec::new(),
            routes: Vec::new(),
            active: Vec::new(),
            pool: Pool::new(),
            requests: Vec::new(),
            buffer: BufferMemory {
                used: 0,
                used_max: 0,
            },
            identity: None,
            flushing: None,
            starved: None,
            outstanding_records: 0,
            needs_metadata: false,
            rng: Rng::new(seed, RNG_STREAM),
            replies: Vec::new(),
            options,
        }
    }

    /// Its options.
    pub fn options(&self) -> &ProducerOptions {
        &self.options
    }

    /// Adds a topic to send to.
    pub fn add_topic(&mut self, name: &str) -> TopicIndex {
        let index = self.topics.len() as u32;
        let rng = Rng::new(self.rng.next_u64(), u64::from(index));
        self.topics
            .push(Topic::new(name, self.options.batch_bytes, rng));
        TopicIndex(index)
    }

    /// Takes over what is known of the cluster.
    pub fn update(&mut self, snapshot: &Snapshot) {
        for topic in &mut self.topics {
            topic.update(snapshot);
        }
        self.reroute();
    }

    /// How many partitions a topic has; 0 while nothing is known of it.
    pub fn partition_count(&self, topic: TopicIndex) -> u32 {
        self.topics[topic.0 as usize].partitions.len() as u32
    }

    /// Which broker a route leads to, and by which of its connections.
    pub fn route(&self, route: RouteIndex) -> (i32, u32) {
        let route = &self.routes[route.0 as usize];
        (route.node_id, route.slot)
    }

    /// How many routes there are.
    pub fn route_count(&self) -> usize {
        self.routes.len()
    }

    /// Whether a route leads to any partition now.
    pub fn route_in_use(&self, route: RouteIndex) -> bool {
        !self.routes[route.0 as usize].partitions.is_empty()
    }

    /// Whether it needs a producer id before it can send anything.
    pub fn identity_needed(&self) -> bool {
        self.options.idempotent && self.identity.is_none()
    }

    /// Gives it a producer id.
    pub fn set_identity(&mut self, producer_id: i64, epoch: i16) {
        self.identity = Some((producer_id, epoch));
    }

    /// Whether it met a partition without a leader since this was last asked.
    pub fn take_needs_metadata(&mut self) -> bool {
        std::mem::take(&mut self.needs_metadata)
    }

    /// Records taken that have not ended.
    pub fn outstanding_records(&self) -> u64 {
        self.outstanding_records
    }

    /// The most of `buffer.memory` that was in use, bytes.
    pub fn buffer_bytes_max(&self) -> u64 {
        self.buffer.used_max
    }

    /// Makes every batch ready, from now on until [`Self::flush_end`].
    pub fn flush_start(&mut self, now: Nanos) {
        self.flushing.get_or_insert(now);
    }

    /// Lets batches linger again.
    pub fn flush_end(&mut self) {
        self.flushing = None;
    }

    /// Tells every route which partitions it leads to.
    pub(super) fn reroute(&mut self) {
        for route in &mut self.routes {
            route.partitions.clear();
        }
        let connections = self.options.connections.max(1);
        for (topic_index, topic) in (0..).zip(&mut self.topics) {
            for (index, partition) in (0..).zip(&mut topic.partitions) {
                partition.route = partition.leader.map(|leader| {
                    let at = route_to(&mut self.routes, leader, index % connections);
                    self.routes[at as usize]
                        .partitions
                        .push((topic_index, index));
                    at
                });
            }
        }
        for route in &mut self.routes {
            route.cursor = route.cursor.min(route.partitions.len().saturating_sub(1));
        }
    }

    /// Ends a batch: gives its memory back, and its buffer to the next one.
    pub(super) fn release(&mut self, mut batch: Box<Batch<T>>) {
        self.buffer.used -= batch.charge;
        self.outstanding_records -= u64::from(batch.records);
        self.starved = None;
        batch.trace.clear();
        self.pool.give(batch);
    }
}

fn route_to(routes: &mut Vec<Route>, node_id: i32, slot: u32) -> u32 {
    let known = routes
        .iter()
        .position(|route| route.node_id == node_id && route.slot == slot);
    let at = known.unwrap_or_else(|| {
        routes.push(Route {
            node_id,
            slot,
            partitions: Vec::new(),
            cursor: 0,
            listed: false,
        });
        routes.len() - 1
    });
    at as u32
}

/// The producer's own stream of a seed.
const RNG_STREAM: u64 = 0x70726f64;
