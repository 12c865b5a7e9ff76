//! One virtual client: what it still has to offer, and its producer.

use super::arrival::Schedule;
use super::blocks::Blocks;
use super::phase::LanePhases;
use super::source::Source;
use crate::base::clock::{MILLISECOND, Nanos};
use crate::client::partition::{Choice, Partitioner};
use crate::client::produce::{Append, Producer, Refused, TopicIndex};
use crate::measure::recorder::Recorder;
use crate::measure::recording::Ending;
use crate::measure::stamps::{Pass, Phase, Stamps};

/// Records offered between two readings of the clock.
const CHUNK_RECORDS: u32 = 256;
/// Payload offered between two readings of the clock.
const CHUNK_BYTES: usize = 64 * 1024;
/// The name of what `max.block.ms` ends.
const BUFFER_EXHAUSTED: &str = "BUFFER_EXHAUSTED";
/// The name of what is larger than `max.request.size`.
const RECORD_TOO_LARGE: &str = "RECORD_TOO_LARGE";

/// The name of what is for a partition that the topic doesn't have.
const NO_SUCH_PARTITION: &str = "NO_SUCH_PARTITION";

/// How far a lane got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// More is due already.
    More,
    /// Nothing is due before then.
    Until(Nanos),
    /// There is no room; an acknowledgement, or this time at the latest, goes on.
    Blocked(Nanos),
    /// It has no more to send.
    End,
}

/// What a lane is made of.
#[derive(Debug)]
pub struct Lane {
    /// Its producer.
    pub producer: Producer<Stamps>,
    /// The topics it sends to, record by record in turn.
    pub topics: Vec<TopicIndex>,
    /// When its records are due.
    pub schedule: Schedule,
    /// What they hold.
    pub source: Source,
    /// Which of them count.
    pub phases: LanePhases,
    /// When it could not append.
    pub blocks: Blocks,
    /// Wall clock less monotonic clock, ms.
    pub wall_offset_ms: i64,
    /// Whether keys decide over partitions.
    pub keyed: bool,
    /// What was offered, and counted, and found no room yet.
    pending: Option<Pending>,
}

/// A record that keeps the due time and the phase it was offered with, however long it waits.
#[derive(Debug, Clone, Copy)]
struct Pending {
    due: Nanos,
    phase: Phase,
}

impl Lane {
    /// A lane that has offered nothing.
    pub fn new(
        producer: Producer<Stamps>,
        topics: Vec<TopicIndex>,
        schedule: Schedule,
        source: Source,
        phases: LanePhases,
        wall_offset_ms: i64,
    ) -> Self {
        let keyed = matches!(
            producer.options().partitioner,
            Partitioner::Default {
                ignore_keys: false,
                ..
            }
        );
        Self {
            producer,
            topics,
            schedule,
            source,
            phases,
            blocks: Blocks::default(),
            wall_offset_ms,
            keyed,
            pending: None,
        }
    }

    /// Offers what is due by `now`, one chunk at most.
    pub fn offer(&mut self, now: Nanos, recorder: &mut Recorder) -> Offered {
        let mut records = 0;
        let mut bytes = 0;
        while records < CHUNK_RECORDS && bytes < CHUNK_BYTES {
            let record = match self.next(now, recorder) {
                Ok(record) => record,
                Err(nothing) => return nothing,
            };
            match self.offer_one(now, record, recorder) {
                Ok(taken) => {
                    records += 1;
                    bytes += taken;
                }
                Err(until) => return Offered::Blocked(until),
            }
        }
        Offered::More
    }

    /// What is to be offered at `now`, counted as due and offered once; or why nothing is.
    #[inline]
    fn next(&mut self, now: Nanos, recorder: &mut Recorder) -> Result<Pending, Offered> {
        if let Some(pending) = self.pending {
            return Ok(pending);
        }
        let due = self.schedule.next_due().unwrap_or(now);
        let phase = self.phases.of(due).ok_or(Offered::End)?;
        if due > now {
            return Err(Offered::Until(due));
        }
        recorder.due(phase, 1);
        recorder.offered(now, phase, 1);
        Ok(Pending { due, phase })
    }

    /// Offers one record; gives its payload bytes, or until when the lane is blocked.
    #[inline]
    fn offer_one(
        &mut self,
        now: Nanos,
        record: Pending,
        recorder: &mut Recorder,
    ) -> Result<usize, Nanos> {
        let Pending { due, phase } = record;
        let step = self.schedule.step_fp();
        // The record that met the block was offered when the block began.
        let first = self.blocks.blocked_since();
        if first.is_some() {
            self.blocks.unblock(now);
        }
        self.blocks.forget_before(due);
        let (mut pass, _) = self.blocks.pass(phase, now);
        if let Some(since) = first {
            pass.offered = since;
        }
        let index = self.schedule.taken();
        let drawn = self.source.record(index);
        let payload = drawn.payload_bytes();
        let append = Append {
            key: drawn.key.map(|key| key.bytes),
            value: drawn.value,
            headers: drawn.headers,
            timestamp_ms: (now / MILLISECOND) as i64 + self.wall_offset_ms,
            choice: match drawn.key {
                Some(key) if self.keyed => Choice::Keyed(key.hash),
                _ => Choice::Free,
            },
        };
        let topic = self.topics[index as usize % self.topics.len()];
        let stamp = |stamps: &mut Stamps| push(stamps, due, step, &pass);
        match self.producer.append(now, topic, &append, stamp) {
            Ok(_) => {}
            Err(Refused::TooLarge { .. }) => {
                self.end_one(due, &pass, RECORD_TOO_LARGE, now, recorder);
            }
            Err(Refused::NoPartition(_)) => {
                self.end_one(due, &pass, NO_SUCH_PARTITION, now, recorder);
            }
            Err(Refused::BufferFull | Refused::NoMetadata) => {
                let since = first.unwrap_or(now);
                let until = since.saturating_add(self.producer.options().max_block);
                if now < until {
                    self.producer.starve(now);
                    match first {
                        Some(_) => self.blocks.reopen(),
                        None => self.blocks.block(now),
                    }
                    self.pending = Some(record);
                    return Err(until);
                }
                self.end_one(due, &pass, BUFFER_EXHAUSTED, now, recorder);
            }
        }
        self.pending = None;
        self.phases.take(phase, due);
        self.schedule.advance(payload);
        Ok(payload)
    }

    fn end_one(
        &mut self,
        due: Nanos,
        pass: &Pass,
        name: &'static str,
        now: Nanos,
        recorder: &mut Recorder,
    ) {
        let mut stamps = Stamps::default();
        stamps.push_even(due, 0, pass);
        recorder.ended(Ending::Failed, name, &stamps, now);
    }

    /// Ends what is due by `now` and was not taken: the run is over.
    pub fn leave(&mut self, now: Nanos, name: &'static str, recorder: &mut Recorder) {
        let (mut offered, mut never) = (Stamps::default(), Stamps::default());
        if let Some(Pending { due, phase }) = self.pending.take() {
            let pass = Pass {
                offered: self.blocks.blocked_since().unwrap_or(now),
                ..self.blocks.pass(phase, now).0
            };
            offered.push_even(due, 0, &pass);
            recorder.ended(Ending::Unsent, name, &offered, now);
            self.phases.take(phase, due);
            self.schedule.advance(0);
        }
        while let Some(due) = self.schedule.next_due().filter(|due| *due <= now)
            && let Some(phase) = self.phases.of(due)
        {
            recorder.due(phase, 1);
            never.push_irregular(due, &self.blocks.pass(phase, now).0);
            self.phases.take(phase, due);
            self.schedule.advance(0);
        }
        if never.count() > 0 {
            recorder.never_offered(name, &never, now);
        }
    }
}

#[inline]
fn push(stamps: &mut Stamps, due: Nanos, step: Option<u64>, pass: &Pass) {
    match step {
        Some(step) => stamps.push_even(due, step, pass),
        None => stamps.push_irregular(due, pass),
    }
}
