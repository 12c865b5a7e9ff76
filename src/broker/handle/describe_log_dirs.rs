//! DescribeLogDirs: one folder, which is memory, and the bytes of each partition in it.

use kafka_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use kafka_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use kafka_protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse, TopicName};

use super::{Answer, Call, text};
use crate::broker::state::State;
use crate::broker::topics::Topic;

/// The name of what is no folder.
const MEMORY: &str = "memory";

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<DescribeLogDirsRequest>() else {
        return Answer::Close;
    };
    let wanted = request.topics.as_deref();
    let topics = state.topics.iter().filter_map(|(name, topic)| {
        let partitions = partitions(call, state, (name, topic), wanted);
        let described = DescribeLogDirsTopic::default().with_name(TopicName(text(name)));
        (!partitions.is_empty()).then(|| described.with_partitions(partitions))
    });
    // How much more there is room for is not known: both sizes stay at −1.
    let result = DescribeLogDirsResult::default()
        .with_log_dir(text(MEMORY))
        .with_topics(topics.collect());
    let response = DescribeLogDirsResponse::default().with_results(vec![result]);
    call.answer::<DescribeLogDirsRequest>(&response, out)
}

/// Those partitions of a topic that the broker asked has and that are wanted.
fn partitions(
    call: &Call<'_>,
    state: &State,
    (name, topic): (&str, &Topic),
    wanted: Option<&[DescribableLogDirTopic]>,
) -> Vec<DescribeLogDirsPartition> {
    let is_wanted = |index: usize| {
        wanted.is_none_or(|wanted| {
            let mut topics = wanted.iter();
            topics.any(|topic| *topic.topic == *name && topic.partitions.contains(&(index as i32)))
        })
    };
    let partitions = topic.partitions.iter().enumerate();
    let here = partitions.filter(|(index, _)| {
        let mut replicas = state.topics.replicas_of(topic, *index);
        is_wanted(*index) && replicas.any(|id| id == call.caller.node_id)
    });
    let described = here.map(|(index, partition)| {
        DescribeLogDirsPartition::default()
            .with_partition_index(index as i32)
            .with_partition_size(partition.bytes().cast_signed())
    });
    described.collect()
}
