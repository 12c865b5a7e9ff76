//! What a group committed.

use std::collections::HashMap;

use super::{Group, Outcome, Phase};
use crate::base::clock::Nanos;
use crate::wire::broker_error::BrokerError;

/// By topic and partition.
pub type Offsets = HashMap<(String, i32), Committed>;

/// One committed position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The offset of the next record to read.
    pub offset: i64,
    /// The leader epoch of the record before it, or −1.
    pub leader_epoch: i32,
    /// What the client added.
    pub metadata: String,
}

impl Group {
    /// Checks that somebody may commit: a member of this generation, or, while nobody belongs to the
    /// group, a client that assigns partitions by itself, which gives no generation.
    ///
    /// # Errors
    /// When it may not, or not now.
    pub fn check_commit(
        &mut self,
        (id, instance_id): (&str, Option<&str>),
        generation: i32,
        now: Nanos,
    ) -> Outcome<()> {
        self.tick(now);
        if generation < 0 && self.members.is_empty() {
            return Ok(());
        }
        self.check(id, instance_id, generation)?;
        match self.phase {
            Phase::Syncing { .. } => Err(BrokerError::REBALANCE_IN_PROGRESS),
            _ => Ok(()),
        }
    }

    /// Takes a position.
    pub fn commit(&mut self, topic: &str, partition: i32, committed: Committed) {
        let place = (topic.to_owned(), partition);
        self.offsets.insert(place, committed);
    }

    /// The position of a partition, if there is one.
    pub fn committed(&self, topic: &str, partition: i32) -> Option<&Committed> {
        self.offsets.get(&(topic.to_owned(), partition))
    }

    /// The partitions with positions, by topic.
    pub fn committed_places(&self) -> Vec<(&str, Vec<i32>)> {
        let mut places: Vec<&(String, i32)> = self.offsets.keys().collect();
        places.sort();
        let topics = places.chunk_by(|a, b| a.0 == b.0);
        let topics = topics.map(|places| {
            let partitions = places.iter().map(|(_, partition)| *partition);
            (places[0].0.as_str(), partitions.collect())
        });
        topics.collect()
    }
}
