//! Idempotence: who numbers which batch, and what happens when a broker disagrees.

use super::batch::Batch;
use super::producer::{Producer, Trace};
use super::topic::Partition;
use crate::records::writer::{Identity, sequence_after};

impl<T: Trace> Producer<T> {
    /// Whether numbering lets the partition's first batch go.
    pub(super) fn number_allows(&self, partition: &Partition<T>, front: &Batch<T>) -> bool {
        let Some(identity) = self.identity else {
            return false;
        };
        if is_numbered(partition, front) {
            // Sent before: only the oldest open batch may go again, or the broker sees a gap.
            return partition
                .on_wire
                .front()
                .is_none_or(|oldest| oldest.serial > front.serial);
        }
        if partition.unresolved || partition.stale_on_wire() {
            return partition.on_wire.is_empty();
        }
        // Under a new identity the partition begins anew once nothing of the old one is open.
        partition.numbering == identity || partition.on_wire.is_empty()
    }

    /// The identity that the partition's first batch is closed with.
    pub(super) fn take_number(&mut self, topic: u32, index: u32) -> Identity {
        let Some(identity) = self.identity.filter(|_| self.options.idempotent) else {
            return Identity::NONE;
        };
        let partition = &mut self.topics[topic as usize].partitions[index as usize];
        let Some(front) = partition.queue.front() else {
            return Identity::NONE;
        };
        if let Some(own) = front.identity
            && is_numbered(partition, front)
        {
            return own;
        }
        let records = front.records;
        let mut now = identity;
        if partition.unresolved {
            partition.unresolved = false;
            if partition.acked_sequence != partition.next_sequence
                && partition.numbering == identity
            {
                now = bumped(identity);
                self.identity = Some(now);
            }
        }
        if partition.numbering != now {
            partition.numbering = now;
            partition.next_sequence = 0;
            partition.acked_sequence = 0;
        }
        let number = Identity {
            producer_id: now.0,
            epoch: now.1,
            base_sequence: partition.next_sequence,
            transactional: false,
        };
        partition.next_sequence = sequence_after(partition.next_sequence, records);
        number
    }

    /// A numbered batch will never be acknowledged, and surely was not appended: what follows it has
    /// to be numbered anew, under a new epoch.
    pub(super) fn number_lost(&mut self, topic: u32, index: u32) {
        let partition = &mut self.topics[topic as usize].partitions[index as usize];
        if let Some(identity) = self.identity
            && partition.numbering == identity
        {
            self.identity = Some(bumped(identity));
        }
        if let Some(identity) = self.identity {
            partition.numbering = identity;
            partition.next_sequence = 0;
            partition.acked_sequence = 0;
        }
    }

    /// A numbered batch ended and nobody knows whether the broker has it.
    pub(super) fn number_unresolved(&mut self, topic: u32, index: u32) {
        if self.options.idempotent {
            self.topics[topic as usize].partitions[index as usize].unresolved = true;
        }
    }

    /// A batch with `identity` was acknowledged.
    pub(super) fn number_acked(&mut self, batch: &Batch<T>) {
        let partition = &mut self.topics[batch.topic as usize].partitions[batch.partition as usize];
        if let Some(identity) = batch.identity
            && (identity.producer_id, identity.epoch) == partition.numbering
        {
            partition.acked_sequence = sequence_after(identity.base_sequence, batch.records);
        }
    }

    /// Whether `batch` is the one the broker expects next, as far as its answers tell.
    pub(super) fn is_next_expected(&self, batch: &Batch<T>) -> bool {
        let partition = &self.topics[batch.topic as usize].partitions[batch.partition as usize];
        batch.identity.is_some_and(|identity| {
            (identity.producer_id, identity.epoch) == partition.numbering
                && identity.base_sequence == partition.acked_sequence
        })
    }
}

/// Whether a batch has a number that still counts.
fn is_numbered<T>(partition: &Partition<T>, batch: &Batch<T>) -> bool {
    batch.identity.is_some_and(|own| {
        own.base_sequence >= 0 && (own.producer_id, own.epoch) == partition.numbering
    })
}

/// The next epoch of the same producer. After the last one the producer needs a new id: −1 makes
/// every partition begin anew once that has come.
fn bumped((producer_id, epoch): (i64, i16)) -> (i64, i16) {
    match epoch.checked_add(1) {
        Some(epoch) => (producer_id, epoch),
        None => (-1, -1),
    }
}
