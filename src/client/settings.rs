//! What decides how a client works: the outcome of a profile and of properties on top.

use std::sync::Arc;
use std::time::Duration;

use crate::auth::security::Security;
use crate::base::clock::Nanos;
use crate::client::partition::KeyHash;
use crate::client::produce::options::ProducerOptions;
use crate::cluster::control::ControlOptions;
use crate::cluster::retry::Backoff;
use crate::net::address::Address;
use crate::net::connect::ConnectOptions;
use crate::net::handshake::HandshakeOptions;
use crate::net::socket::SocketOptions;
use crate::net::versions::Pins;
use crate::wire::api::ApiKey;

/// How a client works.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `bootstrap.servers`, as it was written.
    pub bootstrap: Option<String>,
    /// `client.id`.
    pub client_id: String,
    /// The producer.
    pub producer: ProducerOptions,
    /// Which hash decides the partition of a key.
    pub key_hash: KeyHash,
    /// Its sockets.
    pub socket: SocketOptions,
    /// `socket.connection.setup.timeout.ms`.
    pub connect_timeout: Nanos,
    /// `reconnect.backoff.ms` and `reconnect.backoff.max.ms`.
    pub reconnect: Backoff,
    /// `metadata.max.age.ms`.
    pub metadata_max_age: Nanos,
    /// `metadata.recovery.rebootstrap.trigger.ms`.
    pub rebootstrap_after: Nanos,
}

impl Settings {
    /// A control plane's options for a cluster of which no topic is of interest yet.
    pub fn control(&self, bootstrap: &[Address], pins: &Pins) -> ControlOptions {
        ControlOptions {
            bootstrap: bootstrap.to_vec(),
            connect: ConnectOptions {
                client_id: self.client_id.as_str().into(),
                timeout: Duration::from_nanos(self.connect_timeout),
                socket: self.socket.clone(),
                security: Security::Plaintext,
                handshake: HandshakeOptions {
                    pins: Arc::new(pins.clone()),
                    required: [ApiKey::METADATA].into(),
                },
                tap: None,
            },
            request_timeout: Duration::from_nanos(self.producer.request_timeout),
            api_timeout: Duration::from_secs(60),
            retry: self.producer.retry_backoff,
            reconnect: self.reconnect,
            connect_concurrency: 64,
            metadata_max_age: Duration::from_nanos(self.metadata_max_age),
            rebootstrap_after: Duration::from_nanos(self.rebootstrap_after),
            topics: Vec::new(),
            allow_auto_topic_creation: false,
        }
    }
}
