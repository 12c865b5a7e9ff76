//! The properties that have their effect: how each is set and how it reads back.

use super::value::{buffer, int, int_ms, long_ms, number, only, truth};
use crate::auth::security::Security;
use crate::base::clock::{MILLISECOND, Nanos};
use crate::client::partition::Partitioner;
use crate::client::produce::options::{Acks, ProducerOptions};
use crate::client::settings::Settings;
use crate::records::compress::Compression;

/// A property that has its effect.
pub struct Row {
    /// Kafka's name of it.
    pub name: &'static str,
    /// Sets it, or says what is wanted.
    pub set: fn(&mut Settings, &str) -> Result<(), String>,
    /// Its value as Kafka writes it.
    pub show: fn(&Settings) -> String,
}

/// The row of this name.
pub fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// All of them, in the order in which they are set: a class before what refines it.
pub const ROWS: &[Row] = &[
    Row {
        name: "bootstrap.servers",
        set: |s, v| {
            s.bootstrap = Some(v.to_owned());
            Ok(())
        },
        show: |s| s.bootstrap.clone().unwrap_or_default(),
    },
    Row {
        name: "client.id",
        set: |s, v| {
            s.client_id = v.to_owned();
            Ok(())
        },
        show: |s| s.client_id.clone(),
    },
    Row {
        name: "acks",
        set: |s, v| set(&mut s.producer.acks, acks(v)),
        show: |s| s.producer.acks.name().to_owned(),
    },
    Row {
        name: "enable.idempotence",
        set: |s, v| set(&mut s.producer.idempotent, truth(v)),
        show: |s| s.producer.idempotent.to_string(),
    },
    Row {
        name: "linger.ms",
        set: |s, v| set(&mut s.producer.linger, long_ms(v)),
        show: |s| ms(s.producer.linger),
    },
    Row {
        name: "batch.size",
        set: |s, v| set(&mut s.producer.batch_bytes, int(v, 0).map(|n| n as usize)),
        show: |s| s.producer.batch_bytes.to_string(),
    },
    Row {
        name: "buffer.memory",
        set: |s, v| set(&mut s.producer.buffer_bytes, long(v)),
        show: |s| s.producer.buffer_bytes.to_string(),
    },
    Row {
        name: "compression.type",
        set: |s, v| set(&mut s.producer.compression, codec(v)),
        show: |s| s.producer.compression.id().name().to_owned(),
    },
    Row {
        name: "compression.gzip.level",
        set: set_gzip_level,
        show: |s| match s.producer.compression {
            Compression::Gzip { level } => level.to_string(),
            _ => "-1".to_owned(),
        },
    },
    Row {
        name: "compression.lz4.level",
        set: |_, v| {
            number(v, 1, 17)?;
            only(v, "9", "its compressor has one level, Java's default")
        },
        show: |_| "9".to_owned(),
    },
    Row {
        name: "compression.zstd.level",
        set: set_zstd_level,
        show: |s| match s.producer.compression {
            Compression::Zstd { level } => level.to_string(),
            _ => "3".to_owned(),
        },
    },
    Row {
        name: "max.in.flight.requests.per.connection",
        set: |s, v| set(&mut s.producer.in_flight_max, int(v, 1).map(|n| n as usize)),
        show: |s| s.producer.in_flight_max.to_string(),
    },
    Row {
        name: "max.request.size",
        set: |s, v| {
            let bytes = int(v, 0).map(|n| n as usize);
            set(&mut s.producer.request_bytes_max, bytes)
        },
        show: |s| s.producer.request_bytes_max.to_string(),
    },
    Row {
        name: "max.block.ms",
        set: |s, v| set(&mut s.producer.max_block, long_ms(v)),
        show: |s| ms(s.producer.max_block),
    },
    Row {
        name: "request.timeout.ms",
        set: |s, v| set(&mut s.producer.request_timeout, int_ms(v)),
        show: |s| ms(s.producer.request_timeout),
    },
    Row {
        name: "delivery.timeout.ms",
        set: |s, v| set(&mut s.producer.delivery_timeout, int_ms(v)),
        show: |s| ms(s.producer.delivery_timeout),
    },
    Row {
        name: "retries",
        set: |s, v| set(&mut s.producer.retries, int(v, 0).map(|n| n as u32)),
        show: |s| s.producer.retries.to_string(),
    },
    Row {
        name: "retry.backoff.ms",
        set: |s, v| set(&mut s.producer.retry_backoff.base, long_ms(v)),
        show: |s| ms(s.producer.retry_backoff.base),
    },
    Row {
        name: "retry.backoff.max.ms",
        set: |s, v| set(&mut s.producer.retry_backoff.max, long_ms(v)),
        show: |s| ms(s.producer.retry_backoff.max),
    },
    Row {
        name: "partitioner.class",
        set: set_partitioner,
        show: |s| match s.producer.partitioner {
            Partitioner::RoundRobin => format!("{PRODUCER_PACKAGE}RoundRobinPartitioner"),
            Partitioner::Default { .. } | Partitioner::Fixed(_) => "null".to_owned(),
        },
    },
    Row {
        name: "partitioner.ignore.keys",
        set: |s, v| {
            let asked = truth(v)?;
            if let Partitioner::Default { ignore_keys, .. } = &mut s.producer.partitioner {
                *ignore_keys = asked;
            }
            Ok(())
        },
        show: |s| match s.producer.partitioner {
            Partitioner::Default { ignore_keys, .. } => ignore_keys.to_string(),
            Partitioner::RoundRobin | Partitioner::Fixed(_) => "false".to_owned(),
        },
    },
    Row {
        name: "partitioner.adaptive.partitioning.enable",
        set: |s, v| {
            let asked = truth(v)?;
            if let Partitioner::Default { adaptive, .. } = &mut s.producer.partitioner {
                *adaptive = asked;
            }
            Ok(())
        },
        show: |s| match s.producer.partitioner {
            Partitioner::Default { adaptive, .. } => adaptive.to_string(),
            Partitioner::RoundRobin | Partitioner::Fixed(_) => "true".to_owned(),
        },
    },
    Row {
        name: "partitioner.availability.timeout.ms",
        set: |_, v| only(v, "0", "no partition is left out for being slow"),
        show: |_| "0".to_owned(),
    },
    Row {
        name: "partitioner.rack.aware",
        set: |_, v| only(v, "false", "racks are not looked at"),
        show: |_| "false".to_owned(),
    },
    Row {
        name: "send.buffer.bytes",
        set: |s, v| set(&mut s.socket.send_buffer_bytes, buffer(v)),
        show: |s| bytes(s.socket.send_buffer_bytes),
    },
    Row {
        name: "receive.buffer.bytes",
        set: |s, v| set(&mut s.socket.receive_buffer_bytes, buffer(v)),
        show: |s| bytes(s.socket.receive_buffer_bytes),
    },
    Row {
        name: "socket.connection.setup.timeout.ms",
        set: |s, v| set(&mut s.connect_timeout, long_ms(v)),
        show: |s| ms(s.connect_timeout),
    },
    Row {
        name: "reconnect.backoff.ms",
        set: |s, v| {
            set(&mut s.reconnect.base, long_ms(v))?;
            // As Java: a first wait above the longest raises the longest.
            s.reconnect.max = s.reconnect.max.max(s.reconnect.base);
            Ok(())
        },
        show: |s| ms(s.reconnect.base),
    },
    Row {
        name: "reconnect.backoff.max.ms",
        set: |s, v| set(&mut s.reconnect.max, long_ms(v)),
        show: |s| ms(s.reconnect.max),
    },
    Row {
        name: "metadata.max.age.ms",
        set: |s, v| set(&mut s.metadata_max_age, long_ms(v)),
        show: |s| ms(s.metadata_max_age),
    },
    Row {
        name: "metadata.recovery.strategy",
        set: |_, v| only(v, "rebootstrap", "it always goes back to the first brokers"),
        show: |_| "rebootstrap".to_owned(),
    },
    Row {
        name: "metadata.recovery.rebootstrap.trigger.ms",
        set: |s, v| set(&mut s.rebootstrap_after, long_ms(v)),
        show: |s| ms(s.rebootstrap_after),
    },
    Row {
        name: "client.dns.lookup",
        set: |_, v| only(v, "use_all_dns_ips", "every address of a name is tried"),
        show: |_| "use_all_dns_ips".to_owned(),
    },
    Row {
        name: "security.protocol",
        set: |_, v| match Security::parse(v.trim()) {
            Ok(Security::Plaintext) => Ok(()),
            Err(error) => Err(error.to_string()),
        },
        show: |_| "PLAINTEXT".to_owned(),
    },
];

fn set<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

fn ms(nanos: Nanos) -> String {
    (nanos / MILLISECOND).to_string()
}

fn bytes(buffer: Option<usize>) -> String {
    buffer.map_or_else(|| "-1".to_owned(), |bytes| bytes.to_string())
}

fn long(value: &str) -> Result<u64, String> {
    Ok(number(value, 0, i64::MAX)? as u64)
}

fn acks(value: &str) -> Result<Acks, String> {
    match value.trim() {
        "0" => Ok(Acks::None),
        "1" => Ok(Acks::Leader),
        "all" | "-1" => Ok(Acks::All),
        _ => Err("0, 1 or all is wanted".to_owned()),
    }
}

fn codec(value: &str) -> Result<Compression, String> {
    match value.trim() {
        "none" => Ok(Compression::None),
        "gzip" => Ok(Compression::Gzip { level: -1 }),
        "snappy" => Ok(Compression::Snappy),
        "lz4" => Ok(Compression::Lz4),
        "zstd" => Ok(Compression::Zstd { level: 3 }),
        _ => Err("none, gzip, snappy, lz4 or zstd is wanted".to_owned()),
    }
}

fn set_gzip_level(settings: &mut Settings, value: &str) -> Result<(), String> {
    let asked = number(value, -1, 9)? as i32;
    if asked == 0 {
        return Err("-1, or 1 to 9, is wanted".to_owned());
    }
    if let Compression::Gzip { level } = &mut settings.producer.compression {
        *level = asked;
    }
    Ok(())
}

fn set_zstd_level(settings: &mut Settings, value: &str) -> Result<(), String> {
    let asked = number(value, -131_072, 22)? as i32;
    if asked < ZSTD_LEVEL_MIN {
        return Err(format!("its compressor begins at level {ZSTD_LEVEL_MIN}"));
    }
    if let Compression::Zstd { level } = &mut settings.producer.compression {
        *level = asked;
    }
    Ok(())
}

fn set_partitioner(settings: &mut Settings, value: &str) -> Result<(), String> {
    let partitioner = mapped_partitioner(value.trim()).ok_or_else(|| {
        "kdyno runs no classes of Java's; it has RoundRobinPartitioner and the default of its \
         own, and --partition for chosen partitions"
            .to_owned()
    })?;
    settings.producer.partitioner = partitioner;
    Ok(())
}

fn mapped_partitioner(class: &str) -> Option<Partitioner> {
    let name = class.strip_prefix(PRODUCER_PACKAGE).unwrap_or(class);
    match name.strip_prefix("internals.").unwrap_or(name) {
        "" | "null" | "DefaultPartitioner" => Some(ProducerOptions::java_4().partitioner),
        "RoundRobinPartitioner" => Some(Partitioner::RoundRobin),
        "UniformStickyPartitioner" => Some(Partitioner::Default {
            adaptive: true,
            ignore_keys: true,
        }),
        _ => None,
    }
}

const PRODUCER_PACKAGE: &str = "org.apache.kafka.clients.producer.";
const ZSTD_LEVEL_MIN: i32 = -7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::profile::Profile;

    #[test]
    fn what_is_shown_can_be_set_and_reads_back_the_same() {
        for profile in Profile::ALL {
            let settings = profile.settings();
            for row in ROWS {
                let shown = (row.show)(&settings);
                let mut again = settings.clone();
                (row.set)(&mut again, &shown).unwrap_or_else(|why| panic!("{}: {why}", row.name));
                assert_eq!((row.show)(&again), shown, "{}", row.name);
            }
        }
    }

    #[test]
    fn levels_outside_a_codecs_range_are_refused() {
        let set = |name: &str, value: &str| {
            let mut settings = Profile::Java4.settings();
            (row(name).unwrap().set)(&mut settings, value)
        };
        assert!(set("compression.gzip.level", "0").is_err());
        assert!(set("compression.gzip.level", "10").is_err());
        assert!(set("compression.zstd.level", "23").is_err());
        assert!(set("compression.zstd.level", "-8").is_err());
        assert!(set("compression.lz4.level", "12").is_err());
        assert!(set("compression.zstd.level", "19").is_ok());
    }
}
