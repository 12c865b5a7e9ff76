//! Defaults as a set: whose client kdyno works like before any property is given.

use crate::base::clock::{MILLISECOND, SECOND};
use crate::client::partition::{KeyHash, Partitioner};
use crate::client::produce::options::ProducerOptions;
use crate::client::settings::Settings;
use crate::cluster::retry::Backoff;
use crate::net::socket::SocketOptions;

/// A set of defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// Those of Apache Kafka's Java client 4.4.
    #[default]
    Java4,
    /// Those of Apache Kafka's Java client 3.9, which does not linger.
    Java3,
    /// Those of librdkafka 2: large batches, no idempotence, keys by CRC-32. Its limit of 10,000
    /// records a batch has no counterpart here; its limit of 100,000 queued records is left to
    /// `buffer.memory`.
    Librdkafka,
    /// Java's with what moves the most bytes: 256 KiB batches and socket buffers of the system.
    Throughput,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Java4, Self::Java3, Self::Librdkafka, Self::Throughput];

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Java4 => "java-4",
            Self::Java3 => "java-3",
            Self::Librdkafka => "librdkafka",
            Self::Throughput => "throughput",
        }
    }

    /// As a result calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Java4 => "Java 4.4 defaults",
            Self::Java3 => "Java 3.9 defaults",
            Self::Librdkafka => "librdkafka defaults",
            Self::Throughput => "throughput profile",
        }
    }

    /// The profile of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Its defaults.
    pub fn settings(self) -> Settings {
        let java = java_4();
        match self {
            Self::Java4 => java,
            Self::Java3 => Settings {
                producer: ProducerOptions {
                    linger: 0,
                    ..java.producer
                },
                ..java
            },
            Self::Librdkafka => librdkafka(java),
            Self::Throughput => Settings {
                producer: ProducerOptions {
                    batch_bytes: 256 << 10,
                    ..java.producer
                },
                socket: SocketOptions::default(),
                ..java
            },
        }
    }
}

fn java_4() -> Settings {
    Settings {
        bootstrap: None,
        client_id: "kdyno".to_owned(),
        producer: ProducerOptions::java_4(),
        key_hash: KeyHash::Murmur2,
        socket: SocketOptions {
            send_buffer_bytes: Some(131_072),
            receive_buffer_bytes: Some(32_768),
            ..SocketOptions::default()
        },
        connect_timeout: 10 * SECOND,
        reconnect: Backoff {
            base: 50 * MILLISECOND,
            max: SECOND,
        },
        metadata_max_age: 300 * SECOND,
        rebootstrap_after: 300 * SECOND,
    }
}

/// Source: librdkafka's CONFIGURATION.md, release 2.
fn librdkafka(java: Settings) -> Settings {
    Settings {
        producer: ProducerOptions {
            batch_bytes: 1_000_000,
            buffer_bytes: 1 << 30,
            request_bytes_max: 1_000_000,
            in_flight_max: 1_000_000,
            delivery_timeout: 300 * SECOND,
            idempotent: false,
            partitioner: Partitioner::Default {
                adaptive: false,
                ignore_keys: false,
            },
            ..java.producer
        },
        key_hash: KeyHash::Crc32,
        socket: SocketOptions::default(),
        connect_timeout: 30 * SECOND,
        reconnect: Backoff {
            base: 100 * MILLISECOND,
            max: 10 * SECOND,
        },
        metadata_max_age: 900 * SECOND,
        ..java
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_differ_where_the_clients_differ() {
        let of = |name: &str| Profile::named(name).unwrap().settings();
        assert_eq!(of("java-4").producer.linger, 5 * MILLISECOND);
        assert_eq!(of("java-3").producer.linger, 0);
        assert!(of("java-3").producer.idempotent);
        assert_eq!(of("librdkafka").key_hash, KeyHash::Crc32);
        assert!(!of("librdkafka").producer.idempotent);
        assert_eq!(of("throughput").producer.batch_bytes, 262_144);
        assert_eq!(of("throughput").socket, SocketOptions::default());
        assert_eq!(Profile::named("java"), None);
    }
}
