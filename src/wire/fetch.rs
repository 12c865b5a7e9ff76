//! Fetch, versions 4 to 18: the broker's answer, whose batches are copied once, into the answer.

use super::broker_error::BrokerError;
use super::produce::TopicRef;
use super::sink::{put_i16, put_i32, put_i64, put_length, put_no_tagged_fields, put_string};

/// The first version whose lengths are compact.
pub const FLEXIBLE_FROM: i16 = 12;
/// The first version that names topics by id.
pub const TOPIC_IDS_FROM: i16 = 13;
/// The first version with fetch sessions (KIP-227).
pub const SESSIONS_FROM: i16 = 7;

/// One partition of an answer, as the broker writes it.
#[derive(Debug, Clone, Copy)]
pub struct PartitionAnswer {
    /// The partition.
    pub partition: i32,
    /// What went wrong, if anything did.
    pub error: BrokerError,
    /// Records below this offset can be read, or −1.
    pub high_watermark: i64,
    /// Records below this offset are of no open transaction, or −1.
    pub last_stable_offset: i64,
    /// The first offset still there, or −1.
    pub log_start_offset: i64,
    /// Whether the reader wants committed records only, and so a list of aborted transactions.
    pub committed_only: bool,
}

impl PartitionAnswer {
    /// The answer where nothing can be read of `partition`.
    pub fn failed(partition: i32, error: BrokerError) -> Self {
        Self {
            partition,
            error,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            committed_only: false,
        }
    }
}

/// Appends an answer's head; `topic_count` topics follow, each [`reply_topic`], its partitions and
/// [`end`], and an [`end`] behind them.
pub fn reply_begin(out: &mut Vec<u8>, version: i16, error: BrokerError, topic_count: usize) {
    let throttle_ms = 0;
    put_i32(out, throttle_ms);
    if version >= SESSIONS_FROM {
        put_i16(out, error.0);
        let no_session = 0;
        put_i32(out, no_session);
    }
    put_length(out, Some(topic_count), version >= FLEXIBLE_FROM);
}

/// Appends a topic's head.
pub fn reply_topic(out: &mut Vec<u8>, version: i16, topic: TopicRef<'_>, partition_count: usize) {
    match topic {
        TopicRef::Name(name) => put_string(out, name, version >= FLEXIBLE_FROM),
        TopicRef::Id(id) => out.extend_from_slice(&id),
    }
    put_length(out, Some(partition_count), version >= FLEXIBLE_FROM);
}

/// Appends a partition and its batches. Where there are none its records are empty, never null.
pub fn reply_partition(
    out: &mut Vec<u8>,
    version: i16,
    answer: &PartitionAnswer,
    batches: &[&[u8]],
) {
    let flexible = version >= FLEXIBLE_FROM;
    put_i32(out, answer.partition);
    put_i16(out, answer.error.0);
    put_i64(out, answer.high_watermark);
    put_i64(out, answer.last_stable_offset);
    if version >= 5 {
        put_i64(out, answer.log_start_offset);
    }
    put_length(out, answer.committed_only.then_some(0), flexible);
    if version >= 11 {
        let no_preferred_replica = -1;
        put_i32(out, no_preferred_replica);
    }
    let bytes: usize = batches.iter().map(|batch| batch.len()).sum();
    put_length(out, Some(bytes), flexible);
    for batch in batches {
        out.extend_from_slice(batch);
    }
    put_no_tagged_fields(out, flexible);
}

/// Ends a topic, or the answer.
pub fn end(out: &mut Vec<u8>, version: i16) {
    put_no_tagged_fields(out, version >= FLEXIBLE_FROM);
}
