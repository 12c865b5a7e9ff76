//! First and end offsets of partitions, asked of their leaders.

use std::collections::BTreeMap;

use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, ListOffsetsRequest};

use super::describe::TopicShape;
use super::{Admin, AdminError, check, topic_name, unsettled};
use crate::cluster::control::Node;

/// Which offset of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// That of the first record kept.
    Earliest,
    /// That of the next record.
    Latest,
}

impl Admin<'_> {
    /// The offset at `place` of every partition of `topic` that has a leader, by partition.
    ///
    /// # Errors
    /// When a leader refuses, or does not answer.
    pub fn offsets(
        &self,
        topic: &TopicShape,
        place: Place,
    ) -> Result<BTreeMap<i32, i64>, AdminError> {
        let mut by_leader: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for partition in &topic.partitions {
            if let Some(leader) = partition.leader {
                by_leader.entry(leader).or_default().push(partition.index);
            }
        }
        let mut offsets = BTreeMap::new();
        for (leader, partitions) in by_leader {
            let request = request(&topic.name, &partitions, place);
            let persisted = self
                .control
                .persist(Node::Id(leader), &request, |response| {
                    let mut partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
                    partitions.any(|partition| unsettled(partition.error_code))
                })?;
            let answered = persisted
                .response
                .topics
                .iter()
                .flat_map(|topic| &topic.partitions);
            for partition in answered {
                let what = format!(
                    "topic {} partition {}",
                    topic.name, partition.partition_index
                );
                check(&what, partition.error_code, None)?;
                offsets.insert(partition.partition_index, partition.offset);
            }
        }
        Ok(offsets)
    }

    /// Whether any partition of `topic` holds, or held, a record that was not yet cut off its log.
    ///
    /// # Errors
    /// When a leader refuses, or does not answer.
    pub fn holds_records(&self, topic: &TopicShape) -> Result<bool, AdminError> {
        let latest = self.offsets(topic, Place::Latest)?;
        let earliest = self.offsets(topic, Place::Earliest)?;
        Ok(latest
            .iter()
            .any(|(index, end)| earliest.get(index) != Some(end)))
    }
}

fn request(topic: &str, partitions: &[i32], place: Place) -> ListOffsetsRequest {
    let partitions = partitions.iter().map(|index| {
        let mut partition = ListOffsetsPartition::default();
        partition.partition_index = *index;
        partition.current_leader_epoch = -1;
        partition.timestamp = match place {
            Place::Earliest => -2,
            Place::Latest => -1,
        };
        partition
    });
    let mut asked = ListOffsetsTopic::default();
    asked.name = topic_name(topic);
    asked.partitions = partitions.collect();
    let mut request = ListOffsetsRequest::default();
    request.replica_id = BrokerId(-1);
    request.topics = vec![asked];
    request
}
