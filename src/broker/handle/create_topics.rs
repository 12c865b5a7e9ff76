//! CreateTopics.

use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::create_topics_response::{
    CreatableTopicConfigs, CreatableTopicResult,
};
use kafka_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};

use super::{Answer, Call, shown, text};
use crate::broker::config::{OF_TOPICS, Refusal};
use crate::broker::state::State;
use crate::broker::topics::{NewTopic, Topic, Topics};
use crate::wire::broker_error::BrokerError;

/// The first version that tells what was made.
const SHAPE_FROM: i16 = 5;
/// The first version with topic ids.
const IDS_FROM: i16 = 7;
/// Where a setting comes from, as the answer numbers it: it was given to the topic.
pub const FROM_TOPIC: i8 = 1;
/// It is the default.
pub const FROM_DEFAULT: i8 = 5;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<CreateTopicsRequest>() else {
        return Answer::Close;
    };
    let topics = request.topics.iter().map(|wanted| {
        let twice = request
            .topics
            .iter()
            .filter(|other| other.name == wanted.name);
        let made = match twice.count() {
            1 => create(&mut state.topics, wanted, request.validate_only),
            _ => Err((
                BrokerError::INVALID_REQUEST,
                "it is asked for twice".to_owned(),
            )),
        };
        result(call.header.version, &state.topics, wanted, made)
    });
    let response = CreateTopicsResponse::default().with_topics(topics.collect());
    call.answer::<CreateTopicsRequest>(&response, out)
}

fn create(topics: &mut Topics, wanted: &CreatableTopic, only_check: bool) -> Result<(), Refusal> {
    let configs = wanted.configs.iter();
    let mut new = NewTopic {
        partitions: (wanted.num_partitions != -1).then_some(wanted.num_partitions),
        replication: (wanted.replication_factor != -1).then_some(wanted.replication_factor),
        configs: configs
            .map(|config| (shown(&config.name), config.value.as_ref().map(shown)))
            .collect(),
    };
    if let Some(first) = wanted.assignments.first() {
        if new.partitions.is_some() || new.replication.is_some() {
            let why = "partitions are both counted and assigned".to_owned();
            return Err((BrokerError::INVALID_REQUEST, why));
        }
        // They share one state: which brokers is all the same, how many is not.
        let replicas = first.broker_ids.len();
        let mut others = wanted.assignments.iter();
        if others.any(|other| other.broker_ids.len() != replicas) {
            let why = "partitions have different numbers of replicas".to_owned();
            return Err((BrokerError::INVALID_REPLICA_ASSIGNMENT, why));
        }
        new.partitions = i32::try_from(wanted.assignments.len()).ok();
        new.replication = i16::try_from(replicas).ok();
    }
    topics.create(&wanted.name, &new, only_check)
}

fn result(
    version: i16,
    topics: &Topics,
    wanted: &CreatableTopic,
    made: Result<(), Refusal>,
) -> CreatableTopicResult {
    let result = CreatableTopicResult::default().with_name(wanted.name.clone());
    let topic = match made {
        Err((error, why)) => {
            return result
                .with_error_code(error.0)
                .with_error_message(Some(text(&why)));
        }
        Ok(()) => topics.get(&wanted.name),
    };
    // A topic that was only checked is not there.
    let Some(topic) = topic.filter(|_| version >= SHAPE_FROM) else {
        return result;
    };
    let result = match version {
        IDS_FROM.. => result.with_topic_id(uuid::Uuid::from_bytes(topic.id)),
        _ => result,
    };
    result
        .with_num_partitions(topic.partitions.len() as i32)
        .with_replication_factor(topic.replication.cast_signed())
        .with_configs(Some(configs(topic)))
}

fn configs(topic: &Topic) -> Vec<CreatableTopicConfigs> {
    let configs = OF_TOPICS.iter().map(|setting| {
        let (value, set) = setting.value(topic.configs());
        CreatableTopicConfigs::default()
            .with_name(text(setting.name))
            .with_value(Some(text(value)))
            .with_config_source(if set { FROM_TOPIC } else { FROM_DEFAULT })
    });
    configs.collect()
}
