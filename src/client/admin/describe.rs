//! What topics look like, as brokers tell by Metadata.

use kafka_protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, MetadataRequest,
    MetadataResponse,
};

use super::{Admin, AdminError, check, topic_name};
use crate::cluster::control::Node;
use crate::wire::broker_error::BrokerError;

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicShape {
    /// Its name.
    pub name: String,
    /// Its id, all zero where brokers give none.
    pub id: [u8; 16],
    /// Whether it is the cluster's own.
    pub internal: bool,
    /// Its partitions, ascending by index.
    pub partitions: Vec<PartitionShape>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionShape {
    /// Its number.
    pub index: i32,
    /// The broker that leads it.
    pub leader: Option<i32>,
    /// The brokers that hold it, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Those in sync.
    pub isr: Vec<i32>,
    /// Those that are not there.
    pub offline: Vec<i32>,
    /// Those that could lead it though they are out of sync (KIP-966), where brokers tell.
    pub elr: Option<Vec<i32>>,
    /// The last such ones known.
    pub last_known_elr: Option<Vec<i32>>,
}

impl TopicShape {
    /// Replicas of its first partition.
    pub fn replication_factor(&self) -> usize {
        self.partitions
            .first()
            .map_or(0, |first| first.replicas.len())
    }

    /// Whether every partition has a leader, and all its replicas are in sync.
    pub fn settled(&self) -> bool {
        let mut partitions = self.partitions.iter();
        let settled = |p: &PartitionShape| p.leader.is_some() && p.isr.len() == p.replicas.len();
        !self.partitions.is_empty() && partitions.all(settled)
    }
}

impl Admin<'_> {
    /// All topics, ascending by name.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn all_topics(&self) -> Result<Vec<TopicShape>, AdminError> {
        let mut request = MetadataRequest::default();
        request.topics = None;
        let persisted = self.control.persist(Node::Any, &request, |_| false)?;
        let topics = persisted.response.topics.into_iter();
        let known = topics.filter(|topic| topic.error_code == 0);
        let mut shapes: Vec<TopicShape> = known.map(shape).collect();
        shapes.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(shapes)
    }

    /// The topic called `name`, or `None` when there is none.
    ///
    /// # Errors
    /// When the cluster refuses to say, or nobody answers.
    pub fn topic(&self, name: &str) -> Result<Option<TopicShape>, AdminError> {
        self.topic_when(name, |topic| {
            let error = BrokerError(topic.error_code);
            error != BrokerError::LEADER_NOT_AVAILABLE
        })
    }

    /// Waits until each of `names` is known and settled, see [`TopicShape::settled`].
    ///
    /// # Errors
    /// Names the first that is not within `default.api.timeout.ms`.
    pub fn await_topics(&self, names: &[String]) -> Result<(), AdminError> {
        for name in names {
            let found = self.topic_when(name, |topic| {
                topic.error_code == 0 && shape(topic.clone()).settled()
            })?;
            let settled = found.is_some_and(|topic| topic.settled());
            if !settled {
                return Err(AdminError::Refused {
                    what: format!("topic {name}"),
                    error: BrokerError::LEADER_NOT_AVAILABLE,
                    message: Some("not every partition has a leader and all its replicas".into()),
                });
            }
        }
        Ok(())
    }

    fn topic_when(
        &self,
        name: &str,
        wanted: impl Fn(&MetadataResponseTopic) -> bool,
    ) -> Result<Option<TopicShape>, AdminError> {
        let mut asked = MetadataRequestTopic::default();
        asked.name = Some(topic_name(name));
        let mut request = MetadataRequest::default();
        request.topics = Some(vec![asked]);
        request.allow_auto_topic_creation = false;
        let unwanted = |response: &MetadataResponse| !response.topics.iter().any(&wanted);
        let persisted = self.control.persist(Node::Any, &request, unwanted)?;
        let Some(topic) = persisted.response.topics.into_iter().next() else {
            return Err(AdminError::Silent(format!("topic {name}")));
        };
        if BrokerError(topic.error_code) == BrokerError::UNKNOWN_TOPIC_OR_PARTITION {
            return Ok(None);
        }
        check(&format!("topic {name}"), topic.error_code, None)?;
        Ok(Some(shape(topic)))
    }

    /// Completes `topic` with the replicas that could lead though out of sync, `page` partitions an
    /// answer. Brokers before
    /// Kafka 3.7 don't tell, and the topic stays as it is.
    ///
    /// # Errors
    /// When nobody answers.
    pub fn add_elr(&self, topic: &mut TopicShape, page: i32) -> Result<(), AdminError> {
        let mut asked = TopicRequest::default();
        asked.name = topic_name(&topic.name);
        let mut request = DescribeTopicPartitionsRequest::default();
        request.topics = vec![asked];
        request.response_partition_limit = page;
        loop {
            let answer = self.control.call(Node::Any, request.clone());
            let answer = match answer.map_err(AdminError::from) {
                Ok(answer) => answer,
                Err(error) if error.is_unsupported() => return Ok(()),
                Err(error) => return Err(error),
            };
            take_elr(&answer, topic);
            let Some(next) = answer.next_cursor else {
                return Ok(());
            };
            let mut cursor = Cursor::default();
            cursor.topic_name = next.topic_name;
            cursor.partition_index = next.partition_index;
            request.cursor = Some(cursor);
        }
    }
}

fn take_elr(answer: &DescribeTopicPartitionsResponse, topic: &mut TopicShape) {
    let ids = |ids: &Option<Vec<kafka_protocol::messages::BrokerId>>| {
        ids.as_ref().map(|ids| ids.iter().map(|id| id.0).collect())
    };
    for told in answer.topics.iter().flat_map(|topic| &topic.partitions) {
        let mut partitions = topic.partitions.iter_mut();
        if let Some(partition) = partitions.find(|p| p.index == told.partition_index) {
            partition.elr = ids(&told.eligible_leader_replicas);
            partition.last_known_elr = ids(&told.last_known_elr);
        }
    }
}

fn shape(topic: MetadataResponseTopic) -> TopicShape {
    let ids = |ids: &[kafka_protocol::messages::BrokerId]| ids.iter().map(|id| id.0).collect();
    let mut partitions: Vec<PartitionShape> = topic
        .partitions
        .iter()
        .map(|partition| PartitionShape {
            index: partition.partition_index,
            leader: Some(partition.leader_id.0).filter(|leader| *leader >= 0),
            replicas: ids(&partition.replica_nodes),
            isr: ids(&partition.isr_nodes),
            offline: ids(&partition.offline_replicas),
            elr: None,
            last_known_elr: None,
        })
        .collect();
    partitions.sort_by_key(|partition| partition.index);
    TopicShape {
        name: topic
            .name
            .map_or_else(String::new, |name| name.0.to_string()),
        id: *topic.topic_id.as_bytes(),
        internal: topic.is_internal,
        partitions,
    }
}

/// Partitions asked for at once, unless somebody knows better.
pub const PAGE: i32 = 2000;
