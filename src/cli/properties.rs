//! Kafka's names of producer options. Values are read as Java reads them: plain numbers.

use crate::base::clock::MILLISECOND;
use crate::client::produce::options::{Acks, ProducerOptions};
use crate::net::socket::SocketOptions;
use crate::records::compress::Compression;

/// What properties decide.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The producer.
    pub producer: ProducerOptions,
    /// Its sockets.
    pub socket: SocketOptions,
    /// `client.id`.
    pub client_id: String,
    /// What was set, as it was set.
    pub set: Vec<(String, String)>,
}

/// The keys that are honoured so far; all others are refused.
const KEYS: &str = "acks, batch.size, buffer.memory, client.id, compression.type, \
                    delivery.timeout.ms, enable.idempotence, linger.ms, max.block.ms, \
                    max.in.flight.requests.per.connection, max.request.size, \
                    receive.buffer.bytes, request.timeout.ms, retries, send.buffer.bytes";

/// Java 4.4's defaults with `properties` on top, and Java's rules about what goes together.
///
/// # Errors
/// The property that can't be, and why.
pub fn settings(properties: &[String]) -> Result<Settings, String> {
    let mut settings = Settings {
        producer: ProducerOptions::java_4(),
        socket: SocketOptions {
            send_buffer_bytes: Some(131_072),
            receive_buffer_bytes: Some(32_768),
            ..SocketOptions::default()
        },
        client_id: "kdyno".to_owned(),
        set: Vec::new(),
    };
    for property in properties {
        let (key, value) = property
            .split_once('=')
            .ok_or_else(|| format!("-X {property}: KEY=VALUE is wanted"))?;
        apply(&mut settings, key, value).map_err(|why| format!("-X {key}={value}: {why}"))?;
        settings.set.push((key.to_owned(), value.to_owned()));
    }
    check(&mut settings)?;
    Ok(settings)
}

fn apply(settings: &mut Settings, key: &str, value: &str) -> Result<(), String> {
    let producer = &mut settings.producer;
    match key {
        "acks" => {
            producer.acks = match value {
                "0" => Acks::None,
                "1" => Acks::Leader,
                "all" | "-1" => Acks::All,
                _ => return Err("0, 1 or all is wanted".into()),
            }
        }
        "batch.size" => producer.batch_bytes = number(value)? as usize,
        "buffer.memory" => producer.buffer_bytes = number(value)?,
        "client.id" => settings.client_id = value.to_owned(),
        "compression.type" => {
            producer.compression = match value {
                "none" => Compression::None,
                "gzip" => Compression::Gzip { level: -1 },
                "snappy" => Compression::Snappy,
                "lz4" => Compression::Lz4,
                "zstd" => Compression::Zstd { level: 3 },
                _ => return Err("none, gzip, snappy, lz4 or zstd is wanted".into()),
            }
        }
        "delivery.timeout.ms" => producer.delivery_timeout = number(value)? * MILLISECOND,
        "enable.idempotence" => {
            producer.idempotent = value
                .parse()
                .map_err(|_| "true or false is wanted".to_owned())?;
        }
        "linger.ms" => producer.linger = number(value)? * MILLISECOND,
        "max.block.ms" => producer.max_block = number(value)? * MILLISECOND,
        "max.in.flight.requests.per.connection" => {
            producer.in_flight_max = number(value)?.max(1) as usize;
        }
        "max.request.size" => producer.request_bytes_max = number(value)? as usize,
        "receive.buffer.bytes" => settings.socket.receive_buffer_bytes = buffer(value)?,
        "request.timeout.ms" => producer.request_timeout = number(value)? * MILLISECOND,
        "retries" => producer.retries = number(value)? as u32,
        "send.buffer.bytes" => settings.socket.send_buffer_bytes = buffer(value)?,
        _ => return Err(format!("it is not honoured so far; these are: {KEYS}")),
    }
    Ok(())
}

/// A number as Java reads it, up to 2147483647.
fn number(value: &str) -> Result<u64, String> {
    if let Ok(number) = value.parse::<i64>() {
        return u64::try_from(number)
            .ok()
            .filter(|number| *number <= i64::from(i32::MAX) as u64)
            .ok_or_else(|| "a number from 0 to 2147483647 is wanted".to_owned());
    }
    match crate::base::size::parse_bytes(value) {
        Ok(bytes) => Err(format!("Java reads plain numbers only: write {bytes}")),
        Err(_) => Err("a whole number is wanted".to_owned()),
    }
}

fn buffer(value: &str) -> Result<Option<usize>, String> {
    match value {
        "-1" => Ok(None),
        _ => number(value).map(|bytes| Some(bytes as usize)),
    }
}

/// Java's rules: idempotence gives way silently unless it was asked for.
fn check(settings: &mut Settings) -> Result<(), String> {
    let explicit = |key: &str| settings.set.iter().any(|(set, _)| set == key);
    let asked = explicit("enable.idempotence");
    let timeout_set = explicit("delivery.timeout.ms");
    let producer = &mut settings.producer;
    let conflict = if producer.acks != Acks::All {
        Some("acks=all")
    } else if producer.in_flight_max > 5 {
        Some("max.in.flight.requests.per.connection of at most 5")
    } else if producer.retries == 0 {
        Some("retries above 0")
    } else {
        None
    };
    if let Some(needed) = conflict.filter(|_| producer.idempotent) {
        if asked {
            return Err(format!("enable.idempotence=true needs {needed}"));
        }
        producer.idempotent = false;
    }
    let least = producer.linger + producer.request_timeout;
    if producer.delivery_timeout < least {
        if timeout_set {
            return Err(
                "delivery.timeout.ms must be at least linger.ms + request.timeout.ms".into(),
            );
        }
        producer.delivery_timeout = least;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(properties: &[&str]) -> Result<Settings, String> {
        let properties: Vec<String> = properties.iter().map(|p| (*p).to_owned()).collect();
        settings(&properties)
    }

    #[test]
    fn idempotence_gives_way_silently_and_is_refused_when_it_was_asked_for() {
        assert!(of(&[]).unwrap().producer.idempotent);
        assert!(!of(&["acks=1"]).unwrap().producer.idempotent);
        let refused = of(&["acks=1", "enable.idempotence=true"]).unwrap_err();
        assert_eq!(refused, "enable.idempotence=true needs acks=all");
    }

    #[test]
    fn sizes_with_units_are_refused_with_the_number_to_write() {
        let refused = of(&["batch.size=64KiB"]).unwrap_err();
        assert_eq!(
            refused,
            "-X batch.size=64KiB: Java reads plain numbers only: write 65536"
        );
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        assert!(
            of(&["transactional.id=t"])
                .unwrap_err()
                .contains("not honoured so far")
        );
        assert!(of(&["security.protocol=SSL"]).is_err());
    }
}
