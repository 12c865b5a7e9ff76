//! Metadata: brokers, and the topics asked for, which may be made by being asked for.

use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{BrokerId, MetadataRequest, MetadataResponse, TopicName};

use super::{Answer, CLUSTER_ID, Call, text};
use crate::broker::state::State;
use crate::broker::topics::{NewTopic, Topic, Topics};
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<MetadataRequest>() else {
        return Answer::Close;
    };
    // Version 0 has no null: there an empty list asks for all.
    let wanted = request.topics.as_ref();
    let wanted = wanted.filter(|topics| call.header.version > 0 || !topics.is_empty());
    let make = request.allow_auto_topic_creation;
    let topics = match wanted {
        None => {
            let all = state.topics.iter();
            all.map(|(name, topic)| found(&state.topics, name, topic))
                .collect()
        }
        Some(wanted) => wanted
            .iter()
            .map(|wanted| one(&mut state.topics, wanted, make))
            .collect(),
    };
    let brokers = (1..).zip(&state.brokers).map(|(id, address)| {
        MetadataResponseBroker::default()
            .with_node_id(BrokerId(id))
            .with_host(text(&address.ip().to_string()))
            .with_port(i32::from(address.port()))
    });
    let response = MetadataResponse::default()
        .with_brokers(brokers.collect())
        .with_cluster_id(Some(text(CLUSTER_ID)))
        .with_controller_id(BrokerId(1))
        .with_topics(topics);
    call.answer::<MetadataRequest>(&response, out)
}

/// The topic that is `wanted`, made where there is none and that is allowed.
fn one(topics: &mut Topics, wanted: &MetadataRequestTopic, make: bool) -> MetadataResponseTopic {
    let Some(name) = &wanted.name else {
        let id = wanted.topic_id;
        let name = topics.name_of(id.as_bytes());
        return match name.and_then(|name| Some((name, topics.get(name)?))) {
            Some((name, topic)) => found(topics, name, topic),
            None => MetadataResponseTopic::default()
                .with_name(None)
                .with_topic_id(id)
                .with_error_code(BrokerError::UNKNOWN_TOPIC_ID.0),
        };
    };
    let mut error = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
    if make && topics.get(name).is_none() {
        let made = topics.create(name, &NewTopic::default(), false);
        error = made.err().map_or(error, |(error, _)| error);
    }
    match topics.get(name) {
        Some(topic) => found(topics, name, topic),
        None => MetadataResponseTopic::default()
            .with_name(Some(name.clone()))
            .with_error_code(error.0),
    }
}

fn found(topics: &Topics, name: &str, topic: &Topic) -> MetadataResponseTopic {
    let partitions = (0..topic.partitions.len()).map(|index| {
        let replicas: Vec<BrokerId> = topics.replicas_of(topic, index).map(BrokerId).collect();
        MetadataResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(replicas[0])
            .with_leader_epoch(0)
            .with_isr_nodes(replicas.clone())
            .with_replica_nodes(replicas)
    });
    MetadataResponseTopic::default()
        .with_topic_id(uuid::Uuid::from_bytes(topic.id))
        .with_partitions(partitions.collect())
        .with_name(Some(TopicName(text(name))))
}
