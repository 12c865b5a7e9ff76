//! Records into batches: partition, room, memory.

use std::sync::Arc;

use super::batch::{Batch, SERIAL_SPAN};
use super::producer::{Append, Producer, Refused, TopicIndex, Trace};
use super::topic::Partition;
use crate::base::clock::Nanos;
use crate::client::partition::sticky::Candidate;
use crate::client::partition::{Choice, Partitioner};
use crate::records::compress::Compression;
use crate::records::layout::BATCH_HEADER_BYTES;
use crate::records::stamp::Template;
use crate::records::writer::{BatchWriter, Record, record_bytes_max};
use crate::wire::produce::PARTITION_HEAD_BYTES;

/// What a compressed batch is expected to take above its ratio, as Java does.
const RATIO_MARGIN: f64 = 1.05;

impl<T: Trace> Producer<T> {
    /// Takes a record, gives `stamp` the trace of its batch, and returns its partition.
    ///
    /// # Errors
    /// When it is not taken, and why; `stamp` was then not called.
    #[inline]
    pub fn append(
        &mut self,
        now: Nanos,
        topic: TopicIndex,
        append: &Append<'_>,
        stamp: impl FnOnce(&mut T),
    ) -> Result<u32, Refused> {
        let index = self.choose(topic, append.choice)?;
        let record = Record {
            timestamp_ms: append.timestamp_ms,
            key: append.key,
            value: append.value,
            headers: append.headers,
        };
        let free = append.choice == Choice::Free;
        let state = &mut self.topics[topic.0 as usize];
        let partition = &mut state.partitions[index as usize];
        if let Some(batch) = partition.queue.back_mut()
            && let Some(bytes) = try_append(batch, &record)
        {
            stamp(&mut batch.trace);
            self.outstanding_records += 1;
            let full = batch.buffer.len() >= batch.limit + PARTITION_HEAD_BYTES;
            if full {
                batch.ready = now;
            }
            if free {
                let batch_bytes = self.options.batch_bytes;
                state.sticky.produced(bytes, batch_bytes, full);
            }
            return Ok(index);
        }
        self.append_to_new(now, topic, index, &record, stamp)?;
        Ok(index)
    }

    /// Takes a prepared batch whose records all carry `timestamp_ms`, and returns its partition;
    /// keys have no say in it.
    ///
    /// # Errors
    /// When it is not taken, and why.
    pub fn append_prepared(
        &mut self,
        now: Nanos,
        topic: TopicIndex,
        template: &Arc<Template>,
        timestamp_ms: i64,
        stamp: impl FnOnce(&mut T),
    ) -> Result<u32, Refused> {
        let index = self.choose(topic, Choice::Free)?;
        let bytes = template.batch_bytes();
        self.check_size(bytes)?;
        let mut batch = self.begin_batch(now, topic, index, bytes)?;
        batch.stamp(template, timestamp_ms);
        batch.records = template.record_count();
        batch.payload_bytes = template.payload_bytes();
        batch.raw_bytes = template.raw_bytes();
        batch.ready = now;
        stamp(&mut batch.trace);
        self.outstanding_records += u64::from(batch.records);
        self.topics[topic.0 as usize]
            .sticky
            .produced(bytes, bytes, true);
        self.enqueue(topic, index, batch);
        Ok(index)
    }

    /// The caller could not append at `now` for lack of memory: what waits need not linger.
    pub fn starve(&mut self, now: Nanos) {
        self.starved.get_or_insert(now);
    }

    #[cold]
    fn append_to_new(
        &mut self,
        now: Nanos,
        topic: TopicIndex,
        index: u32,
        record: &Record<'_>,
        stamp: impl FnOnce(&mut T),
    ) -> Result<(), Refused> {
        let length = |part: Option<&[u8]>| part.map(<[u8]>::len);
        let most = record_bytes_max(length(record.key), length(record.value), record.headers)
            + BATCH_HEADER_BYTES;
        self.check_size(most)?;
        let state = &self.topics[topic.0 as usize];
        let charge = state.batch_bytes.max(most);
        let limit = match self.options.compression {
            Compression::None => charge,
            _ => uncompressed_limit(charge, state.ratio),
        };
        self.close_for_appends(now, topic, index);
        let mut batch = self.begin_batch(now, topic, index, charge)?;
        batch.limit = limit;
        let room = batch.limit.min(FIRST_ROOM_BYTES);
        batch.buffer.reserve(room);
        let mut writer = BatchWriter::begin(&mut batch.buffer);
        let before = batch.buffer.len();
        writer.append(&mut batch.buffer, record);
        let bytes = batch.buffer.len() - before;
        batch.writer = Some(writer);
        batch.records = 1;
        stamp(&mut batch.trace);
        self.outstanding_records += 1;
        let state = &mut self.topics[topic.0 as usize];
        state
            .sticky
            .produced(bytes, self.options.batch_bytes, false);
        self.enqueue(topic, index, batch);
        Ok(())
    }

    fn check_size(&self, bytes: usize) -> Result<(), Refused> {
        let limit = self
            .options
            .buffer_bytes
            .min(self.options.request_bytes_max as u64);
        if bytes as u64 > limit {
            return Err(Refused::TooLarge { bytes, limit });
        }
        Ok(())
    }

    /// A new batch, charged to `buffer.memory`.
    fn begin_batch(
        &mut self,
        now: Nanos,
        topic: TopicIndex,
        index: u32,
        charge: usize,
    ) -> Result<Box<Batch<T>>, Refused> {
        if self.buffer.used + charge as u64 > self.options.buffer_bytes {
            return Err(Refused::BufferFull);
        }
        self.buffer.used += charge as u64;
        self.buffer.used_max = self.buffer.used_max.max(self.buffer.used);
        let mut batch = self.pool.take();
        batch.topic = topic.0;
        batch.partition = index;
        batch.charge = charge as u64;
        batch.created = now;
        Ok(batch)
    }

    /// The partition's last batch is full: it is ready from now on, and the next record without a
    /// partition may go elsewhere.
    fn close_for_appends(&mut self, now: Nanos, topic: TopicIndex, index: u32) {
        let state = &mut self.topics[topic.0 as usize];
        if let Some(batch) = state.partitions[index as usize].queue.back_mut()
            && batch.is_open()
        {
            batch.ready = now;
        }
    }

    pub(super) fn enqueue(&mut self, topic: TopicIndex, index: u32, mut batch: Box<Batch<T>>) {
        let partition = &mut self.topics[topic.0 as usize].partitions[index as usize];
        batch.serial = partition.next_serial;
        partition.next_serial += SERIAL_SPAN;
        partition.queue.push_back(batch);
        self.activate(topic.0, index);
    }

    /// Lists a partition among those with waiting batches.
    pub(super) fn activate(&mut self, topic: u32, index: u32) {
        let partition = &mut self.topics[topic as usize].partitions[index as usize];
        if partition.active_at.is_none() && !partition.queue.is_empty() {
            partition.active_at = Some(self.active.len());
            self.active.push((topic, index));
        }
    }

    /// Takes a partition without waiting batches off that list.
    pub(super) fn deactivate(&mut self, topic: u32, index: u32) {
        let partition = &mut self.topics[topic as usize].partitions[index as usize];
        if !partition.queue.is_empty() {
            return;
        }
        let Some(at) = partition.active_at.take() else {
            return;
        };
        self.active.swap_remove(at);
        if let Some((topic, index)) = self.active.get(at).copied() {
            self.topics[topic as usize].partitions[index as usize].active_at = Some(at);
        }
    }

    #[inline]
    fn choose(&mut self, topic: TopicIndex, choice: Choice) -> Result<u32, Refused> {
        let state = &mut self.topics[topic.0 as usize];
        let count = state.partitions.len() as u32;
        if count == 0 {
            self.needs_metadata = true;
            return Err(Refused::NoMetadata);
        }
        match choice {
            Choice::Exact(index) if index < count => Ok(index),
            Choice::Exact(index) => Err(Refused::NoPartition(index)),
            Choice::Keyed(hash) => Ok(hash % count),
            Choice::Free => match state.sticky.current() {
                Some(current) => Ok(current),
                None => self.choose_anew(topic),
            },
        }
    }

    #[cold]
    fn choose_anew(&mut self, topic: TopicIndex) -> Result<u32, Refused> {
        let state = &mut self.topics[topic.0 as usize];
        let count = state.partitions.len() as u32;
        match &self.options.partitioner {
            Partitioner::Default { adaptive, .. } => {
                let adaptive = *adaptive;
                let candidates = candidates(&state.partitions, adaptive);
                Ok(state.sticky.choose(candidates, count, adaptive))
            }
            Partitioner::RoundRobin => Ok(turn(&state.partitions, &mut state.turn)),
            Partitioner::Fixed(chosen) => {
                let index = chosen[state.turn as usize % chosen.len()];
                state.turn = state.turn.wrapping_add(1);
                if index < count {
                    Ok(index)
                } else {
                    Err(Refused::NoPartition(index))
                }
            }
        }
    }
}

/// How many uncompressed bytes are expected to fill a batch of `bytes` that is compressed to
/// `ratio` of its size, header and Java's margin included.
pub fn uncompressed_limit(bytes: usize, ratio: f64) -> usize {
    let records = bytes.saturating_sub(BATCH_HEADER_BYTES) as f64;
    BATCH_HEADER_BYTES + (records / (ratio.max(RATIO_MIN) * RATIO_MARGIN)) as usize
}

/// However well records are compressed, a batch grows no further than this makes it.
const RATIO_MIN: f64 = 0.01;

/// What the buffer of a new batch has room for at once; it grows from there.
const FIRST_ROOM_BYTES: usize = 16 * 1024;

/// Partitions with a leader, with their queues.
fn candidates<T>(
    partitions: &[Partition<T>],
    adaptive: bool,
) -> impl Iterator<Item = Candidate> + '_ {
    (0..)
        .zip(partitions)
        .filter(|(_, partition)| partition.leader.is_some())
        .map(move |(index, partition)| Candidate {
            partition: index,
            queued: if adaptive {
                partition.queue.len() as u64
            } else {
                0
            },
        })
}

/// The next partition that has a leader; the next at all where none has.
fn turn<T>(partitions: &[Partition<T>], turn: &mut u32) -> u32 {
    let count = partitions.len() as u32;
    for _ in 0..count {
        let index = *turn % count;
        *turn = turn.wrapping_add(1);
        if partitions[index as usize].leader.is_some() {
            return index;
        }
    }
    *turn % count
}

/// Appends to a batch that is open and has room; gives the bytes it took.
#[inline]
fn try_append<T>(batch: &mut Batch<T>, record: &Record<'_>) -> Option<usize> {
    if batch.ready != 0 {
        return None;
    }
    let writer = batch.writer.as_mut()?;
    let before = batch.buffer.len();
    let limit = batch.limit + PARTITION_HEAD_BYTES;
    if !writer.append_within(&mut batch.buffer, record, limit) {
        return None;
    }
    batch.records += 1;
    Some(batch.buffer.len() - before)
}
