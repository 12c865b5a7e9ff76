//! OffsetCommit: positions of a group, taken while the one who gives them belongs to it.

use kafka_protocol::messages::offset_commit_request::OffsetCommitRequestTopic;
use kafka_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use kafka_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::{Answer, Call, shown};
use crate::broker::group::{Committed, Group};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// Bytes of metadata that a position may have: Kafka's `offset.metadata.max.bytes`.
const METADATA_BYTES_MAX: usize = 4096;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<OffsetCommitRequest>() else {
        return Answer::Close;
    };
    let counts = request.topics.iter().map(|topic| {
        let found = state.topics.get(&topic.name);
        found.map_or(0, |topic| topic.partitions.len())
    });
    let counts: Vec<usize> = counts.collect();
    let instance_id = request.group_instance_id.as_ref().map(shown);
    let member = (&*request.member_id, instance_id.as_deref());
    let (node_id, now) = (call.caller.node_id, call.caller.now);
    let committed = state.group_made(&request.group_id, node_id, |group| {
        let allowed = group.check_commit(member, request.generation_id_or_member_epoch, now);
        let topics = request.topics.iter().zip(&counts);
        let topics = topics.map(|(topic, count)| commit(group, topic, *count, allowed));
        topics.collect()
    });
    let topics: Vec<OffsetCommitResponseTopic> = committed.unwrap_or_else(|error| {
        let topics = request.topics.iter();
        topics.map(|topic| answers(topic, |_| error)).collect()
    });
    let response = OffsetCommitResponse::default().with_topics(topics);
    call.answer::<OffsetCommitRequest>(&response, out)
}

/// Takes the positions of a topic of `count` partitions.
fn commit(
    group: &mut Group,
    topic: &OffsetCommitRequestTopic,
    count: usize,
    allowed: Result<(), BrokerError>,
) -> OffsetCommitResponseTopic {
    answers(topic, |index| {
        let given = &topic.partitions[index];
        let metadata = given.committed_metadata.as_deref().unwrap_or_default();
        if let Err(error) = allowed {
            return error;
        }
        if !usize::try_from(given.partition_index).is_ok_and(|index| index < count) {
            return BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
        }
        if metadata.len() > METADATA_BYTES_MAX {
            return BrokerError::OFFSET_METADATA_TOO_LARGE;
        }
        let committed = Committed {
            offset: given.committed_offset,
            leader_epoch: given.committed_leader_epoch,
            metadata: metadata.to_owned(),
        };
        group.commit(&topic.name, given.partition_index, committed);
        BrokerError::NONE
    })
}

fn answers(
    topic: &OffsetCommitRequestTopic,
    mut error: impl FnMut(usize) -> BrokerError,
) -> OffsetCommitResponseTopic {
    let partitions = topic.partitions.iter().enumerate().map(|(index, given)| {
        OffsetCommitResponsePartition::default()
            .with_partition_index(given.partition_index)
            .with_error_code(error(index).0)
    });
    OffsetCommitResponseTopic::default()
        .with_name(topic.name.clone())
        .with_partitions(partitions.collect())
}
