//! What a well-behaved broker of one topic answers, for fakes that misbehave elsewhere.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::net::SocketAddr;
use std::time::Duration;

use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, BrokerId, InitProducerIdRequest,
    InitProducerIdResponse, MetadataRequest, MetadataResponse, ProducerId, TopicName,
};
use kafka_protocol::protocol::StrBytes;
use kdyno::auth::security::Security;
use kdyno::base::clock::MILLISECOND;
use kdyno::cluster::control::ControlOptions;
use kdyno::cluster::retry::Backoff;
use kdyno::net::address::Address;
use kdyno::net::connect::ConnectOptions;
use kdyno::net::handshake::HandshakeOptions;
use kdyno::net::socket::SocketOptions;
use kdyno::net::versions::Pins;
use kdyno::wire::api::ApiKey;

use super::fake::{Action, Request, reply};

/// What brokers of Kafka 4.3 offer of the APIs that kdyno speaks.
pub const OFFERS: [(ApiKey, i16, i16); 7] = [
    (ApiKey::PRODUCE, 0, 13),
    (ApiKey::METADATA, 0, 13),
    (ApiKey::API_VERSIONS, 0, 4),
    (ApiKey::CREATE_TOPICS, 2, 7),
    (ApiKey::DELETE_TOPICS, 1, 6),
    (ApiKey::INIT_PRODUCER_ID, 0, 5),
    (ApiKey::DESCRIBE_CLUSTER, 0, 2),
];

/// An answer to ApiVersions.
pub fn api_versions(request: &Request, offers: &[(ApiKey, i16, i16)]) -> Vec<Action> {
    let offer = |&(key, min, max): &(ApiKey, i16, i16)| {
        ApiVersion::default()
            .with_api_key(key.0)
            .with_min_version(min)
            .with_max_version(max)
    };
    let keys = offers.iter().map(offer).collect();
    let response = ApiVersionsResponse::default().with_api_keys(keys);
    reply::<ApiVersionsRequest>(request, &response)
}

/// A topic in an answer to Metadata: its partitions' leaders and leader epochs.
#[derive(Debug, Clone)]
pub struct Topic {
    pub name: &'static str,
    pub error: i16,
    pub leaders: Vec<(i32, i32)>,
}

impl Topic {
    /// One partition, led by broker 1.
    pub fn led(name: &'static str) -> Self {
        Self {
            name,
            error: 0,
            leaders: vec![(1, 0)],
        }
    }
}

/// An answer to Metadata.
pub fn metadata(brokers: &[(i32, SocketAddr)], topics: &[Topic]) -> MetadataResponse {
    let broker = |&(id, address): &(i32, SocketAddr)| {
        MetadataResponseBroker::default()
            .with_node_id(BrokerId(id))
            .with_host(text(&address.ip().to_string()))
            .with_port(i32::from(address.port()))
    };
    let topic = |topic: &Topic| {
        let partition = |(index, &(leader, epoch)): (usize, &(i32, i32))| {
            MetadataResponsePartition::default()
                .with_partition_index(index as i32)
                .with_leader_id(BrokerId(leader))
                .with_leader_epoch(epoch)
        };
        MetadataResponseTopic::default()
            .with_name(Some(TopicName(text(topic.name))))
            .with_error_code(topic.error)
            .with_topic_id("1".repeat(32).parse().unwrap())
            .with_partitions(topic.leaders.iter().enumerate().map(partition).collect())
    };
    MetadataResponse::default()
        .with_brokers(brokers.iter().map(broker).collect())
        .with_controller_id(BrokerId(1))
        .with_cluster_id(Some(text("fake")))
        .with_topics(topics.iter().map(topic).collect())
}

/// What a broker with id 1 at `address`, who leads topic `t`, answers to what the control plane
/// asks.
pub fn healthy(request: &Request, address: SocketAddr) -> Vec<Action> {
    match request.api {
        ApiKey::API_VERSIONS => api_versions(request, &OFFERS),
        ApiKey::METADATA => {
            let response = metadata(&[(1, address)], &[Topic::led("t")]);
            reply::<MetadataRequest>(request, &response)
        }
        ApiKey::INIT_PRODUCER_ID => {
            let response = InitProducerIdResponse::default()
                .with_producer_id(ProducerId(4000))
                .with_producer_epoch(0);
            reply::<InitProducerIdRequest>(request, &response)
        }
        _ => vec![Action::Close],
    }
}

/// How tests connect.
pub fn connect_options(timeout: Duration) -> ConnectOptions {
    ConnectOptions {
        client_id: "kdyno".into(),
        timeout,
        socket: SocketOptions::default(),
        security: Security::Plaintext,
        handshake: HandshakeOptions {
            pins: Pins::default().into(),
            required: [ApiKey::PRODUCE, ApiKey::METADATA].into(),
        },
        tap: None,
    }
}

/// A control plane of tests: short waits, topic `t`.
pub fn control_options(bootstrap: &[SocketAddr]) -> ControlOptions {
    let backoff = Backoff {
        base: 10 * MILLISECOND,
        max: 100 * MILLISECOND,
    };
    let address = |at: &SocketAddr| -> Address { at.to_string().parse().unwrap() };
    ControlOptions {
        bootstrap: bootstrap.iter().map(address).collect(),
        connect: connect_options(Duration::from_secs(10)),
        request_timeout: Duration::from_secs(10),
        api_timeout: Duration::from_secs(10),
        retry: backoff,
        reconnect: backoff,
        connect_concurrency: 10,
        metadata_max_age: Duration::from_secs(300),
        rebootstrap_after: Duration::from_secs(300),
        topics: vec!["t".into()],
        allow_auto_topic_creation: false,
    }
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
