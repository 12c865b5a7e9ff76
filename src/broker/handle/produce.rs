//! Produce: each batch is judged by its header, counted and dropped.

use super::{Answer, Call};
use crate::broker::skim::Skim;
use crate::broker::state::State;
use crate::broker::topics::Place;
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;
use crate::wire::header::write_response_header;
use crate::wire::produce::{
    self, PartitionAnswer, TopicRef, reply_begin, reply_end, reply_partition, reply_topic,
    walk_request,
};
use crate::wire::sink::put_i32;

type TopicAnswers<'a> = Vec<(TopicRef<'a>, Vec<PartitionAnswer>)>;

/// Handles a request that was read whole.
pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let mut topics: TopicAnswers<'_> = Vec::new();
    let version = call.header.version;
    let walked = walk_request(call.body, version, |fields, request| {
        let records = request.records.unwrap_or_default();
        let place = Place {
            node_id: call.caller.node_id,
            topic: request.topic,
            partition: request.partition,
        };
        let answer = take(state, fields.acks, &place, records, records.len());
        match topics.last_mut() {
            Some((topic, answers)) if *topic == request.topic => answers.push(answer),
            _ => topics.push((request.topic, vec![answer])),
        }
    });
    match walked {
        Ok(fields) => respond(
            (version, call.header.correlation_id),
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
                let place = Place {
                    node_id,
                    topic,
                    partition: part.partition,
                };
                take(state, skim.acks, &place, &part.head, part.records_bytes)
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

/// Takes the batch of `bytes` that begins with `head`.
fn take(
    state: &mut State,
    acks: i16,
    place: &Place<'_>,
    head: &[u8],
    bytes: usize,
) -> PartitionAnswer {
    let (topics, woken) = (&mut state.topics, &mut state.woken);
    let result = match acks {
        -1..=1 => topics.append(place, (head, bytes), woken),
        _ => Err(BrokerError::INVALID_REQUIRED_ACKS),
    };
    PartitionAnswer {
        partition: place.partition,
        error: result.err().unwrap_or(BrokerError::NONE),
        base_offset: result.map_or(-1, |appended| appended.base_offset),
        log_append_time_ms: result.map_or(-1, |appended| appended.append_time_ms),
        log_start_offset: result.map_or(-1, |appended| appended.start_offset),
    }
}
