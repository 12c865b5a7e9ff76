//! The embedded broker, asked by a plain client.

mod admin;
mod fetch;
mod groups;
mod holds;

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::produce_response::PartitionProduceResponse;
use kafka_protocol::messages::{MetadataRequest, ProduceRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use kdyno::broker::{self, BrokerOptions, LogKind, Running};
use kdyno::records::writer::{BatchWriter, EncodedHeaders, Identity, Record};

use crate::support::asker::Asker;

/// A broker that keeps `retention_bytes`, with `partitions` per topic.
fn memory(partitions: u32, retention_bytes: u64) -> Running {
    start(1, partitions, LogKind::Memory { retention_bytes })
}

/// Brokers that keep what they get, with `partitions` per topic.
fn cluster(brokers: usize, partitions: u32) -> Running {
    let retention_bytes = 1 << 30;
    start(brokers, partitions, LogKind::Memory { retention_bytes })
}

fn start(brokers: usize, partitions: u32, log: LogKind) -> Running {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = BrokerOptions {
        listen: vec![any; brokers],
        log,
        ..BrokerOptions::sink(partitions)
    };
    broker::start(&options).expect("free ports")
}

fn name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

/// Has `topic` made by asking for it, and gives its id.
fn make(asker: &mut Asker, topic: &str) -> uuid::Uuid {
    let wanted = MetadataRequestTopic::default().with_name(Some(name(topic)));
    let request = MetadataRequest::default()
        .with_topics(Some(vec![wanted]))
        .with_allow_auto_topic_creation(true);
    let response = asker.ask(12, &request);
    assert_eq!(response.topics[0].error_code, 0);
    response.topics[0].topic_id
}

/// A batch of one record for each of `values`, timed one after the other from `first_ms` on.
fn batch(first_ms: i64, values: &[&[u8]]) -> Vec<u8> {
    let mut buffer = Vec::new();
    let mut writer = BatchWriter::begin(&mut buffer);
    for (value, timestamp_ms) in values.iter().zip(first_ms..) {
        let record = Record {
            timestamp_ms,
            key: None,
            value: Some(value),
            headers: &EncodedHeaders::none(),
        };
        writer.append(&mut buffer, &record);
    }
    let range = writer.close(&mut buffer, Identity::NONE);
    buffer[range].to_vec()
}

fn produce(
    asker: &mut Asker,
    topic: &str,
    partition: i32,
    batch: &[u8],
) -> PartitionProduceResponse {
    let data = PartitionProduceData::default()
        .with_index(partition)
        .with_records(Some(Bytes::copy_from_slice(batch)));
    let data = TopicProduceData::default()
        .with_name(name(topic))
        .with_partition_data(vec![data]);
    let request = ProduceRequest::default()
        .with_acks(-1)
        .with_topic_data(vec![data]);
    let mut response = asker.ask(9, &request);
    response.responses.remove(0).partition_responses.remove(0)
}
