//! A batch that was too large for its broker, taken apart.

use super::compress::Codec;
use super::layout::BATCH_HEADER_BYTES;
use super::reader::{Batch, BatchError};
use super::writer::{BatchWriter, EncodedHeaders, Identity, Record};

/// How small the parts are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitTo {
    /// Parts of at most so many bytes before compression; a larger record has one of its own.
    Bytes(usize),
    /// Two parts of as many records each.
    Halves,
}

/// A part: a whole batch of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its bytes, closed.
    pub batch: Vec<u8>,
    /// Its records.
    pub records: u32,
    /// Keys, values and headers in it.
    pub payload_bytes: u64,
    /// Keys in it.
    pub key_bytes: u64,
    /// Its bytes before compression, header included.
    pub raw_bytes: u64,
}

/// Takes `batch` apart; the sequences of the parts continue in its range.
///
/// # Errors
/// When the batch can't be read.
pub fn split(
    batch: &Batch<'_>,
    to: SplitTo,
    codec: &mut Codec,
    inflated_limit: usize,
) -> Result<Vec<Part>, BatchError> {
    let mut scratch = Vec::new();
    let records = batch.records(&mut scratch, inflated_limit)?;
    let count = batch.record_count() as u32;
    let mut splitter = Splitter {
        open: None,
        buffer: Vec::new(),
        parts: Vec::new(),
        codec,
        identity: Identity {
            producer_id: batch.producer_id(),
            epoch: batch.producer_epoch(),
            base_sequence: batch.base_sequence(),
            transactional: batch.transactional(),
        },
    };
    for (index, record) in (0..).zip(records) {
        let record = record?;
        let headers = EncodedHeaders::from_encoded(&record.headers);
        let record = Record {
            timestamp_ms: record.timestamp_ms,
            key: record.key,
            value: record.value,
            headers: &headers,
        };
        let full = match to {
            SplitTo::Halves => index == count.div_ceil(2),
            SplitTo::Bytes(limit) => splitter.would_exceed(&record, limit),
        };
        if full {
            splitter.close()?;
        }
        splitter.append(&record);
    }
    splitter.close()?;
    Ok(splitter.parts)
}

struct Splitter<'c> {
    open: Option<BatchWriter>,
    buffer: Vec<u8>,
    parts: Vec<Part>,
    codec: &'c mut Codec,
    identity: Identity,
}

impl Splitter<'_> {
    fn would_exceed(&self, record: &Record<'_>, limit: usize) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| self.buffer.len() + open.record_bytes(record) > limit)
    }

    fn append(&mut self, record: &Record<'_>) {
        let buffer = &mut self.buffer;
        let writer = self.open.get_or_insert_with(|| BatchWriter::begin(buffer));
        writer.append(&mut self.buffer, record);
    }

    fn close(&mut self) -> Result<(), BatchError> {
        let Some(writer) = self.open.take() else {
            return Ok(());
        };
        let mut batch = Vec::with_capacity(BATCH_HEADER_BYTES);
        writer.close_compressed(&self.buffer, &mut batch, self.codec, self.identity)?;
        self.parts.push(Part {
            batch,
            records: writer.count(),
            payload_bytes: writer.payload_bytes(),
            key_bytes: writer.key_bytes(),
            raw_bytes: self.buffer.len() as u64,
        });
        self.identity = self.identity.after(writer.count());
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::compress::Compression;

    #[test]
    fn parts_hold_the_same_records_and_continue_the_sequences() {
        for compression in [Compression::None, Compression::Gzip { level: 1 }] {
            let headers = EncodedHeaders::new(&[("h", None)]);
            let mut buffer = Vec::new();
            let mut writer = BatchWriter::begin(&mut buffer);
            for i in 0..10u8 {
                let record = Record {
                    timestamp_ms: 100 + i64::from(i),
                    key: Some(&[i]),
                    value: Some(&[i; 50]),
                    headers: &headers,
                };
                writer.append(&mut buffer, &record);
            }
            let identity = Identity {
                producer_id: 9,
                epoch: 1,
                base_sequence: i32::MAX - 1,
                transactional: false,
            };
            let mut codec = Codec::new(compression);
            let mut closed = Vec::new();
            writer
                .close_compressed(&buffer, &mut closed, &mut codec, identity)
                .unwrap();
            let batch = Batch::only(&closed).unwrap().unwrap();
            for (to, counts) in [
                (SplitTo::Halves, vec![5, 5]),
                (SplitTo::Bytes(61 + 3 * 61), vec![3, 3, 3, 1]),
                (SplitTo::Bytes(1), vec![1; 10]),
            ] {
                let parts = split(&batch, to, &mut codec, 1 << 20).unwrap();
                let sizes: Vec<u32> = parts.iter().map(|part| part.records).collect();
                assert_eq!(sizes, counts);
                let mut seen = Vec::new();
                for part in &parts {
                    let batch = Batch::only(&part.batch).unwrap().unwrap();
                    batch.check_crc().unwrap();
                    let mut scratch = Vec::new();
                    for record in batch.records(&mut scratch, 1 << 20).unwrap() {
                        let record = record.unwrap();
                        seen.push((record.sequence, record.timestamp_ms, record.key.unwrap()[0]));
                    }
                }
                let sequence =
                    |i: u8| crate::records::writer::sequence_after(i32::MAX - 1, i.into());
                let expected: Vec<_> = (0..10u8)
                    .map(|i| (sequence(i), 100 + i64::from(i), i))
                    .collect();
                assert_eq!(seen, expected);
            }
        }
    }
}
