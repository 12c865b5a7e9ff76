//! Fetch: waits for enough bytes, then gives stored batches as they are. Sessions are refused, as a
//! broker may: every answer is that of session 0.

use kafka_protocol::messages::FetchRequest;
use kafka_protocol::messages::fetch_request::FetchPartition;

use super::{Answer, Call};
use crate::base::clock::MILLISECOND;
use crate::broker::state::State;
use crate::broker::topics::Place;
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;
use crate::wire::fetch::{
    PartitionAnswer, TOPIC_IDS_FROM, end, reply_begin, reply_partition, reply_topic,
};
use crate::wire::header::write_response_header;
use crate::wire::produce::{TopicRef, patch_length};
use crate::wire::sink::put_i32;

/// Bytes of an answer's batches, whatever was asked for: Kafka's default of `fetch.max.bytes`.
const ANSWER_BYTES_MAX: usize = 55 * 1024 * 1024;
const READ_COMMITTED: i8 = 1;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<FetchRequest>() else {
        return Answer::Close;
    };
    let start = out.len();
    let mut reading = Reading::new(call, &request);
    reading.answer(state, out);
    let wait = i64::from(request.max_wait_ms.max(0)).cast_unsigned() * MILLISECOND;
    let until = call.caller.since.saturating_add(wait);
    if reading.is_enough(&request) || call.caller.now >= until {
        return Answer::Done;
    }
    out.truncate(start);
    for topic in &request.topics {
        let of = topic_ref(call, &topic.topic, topic.topic_id.as_bytes());
        for wanted in &topic.partitions {
            // One that is not there has been answered with its error.
            if let Ok(partition) = state.topics.partition(&reading.place(of, wanted.partition)) {
                partition.wait(call.caller.connection);
            }
        }
    }
    Answer::Wait(until)
}

/// One attempt to answer.
struct Reading<'a> {
    call: &'a Call<'a>,
    request: &'a FetchRequest,
    /// Bytes that may still be given.
    room: usize,
    given: usize,
    failed: bool,
}

fn topic_ref<'a>(call: &Call<'_>, name: &'a str, id: &[u8; 16]) -> TopicRef<'a> {
    match call.header.version {
        TOPIC_IDS_FROM.. => TopicRef::Id(*id),
        _ => TopicRef::Name(name),
    }
}

impl<'a> Reading<'a> {
    fn new(call: &'a Call<'a>, request: &'a FetchRequest) -> Self {
        Self {
            call,
            request,
            room: usize::try_from(request.max_bytes)
                .unwrap_or(0)
                .min(ANSWER_BYTES_MAX),
            given: 0,
            failed: false,
        }
    }

    /// Whether it need not wait for more.
    fn is_enough(&self, request: &FetchRequest) -> bool {
        let nothing_asked = request
            .topics
            .iter()
            .all(|topic| topic.partitions.is_empty());
        let min = usize::try_from(request.min_bytes).unwrap_or(0);
        self.failed || nothing_asked || self.given >= min
    }

    fn place(&self, topic: TopicRef<'a>, partition: i32) -> Place<'a> {
        Place {
            node_id: self.call.caller.node_id,
            topic,
            partition,
        }
    }

    fn answer(&mut self, state: &mut State, out: &mut Vec<u8>) {
        let header = &self.call.header;
        let (version, start) = (header.version, out.len());
        put_i32(out, -1);
        write_response_header(out, ApiKey::FETCH, version, header.correlation_id);
        let unknown_session = self.request.session_id != 0;
        if unknown_session {
            self.failed = true;
            reply_begin(out, version, BrokerError::FETCH_SESSION_ID_NOT_FOUND, 0);
        } else {
            reply_begin(out, version, BrokerError::NONE, self.request.topics.len());
            for topic in &self.request.topics {
                let of = topic_ref(self.call, &topic.topic, topic.topic_id.as_bytes());
                reply_topic(out, version, of, topic.partitions.len());
                for wanted in &topic.partitions {
                    self.partition(state, of, wanted, out);
                }
                end(out, version);
            }
        }
        end(out, version);
        let bytes = out.len() - start;
        patch_length(&mut out[start..], bytes);
    }

    fn partition(
        &mut self,
        state: &mut State,
        topic: TopicRef<'a>,
        wanted: &FetchPartition,
        out: &mut Vec<u8>,
    ) {
        let version = self.call.header.version;
        let offset = wanted.fetch_offset;
        let found = state.topics.partition(&self.place(topic, wanted.partition));
        let found = found.and_then(|partition| {
            if wanted.current_leader_epoch > 0 {
                return Err(BrokerError::UNKNOWN_LEADER_EPOCH);
            }
            match (partition.start_offset()..=partition.end_offset()).contains(&offset) {
                true => Ok(partition),
                false => Err(BrokerError::OFFSET_OUT_OF_RANGE),
            }
        });
        let partition = match found {
            Ok(partition) => partition,
            Err(error) => {
                self.failed = true;
                let answer = PartitionAnswer::failed(wanted.partition, error);
                return reply_partition(out, version, &answer, &[]);
            }
        };
        let answer = PartitionAnswer {
            partition: wanted.partition,
            error: BrokerError::NONE,
            high_watermark: partition.high_watermark(),
            last_stable_offset: partition.high_watermark(),
            log_start_offset: partition.start_offset(),
            committed_only: self.request.isolation_level == READ_COMMITTED,
        };
        let limit = usize::try_from(wanted.partition_max_bytes).unwrap_or(0);
        let batches = self.take(partition.read(offset), limit);
        reply_partition(out, version, &answer, &batches);
    }

    /// As many of `batches` as `limit` and the answer have room for; the first of an answer is given
    /// whatever its size, or its reader would never get on.
    fn take<'b>(&mut self, batches: impl Iterator<Item = &'b [u8]>, limit: usize) -> Vec<&'b [u8]> {
        let mut left = limit.min(self.room);
        let mut taken = Vec::new();
        for batch in batches {
            if self.given > 0 && batch.len() > left {
                break;
            }
            self.given += batch.len();
            self.room = self.room.saturating_sub(batch.len());
            left = left.saturating_sub(batch.len());
            taken.push(batch);
        }
        taken
    }
}
