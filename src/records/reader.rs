//! Reads record batches: borrowed, bounded, and content with a cut last batch.

use thiserror::Error;

use super::compress::{CodecId, CompressError, decompress};
use super::layout::{
    ATTRIBUTES, BASE_OFFSET, BASE_SEQUENCE, BASE_TIMESTAMP, BATCH_HEADER_BYTES, CONTROL, CRC,
    DELETE_HORIZON, LAST_OFFSET_DELTA, LEADER_EPOCH, LENGTH, LENGTH_END, LOG_APPEND_TIME, MAGIC,
    MAGIC_V2, MAX_TIMESTAMP, PRODUCER_EPOCH, PRODUCER_ID, RECORD_COUNT, TRANSACTIONAL, crc_range,
    get,
};
use super::writer::sequence_after;
use crate::wire::cursor::{Cursor, DecodeError, Fault};

/// What is wrong with a batch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BatchError {
    /// Its length can't be one.
    #[error("a batch of length {0} was announced")]
    Length(i32),
    /// It is of a format before Kafka 0.11.
    #[error("record format {0}; only format 2 is read")]
    Magic(u8),
    /// Its bytes were changed.
    #[error("CRC stored {stored:08x}, computed {computed:08x}")]
    Crc {
        /// What the batch says.
        stored: u32,
        /// What its bytes give.
        computed: u32,
    },
    /// Its codec has no number we know.
    #[error("compression codec {0} is not known")]
    Codec(i16),
    /// Its records can't be inflated.
    #[error(transparent)]
    Compress(#[from] CompressError),
    /// A record is not as the layout says.
    #[error("record {index}: {error}")]
    Record {
        /// Which one, from 0.
        index: u32,
        /// Where in the records, inflated.
        error: DecodeError,
    },
}

/// The batches of a records field, in order.
#[derive(Debug, Clone)]
pub struct Batches<'a> {
    rest: &'a [u8],
}

/// One whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch<'a> {
    bytes: &'a [u8],
}

/// One record, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// Its offset in the partition.
    pub offset: i64,
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Its sequence; −1 when the producer is not idempotent.
    pub sequence: i32,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: Headers<'a>,
}

/// The headers of a record; checked when the record was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers<'a> {
    encoded: &'a [u8],
}

impl<'a> Batches<'a> {
    /// The batches in `records`; a cut one at the end is left out.
    pub fn new(records: &'a [u8]) -> Self {
        Self { rest: records }
    }

    /// Bytes of a cut batch at the end, once all whole ones were given.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Batches<'a> {
    type Item = Result<Batch<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.len() < LENGTH_END {
            return None;
        }
        let length = i32::from_be_bytes(get(self.rest, LENGTH));
        let announced = usize::try_from(length).unwrap_or(0);
        if announced < BATCH_HEADER_BYTES - LENGTH_END {
            self.rest = &[];
            return Some(Err(BatchError::Length(length)));
        }
        let end = LENGTH_END + announced;
        if self.rest.len() > MAGIC && self.rest[MAGIC] != MAGIC_V2 {
            let magic = self.rest[MAGIC];
            self.rest = &[];
            return Some(Err(BatchError::Magic(magic)));
        }
        let bytes = self.rest.get(..end)?;
        self.rest = &self.rest[end..];
        Some(Ok(Batch { bytes }))
    }
}

impl<'a> Batch<'a> {
    /// The only batch of `records`, whole and with nothing behind it.
    ///
    /// # Errors
    /// When its length or format is wrong; `None` when it is cut or something follows it.
    pub fn only(records: &'a [u8]) -> Result<Option<Self>, BatchError> {
        let mut batches = Batches::new(records);
        match batches.next() {
            Some(batch) => batch.map(|batch| batches.rest().is_empty().then_some(batch)),
            None => Ok(None),
        }
    }

    /// All its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Offset of its first record.
    pub fn base_offset(&self) -> i64 {
        i64::from_be_bytes(get(self.bytes, BASE_OFFSET))
    }

    /// Epoch of the leader that took it.
    pub fn leader_epoch(&self) -> i32 {
        i32::from_be_bytes(get(self.bytes, LEADER_EPOCH))
    }

    /// CRC as it stands there.
    pub fn crc(&self) -> u32 {
        u32::from_be_bytes(get(self.bytes, CRC))
    }

    /// Codec and flags.
    pub fn attributes(&self) -> i16 {
        i16::from_be_bytes(get(self.bytes, ATTRIBUTES))
    }

    /// Its codec.
    ///
    /// # Errors
    /// When the number is none we know.
    pub fn codec(&self) -> Result<CodecId, BatchError> {
        let attributes = self.attributes();
        CodecId::from_attributes(attributes).ok_or(BatchError::Codec(attributes & 7))
    }

    /// Whether timestamps are the broker's.
    pub fn log_append_time(&self) -> bool {
        self.attributes() & LOG_APPEND_TIME != 0
    }

    /// Whether it is part of a transaction.
    pub fn transactional(&self) -> bool {
        self.attributes() & TRANSACTIONAL != 0
    }

    /// Whether its records are control records.
    pub fn control(&self) -> bool {
        self.attributes() & CONTROL != 0
    }

    /// When its tombstones may go, if it says so.
    pub fn delete_horizon_ms(&self) -> Option<i64> {
        (self.attributes() & DELETE_HORIZON != 0).then(|| self.base_timestamp_ms())
    }

    /// Offset of its last record, less that of its first.
    pub fn last_offset_delta(&self) -> i32 {
        i32::from_be_bytes(get(self.bytes, LAST_OFFSET_DELTA))
    }

    /// What record timestamps count from.
    pub fn base_timestamp_ms(&self) -> i64 {
        i64::from_be_bytes(get(self.bytes, BASE_TIMESTAMP))
    }

    /// The latest timestamp.
    pub fn max_timestamp_ms(&self) -> i64 {
        i64::from_be_bytes(get(self.bytes, MAX_TIMESTAMP))
    }

    /// The producer's id, or −1.
    pub fn producer_id(&self) -> i64 {
        i64::from_be_bytes(get(self.bytes, PRODUCER_ID))
    }

    /// The producer's epoch, or −1.
    pub fn producer_epoch(&self) -> i16 {
        i16::from_be_bytes(get(self.bytes, PRODUCER_EPOCH))
    }

    /// The sequence of its first record, or −1.
    pub fn base_sequence(&self) -> i32 {
        i32::from_be_bytes(get(self.bytes, BASE_SEQUENCE))
    }

    /// The sequence of its last record, or −1.
    pub fn last_sequence(&self) -> i32 {
        match self.base_sequence() {
            -1 => -1,
            base => sequence_after(base, self.last_offset_delta() as u32),
        }
    }

    /// How many records it says it has.
    pub fn record_count(&self) -> i32 {
        i32::from_be_bytes(get(self.bytes, RECORD_COUNT))
    }

    /// Where to read on behind it.
    pub fn next_offset(&self) -> i64 {
        let last = i64::from(self.last_offset_delta());
        self.base_offset().saturating_add(last).saturating_add(1)
    }

    /// That its bytes are those its CRC was made of.
    ///
    /// # Errors
    /// When they aren't.
    pub fn check_crc(&self) -> Result<(), BatchError> {
        let stored = self.crc();
        let computed = crc32c::crc32c(&self.bytes[crc_range(self.bytes.len())]);
        if stored == computed {
            return Ok(());
        }
        Err(BatchError::Crc { stored, computed })
    }

    /// Its records, inflated into `scratch` where they are compressed.
    ///
    /// # Errors
    /// When the codec is unknown, or they inflate to nonsense or to more than `limit` bytes.
    pub fn records<'s>(
        &self,
        scratch: &'s mut Vec<u8>,
        limit: usize,
    ) -> Result<Records<'s>, BatchError>
    where
        'a: 's,
    {
        let packed = &self.bytes[BATCH_HEADER_BYTES..];
        let count = u32::try_from(self.record_count()).unwrap_or(0);
        let body = match self.codec()? {
            // A batch that compaction emptied has nothing to inflate.
            CodecId::None => packed,
            _ if count == 0 => &[],
            codec => {
                scratch.clear();
                decompress(codec, packed, scratch, limit)?;
                scratch
            }
        };
        Ok(Records {
            cursor: Cursor::new(body),
            index: 0,
            count,
            base_offset: self.base_offset(),
            base_sequence: self.base_sequence(),
            base_timestamp_ms: self.base_timestamp_ms(),
            append_time_ms: self.log_append_time().then(|| self.max_timestamp_ms()),
        })
    }
}

/// The records of one batch. It ends at the first that is malformed; when all were read, bytes left
/// over are an error.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    index: u32,
    count: u32,
    base_offset: i64,
    base_sequence: i32,
    base_timestamp_ms: i64,
    append_time_ms: Option<i64>,
}

impl<'a> Records<'a> {
    /// The next record; none behind the last.
    ///
    /// # Errors
    /// When it is malformed, or bytes are left over behind the last.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<RecordView<'a>>, DecodeError> {
        if self.index == self.count {
            return self.cursor.end().map(|()| None);
        }
        let start = self.cursor;
        let length = self.cursor.varint()?;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= self.cursor.remaining())
            .ok_or_else(|| start.error("record", Fault::Length))?;
        let end = self.cursor.offset() + length;
        self.cursor.i8()?;
        let timestamp_delta = self.cursor.varlong()?;
        let offset_delta = self.cursor.varint()?;
        let record = RecordView {
            offset: self.base_offset.wrapping_add(i64::from(offset_delta)),
            timestamp_ms: self
                .append_time_ms
                .unwrap_or_else(|| self.base_timestamp_ms.wrapping_add(timestamp_delta)),
            sequence: match self.base_sequence {
                -1 => -1,
                base => sequence_after(base, offset_delta as u32),
            },
            key: varint_bytes(&mut self.cursor)?,
            value: varint_bytes(&mut self.cursor)?,
            headers: self.headers()?,
        };
        if self.cursor.offset() != end {
            return Err(self.cursor.error("the end of the record", Fault::Trailing));
        }
        self.index += 1;
        Ok(Some(record))
    }

    fn headers(&mut self) -> Result<Headers<'a>, DecodeError> {
        let start = self.cursor;
        let count = self.cursor.varint()?;
        if count < 0 || count as usize > self.cursor.remaining() {
            return Err(start.error("header count", Fault::Length));
        }
        for _ in 0..count {
            header(&mut self.cursor)?;
        }
        let taken = self.cursor.offset() - start.offset();
        Ok(Headers {
            encoded: &start.rest()[..taken],
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RecordView<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.index;
        match self.next_record() {
            Ok(record) => record.map(Ok),
            Err(error) => {
                *self = Self {
                    cursor: Cursor::new(&[]),
                    index: 0,
                    count: 0,
                    ..*self
                };
                Some(Err(BatchError::Record { index, error }))
            }
        }
    }
}

impl<'a> Headers<'a> {
    /// The headers as they stand in the record, their count first.
    pub fn encoded(&self) -> &'a [u8] {
        self.encoded
    }

    /// Names and values, in order; a name may come twice.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Option<&'a [u8]>)> + use<'a> {
        let mut cursor = Cursor::new(self.encoded);
        let count = cursor.varint().unwrap_or(0);
        (0..count).map_while(move |_| header(&mut cursor).ok())
    }
}

fn header<'a>(cursor: &mut Cursor<'a>) -> Result<(&'a str, Option<&'a [u8]>), DecodeError> {
    let start = *cursor;
    let name = varint_bytes(cursor)?.and_then(|name| std::str::from_utf8(name).ok());
    let name = name.ok_or_else(|| start.error("header name", Fault::Value))?;
    Ok((name, varint_bytes(cursor)?))
}

#[inline]
fn varint_bytes<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, DecodeError> {
    let start = *cursor;
    let length = cursor.varint()?;
    match usize::try_from(length) {
        Ok(length) if length <= cursor.remaining() => cursor.take(length, "bytes").map(Some),
        Err(_) if length == -1 => Ok(None),
        _ => Err(start.error("bytes", Fault::Length)),
    }
}
