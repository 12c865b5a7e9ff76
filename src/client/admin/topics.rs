//! Topics made, widened and deleted, one request each.

use kafka_protocol::messages::create_partitions_request::{
    CreatePartitionsAssignment, CreatePartitionsTopic,
};
use kafka_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::{
    BrokerId, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    DeleteTopicsResponse,
};

use super::{Admin, AdminError, check, text, topic_name, unsettled};
use crate::cluster::control::{CallError, Node};
use crate::cluster::persist::Persisted;
use crate::net::control_stream::AskError;
use crate::wire::broker_error::BrokerError;

/// A topic to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// Its partitions; none for the broker's default.
    pub partitions: Option<u32>,
    /// Its replicas; none for the broker's default.
    pub replication_factor: Option<u16>,
    /// The brokers of each partition, instead of both numbers.
    pub assignment: Vec<Vec<i32>>,
    /// Its configuration, name and value.
    pub configs: Vec<(String, String)>,
}

impl Admin<'_> {
    /// Makes a topic. Whether it can be written to yet is another question: see
    /// [`Self::await_topics`].
    ///
    /// # Errors
    /// When the cluster refuses, or nobody answers.
    pub fn create_topic(&self, topic: &NewTopic) -> Result<(), AdminError> {
        let mut request = CreateTopicsRequest::default();
        request.topics = vec![creatable(topic)];
        request.timeout_ms = BROKER_TIMEOUT_MS;
        let what = format!("topic {}", topic.name);
        let persisted = self
            .control
            .persist(Node::Controller, &request, |response| {
                response
                    .topics
                    .iter()
                    .any(|topic| unsettled(topic.error_code))
            })?;
        let answer = persisted.response.topics.first();
        let answer = answer.ok_or_else(|| AdminError::Silent(what.clone()))?;
        let exists = BrokerError(answer.error_code) == BrokerError::TOPIC_ALREADY_EXISTS;
        if exists && persisted.attempts > 1 {
            // An earlier asking made it, and its answer was lost.
            return Ok(());
        }
        check(&what, answer.error_code, answer.error_message.as_ref())
    }

    /// Deletes a topic.
    ///
    /// # Errors
    /// When the cluster refuses, or nobody answers.
    pub fn delete_topic(&self, name: &str) -> Result<(), AdminError> {
        let what = format!("topic {name}");
        let mut state = DeleteTopicState::default();
        state.name = Some(topic_name(name));
        let mut request = DeleteTopicsRequest::default();
        request.topics = vec![state];
        request.timeout_ms = BROKER_TIMEOUT_MS;
        let persisted = match self.ask_to_delete(&request) {
            // Before version 6, Kafka 2.8, topics went by name alone.
            Err(CallError::Ask {
                error: AskError::Message(_),
                ..
            }) => {
                request.topics = Vec::new();
                request.topic_names = vec![topic_name(name)];
                self.ask_to_delete(&request)?
            }
            result => result?,
        };
        let answer = persisted.response.responses.first();
        let answer = answer.ok_or_else(|| AdminError::Silent(what.clone()))?;
        let unknown = BrokerError(answer.error_code) == BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
        if unknown && persisted.attempts > 1 {
            return Ok(());
        }
        check(&what, answer.error_code, answer.error_message.as_ref())
    }

    fn ask_to_delete(
        &self,
        request: &DeleteTopicsRequest,
    ) -> Result<Persisted<DeleteTopicsResponse>, CallError> {
        // A topic that is gone stays gone.
        let unsettled = |code: i16| {
            unsettled(code) && BrokerError(code) != BrokerError::UNKNOWN_TOPIC_OR_PARTITION
        };
        self.control.persist(Node::Controller, request, |response| {
            let mut answers = response.responses.iter();
            answers.any(|answer| unsettled(answer.error_code))
        })
    }

    /// Gives a topic more partitions, `partitions` in all; `assignment` are the brokers of each of
    /// the new ones, empty for the cluster's own choice.
    ///
    /// # Errors
    /// When the cluster refuses, or nobody answers.
    pub fn add_partitions(
        &self,
        name: &str,
        partitions: u32,
        assignment: &[Vec<i32>],
    ) -> Result<(), AdminError> {
        let mut topic = CreatePartitionsTopic::default();
        topic.name = topic_name(name);
        topic.count = partitions as i32;
        let assigned = assignment.iter().map(|brokers| {
            let mut assignment = CreatePartitionsAssignment::default();
            assignment.broker_ids = brokers.iter().copied().map(BrokerId).collect();
            assignment
        });
        topic.assignments = Some(assigned.collect()).filter(|all: &Vec<_>| !all.is_empty());
        let mut request = CreatePartitionsRequest::default();
        request.topics = vec![topic];
        request.timeout_ms = BROKER_TIMEOUT_MS;
        let what = format!("topic {name}");
        let persisted = self
            .control
            .persist(Node::Controller, &request, |response| {
                response
                    .results
                    .iter()
                    .any(|result| unsettled(result.error_code))
            })?;
        let answer = persisted.response.results.first();
        let answer = answer.ok_or_else(|| AdminError::Silent(what.clone()))?;
        check(&what, answer.error_code, answer.error_message.as_ref())
    }
}

fn creatable(topic: &NewTopic) -> CreatableTopic {
    let mut creatable = CreatableTopic::default();
    creatable.name = topic_name(&topic.name);
    creatable.num_partitions = topic.partitions.map_or(BROKERS_CHOICE, |n| n as i32);
    creatable.replication_factor = topic.replication_factor.map_or(-1, |n| n as i16);
    let assigned = (0..).zip(&topic.assignment).map(|(index, brokers)| {
        let mut assignment = CreatableReplicaAssignment::default();
        assignment.partition_index = index;
        assignment.broker_ids = brokers.iter().copied().map(BrokerId).collect();
        assignment
    });
    creatable.assignments = assigned.collect();
    let configs = topic.configs.iter().map(|(name, value)| {
        let mut config = CreatableTopicConfig::default();
        config.name = text(name);
        config.value = Some(text(value));
        config
    });
    creatable.configs = configs.collect();
    creatable
}

const BROKERS_CHOICE: i32 = -1;
/// How long the controller may take over one request.
const BROKER_TIMEOUT_MS: i32 = 30_000;
