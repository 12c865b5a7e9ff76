//! What becomes of batches, told to the recorder of a load thread.

use std::sync::Arc;

use crate::base::clock::Nanos;
use crate::client::produce::{Done, Ended, Ending as ProducerEnding, Outcomes, Trace};
use crate::cluster::control::{Command, Commands};
use crate::cluster::merge::Hint;
use crate::measure::interval::Interval;
use crate::measure::recorder::{Acked, Recorder};
use crate::measure::recording::Ending;
use crate::measure::stamps::{Marks, Stamps};

/// What a thread records, and what it needs to record it.
pub struct Ledger {
    /// The records.
    pub recorder: Recorder,
    /// The first partition slot of each topic, as the recorder counts them.
    pub slots: Arc<[u32]>,
    /// Who is told of a leader that a broker names.
    pub commands: Commands,
    /// Who else hears of batches.
    pub witness: Option<Box<dyn Witness>>,
}

/// Hears of batches and intervals besides the recorder, on a load thread: it must not wait.
pub trait Witness: Send {
    /// Time zero is `now`.
    fn begin(&mut self, _now: Nanos) {}

    /// A batch was acknowledged; with acks=0, written.
    fn acked(&mut self, _done: &Done<'_, Stamps>) {}

    /// `records` ended otherwise at `now`, by the error called `name`.
    fn ended(&mut self, _records: u64, _name: &'static str, _now: Nanos) {}

    /// Intervals of `length` are over, all that were not yet told. A very long run makes them longer.
    fn intervals(&mut self, _rows: &[Interval], _length: Nanos) {}

    /// The thread's load ended at `now`; nothing more is heard.
    fn finish(&mut self, _now: Nanos) {}
}

impl Ledger {
    /// Closes the intervals that are over at `now`.
    pub fn tick(&mut self, now: Nanos) {
        let length = self.recorder.interval();
        let closed = self.recorder.tick(now);
        if let Some(witness) = self.witness.as_mut().filter(|_| !closed.is_empty()) {
            witness.intervals(closed, length);
        }
    }

    /// Hears what becomes of batches at `now`, of which broker `node` is asked.
    pub fn told(&mut self, node: i32, now: Nanos) -> Told<'_> {
        Told {
            recorder: &mut self.recorder,
            witness: self.witness.as_mut(),
            slots: &self.slots,
            commands: &self.commands,
            node,
            now,
        }
    }
}

/// Tells the recorder what became of batches.
pub struct Told<'a> {
    /// Who records.
    pub recorder: &'a mut Recorder,
    witness: Option<&'a mut Box<dyn Witness>>,
    slots: &'a [u32],
    commands: &'a Commands,
    /// The broker that is asked.
    pub node: i32,
    /// The time it is heard at.
    pub now: Nanos,
}

impl Outcomes<Stamps> for Told<'_> {
    fn acked(&mut self, done: &Done<'_, Stamps>) {
        if let Some(witness) = &mut self.witness {
            witness.acked(done);
        }
        let batch = Acked {
            partition: self.slots[done.topic.0 as usize] + done.partition,
            node: self.node,
            records: done.records,
            payload_bytes: done.payload_bytes,
            raw_bytes: done.raw_bytes,
            wire_bytes: done.wire_bytes,
        };
        if !done.answered {
            self.recorder.written(done.trace, done.done, &batch);
            return;
        }
        let marks = Marks {
            ready: done.ready,
            first_byte_written: done.first_byte_written,
            last_byte_written: done.last_byte_written,
            first_byte_read: done.first_byte_read,
            done: done.done,
            throttled: done.throttled,
            earlier_attempts: done.earlier_attempts,
        };
        self.recorder.acked(done.trace, &marks, &batch);
    }

    fn ended(&mut self, ended: &Ended<'_, Stamps>) {
        if let Some(witness) = &mut self.witness {
            witness.ended(u64::from(ended.records), ended.name, self.now);
        }
        let ending = match ended.ending {
            ProducerEnding::Failed => Ending::Failed,
            ProducerEnding::Unknown => Ending::Unknown,
            ProducerEnding::Unsent => Ending::Unsent,
        };
        self.recorder
            .ended(ending, ended.name, ended.trace, self.now);
    }

    fn retried(&mut self, records: u32) {
        self.recorder.retried(records);
    }

    fn split(&mut self, _parts: u32) {}

    fn hint(&mut self, hint: Hint) {
        self.commands.send(Command::Hint(hint));
    }
}

impl Trace for Stamps {
    fn clear(&mut self) {
        Stamps::clear(self);
    }

    fn split_off(&mut self, records: u32) -> Self {
        Stamps::split_off(self, records)
    }
}
