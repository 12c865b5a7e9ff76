//! One partition: what it takes, under which offsets, and what of it can be read.

use std::collections::{HashMap, HashSet, VecDeque};

use mio::Token;

use super::log::{self, Found, Log};
use crate::base::clock::wall_ms;
use crate::records::layout::{
    ATTRIBUTES, BASE_OFFSET, BASE_SEQUENCE, BATCH_HEADER_BYTES, CONTROL, LAST_OFFSET_DELTA, LENGTH,
    LENGTH_END, MAGIC, MAGIC_V2, PRODUCER_EPOCH, PRODUCER_ID, RECORD_COUNT, get,
};
use crate::records::writer::sequence_after;
use crate::wire::broker_error::BrokerError;

/// Batches of a producer that are remembered per partition, as Kafka does.
const BATCHES_REMEMBERED: usize = 5;

/// One partition.
#[derive(Debug, Default)]
pub struct Partition {
    start_offset: i64,
    end_offset: i64,
    /// Offsets below it can be read.
    high_watermark: i64,
    producers: HashMap<i64, Producer>,
    /// Its records, unless this is a sink.
    log: Option<Log>,
    /// Connections that wait for records of it.
    waiting: HashSet<Token>,
}

#[derive(Debug, Default)]
struct Producer {
    epoch: i16,
    /// First sequence, last sequence, base offset; newest last.
    batches: VecDeque<(i32, i32, i64)>,
}

/// A batch that a client wants appended.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// Its first bytes, at least a header; all of them where they are to be kept.
    pub head: &'a [u8],
    /// Bytes of the whole.
    pub bytes: usize,
    /// Whether its records take the broker's time.
    pub log_append_time: bool,
}

/// What an append came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The offset of the first record.
    pub base_offset: i64,
    /// The broker's time where records have that, else −1.
    pub append_time_ms: i64,
    /// The first offset that is still there.
    pub start_offset: i64,
    /// Bytes that are kept of it; none when it was there already.
    pub kept_bytes: u64,
}

impl Partition {
    /// An empty partition, which keeps its records or doesn't.
    pub fn new(keeps: bool) -> Self {
        Self {
            log: keeps.then(Log::default),
            ..Self::default()
        }
    }

    /// The first offset that is still there.
    pub fn start_offset(&self) -> i64 {
        self.start_offset
    }

    /// The offset that the next record gets.
    pub fn end_offset(&self) -> i64 {
        self.end_offset
    }

    /// The offset up to which records can be read.
    pub fn high_watermark(&self) -> i64 {
        self.high_watermark
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::bytes)
    }

    /// Lets everything below `offset` be read; gives the connections that wait for it.
    pub fn reveal(&mut self, offset: i64) -> HashSet<Token> {
        self.high_watermark = self.high_watermark.max(offset);
        std::mem::take(&mut self.waiting)
    }

    /// Takes note that `connection` waits for more.
    pub fn wait(&mut self, connection: Token) {
        self.waiting.insert(connection);
    }

    /// Takes one batch. Of one that is not kept only the header is looked at; one that is kept is
    /// checked to its last record, and can be read from [`Partition::reveal`] on.
    ///
    /// # Errors
    /// The error a broker answers.
    pub fn append(
        &mut self,
        offered: &Offered<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<Appended, BrokerError> {
        let batch = Head::read(offered.head, offered.bytes).ok_or(BrokerError::INVALID_RECORD)?;
        let count = batch.record_count;
        let consistent = count > 0 && batch.last_offset_delta.checked_add(1) == Some(count);
        if batch.base_offset != 0 || batch.attributes & CONTROL != 0 || !consistent {
            return Err(BrokerError::INVALID_RECORD);
        }
        if batch.producer_id >= 0 && batch.base_sequence < 0 {
            return Err(BrokerError::INVALID_RECORD);
        }
        if self.log.is_some() {
            log::check(offered.head, scratch)?;
        }
        let append_time_ms = offered.log_append_time.then(wall_ms);
        let mut appended = Appended {
            base_offset: self.end_offset,
            append_time_ms: append_time_ms.unwrap_or(-1),
            start_offset: self.start_offset,
            kept_bytes: 0,
        };
        if batch.producer_id >= 0
            && let Some(offset) = self.check_sequence(&batch)?
        {
            appended.base_offset = offset;
            return Ok(appended);
        }
        if let Some(log) = &mut self.log {
            appended.kept_bytes = log.push(offered.head, self.end_offset, append_time_ms);
        }
        self.end_offset += i64::from(count);
        if self.log.is_none() {
            self.high_watermark = self.end_offset;
        }
        if let Some(producer) = self.producers.get_mut(&batch.producer_id) {
            producer.remember(&batch, appended.base_offset);
        }
        Ok(appended)
    }

    /// The batches with records from `offset` on that can be read, oldest first.
    pub fn read(&self, offset: i64) -> impl Iterator<Item = &[u8]> {
        let log = self.log.iter();
        log.flat_map(move |log| log.read(offset, self.high_watermark))
    }

    /// Drops the oldest batch; gives its bytes.
    pub fn drop_oldest(&mut self) -> Option<u64> {
        let (bytes, next) = self.log.as_mut()?.pop()?;
        self.start_offset = self.start_offset.max(next);
        Some(bytes)
    }

    /// The first record that can be read at `timestamp_ms` or later.
    pub fn at_or_after(&self, timestamp_ms: i64) -> Option<Found> {
        let found = self.log.as_ref()?.at_or_after(timestamp_ms)?;
        (found.offset < self.high_watermark).then_some(found)
    }

    /// The first of the records with the latest timestamp.
    pub fn latest(&self) -> Option<Found> {
        self.log.as_ref()?.latest()
    }

    /// The original offset of a batch that is there already; an error where a sequence is missing.
    fn check_sequence(&mut self, batch: &Head) -> Result<Option<i64>, BrokerError> {
        let known = self.producers.contains_key(&batch.producer_id);
        let producer = self.producers.entry(batch.producer_id).or_default();
        let (first, epoch) = (batch.base_sequence, batch.producer_epoch);
        if !known || epoch > producer.epoch {
            if known && first != 0 {
                return Err(BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER);
            }
            producer.epoch = epoch;
            producer.batches.clear();
            return Ok(None);
        }
        if epoch < producer.epoch {
            return Err(BrokerError::INVALID_PRODUCER_EPOCH);
        }
        let same = |known: &&(i32, i32, i64)| known.0 == first && known.1 == batch.last_sequence;
        if let Some((_, _, offset)) = producer.batches.iter().find(same) {
            return Ok(Some(*offset));
        }
        let expected = producer
            .batches
            .back()
            .map_or(0, |last| sequence_after(last.1, 1));
        if first == expected {
            return Ok(None);
        }
        Err(BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER)
    }
}

impl Producer {
    fn remember(&mut self, batch: &Head, base_offset: i64) {
        if self.batches.len() == BATCHES_REMEMBERED {
            self.batches.pop_front();
        }
        let (first, last) = (batch.base_sequence, batch.last_sequence);
        self.batches.push_back((first, last, base_offset));
    }
}

/// What a batch's header says that a broker looks at.
#[derive(Debug)]
struct Head {
    base_offset: i64,
    attributes: i16,
    last_offset_delta: i32,
    producer_id: i64,
    producer_epoch: i16,
    base_sequence: i32,
    last_sequence: i32,
    record_count: i32,
}

impl Head {
    /// The header that `bytes` begin with; `None` when they are not the one batch of
    /// `records_bytes` that they are to be.
    fn read(bytes: &[u8], records_bytes: usize) -> Option<Self> {
        let bytes = bytes.get(..BATCH_HEADER_BYTES)?;
        let length = usize::try_from(i32::from_be_bytes(get(bytes, LENGTH))).ok()?;
        if bytes[MAGIC] != MAGIC_V2 || length + LENGTH_END != records_bytes {
            return None;
        }
        let last_offset_delta = i32::from_be_bytes(get(bytes, LAST_OFFSET_DELTA));
        let base_sequence = i32::from_be_bytes(get(bytes, BASE_SEQUENCE));
        Some(Self {
            base_offset: i64::from_be_bytes(get(bytes, BASE_OFFSET)),
            attributes: i16::from_be_bytes(get(bytes, ATTRIBUTES)),
            last_offset_delta,
            producer_id: i64::from_be_bytes(get(bytes, PRODUCER_ID)),
            producer_epoch: i16::from_be_bytes(get(bytes, PRODUCER_EPOCH)),
            base_sequence,
            last_sequence: match base_sequence {
                -1 => -1,
                base => sequence_after(base, last_offset_delta as u32),
            },
            record_count: i32::from_be_bytes(get(bytes, RECORD_COUNT)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::writer::{BatchWriter, EncodedHeaders, Identity, Record};

    fn batch(identity: Identity, records: u32) -> Vec<u8> {
        let headers = EncodedHeaders::none();
        let mut buffer = Vec::new();
        let mut writer = BatchWriter::begin(&mut buffer);
        for _ in 0..records {
            let record = Record {
                timestamp_ms: 1,
                key: None,
                value: Some(b"v"),
                headers: &headers,
            };
            writer.append(&mut buffer, &record);
        }
        writer.close(&mut buffer, identity);
        buffer
    }

    fn numbered(base_sequence: i32, epoch: i16) -> Identity {
        Identity {
            producer_id: 9,
            epoch,
            base_sequence,
            transactional: false,
        }
    }

    fn put(partition: &mut Partition, records: &[u8]) -> Result<i64, BrokerError> {
        let offered = Offered {
            head: records,
            bytes: records.len(),
            log_append_time: false,
        };
        let appended = partition.append(&offered, &mut Vec::new())?;
        Ok(appended.base_offset)
    }

    #[test]
    fn a_repeated_batch_gets_its_first_offset_and_a_gap_is_refused() {
        let mut partition = Partition::default();
        assert_eq!(put(&mut partition, &batch(Identity::NONE, 4)), Ok(0));
        assert_eq!(put(&mut partition, &batch(numbered(0, 0), 3)), Ok(4));
        assert_eq!(put(&mut partition, &batch(numbered(3, 0), 2)), Ok(7));
        assert_eq!(put(&mut partition, &batch(numbered(0, 0), 3)), Ok(4));
        let gap = Err(BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER);
        assert_eq!(put(&mut partition, &batch(numbered(9, 0), 1)), gap);
        assert_eq!(put(&mut partition, &batch(numbered(0, 1), 1)), Ok(9));
        let old = Err(BrokerError::INVALID_PRODUCER_EPOCH);
        assert_eq!(put(&mut partition, &batch(numbered(5, 0), 1)), old);
    }

    #[test]
    fn batches_whose_header_is_wrong_are_refused() {
        let mut partition = Partition::default();
        let good = batch(Identity::NONE, 1);
        let invalid = Err(BrokerError::INVALID_RECORD);
        assert_eq!(put(&mut partition, &good[..65]), invalid);
        assert_eq!(put(&mut partition, &good[..20]), invalid);
        for at in [BASE_OFFSET, MAGIC, LAST_OFFSET_DELTA, RECORD_COUNT] {
            let mut damaged = good.clone();
            damaged[at] ^= 1;
            assert_eq!(put(&mut partition, &damaged), invalid, "{at}");
        }
        let twice = [batch(Identity::NONE, 1), batch(Identity::NONE, 1)].concat();
        assert_eq!(
            put(&mut partition, &twice),
            Err(BrokerError::INVALID_RECORD)
        );
        assert_eq!(partition.end_offset(), 0);
    }
}
