//! One partition's batches in memory, as they came, base offset and leader epoch rewritten.

use std::collections::VecDeque;

use crate::records::layout::{
    ATTRIBUTES, BASE_OFFSET, CRC, LEADER_EPOCH, LOG_APPEND_TIME, MAX_TIMESTAMP, crc_range, get, put,
};
use crate::records::reader::{Batch, BatchError};
use crate::wire::broker_error::BrokerError;

/// Bytes that the records of one batch may inflate to.
const INFLATED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// What is kept of a partition. Offsets have no gaps.
#[derive(Debug, Default)]
pub struct Log {
    batches: VecDeque<Stored>,
}

#[derive(Debug)]
struct Stored {
    last_offset: i64,
    max_timestamp_ms: i64,
    bytes: Box<[u8]>,
}

/// A record found by its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its offset.
    pub offset: i64,
    /// Its timestamp, ms.
    pub timestamp_ms: i64,
}

impl Log {
    /// Takes one batch that [`check`] let pass; with `append_time_ms` its records have that time.
    /// Gives the bytes it takes.
    pub fn push(&mut self, batch: &[u8], base_offset: i64, append_time_ms: Option<i64>) -> u64 {
        let mut bytes: Box<[u8]> = batch.into();
        put(&mut bytes, BASE_OFFSET, base_offset.to_be_bytes());
        put(&mut bytes, LEADER_EPOCH, 0i32.to_be_bytes());
        if let Some(time_ms) = append_time_ms {
            date(&mut bytes, time_ms);
        }
        let batch = whole(&bytes);
        let stored = Stored {
            last_offset: batch.map_or(base_offset, |batch| batch.next_offset() - 1),
            max_timestamp_ms: batch.map_or(-1, |batch| batch.max_timestamp_ms()),
            bytes,
        };
        let taken = stored.bytes.len() as u64;
        self.batches.push_back(stored);
        taken
    }

    /// Drops the oldest batch; gives its bytes, and the first offset that was behind it.
    pub fn pop(&mut self) -> Option<(u64, i64)> {
        let oldest = self.batches.pop_front()?;
        let bytes = oldest.bytes.len() as u64;
        Some((bytes, oldest.last_offset + 1))
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> u64 {
        let batches = self.batches.iter();
        batches.map(|batch| batch.bytes.len() as u64).sum()
    }

    /// The batches that hold records from `offset` on and below `end`, oldest first.
    pub fn read(&self, offset: i64, end: i64) -> impl Iterator<Item = &[u8]> {
        let first = self
            .batches
            .partition_point(|batch| batch.last_offset < offset);
        let within = move |batch: &&Stored| batch.last_offset < end;
        let batches = self.batches.range(first..).take_while(within);
        batches.map(|batch| &*batch.bytes)
    }

    /// The first record at `timestamp_ms` or later.
    pub fn at_or_after(&self, timestamp_ms: i64) -> Option<Found> {
        let mut batches = self.batches.iter();
        let batch = batches.find(|batch| batch.max_timestamp_ms >= timestamp_ms)?;
        batch.first_at_or_after(timestamp_ms)
    }

    /// The first of the records with the latest timestamp.
    pub fn latest(&self) -> Option<Found> {
        let times = self.batches.iter().map(|batch| batch.max_timestamp_ms);
        self.at_or_after(times.max()?)
    }
}

impl Stored {
    fn first_at_or_after(&self, timestamp_ms: i64) -> Option<Found> {
        let batch = whole(&self.bytes)?;
        let mut scratch = Vec::new();
        let mut records = batch.records(&mut scratch, INFLATED_BYTES_MAX).ok()?;
        while let Ok(Some(record)) = records.next_record() {
            if record.timestamp_ms >= timestamp_ms {
                return Some(Found {
                    offset: record.offset,
                    timestamp_ms: record.timestamp_ms,
                });
            }
        }
        None
    }
}

/// Checks `records`, of which a header was found to be in order, to the last record.
///
/// # Errors
/// The error a broker answers: a wrong CRC, or records that are not those of the header.
pub fn check(records: &[u8], scratch: &mut Vec<u8>) -> Result<(), BrokerError> {
    let batch = whole(records).ok_or(BrokerError::INVALID_RECORD)?;
    batch
        .check_crc()
        .map_err(|_| BrokerError::CORRUPT_MESSAGE)?;
    let mut records = batch
        .records(scratch, INFLATED_BYTES_MAX)
        .map_err(|error| match error {
            BatchError::Codec(_) => BrokerError::UNSUPPORTED_COMPRESSION_TYPE,
            _ => BrokerError::CORRUPT_MESSAGE,
        })?;
    loop {
        match records.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(_) => return Err(BrokerError::INVALID_RECORD),
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Batch<'_>> {
    Batch::only(bytes).ok().flatten()
}

/// Makes `time_ms`, the broker's, the time of all its records.
fn date(batch: &mut [u8], time_ms: i64) {
    let attributes = i16::from_be_bytes(get(batch, ATTRIBUTES)) | LOG_APPEND_TIME;
    put(batch, ATTRIBUTES, attributes.to_be_bytes());
    put(batch, MAX_TIMESTAMP, time_ms.to_be_bytes());
    let crc = crc32c::crc32c(&batch[crc_range(batch.len())]);
    put(batch, CRC, crc.to_be_bytes());
}
