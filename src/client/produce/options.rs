//! The producer's options, in kdyno's units; `client::properties` reads Kafka's names into them.

use crate::base::clock::{MILLISECOND, Nanos, SECOND};
use crate::client::partition::Partitioner;
use crate::cluster::retry::Backoff;
use crate::records::compress::Compression;

/// Whose acknowledgement is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// Nobody's: the broker doesn't answer.
    None,
    /// The leader's.
    Leader,
    /// All in-sync replicas'.
    All,
}

/// How a producer works.
#[derive(Debug, Clone, PartialEq)]
pub struct ProducerOptions {
    /// `acks`.
    pub acks: Acks,
    /// `batch.size`; 0 works as 1.
    pub batch_bytes: usize,
    /// `linger.ms`.
    pub linger: Nanos,
    /// `buffer.memory`.
    pub buffer_bytes: u64,
    /// `max.block.ms`.
    pub max_block: Nanos,
    /// `max.request.size`.
    pub request_bytes_max: usize,
    /// `max.in.flight.requests.per.connection`.
    pub in_flight_max: usize,
    /// `compression.type` with its level.
    pub compression: Compression,
    /// `request.timeout.ms`.
    pub request_timeout: Nanos,
    /// `delivery.timeout.ms`.
    pub delivery_timeout: Nanos,
    /// `retries`.
    pub retries: u32,
    /// `retry.backoff.ms` and `retry.backoff.max.ms`.
    pub retry_backoff: Backoff,
    /// `enable.idempotence`.
    pub idempotent: bool,
    /// `partitioner.class` and its companions.
    pub partitioner: Partitioner,
    /// Connections to each broker; a partition keeps to one of them.
    pub connections: u32,
}

impl ProducerOptions {
    /// The defaults of Java's client 4.4.
    pub fn java_4() -> Self {
        Self {
            acks: Acks::All,
            batch_bytes: 16_384,
            linger: 5 * MILLISECOND,
            buffer_bytes: 32 << 20,
            max_block: 60 * SECOND,
            request_bytes_max: 1 << 20,
            in_flight_max: 5,
            compression: Compression::None,
            request_timeout: 30 * SECOND,
            delivery_timeout: 120 * SECOND,
            retries: i32::MAX as u32,
            retry_backoff: Backoff {
                base: 100 * MILLISECOND,
                max: SECOND,
            },
            idempotent: true,
            partitioner: Partitioner::Default {
                adaptive: true,
                ignore_keys: false,
            },
            connections: 1,
        }
    }
}

impl Acks {
    /// As it stands in a request.
    pub fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "0",
            Self::Leader => "1",
            Self::All => "all",
        }
    }
}
