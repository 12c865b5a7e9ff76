//! Metadata: brokers, and the topics asked for, which are made by being asked for.

use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{BrokerId, MetadataRequest, MetadataResponse, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::{Answer, Call};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<MetadataRequest>() else {
        return Answer::Close;
    };
    // Version 0 has no null: there an empty list asks for all.
    let wanted = request.topics.as_ref();
    let wanted = wanted.filter(|topics| call.header.version > 0 || !topics.is_empty());
    let names: Vec<Option<String>> = match wanted {
        None => state.topics.keys().cloned().map(Some).collect(),
        Some(topics) => topics
            .iter()
            .map(|topic| match &topic.name {
                Some(name) => Some(name.to_string()),
                None => state.name_of(topic.topic_id.as_bytes()).map(str::to_owned),
            })
            .collect(),
    };
    let topics = names.into_iter().map(|name| topic(state, name)).collect();
    let brokers = (1..).zip(&state.brokers).map(|(id, address)| {
        MetadataResponseBroker::default()
            .with_node_id(BrokerId(id))
            .with_host(StrBytes::from_string(address.ip().to_string()))
            .with_port(i32::from(address.port()))
    });
    let response = MetadataResponse::default()
        .with_brokers(brokers.collect())
        .with_cluster_id(Some(StrBytes::from_static_str("kdyno-embedded")))
        .with_controller_id(BrokerId(1))
        .with_topics(topics);
    call.answer::<MetadataRequest>(&response, out)
}

fn topic(state: &mut State, name: Option<String>) -> MetadataResponseTopic {
    let Some(name) = name else {
        return MetadataResponseTopic::default()
            .with_name(None)
            .with_error_code(BrokerError::UNKNOWN_TOPIC_ID.0);
    };
    let topic = state.topic_or_made(&name);
    let (id, count) = (topic.id, topic.partitions.len());
    let partitions = (0..count).map(|index| {
        let leader = BrokerId(state.leader_of(index));
        MetadataResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(leader)
            .with_leader_epoch(0)
            .with_replica_nodes(vec![leader])
            .with_isr_nodes(vec![leader])
    });
    MetadataResponseTopic::default()
        .with_topic_id(uuid::Uuid::from_bytes(id))
        .with_partitions(partitions.collect())
        .with_name(Some(TopicName(StrBytes::from_string(name))))
}
