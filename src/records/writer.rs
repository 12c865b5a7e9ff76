//! Appends records into a caller's buffer; closing patches lengths, identity and CRC.

use std::ops::Range;

use super::compress::{Codec, CompressError};
use super::layout::{
    self, ATTRIBUTES, BASE_SEQUENCE, BASE_TIMESTAMP, BATCH_HEADER_BYTES, CRC, LAST_OFFSET_DELTA,
    LEADER_EPOCH, LENGTH, LENGTH_END, MAGIC, MAGIC_V2, MAX_TIMESTAMP, PRODUCER_EPOCH, PRODUCER_ID,
    RECORD_COUNT, TRANSACTIONAL, put,
};
use super::reader::Headers;
use crate::wire::sink::put_unsigned_varint;

/// The most bytes a record takes beside key, value and headers, as Java bounds it.
pub const RECORD_OVERHEAD_MAX: usize = 21;

/// One record to append.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: &'a EncodedHeaders,
}

/// Headers as they stand in a record, encoded once for all records that carry them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedHeaders {
    bytes: Vec<u8>,
    payload_bytes: usize,
}

/// Who wrote a batch, for a broker that drops repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The producer's id.
    pub producer_id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// The sequence of the first record.
    pub base_sequence: i32,
    /// Whether the batch is part of a transaction.
    pub transactional: bool,
}

/// The state of one open batch; its bytes are in the caller's buffer, from where it began.
#[derive(Debug, Clone, Copy)]
pub struct BatchWriter {
    start: usize,
    base_timestamp_ms: i64,
    max_timestamp_ms: i64,
    count: u32,
    payload_bytes: u64,
    key_bytes: u64,
}

impl Identity {
    /// A producer that is not idempotent.
    pub const NONE: Self = Self {
        producer_id: -1,
        epoch: -1,
        base_sequence: -1,
        transactional: false,
    };

    /// The identity of the batch that follows one of `records`.
    pub fn after(self, records: u32) -> Self {
        if self.base_sequence < 0 {
            return self;
        }
        Self {
            base_sequence: sequence_after(self.base_sequence, records),
            ..self
        }
    }
}

impl EncodedHeaders {
    /// No headers.
    pub fn none() -> Self {
        Self::new(&[])
    }

    /// The headers given, in their order; a name may come twice.
    ///
    /// # Panics
    /// When a name or a value is 1 GiB or longer.
    pub fn new(headers: &[(&str, Option<&[u8]>)]) -> Self {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, headers.len());
        let mut payload_bytes = 0;
        for (name, value) in headers {
            put_varint(&mut bytes, name.len());
            bytes.extend_from_slice(name.as_bytes());
            match value {
                Some(value) => {
                    put_varint(&mut bytes, value.len());
                    bytes.extend_from_slice(value);
                }
                None => bytes.push(NULL),
            }
            payload_bytes += name.len() + value.map_or(0, <[u8]>::len);
        }
        Self {
            bytes,
            payload_bytes,
        }
    }

    /// The headers of a record that was read.
    pub fn from_encoded(headers: &Headers<'_>) -> Self {
        let parts = headers.iter();
        Self {
            bytes: headers.encoded().to_vec(),
            payload_bytes: parts
                .map(|(name, value)| name.len() + value.map_or(0, <[u8]>::len))
                .sum(),
        }
    }

    /// Bytes of names and values.
    pub fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    /// Bytes as encoded.
    pub fn encoded_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// The bound Java checks a record's size by: no record of these lengths takes more.
pub fn record_bytes_max(
    key: Option<usize>,
    value: Option<usize>,
    headers: &EncodedHeaders,
) -> usize {
    let part = |length: Option<usize>| length.map_or(1, |n| varint_bytes(zigzag(n)) + n);
    RECORD_OVERHEAD_MAX + part(key) + part(value) + headers.bytes.len()
}

impl BatchWriter {
    /// Begins a batch at the end of `buffer`.
    pub fn begin(buffer: &mut Vec<u8>) -> Self {
        let start = buffer.len();
        buffer.resize(start + BATCH_HEADER_BYTES, 0);
        Self {
            start,
            base_timestamp_ms: 0,
            max_timestamp_ms: i64::MIN,
            count: 0,
            payload_bytes: 0,
            key_bytes: 0,
        }
    }

    /// Records appended.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Where the batch begins in its buffer.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Bytes of keys, values and headers appended.
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Bytes of keys appended.
    pub fn key_bytes(&self) -> u64 {
        self.key_bytes
    }

    /// The exact number of bytes `record` takes if it is appended next.
    #[inline]
    pub fn record_bytes(&self, record: &Record<'_>) -> usize {
        let body = self.body_bytes(record);
        varint_bytes(zigzag(body)) + body
    }

    #[inline]
    fn body_bytes(&self, record: &Record<'_>) -> usize {
        let part =
            |part: Option<&[u8]>| part.map_or(1, |p| varint_bytes(zigzag(p.len())) + p.len());
        1 + varint_bytes(zigzag_i64(self.timestamp_delta(record)))
            + varint_bytes(zigzag(self.count as usize))
            + part(record.key)
            + part(record.value)
            + record.headers.bytes.len()
    }

    #[inline]
    fn timestamp_delta(&self, record: &Record<'_>) -> i64 {
        if self.count == 0 {
            return 0;
        }
        record.timestamp_ms.wrapping_sub(self.base_timestamp_ms)
    }

    /// Appends `record`.
    #[inline]
    pub fn append(&mut self, buffer: &mut Vec<u8>, record: &Record<'_>) {
        self.append_body(buffer, record, self.body_bytes(record));
    }

    /// Appends `record` unless the buffer would then hold more than `limit` bytes; says whether.
    #[inline]
    pub fn append_within(
        &mut self,
        buffer: &mut Vec<u8>,
        record: &Record<'_>,
        limit: usize,
    ) -> bool {
        let body = self.body_bytes(record);
        let fits = buffer.len() + varint_bytes(zigzag(body)) + body <= limit;
        if fits {
            self.append_body(buffer, record, body);
        }
        fits
    }

    #[inline]
    fn append_body(&mut self, buffer: &mut Vec<u8>, record: &Record<'_>, body: usize) {
        let delta = self.timestamp_delta(record);
        if self.count == 0 {
            self.base_timestamp_ms = record.timestamp_ms;
        }
        self.max_timestamp_ms = self.max_timestamp_ms.max(record.timestamp_ms);
        let mut head = Head::default();
        head.varint(zigzag(body));
        head.byte(0);
        head.varint(zigzag_i64(delta));
        head.varint(zigzag(self.count as usize));
        match record.key {
            None => head.byte(NULL),
            Some(key) => {
                head.varint(zigzag(key.len()));
                head.write(buffer);
                buffer.extend_from_slice(key);
                head = Head::default();
                self.key_bytes += key.len() as u64;
                self.payload_bytes += key.len() as u64;
            }
        }
        match record.value {
            None => {
                head.byte(NULL);
                head.write(buffer);
            }
            Some(value) => {
                head.varint(zigzag(value.len()));
                head.write(buffer);
                buffer.extend_from_slice(value);
                self.payload_bytes += value.len() as u64;
            }
        }
        if record.headers.bytes.len() == 1 {
            buffer.push(0);
        } else {
            buffer.extend_from_slice(&record.headers.bytes);
            self.payload_bytes += record.headers.payload_bytes as u64;
        }
        self.count += 1;
    }

    /// Closes the batch, uncompressed; gives its bytes in `buffer`, which end it.
    pub fn close(&self, buffer: &mut [u8], identity: Identity) -> Range<usize> {
        let range = self.start..buffer.len();
        self.finish(&mut buffer[self.start..], 0, identity);
        range
    }

    /// Closes the batch at the end of `from` into the end of `into`, compressed; gives its bytes there.
    ///
    /// # Errors
    /// When the codec fails; `into` is then as it was.
    pub fn close_compressed(
        &self,
        from: &[u8],
        into: &mut Vec<u8>,
        codec: &mut Codec,
        identity: Identity,
    ) -> Result<Range<usize>, CompressError> {
        let start = into.len();
        into.resize(start + BATCH_HEADER_BYTES, 0);
        let records = &from[self.start + BATCH_HEADER_BYTES..];
        if let Err(error) = codec.compress(records, into) {
            into.truncate(start);
            return Err(error);
        }
        let attributes = codec.id() as i16;
        self.finish(&mut into[start..], attributes, identity);
        Ok(start..into.len())
    }

    fn finish(&self, batch: &mut [u8], codec: i16, identity: Identity) {
        let transactional = if identity.transactional {
            TRANSACTIONAL
        } else {
            0
        };
        put(batch, layout::BASE_OFFSET, 0i64.to_be_bytes());
        let length = (batch.len() - LENGTH_END) as i32;
        put(batch, LENGTH, length.to_be_bytes());
        put(batch, LEADER_EPOCH, (-1i32).to_be_bytes());
        batch[MAGIC] = MAGIC_V2;
        put(batch, ATTRIBUTES, (codec | transactional).to_be_bytes());
        let last = self.count as i32 - 1;
        put(batch, LAST_OFFSET_DELTA, last.to_be_bytes());
        put(batch, BASE_TIMESTAMP, self.base_timestamp_ms.to_be_bytes());
        put(batch, MAX_TIMESTAMP, self.max_timestamp_ms.to_be_bytes());
        put(batch, RECORD_COUNT, self.count.to_be_bytes());
        put_identity(batch, identity);
        seal(batch);
    }
}

/// Gives a closed batch another identity, its CRC included.
pub fn rewrite_identity(batch: &mut [u8], identity: Identity) {
    put_identity(batch, identity);
    seal(batch);
}

/// The sequence that follows `records` records from `base`: after 2147483647 comes 0.
pub fn sequence_after(base: i32, records: u32) -> i32 {
    ((i64::from(base) + i64::from(records)) & i64::from(i32::MAX)) as i32
}

fn put_identity(batch: &mut [u8], identity: Identity) {
    put(batch, PRODUCER_ID, identity.producer_id.to_be_bytes());
    put(batch, PRODUCER_EPOCH, identity.epoch.to_be_bytes());
    put(batch, BASE_SEQUENCE, identity.base_sequence.to_be_bytes());
}

fn seal(batch: &mut [u8]) {
    let crc = crc32c::crc32c(&batch[layout::crc_range(batch.len())]);
    put(batch, CRC, crc.to_be_bytes());
}

/// The varint of −1: a length that is null.
const NULL: u8 = 1;

#[inline]
fn zigzag(length: usize) -> u64 {
    (length as u64) << 1
}

#[inline]
fn zigzag_i64(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
fn varint_bytes(raw: u64) -> usize {
    (70 - (raw | 1).leading_zeros() as usize) / 7
}

fn put_varint(out: &mut Vec<u8>, length: usize) {
    let raw = u32::try_from(zigzag(length)).expect("a header part is below 1 GiB");
    put_unsigned_varint(out, raw);
}

/// The bytes of a record before its key or value, gathered to be copied at once.
#[derive(Default)]
struct Head {
    bytes: [u8; 32],
    length: usize,
}

impl Head {
    #[inline]
    fn byte(&mut self, byte: u8) {
        self.bytes[self.length & 31] = byte;
        self.length += 1;
    }

    #[inline]
    fn varint(&mut self, mut raw: u64) {
        while raw >= 0x80 {
            self.byte(raw as u8 | 0x80);
            raw >>= 7;
        }
        self.byte(raw as u8);
    }

    /// Writes it to the end of `buffer`: all its room, which is copied faster than a part of it, and
    /// then takes back what was not used.
    #[inline]
    fn write(&self, buffer: &mut Vec<u8>) {
        let end = buffer.len() + (self.length & 31);
        buffer.extend_from_slice(&self.bytes);
        buffer.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_wrap_to_zero_and_count_records() {
        assert_eq!(sequence_after(2_147_483_646, 3), 1);
        assert_eq!(sequence_after(0, 300), 300);
        assert_eq!(sequence_after(i32::MAX, 1), 0);
    }

    #[test]
    fn the_example_batch_of_the_protocol_page_comes_out_byte_by_byte() {
        let headers = EncodedHeaders::new(&[("h", Some(b"1"))]);
        let mut buffer = Vec::new();
        let mut writer = BatchWriter::begin(&mut buffer);
        let record = Record {
            timestamp_ms: 1_700_000_000_000,
            key: Some(b"k"),
            value: Some(b"hello"),
            headers: &headers,
        };
        assert_eq!(writer.record_bytes(&record), 17);
        writer.append(&mut buffer, &record);
        assert_eq!(writer.payload_bytes(), 8);
        let range = writer.close(&mut buffer, Identity::NONE);
        let hex = "000000000000000000000042ffffffff025393d5ad0000000000000000018bcfe568000000018bcf\
                   e56800ffffffffffffffffffffffffffff0000000120000000026b0a68656c6c6f0202680231";
        let written: String = buffer[range].iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(written, hex);
    }

    #[test]
    fn the_exact_size_is_what_is_appended_and_never_above_the_bound() {
        let headers = EncodedHeaders::new(&[("a", None), ("a", Some(&[0; 200]))]);
        let mut buffer = Vec::new();
        let mut writer = BatchWriter::begin(&mut buffer);
        let value = vec![7; 20_000];
        for i in 0..200i64 {
            let record = Record {
                timestamp_ms: 1_000_000 - i * 997,
                key: (i % 2 == 0).then_some(&b"key"[..]),
                value: (i % 3 != 0).then_some(&value[..(i as usize * 100)]),
                headers: &headers,
            };
            let exact = writer.record_bytes(&record);
            let before = buffer.len();
            writer.append(&mut buffer, &record);
            assert_eq!(buffer.len() - before, exact);
            let length = |part: Option<&[u8]>| part.map(<[u8]>::len);
            let most = record_bytes_max(length(record.key), length(record.value), &headers);
            assert!(exact <= most);
        }
    }
}
