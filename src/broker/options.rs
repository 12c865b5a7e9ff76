//! How an embedded broker is set up.

use std::net::{Ipv4Addr, SocketAddr};

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

impl BrokerOptions {
    /// One broker on a free port of loopback that keeps nothing.
    pub fn sink(partitions: u32) -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            partitions,
            log: LogKind::Sink,
            initial_rebalance_delay: 0,
        }
    }
}
