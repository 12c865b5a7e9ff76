//! What the producer knows of a topic and its partitions, and the batches that wait there.

use std::collections::VecDeque;

use super::batch::Batch;
use crate::base::rng::Rng;
use crate::client::partition::sticky::Sticky;
use crate::cluster::snapshot::{Snapshot, TOPIC_ID_NONE, TopicId};

/// A topic that records are sent to.
#[derive(Debug)]
pub struct Topic<T> {
    /// Its name.
    pub name: String,
    /// Its id, once known.
    pub id: TopicId,
    /// Its partitions, by index.
    pub partitions: Vec<Partition<T>>,
    /// Where records without a key go.
    pub sticky: Sticky,
    /// The next one, of those that take turns.
    pub turn: u32,
    /// Compressed ÷ uncompressed, as the last batches showed.
    pub ratio: f64,
    /// Uncompressed bytes of a batch at most; lower than `batch.size` once one was too large.
    pub batch_bytes: usize,
}

/// One partition and what waits for it.
#[derive(Debug)]
pub struct Partition<T> {
    /// Its leader, if it has one.
    pub leader: Option<i32>,
    /// The epoch of that.
    pub leader_epoch: i32,
    /// Which route leads there, while it has a leader.
    pub route: Option<u32>,
    /// Batches, oldest first; those to be sent again stand in front.
    pub queue: VecDeque<Box<Batch<T>>>,
    /// Where it stands in the list of partitions with waiting batches.
    pub active_at: Option<usize>,
    /// Batches in requests that were not answered, by serial, oldest first.
    pub on_wire: VecDeque<OnWire>,
    /// The serial of the next batch.
    pub next_serial: u64,
    /// Producer id and epoch that its sequences count under.
    pub numbering: (i64, i16),
    /// The sequence of the next batch to be numbered.
    pub next_sequence: i32,
    /// The sequence that follows the last acknowledged record.
    pub acked_sequence: i32,
    /// A numbered batch ended without an answer: nothing new goes out until it is clear what the
    /// broker expects.
    pub unresolved: bool,
}

/// A batch on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnWire {
    /// Its serial.
    pub serial: u64,
    /// Producer id and epoch it was numbered under.
    pub numbering: (i64, i16),
}

impl<T> Topic<T> {
    /// A topic of which nothing is known yet.
    pub fn new(name: &str, batch_bytes: usize, rng: Rng) -> Self {
        Self {
            name: name.to_owned(),
            id: TOPIC_ID_NONE,
            partitions: Vec::new(),
            sticky: Sticky::new(rng),
            turn: 0,
            ratio: 1.0,
            batch_bytes: batch_bytes.max(1),
        }
    }

    /// Takes over what `snapshot` says. A leader of an older epoch is not believed, unless the topic
    /// was made anew.
    pub fn update(&mut self, snapshot: &Snapshot) {
        let Some(topic) = snapshot.topic(&self.name) else {
            return;
        };
        let anew = self.id != TOPIC_ID_NONE && topic.id != self.id;
        if !topic.partitions.is_empty() {
            self.id = topic.id;
        }
        for known in &topic.partitions {
            let Ok(index) = usize::try_from(known.index) else {
                continue;
            };
            while self.partitions.len() <= index {
                self.partitions.push(Partition::new());
            }
            let partition = &mut self.partitions[index];
            if anew || known.leader_epoch >= partition.leader_epoch || known.leader_epoch < 0 {
                partition.leader = known.leader;
                partition.leader_epoch = known.leader_epoch;
            }
        }
    }

    /// Takes note of how well a batch was compressed: quick to expect less, slow to expect more.
    pub fn observe_ratio(&mut self, observed: f64) {
        self.ratio = if observed > self.ratio {
            (self.ratio + RATIO_WORSE).max(observed)
        } else {
            (self.ratio - RATIO_BETTER).max(observed)
        };
    }
}

/// How much more a batch is expected to take, at least, after one that took more.
const RATIO_WORSE: f64 = 0.05;
/// How much less a batch is expected to take, at most, after one that took less.
const RATIO_BETTER: f64 = 0.005;

impl<T> Partition<T> {
    fn new() -> Self {
        Self {
            leader: None,
            leader_epoch: -1,
            route: None,
            queue: VecDeque::new(),
            active_at: None,
            on_wire: VecDeque::new(),
            next_serial: 0,
            numbering: (-1, -1),
            next_sequence: 0,
            acked_sequence: 0,
            unresolved: false,
        }
    }

    /// Puts a batch back to be sent again, in its place by serial.
    pub fn requeue(&mut self, batch: Box<Batch<T>>) {
        let later = self.queue.iter().position(|b| b.serial > batch.serial);
        self.queue.insert(later.unwrap_or(self.queue.len()), batch);
    }

    /// Takes note that a batch is no longer on its way.
    pub fn off_wire(&mut self, serial: u64) {
        if let Some(at) = self.on_wire.iter().position(|w| w.serial == serial) {
            self.on_wire.remove(at);
        }
    }

    /// Whether a batch is on its way that was numbered under another identity than is now in force.
    pub fn stale_on_wire(&self) -> bool {
        let mut on_wire = self.on_wire.iter();
        on_wire.any(|wire| wire.numbering != self.numbering)
    }
}
