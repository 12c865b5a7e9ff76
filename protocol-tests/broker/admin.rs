//! What administrators ask for: topics made, described, changed and deleted.

use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kafka_protocol::messages::create_topics_response::CreatableTopicResult;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use kafka_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
use kafka_protocol::messages::{
    BrokerId, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    DescribeClusterRequest, DescribeConfigsRequest, DescribeLogDirsRequest,
    DescribeTopicPartitionsRequest, IncrementalAlterConfigsRequest, MetadataRequest,
};
use kafka_protocol::protocol::StrBytes;
use kdyno::broker::LogKind;
use kdyno::wire::broker_error::BrokerError;
use rstest::rstest;

use super::{batch, cluster, make, memory, name, produce, start};
use crate::support::asker::Asker;

const PLENTY: u64 = 1 << 30;
const TOPIC: i8 = 2;
const BROKER: i8 = 4;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn wanted(topic: &str, partitions: i32, replicas: i16) -> CreatableTopic {
    CreatableTopic::default()
        .with_name(name(topic))
        .with_num_partitions(partitions)
        .with_replication_factor(replicas)
}

fn create(asker: &mut Asker, version: i16, topic: CreatableTopic) -> CreatableTopicResult {
    let request = CreateTopicsRequest::default().with_topics(vec![topic]);
    asker.ask(version, &request).topics.remove(0)
}

fn metadata(asker: &mut Asker, version: i16, topic: &str, make: bool) -> MetadataResponseTopic {
    let wanted = MetadataRequestTopic::default().with_name(Some(name(topic)));
    let request = MetadataRequest::default()
        .with_topics(Some(vec![wanted]))
        .with_allow_auto_topic_creation(make);
    asker.ask(version, &request).topics.remove(0)
}

#[rstest]
fn a_topic_is_made_with_what_was_asked_for_and_deleted(#[values(2, 3, 4, 5, 6, 7)] version: i16) {
    let broker = cluster(3, 1);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let made = create(&mut asker, version, wanted("t", 4, 2));
    assert_eq!(made.error_code, 0);
    let described = metadata(&mut asker, 12, "t", false);
    let shape = described.partitions.iter().map(|partition| {
        let replicas = partition.replica_nodes.iter().map(|id| id.0);
        (partition.leader_id.0, replicas.collect::<Vec<_>>())
    });
    let expected = [(1, [1, 2]), (2, [2, 3]), (3, [3, 1]), (1, [1, 2])];
    let expected = expected.map(|(leader, replicas)| (leader, replicas.to_vec()));
    assert_eq!(shape.collect::<Vec<_>>(), expected);
    if version >= 5 {
        assert_eq!((made.num_partitions, made.replication_factor), (4, 2));
        assert!(!made.configs.unwrap().is_empty());
    }
    if version >= 7 {
        assert_eq!(made.topic_id, described.topic_id);
    }
    let request = DeleteTopicsRequest::default();
    let request = match version.min(6) {
        6 => {
            let by_id = DeleteTopicState::default()
                .with_name(None)
                .with_topic_id(described.topic_id);
            request.with_topics(vec![by_id])
        }
        _ => request.with_topic_names(vec![name("t")]),
    };
    let gone = asker.ask(version.min(6), &request).responses.remove(0);
    assert_eq!((gone.error_code, gone.name), (0, Some(name("t"))));
    let missing = metadata(&mut asker, 12, "t", false).error_code;
    let unknown = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
    assert_eq!(BrokerError(missing), unknown);
    let again = asker.ask(version.min(6), &request).responses.remove(0);
    let expected = if version >= 6 {
        BrokerError::UNKNOWN_TOPIC_ID
    } else {
        unknown
    };
    assert_eq!(BrokerError(again.error_code), expected);
}

#[test]
fn topics_that_can_not_be_made_are_refused_with_a_reason() {
    let broker = cluster(2, 1);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, "there");
    let mut error = |topic: CreatableTopic| {
        let result = create(&mut asker, 7, topic);
        assert!(result.error_message.is_some_and(|why| !why.is_empty()));
        BrokerError(result.error_code)
    };
    let config = |name: &str, value: &str| {
        let config = CreatableTopicConfig::default()
            .with_name(text(name))
            .with_value(Some(text(value)));
        wanted("t", 1, 1).with_configs(vec![config])
    };
    let assigned = |replicas: &[i32]| {
        let ids = replicas.iter().map(|id| BrokerId(*id)).collect();
        CreatableReplicaAssignment::default().with_broker_ids(ids)
    };
    assert_eq!(
        error(wanted("there", 1, 1)),
        BrokerError::TOPIC_ALREADY_EXISTS
    );
    for bad in ["", ".", "..", "a b", "ü", &"x".repeat(250)] {
        let refused = BrokerError::INVALID_TOPIC_EXCEPTION;
        assert_eq!(error(wanted(bad, 1, 1)), refused, "{bad}");
    }
    assert_eq!(error(wanted("t", 0, 1)), BrokerError::INVALID_PARTITIONS);
    assert_eq!(
        error(wanted("t", i32::MIN, 1)),
        BrokerError::INVALID_PARTITIONS
    );
    assert_eq!(
        error(wanted("t", i32::MAX, 1)),
        BrokerError::POLICY_VIOLATION
    );
    for replicas in [3, 0, -2] {
        let refused = BrokerError::INVALID_REPLICATION_FACTOR;
        assert_eq!(error(wanted("t", 1, replicas)), refused);
    }
    let invalid = BrokerError::INVALID_CONFIG;
    assert_eq!(error(config("retention.hours", "1")), invalid);
    assert_eq!(error(config("retention.ms", "soon")), invalid);
    let both = wanted("t", 1, 1).with_assignments(vec![assigned(&[1])]);
    assert_eq!(error(both), BrokerError::INVALID_REQUEST);
    let uneven = vec![assigned(&[1]), assigned(&[1, 2])];
    let uneven = wanted("t", -1, -1).with_assignments(uneven);
    assert_eq!(error(uneven), BrokerError::INVALID_REPLICA_ASSIGNMENT);
    let twice =
        CreateTopicsRequest::default().with_topics(vec![wanted("t", 1, 1), wanted("t", 1, 1)]);
    let results = asker.ask(7, &twice).topics;
    let codes = results.iter().map(|result| BrokerError(result.error_code));
    assert!(
        codes
            .into_iter()
            .all(|code| code == BrokerError::INVALID_REQUEST)
    );
    // What is only checked is not made.
    let only_check = CreateTopicsRequest::default()
        .with_topics(vec![wanted("t", 1, 1)])
        .with_validate_only(true);
    assert_eq!(asker.ask(7, &only_check).topics[0].error_code, 0);
    let missing = metadata(&mut asker, 12, "t", false).error_code;
    assert_eq!(
        BrokerError(missing),
        BrokerError::UNKNOWN_TOPIC_OR_PARTITION
    );
}

#[test]
fn asking_for_a_topic_makes_it_only_where_that_is_allowed_in_every_version() {
    let broker = memory(5, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    for version in 0..=13 {
        let topic = format!("t{version}");
        if version >= 4 {
            let missing = metadata(&mut asker, version, &topic, false);
            let unknown = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
            assert_eq!(BrokerError(missing.error_code), unknown);
            assert!(missing.partitions.is_empty());
        }
        let made = metadata(&mut asker, version, &topic, true);
        assert_eq!((made.error_code, made.partitions.len()), (0, 5));
        let bad = metadata(&mut asker, version, "a b", true);
        let invalid = BrokerError::INVALID_TOPIC_EXCEPTION;
        assert_eq!(BrokerError(bad.error_code), invalid);
        // All topics there are: by no list, and in version 0 by an empty one.
        let all = MetadataRequest::default().with_topics((version == 0).then(Vec::new));
        let all = asker.ask(version, &all).topics;
        assert_eq!(all.len(), version as usize + 1);
        if version > 0 {
            let none = MetadataRequest::default().with_topics(Some(Vec::new()));
            assert!(asker.ask(version, &none).topics.is_empty());
        }
    }
}

#[test]
fn a_topic_gets_more_partitions_and_never_fewer() {
    let broker = memory(2, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, "t");
    produce(&mut asker, "t", 1, &batch(1, &[b"a"]));
    for version in 0..=3 {
        let mut error = |topic: &str, count: i32| {
            let wanted = CreatePartitionsTopic::default()
                .with_name(name(topic))
                .with_count(count);
            let request = CreatePartitionsRequest::default().with_topics(vec![wanted]);
            BrokerError(asker.ask(version, &request).results[0].error_code)
        };
        let has = 2 + i32::from(version);
        assert_eq!(error("t", has), BrokerError::INVALID_PARTITIONS);
        assert_eq!(error("t", -1), BrokerError::INVALID_PARTITIONS);
        assert_eq!(error("other", 9), BrokerError::UNKNOWN_TOPIC_OR_PARTITION);
        assert_eq!(error("t", has + 1), BrokerError::NONE);
    }
    assert_eq!(metadata(&mut asker, 12, "t", false).partitions.len(), 6);
    // What was written is still there, and the new ones are written to.
    assert_eq!(
        produce(&mut asker, "t", 1, &batch(1, &[b"b"])).base_offset,
        1
    );
    assert_eq!(
        produce(&mut asker, "t", 5, &batch(1, &[b"c"])).base_offset,
        0
    );
}

fn alter(asker: &mut Asker, topic: &str, changes: &[(i8, &str, Option<&str>)]) -> BrokerError {
    let configs = changes.iter().map(|(operation, name, value)| {
        AlterableConfig::default()
            .with_config_operation(*operation)
            .with_name(text(name))
            .with_value(value.map(text))
    });
    let resource = AlterConfigsResource::default()
        .with_resource_type(TOPIC)
        .with_resource_name(text(topic))
        .with_configs(configs.collect());
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
    BrokerError(asker.ask(1, &request).responses[0].error_code)
}

/// Value and source of a setting.
fn setting(asker: &mut Asker, version: i16, of: (i8, &str), key: &str) -> Option<(String, i8)> {
    let resource = DescribeConfigsResource::default()
        .with_resource_type(of.0)
        .with_resource_name(text(of.1))
        .with_configuration_keys(Some(vec![text(key)]));
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
    let mut result = asker.ask(version, &request).results.remove(0);
    let config = result.configs.pop()?;
    Some((config.value?.to_string(), config.config_source))
}

#[test]
fn settings_are_shown_changed_all_or_none_and_acted_on() {
    let broker = memory(3, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, "t");
    let key = "max.message.bytes";
    for version in 1..=4 {
        let shown = setting(&mut asker, version, (TOPIC, "t"), key);
        assert_eq!(shown, Some(("1048588".to_owned(), 5)));
        let shown = setting(&mut asker, version, (BROKER, "1"), "num.partitions");
        assert_eq!(shown, Some(("3".to_owned(), 4)));
        assert_eq!(setting(&mut asker, version, (BROKER, "2"), key), None);
        assert_eq!(setting(&mut asker, version, (TOPIC, "other"), key), None);
    }
    let small = (0, key, Some("100"));
    let partly = [small, (0, "retention.ms", Some("soon"))];
    assert_eq!(alter(&mut asker, "t", &partly), BrokerError::INVALID_CONFIG);
    let shown = setting(&mut asker, 4, (TOPIC, "t"), key);
    assert_eq!(shown, Some(("1048588".to_owned(), 5)));
    let dated = (0, "message.timestamp.type", Some("LogAppendTime"));
    assert_eq!(alter(&mut asker, "t", &[small, dated]), BrokerError::NONE);
    let shown = setting(&mut asker, 4, (TOPIC, "t"), key);
    assert_eq!(shown, Some(("100".to_owned(), 1)));
    let large = produce(&mut asker, "t", 0, &batch(1, &[&[7; 100]]));
    let too_large = BrokerError::MESSAGE_TOO_LARGE;
    assert_eq!(BrokerError(large.error_code), too_large);
    let dated = produce(&mut asker, "t", 0, &batch(1, &[b"a"]));
    assert!(dated.log_append_time_ms > 1_700_000_000_000);
    assert_eq!(alter(&mut asker, "t", &[(1, key, None)]), BrokerError::NONE);
    let large = produce(&mut asker, "t", 0, &batch(1, &[&[7; 100]]));
    assert_eq!(large.error_code, 0);
}

#[test]
fn a_sink_takes_batches_up_to_the_limit_of_its_topic_whether_it_reads_them_or_not() {
    let broker = start(1, 1, LogKind::Sink);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, "t");
    let fits = vec![7; 1_048_588 - 100];
    assert_eq!(
        produce(&mut asker, "t", 0, &batch(1, &[&fits])).error_code,
        0
    );
    let larger = vec![7; 1_048_588];
    let refused = produce(&mut asker, "t", 0, &batch(1, &[&larger]));
    assert_eq!(
        BrokerError(refused.error_code),
        BrokerError::MESSAGE_TOO_LARGE
    );
}

#[test]
fn topics_are_described_page_by_page_in_order_of_their_names() {
    let broker = memory(3, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    for topic in ["b", "a", "c"] {
        make(&mut asker, topic);
    }
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let request = DescribeTopicPartitionsRequest::default()
            .with_response_partition_limit(4)
            .with_cursor(cursor.take());
        let page = asker.ask(0, &request);
        let topics = page.topics.iter().map(|topic| {
            let indexes = topic.partitions.iter().map(|at| at.partition_index);
            let name = topic.name.as_ref().map(|name| name.to_string());
            (name.unwrap(), indexes.collect::<Vec<_>>())
        });
        pages.push(topics.collect::<Vec<_>>());
        let Some(next) = page.next_cursor else {
            break;
        };
        let next = Cursor::default()
            .with_topic_name(next.topic_name)
            .with_partition_index(next.partition_index);
        cursor = Some(next);
    }
    let topic = |name: &str, indexes: &[i32]| (name.to_owned(), indexes.to_vec());
    let expected = [
        vec![topic("a", &[0, 1, 2]), topic("b", &[0])],
        vec![topic("b", &[1, 2]), topic("c", &[0, 1])],
        vec![topic("c", &[2])],
    ];
    assert_eq!(pages, expected);
    let missing = TopicRequest::default().with_name(name("d"));
    let request = DescribeTopicPartitionsRequest::default()
        .with_topics(vec![missing])
        .with_response_partition_limit(4);
    let error = BrokerError(asker.ask(0, &request).topics[0].error_code);
    assert_eq!(error, BrokerError::UNKNOWN_TOPIC_OR_PARTITION);
}

#[test]
fn brokers_and_the_bytes_they_keep_are_described_in_every_version() {
    let broker = cluster(2, 2);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, "t");
    let written = batch(1, &[b"a"]);
    produce(&mut asker, "t", 0, &written);
    for version in 0..=2 {
        let cluster = asker.ask(version, &DescribeClusterRequest::default());
        let ports = cluster.brokers.iter().map(|broker| broker.port as u16);
        let expected = broker.addresses().iter().map(|address| address.port());
        assert!(ports.eq(expected));
    }
    let controllers = DescribeClusterRequest::default().with_endpoint_type(2);
    let error = BrokerError(asker.ask(1, &controllers).error_code);
    assert_eq!(error, BrokerError::MISMATCHED_ENDPOINT_TYPE);
    for version in 1..=4 {
        let request = DescribeLogDirsRequest::default().with_topics(None);
        let results = asker.ask(version, &request).results;
        let partitions = &results[0].topics[0].partitions;
        // The second partition is led by, and only on, the other broker.
        assert_eq!(partitions.len(), 1);
        assert_eq!(partitions[0].partition_size, written.len() as i64);
    }
}
