//! OffsetFetch: positions of one group, or of several.

use kafka_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use kafka_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use kafka_protocol::messages::{GroupId, OffsetFetchRequest, OffsetFetchResponse, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::{Answer, Call, text};
use crate::broker::group::Committed;
use crate::broker::state::State;

/// The first version that asks for several groups at once.
const SEVERAL_FROM: i16 = 8;
/// The first version with an error for the whole.
const ERROR_FROM: i16 = 2;
/// The first version with leader epochs.
const EPOCHS_FROM: i16 = 5;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<OffsetFetchRequest>() else {
        return Answer::Close;
    };
    let response = if call.header.version >= SEVERAL_FROM {
        let groups = request.groups.iter().map(|asked| {
            let topics = asked.topics.as_ref();
            let topics = topics.map(|topics| topics.iter().map(several).collect());
            group(call, state, &asked.group_id, topics)
        });
        OffsetFetchResponse::default().with_groups(groups.collect())
    } else {
        let topics = request.topics.as_ref();
        let topics = topics.map(|topics| topics.iter().map(one).collect());
        let answer = group(call, state, &request.group_id, topics);
        flat(call.header.version, answer)
    };
    call.answer::<OffsetFetchRequest>(&response, out)
}

/// A topic and the partitions asked for.
type Wanted = (TopicName, Vec<i32>);

fn several(topic: &OffsetFetchRequestTopics) -> Wanted {
    (topic.name.clone(), topic.partition_indexes.clone())
}

fn one(topic: &OffsetFetchRequestTopic) -> Wanted {
    (topic.name.clone(), topic.partition_indexes.clone())
}

/// The positions of a group: those `wanted`, or all. One that there isn't is −1, without an error.
fn group(
    call: &Call<'_>,
    state: &mut State,
    id: &GroupId,
    wanted: Option<Vec<Wanted>>,
) -> OffsetFetchResponseGroup {
    let response = OffsetFetchResponseGroup::default().with_group_id(id.clone());
    let all = wanted.is_none();
    let wanted = wanted.unwrap_or_default();
    let nothing = |(name, partitions): &Wanted| {
        let partitions = partitions.iter().map(|index| position(*index, None));
        topic(name.clone(), partitions.collect())
    };
    let found = state.group(id, call.caller.node_id, |group| {
        let wanted = match all {
            true => group
                .committed_places()
                .into_iter()
                .map(|(name, partitions)| (TopicName(text(name)), partitions))
                .collect(),
            false => wanted.clone(),
        };
        let topics = wanted.into_iter().map(|(name, partitions)| {
            let partitions = partitions.into_iter();
            let positions = partitions.map(|index| position(index, group.committed(&name, index)));
            topic(name.clone(), positions.collect())
        });
        topics.collect::<Vec<_>>()
    });
    match found {
        Ok(topics) => {
            let topics = topics.unwrap_or_else(|| wanted.iter().map(nothing).collect());
            response.with_topics(topics)
        }
        Err(error) => response.with_error_code(error.0),
    }
}

fn topic(
    name: TopicName,
    partitions: Vec<OffsetFetchResponsePartitions>,
) -> OffsetFetchResponseTopics {
    OffsetFetchResponseTopics::default()
        .with_name(name)
        .with_partitions(partitions)
}

fn position(index: i32, committed: Option<&Committed>) -> OffsetFetchResponsePartitions {
    let metadata = committed.map_or(StrBytes::default(), |committed| text(&committed.metadata));
    OffsetFetchResponsePartitions::default()
        .with_partition_index(index)
        .with_committed_offset(committed.map_or(-1, |committed| committed.offset))
        .with_committed_leader_epoch(committed.map_or(-1, |committed| committed.leader_epoch))
        .with_metadata(Some(metadata))
}

/// The form in which versions before 8 answer for one group.
fn flat(version: i16, group: OffsetFetchResponseGroup) -> OffsetFetchResponse {
    let error = group.error_code;
    let topics = group.topics.into_iter().map(|topic| {
        let partitions = topic.partitions.into_iter().map(|at| {
            let partition = OffsetFetchResponsePartition::default()
                .with_partition_index(at.partition_index)
                .with_committed_offset(at.committed_offset)
                .with_metadata(at.metadata)
                .with_error_code(at.error_code);
            match version {
                EPOCHS_FROM.. => partition.with_committed_leader_epoch(at.committed_leader_epoch),
                _ => partition,
            }
        });
        OffsetFetchResponseTopic::default()
            .with_name(topic.name)
            .with_partitions(partitions.collect())
    });
    let response = OffsetFetchResponse::default().with_topics(topics.collect());
    match version {
        ERROR_FROM.. => response.with_error_code(error),
        _ => response,
    }
}
