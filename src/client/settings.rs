//! What decides how a client works: the outcome of a profile and of properties on top.

use crate::base::clock::Nanos;
use crate::client::partition::KeyHash;
use crate::client::produce::options::ProducerOptions;
use crate::cluster::retry::Backoff;
use crate::net::socket::SocketOptions;

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
