//! DescribeTopicPartitions: topics in order of their names, page by page.

use kafka_protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use kafka_protocol::messages::{
    BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, TopicName,
};

use super::{Answer, Call, text};
use crate::broker::state::State;
use crate::broker::topics::{Topics, check_name};
use crate::wire::broker_error::BrokerError;

/// Partitions of a page at most, as Kafka's `max.request.partition.size.limit`.
const PAGE_MAX: usize = 2_000;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<DescribeTopicPartitionsRequest>() else {
        return Answer::Close;
    };
    let mut names: Vec<&str> = match request.topics.is_empty() {
        true => state.topics.iter().map(|(name, _)| name).collect(),
        false => request.topics.iter().map(|topic| &**topic.name).collect(),
    };
    names.sort_unstable();
    names.dedup();
    let (mut topics, mut next) = (Vec::new(), None);
    let limit = usize::try_from(request.response_partition_limit).unwrap_or(0);
    let mut room = limit.clamp(1, PAGE_MAX);
    let cursor = request.cursor.as_ref();
    for name in names {
        let first = match cursor {
            Some(cursor) if name < &**cursor.topic_name => continue,
            Some(cursor) if name == &**cursor.topic_name => {
                usize::try_from(cursor.partition_index).unwrap_or(0)
            }
            _ => 0,
        };
        if room == 0 {
            next = Some((name, first));
            break;
        }
        let (topic, left) = describe(&state.topics, name, first, room);
        room -= topic.partitions.len();
        topics.push(topic);
        if left > 0 {
            next = Some((
                name,
                first + topics.last().map_or(0, |topic| topic.partitions.len()),
            ));
            break;
        }
    }
    let next = next.map(|(name, partition)| {
        Cursor::default()
            .with_topic_name(TopicName(text(name)))
            .with_partition_index(partition as i32)
    });
    let response = DescribeTopicPartitionsResponse::default()
        .with_topics(topics)
        .with_next_cursor(next);
    call.answer::<DescribeTopicPartitionsRequest>(&response, out)
}

/// At most `room` partitions of a topic from `first` on, and how many are left.
fn describe(
    topics: &Topics,
    name: &str,
    first: usize,
    room: usize,
) -> (DescribeTopicPartitionsResponseTopic, usize) {
    let described =
        DescribeTopicPartitionsResponseTopic::default().with_name(Some(TopicName(text(name))));
    let Some(topic) = topics.get(name) else {
        let missing = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
        let error = check_name(name).err().map_or(missing, |(error, _)| error);
        return (described.with_error_code(error.0), 0);
    };
    let count = topic.partitions.len();
    let end = count.min(first.saturating_add(room));
    let partitions = (first..end).map(|index| {
        let replicas: Vec<BrokerId> = topics.replicas_of(topic, index).map(BrokerId).collect();
        DescribeTopicPartitionsResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(replicas[0])
            .with_leader_epoch(0)
            .with_isr_nodes(replicas.clone())
            .with_replica_nodes(replicas)
            .with_eligible_leader_replicas(Some(Vec::new()))
            .with_last_known_elr(Some(Vec::new()))
    });
    let described = described
        .with_topic_id(uuid::Uuid::from_bytes(topic.id))
        .with_partitions(partitions.collect());
    (described, count - end)
}
