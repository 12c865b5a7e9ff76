//! ListOffsets: the first, the last, or an offset by time.

use kafka_protocol::messages::list_offsets_request::ListOffsetsPartition;
use kafka_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use kafka_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};

use super::{Answer, Call};
use crate::broker::partition::Partition;
use crate::broker::state::State;
use crate::broker::topics::Place;
use crate::wire::broker_error::BrokerError;
use crate::wire::produce::TopicRef;

/// The first version with leader epochs.
const EPOCHS_FROM: i16 = 4;
/// Offset and timestamp where there is no such record.
const NONE: (i64, i64) = (-1, -1);

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<ListOffsetsRequest>() else {
        return Answer::Close;
    };
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|wanted| {
            let place = Place {
                node_id: call.caller.node_id,
                topic: TopicRef::Name(&topic.name),
                partition: wanted.partition_index,
            };
            let answer = partition(state, &place, wanted);
            match call.header.version {
                EPOCHS_FROM.. if answer.offset >= 0 => answer.with_leader_epoch(0),
                _ => answer,
            }
        });
        ListOffsetsTopicResponse::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    let response = ListOffsetsResponse::default().with_topics(topics.collect());
    call.answer::<ListOffsetsRequest>(&response, out)
}

fn partition(
    state: &mut State,
    place: &Place<'_>,
    wanted: &ListOffsetsPartition,
) -> ListOffsetsPartitionResponse {
    let found = state.topics.partition(place).and_then(|partition| {
        // The only epoch there is is 0.
        match wanted.current_leader_epoch {
            ..=0 => find(partition, wanted.timestamp),
            _ => Err(BrokerError::UNKNOWN_LEADER_EPOCH),
        }
    });
    let response = ListOffsetsPartitionResponse::default().with_partition_index(place.partition);
    match found {
        Ok((offset, timestamp)) => response.with_offset(offset).with_timestamp(timestamp),
        Err(error) => response.with_error_code(error.0),
    }
}

fn find(partition: &Partition, timestamp: i64) -> Result<(i64, i64), BrokerError> {
    let found = match timestamp {
        // The end; no transaction holds the last stable offset back.
        -1 => return Ok((partition.high_watermark(), -1)),
        // The start, and the start of what is not tiered.
        -2 | -4 => return Ok((partition.start_offset(), -1)),
        -3 => partition.latest(),
        // Nothing is tiered.
        -5 => None,
        ..0 => return Err(BrokerError::UNSUPPORTED_VERSION),
        time => partition.at_or_after(time),
    };
    Ok(found.map_or(NONE, |found| (found.offset, found.timestamp_ms)))
}
