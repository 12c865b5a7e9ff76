//! Batches that are over their time, and those that a run leaves behind.

use super::producer::{Ending, Outcomes, Producer, Trace};
use crate::base::clock::Nanos;

/// The name of what `delivery.timeout.ms` ends.
pub const DELIVERY_TIMEOUT: &str = "DELIVERY_TIMEOUT";

impl<T: Trace> Producer<T> {
    /// Ends the waiting batches that are older than `delivery.timeout.ms`. Those on their way are
    /// decided when their answer comes, or their connection is given up.
    pub fn expire(&mut self, now: Nanos, outcomes: &mut impl Outcomes<T>) {
        let mut at = 0;
        while at < self.active.len() {
            let (topic, index) = self.active[at];
            self.expire_partition(now, topic, index, outcomes);
            self.deactivate(topic, index);
            // A partition that left the list made way for the last one.
            if self.active.get(at) == Some(&(topic, index)) {
                at += 1;
            }
        }
    }

    fn expire_partition(
        &mut self,
        now: Nanos,
        topic: u32,
        index: u32,
        outcomes: &mut impl Outcomes<T>,
    ) {
        loop {
            let partition = &mut self.topics[topic as usize].partitions[index as usize];
            let timeout = self.options.delivery_timeout;
            let old = |created: Nanos| now >= created.saturating_add(timeout);
            if !partition
                .queue
                .front()
                .is_some_and(|front| old(front.created))
            {
                return;
            }
            let Some(batch) = partition.queue.pop_front() else {
                return;
            };
            let ending = if batch.perhaps_appended {
                Ending::Unknown
            } else {
                Ending::Failed
            };
            let name = match batch.last_error {
                "" => DELIVERY_TIMEOUT,
                error => error,
            };
            self.end(batch, ending, name, outcomes);
        }
    }

    /// Ends everything that waits, because the run ends: what no broker can have is unsent.
    pub fn abort(&mut self, name: &'static str, outcomes: &mut impl Outcomes<T>) {
        while let Some((topic, index)) = self.active.first().copied() {
            while let Some(batch) = self.topics[topic as usize].partitions[index as usize]
                .queue
                .pop_front()
            {
                let ending = match (batch.perhaps_appended, batch.attempts) {
                    (true, _) => Ending::Unknown,
                    (false, 0) => Ending::Unsent,
                    (false, _) => Ending::Failed,
                };
                self.end(batch, ending, name, outcomes);
            }
            self.deactivate(topic, index);
        }
    }
}
