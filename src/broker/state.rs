//! What the virtual brokers share: topics, groups, producer ids, and who waits for what.

use std::collections::HashSet;
use std::net::SocketAddr;

use mio::Token;

use super::group::{Group, Groups};
use super::holds::Holds;
use super::options::BrokerOptions;
use super::topics::Topics;
use crate::base::clock::Nanos;
use crate::wire::broker_error::BrokerError;

/// All there is to know.
#[derive(Debug)]
pub struct State {
    /// Where the virtual brokers listen; their ids count from 1.
    pub brokers: Vec<SocketAddr>,
    /// The topics.
    pub topics: Topics,
    /// Connections whose wait may be over.
    pub woken: HashSet<Token>,
    /// What is held back.
    pub holds: Holds,
    groups: Groups,
    next_producer_id: i64,
}

impl State {
    /// A state without topics, of brokers at `addresses`.
    pub fn new(addresses: Vec<SocketAddr>, options: &BrokerOptions, holds: Holds) -> Self {
        Self {
            holds,
            topics: Topics::new(addresses.len(), options),
            brokers: addresses,
            woken: HashSet::new(),
            groups: Groups::new(options.initial_rebalance_delay),
            next_producer_id: 1,
        }
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
        self.groups.next().min(self.topics.next())
    }

    /// Does what is due without being asked for.
    pub fn tick(&mut self, now: Nanos) {
        self.groups.tick(now, &mut self.woken);
        self.topics.reveal(now, &mut self.holds, &mut self.woken);
    }

    /// A producer id that nobody has.
    pub fn producer_id(&mut self) -> i64 {
        self.next_producer_id += 1;
        self.next_producer_id - 1
    }
}
