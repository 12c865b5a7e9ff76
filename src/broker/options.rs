//! How an embedded broker is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::base::clock::Nanos;

/// How the broker is set up.
#[derive(Debug, Clone)]
pub struct BrokerOptions {
    /// Where it listens; one virtual broker each.
    pub listen: Vec<SocketAddr>,
    /// Partitions of a topic that is made because somebody asks for it.
    pub partitions: u32,
    /// What becomes of records.
    pub log: LogKind,
    /// How long each answer is held, and how long what was written can't be read.
    pub holds: Holding,
    /// How long the first members of a group wait for more, as `group.initial.rebalance.delay.ms`.
    pub initial_rebalance_delay: Nanos,
}

/// What becomes of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// They are acknowledged and dropped.
    Sink,
    /// They are kept in memory.
    Memory {
        /// Bytes of batches that are kept over all partitions; the oldest go first.
        retention_bytes: u64,
    },
}

/// What a broker holds back, to be a known cause of latency.
#[derive(Debug, Clone, Default)]
pub struct Holding {
    /// How long every answer is held.
    pub answers: Nanos,
    /// How long records that were appended can't be read.
    pub appends: Nanos,
    /// Where each hold is written down, in nanoseconds.
    pub log: Option<PathBuf>,
}

impl BrokerOptions {
    /// One broker on a free port of loopback that keeps nothing.
    pub fn sink(partitions: u32) -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            partitions,
            log: LogKind::Sink,
            holds: Holding::default(),
            initial_rebalance_delay: 0,
        }
    }
}
