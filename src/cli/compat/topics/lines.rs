//! The lines of `kafka-topics --describe`, to the last tab.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::client::admin::configs::Setting;
use crate::client::admin::describe::{PartitionShape, TopicShape};

/// The line of a topic, before those of its partitions.
pub fn topic_line(topic: &TopicShape, settings: &[Setting]) -> String {
    let configs = settings.iter().filter(|setting| !setting.of_default);
    let configs = configs.map(|setting| {
        let value = setting.value.as_deref().unwrap_or("null");
        format!("{}={value}", setting.name)
    });
    format!(
        "Topic: {}\tTopicId: {}\tPartitionCount: {}\tReplicationFactor: {}\tConfigs: {}",
        topic.name,
        topic_id(&topic.id),
        topic.partitions.len(),
        topic.replication_factor(),
        configs.collect::<Vec<_>>().join(","),
    )
}

/// The line of a partition.
pub fn partition_line(topic: &str, partition: &PartitionShape) -> String {
    let leader = partition
        .leader
        .map_or("none".to_owned(), |leader| leader.to_string());
    let told = |ids: &Option<Vec<i32>>| ids.as_deref().map_or("N/A".to_owned(), list);
    format!(
        "\tTopic: {topic}\tPartition: {}\tLeader: {leader}\tReplicas: {}\tIsr: {}\tElr: {}\t\
         LastKnownElr: {}",
        partition.index,
        list(&partition.replicas),
        list(&partition.isr),
        told(&partition.elr),
        told(&partition.last_known_elr),
    )
}

/// A topic's id as Kafka prints it.
pub fn topic_id(id: &[u8; 16]) -> String {
    URL_SAFE_NO_PAD.encode(id)
}

fn list(ids: &[i32]) -> String {
    let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
    ids.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_tells_is_not_available_and_what_is_empty_is_empty() {
        let mut partition = PartitionShape {
            index: 3,
            leader: None,
            replicas: vec![1, 2],
            isr: vec![2],
            offline: vec![1],
            elr: None,
            last_known_elr: Some(Vec::new()),
        };
        let line = partition_line("t", &partition);
        assert_eq!(
            line,
            "\tTopic: t\tPartition: 3\tLeader: none\tReplicas: 1,2\tIsr: 2\tElr: N/A\tLastKnownElr: "
        );
        partition.leader = Some(2);
        assert!(partition_line("t", &partition).contains("\tLeader: 2\t"));
    }
}
