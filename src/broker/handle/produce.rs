//! Produce: each batch is judged by its header, counted and dropped.

use super::Answer;
use crate::broker::skim::Skim;
use crate::broker::state::State;
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;
use crate::wire::header::{RequestHeader, write_response_header};
use crate::wire::produce::{
    self, PartitionAnswer, TopicRef, reply_begin, reply_end, reply_partition, reply_topic,
    walk_request,
};
use crate::wire::sink::put_i32;

type TopicAnswers<'a> = Vec<(TopicRef<'a>, Vec<PartitionAnswer>)>;

/// One batch of a request.
struct Batch<'a> {
    acks: i16,
    topic: TopicRef<'a>,
    partition: i32,
    head: &'a [u8],
    records_bytes: usize,
}

/// Handles a request that was read whole.
pub fn handle(
    header: &RequestHeader<'_>,
    body: &[u8],
    node_id: i32,
    state: &mut State,
    out: &mut Vec<u8>,
) -> Answer {
    let mut topics: TopicAnswers<'_> = Vec::new();
    let walked = walk_request(body, header.version, |fields, request| {
        let records = request.records.unwrap_or_default();
        let batch = Batch {
            acks: fields.acks,
            topic: request.topic,
            partition: request.partition,
            head: records,
            records_bytes: records.len(),
        };
        let answer = take(state, node_id, &batch);
        match topics.last_mut() {
            Some((topic, answers)) if *topic == request.topic => answers.push(answer),
            _ => topics.push((request.topic, vec![answer])),
        }
    });
    match walked {
        Ok(fields) => respond(
            (header.version, header.correlation_id),
            fields.acks,
            &topics,
            out,
        ),
        Err(_) => Answer::Close,
    }
}

/// Handles a request whose records were discarded.
pub fn skimmed(skim: &Skim, node_id: i32, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let topics: TopicAnswers<'_> = skim
        .topics
        .iter()
        .map(|skimmed| {
            let topic = skimmed.topic(skim.version);
            let answers = skimmed.parts.iter().map(|part| {
                let batch = Batch {
                    acks: skim.acks,
                    topic,
                    partition: part.partition,
                    head: &part.head,
                    records_bytes: part.records_bytes,
                };
                take(state, node_id, &batch)
            });
            (topic, answers.collect())
        })
        .collect();
    respond((skim.version, skim.correlation_id), skim.acks, &topics, out)
}

fn respond(
    (version, correlation_id): (i16, i32),
    acks: i16,
    topics: &TopicAnswers<'_>,
    out: &mut Vec<u8>,
) -> Answer {
    if acks == 0 {
        let mut answers = topics.iter().flat_map(|(_, answers)| answers);
        return match answers.any(|answer| answer.error.is_error()) {
            true => Answer::Close,
            false => Answer::Done,
        };
    }
    let start = out.len();
    put_i32(out, -1);
    write_response_header(out, ApiKey::PRODUCE, version, correlation_id);
    reply_begin(out, version, topics.len());
    for (topic, answers) in topics {
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

fn take(state: &mut State, node_id: i32, batch: &Batch<'_>) -> PartitionAnswer {
    let result = match batch.acks {
        -1..=1 => append(state, node_id, batch),
        _ => Err(BrokerError::INVALID_REQUIRED_ACKS),
    };
    PartitionAnswer {
        partition: batch.partition,
        error: result.err().unwrap_or(BrokerError::NONE),
        base_offset: result.unwrap_or(-1),
        log_append_time_ms: -1,
        log_start_offset: if result.is_ok() { 0 } else { -1 },
    }
}

fn append(state: &mut State, node_id: i32, batch: &Batch<'_>) -> Result<i64, BrokerError> {
    let (name, unknown) = match &batch.topic {
        TopicRef::Name(name) => (Some(*name), BrokerError::UNKNOWN_TOPIC_OR_PARTITION),
        TopicRef::Id(id) => (state.name_of(id), BrokerError::UNKNOWN_TOPIC_ID),
    };
    let name = name.ok_or(unknown)?.to_owned();
    let index = usize::try_from(batch.partition).map_err(|_| unknown)?;
    let leader = state.leader_of(index);
    let topic = state.topics.get_mut(&name).ok_or(unknown)?;
    let partition = topic.partitions.get_mut(index);
    let partition = partition.ok_or(BrokerError::UNKNOWN_TOPIC_OR_PARTITION)?;
    if leader != node_id {
        return Err(BrokerError::NOT_LEADER_OR_FOLLOWER);
    }
    partition.append(batch.head, batch.records_bytes)
}
