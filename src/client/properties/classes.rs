//! What becomes of the properties that have no effect: passed over, refused, or not known.

use crate::auth::security::Security;

use super::table;

/// What becomes of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// It has its effect.
    Honoured,
    /// A class name for which kdyno has its own.
    Mapped,
    /// It has no meaning here.
    Ignored,
    /// It can't be accepted; why, and the way out.
    Refused(String),
    /// No client of Kafka's knows it; the nearest name that one does.
    Unknown(Option<&'static str>),
}

/// What becomes of the property called `name` with this value.
pub fn class(name: &str, value: &str) -> Class {
    if name == "partitioner.class" && !matches!(value.trim(), "" | "null") {
        return Class::Mapped;
    }
    if table::row(name).is_some() {
        return Class::Honoured;
    }
    if let Some(why) = refusal(name) {
        return Class::Refused(why);
    }
    let ignored = IGNORED.contains(&name) || IGNORED_BEFORE.iter().any(|p| name.starts_with(p));
    match ignored {
        true => Class::Ignored,
        false => Class::Unknown(nearest(name)),
    }
}

/// Whether a value must not be shown.
pub fn is_secret(name: &str) -> bool {
    [
        "password",
        "secret",
        "jaas",
        "token",
        "credential",
        "ssl.keystore.key",
    ]
    .iter()
    .any(|part| name.to_ascii_lowercase().contains(part))
}

fn refusal(name: &str) -> Option<String> {
    match name {
        "transactional.id" => Some("transactions are not there yet: leave it out".to_owned()),
        "config.providers" => {
            Some("providers are read in a file: give it by --command-config".to_owned())
        }
        "security.providers" => Some("kdyno runs no classes of Java's: leave it out".to_owned()),
        _ => Security::from_properties([(name, "")])
            .err()
            .map(|error| error.to_string()),
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let known = table::ROWS.iter().map(|row| row.name);
    let known = known.chain(IGNORED.iter().copied());
    let scored = known.map(|known| (strsim::jaro_winkler(name, known), known));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(best.1).filter(|_| best.0 > LIKE)
}

/// How alike two names are that may be meant for one another, 0 to 1.
const LIKE: f64 = 0.85;

/// Names that begin so have no meaning here.
const IGNORED_BEFORE: [&str; 4] = ["metrics.", "config.providers.", "fetch.", "share."];

/// Names without meaning here: of Java's objects, of the other kinds of client, and limits on what
/// kdyno never holds.
const IGNORED: &[&str] = &[
    "allow.auto.create.topics",
    "auto.commit.interval.ms",
    "auto.include.jmx.reporter",
    "auto.offset.reset",
    "check.crcs",
    "client.rack",
    "connections.max.idle.ms",
    "default.api.timeout.ms",
    "enable.auto.commit",
    "enable.metrics.push",
    "exclude.internal.topics",
    "group.id",
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "heartbeat.interval.ms",
    "interceptor.classes",
    "isolation.level",
    "key.deserializer",
    "key.serializer",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "max.poll.records",
    "metadata.cluster.check.enable",
    "metadata.max.idle.ms",
    "metric.reporters",
    "partition.assignment.strategy",
    "session.timeout.ms",
    "socket.connection.setup.timeout.max.ms",
    "transaction.timeout.ms",
    "transaction.two.phase.commit.enable",
    "value.deserializer",
    "value.serializer",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_class() {
        assert_eq!(class("acks", "1"), Class::Honoured);
        assert_eq!(class("key.serializer", "x"), Class::Ignored);
        assert_eq!(class("metrics.num.samples", "2"), Class::Ignored);
        let round_robin = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
        assert_eq!(class("partitioner.class", round_robin), Class::Mapped);
        assert!(matches!(class("transactional.id", "t"), Class::Refused(_)));
        let Class::Refused(why) = class("sasl.jaas.config", "user") else {
            panic!("sasl");
        };
        assert_eq!(
            why,
            "sasl.jaas.config has no effect: kdyno speaks PLAINTEXT only so far"
        );
        for (index, name) in IGNORED.iter().enumerate() {
            assert!(table::row(name).is_none(), "{name}");
            assert!(
                IGNORED[..index].iter().all(|before| before < name),
                "{name}"
            );
        }
    }

    #[test]
    fn an_unknown_name_has_the_nearest_known_one() {
        assert_eq!(class("linger", "5"), Class::Unknown(Some("linger.ms")));
        assert_eq!(class("bath.size", "5"), Class::Unknown(Some("batch.size")));
        assert_eq!(class("qqq", "5"), Class::Unknown(None));
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        assert!(is_secret("ssl.key.password"));
        assert!(is_secret("sasl.jaas.config"));
        assert!(!is_secret("batch.size"));
    }
}
