//! Metadata answers in an order that brokers give them in.

use super::*;
use kafka_protocol::messages::{BrokerId, TopicName};
use kafka_protocol::protocol::StrBytes;

/// One answered partition: its leader and that leader's epoch.
#[derive(Clone, Copy)]
struct Led {
    by: i32,
    epoch: i32,
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn answer(topic_id: u8, partitions: &[Led]) -> MetadataResponse {
    let brokers = [1, 2, 3].map(|id| {
        MetadataResponseBroker::default()
            .with_node_id(BrokerId(id))
            .with_host(text("localhost"))
            .with_port(9092)
    });
    let partition = |(index, led): (usize, &Led)| {
        MetadataResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(BrokerId(led.by))
            .with_leader_epoch(led.epoch)
    };
    let id = format!("{topic_id:02x}").repeat(16);
    let topic = MetadataResponseTopic::default()
        .with_name(Some(TopicName(text("t"))))
        .with_topic_id(id.parse().unwrap())
        .with_partitions(partitions.iter().enumerate().map(partition).collect());
    MetadataResponse::default()
        .with_brokers(brokers.to_vec())
        .with_cluster_id(Some(text("c")))
        .with_topics(vec![topic])
}

fn asked() -> BTreeSet<Arc<str>> {
    ["t".into()].into()
}

fn learn(previous: &Snapshot, response: &MetadataResponse) -> Snapshot {
    merge(previous, response, &asked()).snapshot
}

fn leader(snapshot: &Snapshot, partition: i32) -> (Option<i32>, i32) {
    let partition = snapshot.topic("t").unwrap().partition(partition).unwrap();
    (partition.leader, partition.leader_epoch)
}

fn hint(leader: i32, leader_epoch: i32) -> Hint {
    Hint {
        topic: "t".into(),
        partition: 0,
        leader,
        leader_epoch,
        endpoint: None,
    }
}

#[test]
fn an_older_leader_epoch_is_never_believed() {
    let known = learn(&Snapshot::default(), &answer(1, &[Led { by: 1, epoch: 5 }]));
    let stale = learn(&known, &answer(1, &[Led { by: 2, epoch: 4 }]));
    assert_eq!(leader(&stale, 0), (Some(1), 5));
    let news = learn(&stale, &answer(1, &[Led { by: 3, epoch: 6 }]));
    assert_eq!(leader(&news, 0), (Some(3), 6));
    assert!(news.generation > known.generation);
}

#[test]
fn a_topic_made_again_starts_with_its_own_epochs() {
    let known = learn(&Snapshot::default(), &answer(1, &[Led { by: 1, epoch: 5 }]));
    let again = learn(&known, &answer(2, &[Led { by: 2, epoch: 0 }]));
    assert_eq!(leader(&again, 0), (Some(2), 0));
    assert_eq!(again.topic("t").unwrap().id, [2; 16]);
    assert!(again.topic_by_id(&[1; 16]).is_none());
}

#[test]
fn another_cluster_is_not_measured_by_the_epochs_of_the_first() {
    let known = learn(&Snapshot::default(), &answer(1, &[Led { by: 1, epoch: 5 }]));
    let mut other = answer(1, &[Led { by: 2, epoch: 0 }]);
    other.cluster_id = Some(text("d"));
    assert_eq!(leader(&learn(&known, &other), 0), (Some(2), 0));
}

#[test]
fn brokers_without_epochs_are_believed() {
    let known = learn(
        &Snapshot::default(),
        &answer(0, &[Led { by: 1, epoch: -1 }]),
    );
    let news = learn(&known, &answer(0, &[Led { by: 2, epoch: -1 }]));
    assert_eq!(leader(&news, 0), (Some(2), -1));
}

#[test]
fn a_leader_that_is_not_among_the_brokers_is_none_and_is_asked_for_again() {
    let led = [Led { by: 1, epoch: 0 }, Led { by: 9, epoch: 0 }];
    let merged = merge(&Snapshot::default(), &answer(1, &led), &asked());
    assert_eq!(leader(&merged.snapshot, 1), (None, 0));
    assert!(!merged.complete);
}

#[test]
fn a_topic_that_is_just_being_made_is_asked_for_again_and_a_forbidden_one_is_not() {
    let complete = |error: BrokerError| {
        let mut response = answer(1, &[]);
        response.topics[0].error_code = error.0;
        merge(&Snapshot::default(), &response, &asked()).complete
    };
    assert!(!complete(BrokerError::UNKNOWN_TOPIC_OR_PARTITION));
    assert!(!complete(BrokerError::LEADER_NOT_AVAILABLE));
    assert!(!complete(BrokerError::NONE), "no partitions");
    assert!(complete(BrokerError::TOPIC_AUTHORIZATION_FAILED));
    let nothing = MetadataResponse::default();
    assert!(!merge(&Snapshot::default(), &nothing, &asked()).complete);
}

#[test]
fn a_hint_of_a_newer_epoch_moves_the_leader_at_once() {
    let known = learn(&Snapshot::default(), &answer(1, &[Led { by: 1, epoch: 5 }]));
    let hinted = apply_hint(&known, &hint(2, 6)).unwrap();
    assert_eq!(leader(&hinted, 0), (Some(2), 6));
    assert!(apply_hint(&hinted, &hint(3, 6)).is_none(), "no newer epoch");
    let stale = learn(&hinted, &answer(1, &[Led { by: 1, epoch: 5 }]));
    assert_eq!(leader(&stale, 0), (Some(2), 6));
}

#[test]
fn a_hint_may_bring_a_broker_that_was_not_known() {
    let known = learn(&Snapshot::default(), &answer(1, &[Led { by: 1, epoch: 5 }]));
    assert!(apply_hint(&known, &hint(7, 6)).is_none());
    let endpoint = Broker {
        id: 7,
        host: "new".into(),
        port: 1,
        rack: None,
    };
    let brings = Hint {
        endpoint: Some(endpoint.clone()),
        ..hint(7, 6)
    };
    let hinted = apply_hint(&known, &brings).unwrap();
    assert_eq!(leader(&hinted, 0), (Some(7), 6));
    assert_eq!(hinted.broker(7), Some(&endpoint));
}
