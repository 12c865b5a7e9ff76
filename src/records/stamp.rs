//! A prepared batch re-dated: only its header changes, and the CRC of header and body are joined by
//! a shift instead of reading the body again.

use super::layout::{
    ATTRIBUTES, BASE_SEQUENCE, BASE_TIMESTAMP, BATCH_HEADER_BYTES, CRC, MAX_TIMESTAMP,
    PRODUCER_EPOCH, PRODUCER_ID, RECORD_COUNT, TRANSACTIONAL, get, put,
};
use super::writer::Identity;

/// A closed batch whose body never changes. All its records carry one timestamp.
#[derive(Debug, Clone)]
pub struct Template {
    bytes: Vec<u8>,
    body_crc: u32,
    shift: Box<Shift>,
    record_count: u32,
    payload_bytes: u64,
    raw_bytes: u64,
}

/// What a template's bytes don't tell by themselves.
#[derive(Debug, Clone, Copy)]
pub struct Volume {
    /// Keys, values and headers of all its records.
    pub payload_bytes: u64,
    /// The batch before compression, header included.
    pub raw_bytes: u64,
}

/// What differs between two sends of a template.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// The timestamp of its records, ms.
    pub timestamp_ms: i64,
    /// Who sends it.
    pub identity: Identity,
}

impl Template {
    /// A template of a closed batch whose records all have timestamp delta 0.
    ///
    /// # Panics
    /// When `batch` is shorter than a header.
    pub fn new(batch: Vec<u8>, volume: Volume) -> Self {
        let body = &batch[BATCH_HEADER_BYTES..];
        Self {
            body_crc: crc32c::crc32c(body),
            shift: Box::new(Shift::by(body.len())),
            record_count: u32::from_be_bytes(get(&batch, RECORD_COUNT)),
            bytes: batch,
            payload_bytes: volume.payload_bytes,
            raw_bytes: volume.raw_bytes,
        }
    }

    /// Records in it.
    pub fn record_count(&self) -> u32 {
        self.record_count
    }

    /// Keys, values and headers of all its records.
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// The batch before compression, header included.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Bytes of the whole batch.
    pub fn batch_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Everything behind the header: what every send shares.
    pub fn body(&self) -> &[u8] {
        &self.bytes[BATCH_HEADER_BYTES..]
    }

    /// Writes the header of one send.
    #[inline]
    pub fn stamp(&self, header: &mut [u8; BATCH_HEADER_BYTES], stamp: &Stamp) {
        header.copy_from_slice(&self.bytes[..BATCH_HEADER_BYTES]);
        let mut attributes = i16::from_be_bytes(get(header, ATTRIBUTES)) & !TRANSACTIONAL;
        if stamp.identity.transactional {
            attributes |= TRANSACTIONAL;
        }
        put(header, ATTRIBUTES, attributes.to_be_bytes());
        put(header, BASE_TIMESTAMP, stamp.timestamp_ms.to_be_bytes());
        put(header, MAX_TIMESTAMP, stamp.timestamp_ms.to_be_bytes());
        self.identify(header, stamp.identity);
    }

    /// Gives a header of this template another identity.
    #[inline]
    pub fn identify(&self, header: &mut [u8; BATCH_HEADER_BYTES], identity: Identity) {
        put(header, PRODUCER_ID, identity.producer_id.to_be_bytes());
        put(header, PRODUCER_EPOCH, identity.epoch.to_be_bytes());
        put(header, BASE_SEQUENCE, identity.base_sequence.to_be_bytes());
        let head = crc32c::crc32c(&header[ATTRIBUTES..]);
        let crc = self.shift.apply(head) ^ self.body_crc;
        put(header, CRC, crc.to_be_bytes());
    }
}

/// "Append n zero bytes" to a CRC-32C, as a table: linear over its bits, so one look-up a byte.
#[derive(Debug, Clone)]
struct Shift([[u32; 256]; 4]);

impl Shift {
    fn by(zero_bytes: usize) -> Self {
        let mut table = [[0u32; 256]; 4];
        for bit in 0..32 {
            let column = crc32c::crc32c_combine(1 << bit, 0, zero_bytes);
            for (value, entry) in table[bit / 8].iter_mut().enumerate() {
                if value >> (bit % 8) & 1 == 1 {
                    *entry ^= column;
                }
            }
        }
        Self(table)
    }

    #[inline]
    fn apply(&self, crc: u32) -> u32 {
        let [a, b, c, d] = crc.to_le_bytes();
        self.0[0][a as usize]
            ^ self.0[1][b as usize]
            ^ self.0[2][c as usize]
            ^ self.0[3][d as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::compress::{Codec, Compression};
    use crate::records::reader::Batch;
    use crate::records::writer::{BatchWriter, EncodedHeaders, Record};

    fn template(value_bytes: usize, compression: Compression) -> Template {
        let headers = EncodedHeaders::none();
        let value = vec![b'v'; value_bytes];
        let mut buffer = Vec::new();
        let mut writer = BatchWriter::begin(&mut buffer);
        for _ in 0..3 {
            let record = Record {
                timestamp_ms: 5,
                key: None,
                value: Some(&value),
                headers: &headers,
            };
            writer.append(&mut buffer, &record);
        }
        let mut batch = Vec::new();
        let mut codec = Codec::new(compression);
        writer
            .close_compressed(&buffer, &mut batch, &mut codec, Identity::NONE)
            .unwrap();
        let volume = Volume {
            payload_bytes: writer.payload_bytes(),
            raw_bytes: buffer.len() as u64,
        };
        Template::new(batch, volume)
    }

    #[test]
    fn a_stamped_batch_is_valid_at_every_body_size_and_codec() {
        for compression in [Compression::None, Compression::Lz4] {
            for bytes in [0, 1, 100, 1000, 65_536, 300_000] {
                let template = template(bytes, compression);
                let mut header = [0; BATCH_HEADER_BYTES];
                for sequence in [0, 7, i32::MAX] {
                    let identity = Identity {
                        producer_id: 1 << 40,
                        epoch: 3,
                        base_sequence: sequence,
                        transactional: sequence == 7,
                    };
                    let stamp = Stamp {
                        timestamp_ms: 1_700_000_000_123,
                        identity,
                    };
                    template.stamp(&mut header, &stamp);
                    let whole = [&header[..], template.body()].concat();
                    let batch = Batch::only(&whole).unwrap().unwrap();
                    batch.check_crc().unwrap();
                    assert_eq!(batch.base_sequence(), sequence);
                    assert_eq!(batch.transactional(), sequence == 7);
                    let mut scratch = Vec::new();
                    let records = batch.records(&mut scratch, 1 << 20).unwrap();
                    let times: Vec<i64> = records.map(|r| r.unwrap().timestamp_ms).collect();
                    assert_eq!(times, [1_700_000_000_123; 3]);
                }
            }
        }
    }
}
