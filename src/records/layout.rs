//! Where the fields of a record batch's header stand (magic 2, the only format Kafka 4 writes).

use std::ops::Range;

/// Bytes before the records.
pub const BATCH_HEADER_BYTES: usize = 61;
/// Bytes before, and not counted by, the batch's own length.
pub const LENGTH_END: usize = 12;
/// The format's number.
pub const MAGIC_V2: u8 = 2;

/// Offset of the first record; producers write 0, brokers the real one.
pub const BASE_OFFSET: usize = 0;
/// Bytes behind this field.
pub const LENGTH: usize = 8;
/// The leader's epoch; producers write −1.
pub const LEADER_EPOCH: usize = 12;
/// The format.
pub const MAGIC: usize = 16;
/// CRC-32C of everything from [`ATTRIBUTES`] on.
pub const CRC: usize = 17;
/// Codec and flags.
pub const ATTRIBUTES: usize = 21;
/// Offset of the last record, less that of the first.
pub const LAST_OFFSET_DELTA: usize = 23;
/// Timestamp of the first record, ms.
pub const BASE_TIMESTAMP: usize = 27;
/// The latest timestamp, ms.
pub const MAX_TIMESTAMP: usize = 35;
/// The producer's id, or −1.
pub const PRODUCER_ID: usize = 43;
/// The producer's epoch, or −1.
pub const PRODUCER_EPOCH: usize = 51;
/// The sequence of the first record, or −1.
pub const BASE_SEQUENCE: usize = 53;
/// Records in the batch.
pub const RECORD_COUNT: usize = 57;

/// Attribute bits that name the codec.
pub const CODEC_MASK: i16 = 0x07;
/// Set when timestamps are the broker's.
pub const LOG_APPEND_TIME: i16 = 0x08;
/// Set inside a transaction.
pub const TRANSACTIONAL: i16 = 0x10;
/// Set when the records are control records.
pub const CONTROL: i16 = 0x20;
/// Set when the base timestamp is a delete horizon.
pub const DELETE_HORIZON: i16 = 0x40;

const _: () = assert!(CRC + 4 == ATTRIBUTES);
const _: () = assert!(RECORD_COUNT + 4 == BATCH_HEADER_BYTES);
const _: () = assert!(LENGTH + 4 == LENGTH_END);

/// Overwrites the bytes at `at`.
#[inline]
pub fn put<const N: usize>(header: &mut [u8], at: usize, bytes: [u8; N]) {
    header[at..at + N].copy_from_slice(&bytes);
}

/// Reads the bytes at `at`.
#[inline]
pub fn get<const N: usize>(header: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&header[at..at + N]);
    bytes
}

/// The bytes that the CRC of a batch covers.
pub fn crc_range(batch_bytes: usize) -> Range<usize> {
    ATTRIBUTES..batch_bytes
}
