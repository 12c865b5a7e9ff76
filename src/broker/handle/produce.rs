//! Produce: each batch is checked, counted and dropped.

use super::Answer;
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;
use crate::wire::header::{RequestHeader, write_response_header};
use crate::wire::produce::{
    self, PartitionAnswer, PartitionRequest, TopicRef, reply_begin, reply_end, reply_partition,
    reply_topic, walk_request,
};
use crate::wire::sink::put_i32;

pub fn handle(
    header: &RequestHeader<'_>,
    body: &[u8],
    node_id: i32,
    state: &mut State,
    out: &mut Vec<u8>,
) -> Answer {
    let version = header.version;
    let mut topics: Vec<(TopicRef<'_>, Vec<PartitionAnswer>)> = Vec::new();
    let walked = walk_request(body, version, |fields, request| {
        let result = match fields.acks {
            -1..=1 => append(state, node_id, request),
            _ => Err(BrokerError::INVALID_REQUIRED_ACKS),
        };
        let answer = PartitionAnswer {
            partition: request.partition,
            error: result.err().unwrap_or(BrokerError::NONE),
            base_offset: result.unwrap_or(-1),
            log_append_time_ms: -1,
            log_start_offset: if result.is_ok() { 0 } else { -1 },
        };
        match topics.last_mut() {
            Some((topic, answers)) if *topic == request.topic => answers.push(answer),
            _ => topics.push((request.topic, vec![answer])),
        }
    });
    let Ok(fields) = walked else {
        return Answer::Close;
    };
    if fields.acks == 0 {
        let mut answers = topics.iter().flat_map(|(_, answers)| answers);
        return match answers.any(|answer| answer.error.is_error()) {
            true => Answer::Close,
            false => Answer::Done,
        };
    }
    let start = out.len();
    put_i32(out, -1);
    write_response_header(out, header.api, version, header.correlation_id);
    reply_begin(out, version, topics.len());
    for (topic, answers) in &topics {
        reply_topic(out, version, *topic, answers.len());
        for answer in answers {
            reply_partition(out, version, answer, None);
        }
        produce::end(out, version);
    }
    reply_end(out, version, 0);
    let bytes = out.len() - start;
    produce::patch_length(&mut out[start..], bytes);
    Answer::Done
}

fn append(
    state: &mut State,
    node_id: i32,
    request: &PartitionRequest<'_>,
) -> Result<i64, BrokerError> {
    let (name, unknown) = match &request.topic {
        TopicRef::Name(name) => (Some(*name), BrokerError::UNKNOWN_TOPIC_OR_PARTITION),
        TopicRef::Id(id) => (state.name_of(id), BrokerError::UNKNOWN_TOPIC_ID),
    };
    let name = name.ok_or(unknown)?.to_owned();
    let index = usize::try_from(request.partition).map_err(|_| unknown)?;
    let leader = state.leader_of(index);
    let topic = state.topics.get_mut(&name).ok_or(unknown)?;
    let partition = topic.partitions.get_mut(index);
    let partition = partition.ok_or(BrokerError::UNKNOWN_TOPIC_OR_PARTITION)?;
    if leader != node_id {
        return Err(BrokerError::NOT_LEADER_OR_FOLLOWER);
    }
    partition.append(request.records.unwrap_or_default())
}
