//! One virtual client: what it still has to offer, and its producer.

use std::sync::Arc;

use super::arrival::Schedule;
use super::blocks::Blocks;
use super::phase::LanePhases;
use super::source::Source;
use super::stock::Stock;
use crate::base::clock::{MILLISECOND, Nanos};
use crate::client::partition::{Choice, Partitioner};
use crate::client::produce::{Append, Producer, Refused, TopicIndex};
use crate::measure::recorder::Recorder;
use crate::measure::recording::Ending;
use crate::measure::stamps::{Pass, Phase, Stamps};
use crate::records::stamp::Template;

/// Records offered between two readings of the clock.
const CHUNK_RECORDS: u32 = 256;
/// Payload offered between two readings of the clock.
const CHUNK_BYTES: usize = 256 * 1024;
/// The same of prepared batches, each of which takes some hundred nanoseconds whatever its size.
const STAMPED_CHUNK_BYTES: usize = 1024 * 1024;
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

/// What a lane sends.
#[derive(Debug)]
pub enum Content {
    /// Records, each put into a batch by the producer.
    Assembled(Source),
    /// Prepared batches. The records of one are due with its first, and offered together.
    Stamped {
        /// The batches.
        stock: Arc<Stock>,
        /// The one offered and not taken yet.
        next: Option<Arc<Template>>,
        /// Batches taken.
        taken: usize,
    },
}

/// What a lane is made of.
#[derive(Debug)]
pub struct Lane {
    /// Its producer.
    pub producer: Producer<Stamps>,
    /// The topics it sends to in turn: record by record, or prepared batch by batch.
    pub topics: Vec<TopicIndex>,
    /// When its records are due.
    pub schedule: Schedule,
    /// What they hold.
    pub content: Content,
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

/// A record, or the records of a prepared batch, that keep the due time and the phase they were
/// offered with, however long they wait.
#[derive(Debug, Clone, Copy)]
struct Pending {
    due: Nanos,
    phase: Phase,
    records: u32,
}

impl Lane {
    /// A lane that has offered nothing.
    pub fn new(
        producer: Producer<Stamps>,
        topics: Vec<TopicIndex>,
        schedule: Schedule,
        content: Content,
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
            content,
            phases,
            blocks: Blocks::default(),
            wall_offset_ms,
            keyed,
            pending: None,
        }
    }

    /// Offers what is due by `now`, one chunk at most.
    pub fn offer(&mut self, now: Nanos, recorder: &mut Recorder) -> Offered {
        let mut tally = Tally::new(recorder, now);
        let mut records = 0;
        let mut bytes = 0;
        let (records_max, bytes_max) = self.content.chunk();
        while records < records_max && bytes < bytes_max {
            let next = match self.next(now, &mut tally) {
                Ok(next) => next,
                Err(nothing) => return nothing,
            };
            match self.offer_next(now, next, &mut tally) {
                Ok(taken) => {
                    records += next.records;
                    bytes += taken;
                }
                Err(until) => return Offered::Blocked(until),
            }
        }
        Offered::More
    }

    /// What is to be offered at `now`, counted as due and offered once; or why nothing is.
    #[inline]
    fn next(&mut self, now: Nanos, tally: &mut Tally<'_>) -> Result<Pending, Offered> {
        if let Some(pending) = self.pending {
            return Ok(pending);
        }
        let due = self.schedule.next_due().unwrap_or(now);
        let phase = self.phases.of(due).ok_or(Offered::End)?;
        if due > now {
            return Err(Offered::Until(due));
        }
        let records = self.content.next_records(self.phases.left(phase));
        tally.add(phase, records);
        Ok(Pending {
            due,
            phase,
            records,
        })
    }

    /// Offers `next`; gives its payload bytes, or until when the lane is blocked.
    #[inline]
    fn offer_next(
        &mut self,
        now: Nanos,
        next: Pending,
        tally: &mut Tally<'_>,
    ) -> Result<usize, Nanos> {
        let Pending {
            due,
            phase,
            records,
        } = next;
        // What met the block was offered when the block began.
        let first = self.blocks.blocked_since();
        if first.is_some() {
            self.blocks.unblock(now);
        }
        self.blocks.forget_before(due);
        let (mut pass, _) = self.blocks.pass(phase, now);
        if let Some(since) = first {
            pass.offered = since;
        }
        let (payload, appended) = self.append(now, due, &pass);
        match appended {
            Ok(_) => {}
            Err(Refused::TooLarge { .. }) => {
                tally.end(next, &pass, RECORD_TOO_LARGE);
            }
            Err(Refused::NoPartition(_)) => {
                tally.end(next, &pass, NO_SUCH_PARTITION);
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
                    self.pending = Some(next);
                    return Err(until);
                }
                tally.end(next, &pass, BUFFER_EXHAUSTED);
            }
        }
        self.pending = None;
        self.phases.take_together(phase, due, records.into());
        match &mut self.content {
            Content::Assembled(_) => self.schedule.advance(payload),
            Content::Stamped { next, taken, .. } => {
                *next = None;
                *taken += 1;
                self.schedule.advance_together(records, payload);
            }
        }
        Ok(payload)
    }

    /// Appends the next record or prepared batch; gives its payload bytes, and how that went.
    #[inline]
    fn append(&mut self, now: Nanos, due: Nanos, pass: &Pass) -> (usize, Result<u32, Refused>) {
        let timestamp_ms = (now / MILLISECOND) as i64 + self.wall_offset_ms;
        match &mut self.content {
            Content::Assembled(source) => {
                let step = self.schedule.step_fp();
                let index = self.schedule.taken();
                let drawn = source.record(index);
                let append = Append {
                    key: drawn.key.map(|key| key.bytes),
                    value: drawn.value,
                    headers: drawn.headers,
                    timestamp_ms,
                    choice: match drawn.key {
                        Some(key) if self.keyed => Choice::Keyed(key.hash),
                        _ => Choice::Free,
                    },
                };
                let topic = in_turn(&self.topics, index as usize);
                let stamp = |stamps: &mut Stamps| push(stamps, due, step, pass);
                let appended = self.producer.append(now, topic, &append, stamp);
                (drawn.payload_bytes(), appended)
            }
            Content::Stamped { next, taken, .. } => {
                let Some(template) = next else {
                    return (0, Ok(0));
                };
                let topic = in_turn(&self.topics, *taken);
                let records = template.record_count();
                let stamp = |stamps: &mut Stamps| stamps.push_together(due, records, pass);
                let producer = &mut self.producer;
                let appended = producer.append_prepared(now, topic, template, timestamp_ms, stamp);
                (template.payload_bytes() as usize, appended)
            }
        }
    }

    /// Ends what is due by `now` and was not taken: the run is over.
    pub fn leave(&mut self, now: Nanos, name: &'static str, recorder: &mut Recorder) {
        let mut never = Stamps::default();
        if let Some(pending) = self.pending.take() {
            let Pending {
                due,
                phase,
                records,
            } = pending;
            let pass = Pass {
                offered: self.blocks.blocked_since().unwrap_or(now),
                ..self.blocks.pass(phase, now).0
            };
            let mut offered = Stamps::default();
            offered.push_together(due, records, &pass);
            recorder.ended(Ending::Unsent, name, &offered, now);
            self.phases.take_together(phase, due, records.into());
            self.schedule.advance_together(records, 0);
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

/// Counts what one chunk makes due and offers, and tells the recorder once.
struct Tally<'a> {
    recorder: &'a mut Recorder,
    now: Nanos,
    phase: Phase,
    records: u64,
}

impl<'a> Tally<'a> {
    fn new(recorder: &'a mut Recorder, now: Nanos) -> Self {
        Self {
            recorder,
            now,
            phase: Phase::Warmup,
            records: 0,
        }
    }

    #[inline]
    fn add(&mut self, phase: Phase, records: u32) {
        if phase != self.phase {
            self.tell();
            self.phase = phase;
        }
        self.records += u64::from(records);
    }

    /// Ends what could not be appended.
    fn end(&mut self, what: Pending, pass: &Pass, name: &'static str) {
        self.tell();
        let mut stamps = Stamps::default();
        stamps.push_together(what.due, what.records, pass);
        self.recorder.ended(Ending::Failed, name, &stamps, self.now);
    }

    fn tell(&mut self) {
        if self.records > 0 {
            self.recorder.due(self.phase, self.records);
            self.recorder.offered(self.now, self.phase, self.records);
            self.records = 0;
        }
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

/// The topic for turn `turn`.
#[inline]
fn in_turn(topics: &[TopicIndex], turn: usize) -> TopicIndex {
    match topics {
        [only] => *only,
        several => several[turn % several.len()],
    }
}

impl Content {
    /// Records and bytes offered between two readings of the clock.
    fn chunk(&self) -> (u32, usize) {
        match self {
            Self::Assembled(_) => (CHUNK_RECORDS, CHUNK_BYTES),
            Self::Stamped { .. } => (u32::MAX, STAMPED_CHUNK_BYTES),
        }
    }

    /// Records that are offered together next, where `left` is how many there may be; at least 1.
    #[inline]
    fn next_records(&mut self, left: u64) -> u32 {
        match self {
            Self::Assembled(_) => 1,
            Self::Stamped { stock, next, taken } => next
                .get_or_insert_with(|| stock.at_most(*taken, left))
                .record_count(),
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
