//! Produce, versions 3 to 13, without copying a record: the client's prefix and its borrowed answer.
//!
//! A request is a prefix (header, acks, topics) interleaved with record batches that stay where they
//! are. A batch carries its own partition index and length in the [`PARTITION_HEAD_BYTES`] before it
//! and its tag byte behind it, so that one batch is one slice of the vectored write.

use std::ops::Range;

use super::api::ApiKey;
use super::broker_error::BrokerError;
use super::cursor::{Cursor, DecodeError, Fault};
use super::frame::{FRAME_BYTES_MAX, LENGTH_BYTES};
use super::header::RequestHeader;
use super::sink::{
    patch_i32, put_i16, put_i32, put_i64, put_length, put_no_tagged_fields, put_nullable_string,
    put_string, right_align_unsigned_varint, unsigned_varint_bytes,
};

/// The first version whose lengths are compact.
pub const FLEXIBLE_FROM: i16 = 9;
/// The first version whose answers may name the leader (KIP-951).
pub const LEADER_HINTS_FROM: i16 = 10;
/// The first version that names topics by id.
pub const TOPIC_IDS_FROM: i16 = 13;
/// Free bytes a batch needs in front of it: partition index and records length, which takes at most
/// four bytes in either form, since no frame is longer than [`FRAME_BYTES_MAX`].
pub const PARTITION_HEAD_BYTES: usize = 8;
/// Free bytes a batch needs behind it: the tag byte of flexible versions.
pub const PARTITION_TAIL_BYTES: usize = 1;

/// What a Produce request begins with.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    /// The version spoken on the connection.
    pub version: i16,
    /// The number the answer will carry.
    pub correlation_id: i32,
    /// `client.id`.
    pub client_id: &'a str,
    /// The transaction's id, in a transaction.
    pub transactional_id: Option<&'a str>,
    /// 0, 1 or −1 (all).
    pub acks: i16,
    /// How long the broker may wait for other replicas.
    pub timeout_ms: i32,
}

/// Starts a request in `out`: room for its length, header, and how many topics follow.
pub fn begin(out: &mut Vec<u8>, head: &RequestHead<'_>, topic_count: usize) {
    let flexible = head.version >= FLEXIBLE_FROM;
    // A length that was forgotten is refused by every broker.
    put_i32(out, -1);
    let header = RequestHeader {
        api: ApiKey::PRODUCE,
        version: head.version,
        correlation_id: head.correlation_id,
        client_id: Some(head.client_id),
    };
    header.write(out);
    put_nullable_string(out, head.transactional_id, flexible);
    put_i16(out, head.acks);
    put_i32(out, head.timeout_ms);
    put_length(out, Some(topic_count), flexible);
}

/// Appends a topic's head: its name, or its id from version 13 on, and how many partitions follow.
pub fn topic(out: &mut Vec<u8>, version: i16, name: &str, id: [u8; 16], partition_count: usize) {
    if version >= TOPIC_IDS_FROM {
        out.extend_from_slice(&id);
    } else {
        put_string(out, name, version >= FLEXIBLE_FROM);
    }
    put_length(out, Some(partition_count), version >= FLEXIBLE_FROM);
}

/// Ends a topic, or the request.
pub fn end(out: &mut Vec<u8>, version: i16) {
    put_no_tagged_fields(out, version >= FLEXIBLE_FROM);
}

/// Writes the length of a request of `total_bytes`, length included, into its first four bytes.
///
/// # Panics
/// When it does not fit 31 bits; requests are bounded by `max.request.size`.
pub fn patch_length(prefix: &mut [u8], total_bytes: usize) {
    let length = total_bytes - LENGTH_BYTES;
    patch_i32(
        prefix,
        0,
        i32::try_from(length).expect("a request is below 2 GiB"),
    );
}

/// Writes partition index and records length into the bytes before `batch` in `buffer`, and the tag
/// byte behind it, for `version`; gives the range to send.
///
/// # Panics
/// When fewer than [`PARTITION_HEAD_BYTES`] are free before it, or none behind it.
pub fn wrap_partition(
    version: i16,
    partition: i32,
    buffer: &mut [u8],
    batch: Range<usize>,
) -> Range<usize> {
    let room = batch.start - PARTITION_HEAD_BYTES..batch.start;
    let start = room.start + partition_head(version, partition, batch.len(), &mut buffer[room]);
    if version >= FLEXIBLE_FROM {
        buffer[batch.end] = 0;
        start..batch.end + PARTITION_TAIL_BYTES
    } else {
        start..batch.end
    }
}

/// Writes partition index and records length into the end of `room` and gives where they begin.
///
/// # Panics
/// When `room` is shorter than [`PARTITION_HEAD_BYTES`], or the batch larger than a frame.
pub fn partition_head(version: i16, partition: i32, batch_bytes: usize, room: &mut [u8]) -> usize {
    assert!(batch_bytes <= FRAME_BYTES_MAX, "a batch fits a frame");
    let length = batch_bytes as i32;
    let index_end = if version >= FLEXIBLE_FROM {
        right_align_unsigned_varint(room, length as u32 + 1)
    } else {
        let end = room.len() - 4;
        patch_i32(room, end, length);
        end
    };
    patch_i32(room, index_end - 4, partition);
    index_end - 4
}

/// How many bytes a batch of `batch_bytes` takes with its head and tail.
pub fn wrapped_bytes(version: i16, batch_bytes: usize) -> usize {
    if version >= FLEXIBLE_FROM {
        4 + unsigned_varint_bytes(batch_bytes as u32 + 1) + batch_bytes + PARTITION_TAIL_BYTES
    } else {
        8 + batch_bytes
    }
}

/// How a request or an answer names a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicRef<'a> {
    /// Up to version 12.
    Name(&'a str),
    /// From version 13 on.
    Id([u8; 16]),
}

/// An answer, borrowed from its frame. Walking it checks every byte.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    body: &'a [u8],
    version: i16,
}

/// What a broker says of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionReply<'a> {
    /// Its topic.
    pub topic: TopicRef<'a>,
    /// Its partition.
    pub partition: i32,
    /// What went wrong, if anything did.
    pub error: BrokerError,
    /// The offset of its first record; −1 when it isn't known.
    pub base_offset: i64,
    /// The broker's time, where the topic keeps that; else −1.
    pub log_append_time_ms: i64,
    /// The first offset still there; −1 when it isn't told.
    pub log_start_offset: i64,
    /// The broker's words.
    pub error_message: Option<&'a str>,
    /// Records that are wrong themselves.
    pub record_error_count: u32,
    /// The leader now and its epoch, where the broker knows better.
    pub current_leader: Option<(i32, i32)>,
}

/// Where a broker that an answer speaks of is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeEndpoint<'a> {
    /// Its id.
    pub node_id: i32,
    /// Its host.
    pub host: &'a str,
    /// Its port.
    pub port: i32,
    /// Its rack.
    pub rack: Option<&'a str>,
}

impl<'a> Reply<'a> {
    /// The answer whose body, behind the response header, is `body`.
    pub fn new(body: &'a [u8], version: i16) -> Self {
        Self { body, version }
    }

    /// Gives every partition's part to `partition`, every endpoint to `endpoint`, and the time the
    /// broker asks for silence, ms.
    ///
    /// # Errors
    /// When the bytes are no Produce answer, to the last one. Parts before the fault were given.
    pub fn walk(
        &self,
        mut partition: impl FnMut(&PartitionReply<'a>),
        mut endpoint: impl FnMut(&NodeEndpoint<'a>),
    ) -> Result<i32, DecodeError> {
        let flexible = self.version >= FLEXIBLE_FROM;
        let mut cursor = Cursor::new(self.body);
        for _ in 0..cursor.array_count(flexible)? {
            let topic = topic_ref(&mut cursor, self.version)?;
            for _ in 0..cursor.array_count(flexible)? {
                partition(&self.partition(&mut cursor, topic)?);
            }
            cursor.skip_tagged_fields(flexible)?;
        }
        let throttle_ms = cursor.i32()?;
        if flexible {
            cursor.tagged_fields(|tag, payload| match tag {
                0 if self.version >= LEADER_HINTS_FROM => node_endpoints(payload, &mut endpoint),
                _ => Ok(()),
            })?;
        }
        cursor.end()?;
        Ok(throttle_ms)
    }

    fn partition(
        &self,
        cursor: &mut Cursor<'a>,
        topic: TopicRef<'a>,
    ) -> Result<PartitionReply<'a>, DecodeError> {
        let flexible = self.version >= FLEXIBLE_FROM;
        let mut reply = PartitionReply {
            topic,
            partition: cursor.i32()?,
            error: BrokerError(cursor.i16()?),
            base_offset: cursor.i64()?,
            log_append_time_ms: cursor.i64()?,
            log_start_offset: if self.version >= 5 { cursor.i64()? } else { -1 },
            error_message: None,
            record_error_count: 0,
            current_leader: None,
        };
        if self.version >= 8 {
            for _ in 0..cursor.array_count(flexible)? {
                cursor.i32()?;
                cursor.nullable_string(flexible)?;
                cursor.skip_tagged_fields(flexible)?;
                reply.record_error_count += 1;
            }
            reply.error_message = cursor.nullable_string(flexible)?;
        }
        if flexible {
            cursor.tagged_fields(|tag, payload| {
                if tag == 0 && self.version >= LEADER_HINTS_FROM {
                    let leader = (payload.i32()?, payload.i32()?);
                    payload.skip_tagged_fields(true)?;
                    reply.current_leader = (leader.0 >= 0).then_some(leader);
                }
                Ok(())
            })?;
        }
        Ok(reply)
    }
}

fn node_endpoints<'a>(
    payload: &mut Cursor<'a>,
    endpoint: &mut impl FnMut(&NodeEndpoint<'a>),
) -> Result<(), DecodeError> {
    for _ in 0..payload.array_count(true)? {
        let node = NodeEndpoint {
            node_id: payload.i32()?,
            host: payload.string(true)?,
            port: payload.i32()?,
            rack: payload.nullable_string(true)?,
        };
        payload.skip_tagged_fields(true)?;
        endpoint(&node);
    }
    Ok(())
}

fn topic_ref<'a>(cursor: &mut Cursor<'a>, version: i16) -> Result<TopicRef<'a>, DecodeError> {
    if version >= TOPIC_IDS_FROM {
        cursor.uuid().map(TopicRef::Id)
    } else {
        cursor.string(version >= FLEXIBLE_FROM).map(TopicRef::Name)
    }
}

/// What the broker reads of a Produce request before its topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFields<'a> {
    /// The transaction's id, in a transaction.
    pub transactional_id: Option<&'a str>,
    /// 0, 1 or −1 (all).
    pub acks: i16,
    /// How long it may wait for other replicas.
    pub timeout_ms: i32,
}

/// One partition of a request, as the broker reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionRequest<'a> {
    /// Its topic.
    pub topic: TopicRef<'a>,
    /// Its partition.
    pub partition: i32,
    /// The record batch.
    pub records: Option<&'a [u8]>,
}

/// Walks a request's body, behind its header: gives its fields once, then each partition.
///
/// # Errors
/// When the bytes are no Produce request, to the last one. Parts before the fault were given.
pub fn walk_request<'a>(
    body: &'a [u8],
    version: i16,
    mut partition: impl FnMut(&RequestFields<'a>, &PartitionRequest<'a>),
) -> Result<RequestFields<'a>, DecodeError> {
    let flexible = version >= FLEXIBLE_FROM;
    let mut cursor = Cursor::new(body);
    let fields = RequestFields {
        transactional_id: cursor.nullable_string(flexible)?,
        acks: cursor.i16()?,
        timeout_ms: cursor.i32()?,
    };
    for _ in 0..cursor.array_count(flexible)? {
        let topic = topic_ref(&mut cursor, version)?;
        for _ in 0..cursor.array_count(flexible)? {
            let request = PartitionRequest {
                topic,
                partition: cursor.i32()?,
                records: cursor.nullable_bytes(flexible)?,
            };
            cursor.skip_tagged_fields(flexible)?;
            partition(&fields, &request);
        }
        cursor.skip_tagged_fields(flexible)?;
    }
    cursor.skip_tagged_fields(flexible)?;
    match cursor.remaining() {
        0 => Ok(fields),
        _ => Err(cursor.error("the end", Fault::Trailing)),
    }
}

/// One partition of an answer, as the broker writes it.
#[derive(Debug, Clone, Copy)]
pub struct PartitionAnswer {
    /// The partition.
    pub partition: i32,
    /// What went wrong, if anything did.
    pub error: BrokerError,
    /// The offset of its first record, or −1.
    pub base_offset: i64,
    /// The broker's time, or −1.
    pub log_append_time_ms: i64,
    /// The first offset still there, or −1.
    pub log_start_offset: i64,
}

/// Appends how many topics an answer has; each is [`reply_topic`], its partitions, and [`end`].
pub fn reply_begin(out: &mut Vec<u8>, version: i16, topic_count: usize) {
    put_length(out, Some(topic_count), version >= FLEXIBLE_FROM);
}

/// Appends a topic's head.
pub fn reply_topic(out: &mut Vec<u8>, version: i16, of: TopicRef<'_>, partition_count: usize) {
    let (name, id) = match of {
        TopicRef::Name(name) => (name, [0; 16]),
        TopicRef::Id(id) => ("", id),
    };
    topic(out, version, name, id, partition_count);
}

/// Appends what became of one batch.
pub fn reply_partition(
    out: &mut Vec<u8>,
    version: i16,
    answer: &PartitionAnswer,
    message: Option<&str>,
) {
    let flexible = version >= FLEXIBLE_FROM;
    put_i32(out, answer.partition);
    put_i16(out, answer.error.0);
    put_i64(out, answer.base_offset);
    put_i64(out, answer.log_append_time_ms);
    if version >= 5 {
        put_i64(out, answer.log_start_offset);
    }
    if version >= 8 {
        put_length(out, Some(0), flexible);
        put_nullable_string(out, message, flexible);
    }
    put_no_tagged_fields(out, flexible);
}

/// Ends an answer with the time the client is asked to be silent, ms.
pub fn reply_end(out: &mut Vec<u8>, version: i16, throttle_ms: i32) {
    put_i32(out, throttle_ms);
    end(out, version);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u8; 16] = [7; 16];

    fn request(version: i16, batches: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        let head = RequestHead {
            version,
            correlation_id: 5,
            client_id: "kdyno",
            transactional_id: None,
            acks: -1,
            timeout_ms: 30_000,
        };
        begin(&mut out, &head, 1);
        topic(&mut out, version, "t1", ID, batches.len());
        let mut parts = Vec::new();
        for (index, batch) in (0..).zip(batches) {
            let mut buffer = vec![0xee; PARTITION_HEAD_BYTES];
            buffer.extend_from_slice(batch);
            buffer.push(0xee);
            let end = buffer.len() - PARTITION_TAIL_BYTES;
            let range = wrap_partition(version, index, &mut buffer, PARTITION_HEAD_BYTES..end);
            assert_eq!(range.len(), wrapped_bytes(version, batch.len()));
            parts.extend_from_slice(&buffer[range]);
        }
        out.extend_from_slice(&parts);
        end(&mut out, version);
        end(&mut out, version);
        let total = out.len();
        patch_length(&mut out, total);
        out
    }

    #[test]
    fn a_request_of_every_version_is_read_back_to_its_last_byte() {
        let long = vec![1u8; 70_000];
        for version in 3..=13 {
            let bytes = request(version, &[&long, b"x"]);
            let (frame, taken) = crate::wire::frame::split(&bytes).unwrap().unwrap();
            assert_eq!(taken, bytes.len());
            let mut cursor = Cursor::new(frame);
            RequestHeader::read(&mut cursor).unwrap();
            let mut seen = Vec::new();
            let fields = walk_request(cursor.rest(), version, |_, request| {
                seen.push((request.partition, request.records.map(<[u8]>::len)));
                let id = TopicRef::Id(ID);
                let expected = if version < 13 {
                    TopicRef::Name("t1")
                } else {
                    id
                };
                assert_eq!(request.topic, expected);
            })
            .unwrap();
            assert_eq!((fields.acks, fields.timeout_ms), (-1, 30_000));
            assert_eq!(seen, [(0, Some(70_000)), (1, Some(1))]);
        }
    }

    #[test]
    fn an_array_that_may_not_be_null_is_refused_where_it_is() {
        // Version 9: no topics at all, then the throttle time and no tagged fields.
        assert!(
            Reply::new(&[1, 0, 0, 0, 0, 0], 9)
                .walk(|_| {}, |_| {})
                .is_ok()
        );
        assert!(
            Reply::new(&[0, 0, 0, 0, 0, 0], 9)
                .walk(|_| {}, |_| {})
                .is_err()
        );
    }

    #[test]
    fn an_answer_of_every_version_is_read_back_and_no_cut_of_it_is() {
        for version in 3..=13 {
            let mut out = Vec::new();
            reply_begin(&mut out, version, 1);
            reply_topic(&mut out, version, TopicRef::Name("t1"), 1);
            let answer = PartitionAnswer {
                partition: 3,
                error: BrokerError::NOT_LEADER_OR_FOLLOWER,
                base_offset: -1,
                log_append_time_ms: -1,
                log_start_offset: -1,
            };
            reply_partition(&mut out, version, &answer, Some("moved"));
            end(&mut out, version);
            reply_end(&mut out, version, 17);
            let mut seen = Vec::new();
            let throttle = Reply::new(&out, version)
                .walk(|reply| seen.push((reply.partition, reply.error)), |_| {})
                .unwrap();
            assert_eq!(throttle, 17);
            assert_eq!(seen, [(3, BrokerError::NOT_LEADER_OR_FOLLOWER)]);
            for cut in 0..out.len() {
                let cut = Reply::new(&out[..cut], version);
                assert!(cut.walk(|_| {}, |_| {}).is_err());
            }
        }
    }
}
