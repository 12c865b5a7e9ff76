//! DeleteTopics: by name, or by id.

use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::delete_topics_response::DeletableTopicResult;
use kafka_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse, TopicName};

use super::{Answer, Call, text};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;
use crate::wire::produce::TopicRef;

/// The first version that may name topics by id.
const IDS_FROM: i16 = 6;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<DeleteTopicsRequest>() else {
        return Answer::Close;
    };
    let responses = if call.header.version >= IDS_FROM {
        let topics = request.topics.iter();
        topics.map(|topic| delete(state, topic)).collect()
    } else {
        let names = request.topic_names.iter();
        names
            .map(|name| {
                let named = DeleteTopicState::default().with_name(Some(name.clone()));
                delete(state, &named).with_topic_id(uuid::Uuid::nil())
            })
            .collect()
    };
    let response = DeleteTopicsResponse::default().with_responses(responses);
    call.answer::<DeleteTopicsRequest>(&response, out)
}

fn delete(state: &mut State, wanted: &DeleteTopicState) -> DeletableTopicResult {
    let topic = match &wanted.name {
        Some(name) => TopicRef::Name(name),
        None => TopicRef::Id(*wanted.topic_id.as_bytes()),
    };
    let name = state.topics.name(topic).ok().map(str::to_owned);
    let id = name.as_deref().and_then(|name| state.topics.get(name));
    let id = id.map_or(wanted.topic_id, |topic| uuid::Uuid::from_bytes(topic.id));
    let error = match state.topics.delete(topic) {
        Ok(waiting) => {
            state.woken.extend(waiting);
            BrokerError::NONE
        }
        Err(error) => error,
    };
    let name = name.map(|name| TopicName(text(&name)));
    DeletableTopicResult::default()
        .with_name(name.or_else(|| wanted.name.clone()))
        .with_topic_id(id)
        .with_error_code(error.0)
}
