//! Settings of topics and brokers, by Kafka's names and with Kafka 4.4's defaults.

use std::collections::BTreeMap;

use crate::wire::broker_error::BrokerError;

/// Settings that were given to a topic.
pub type Configs = BTreeMap<String, String>;

/// The type of a setting, as DescribeConfigs numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// true or false.
    Boolean = 1,
    /// One of some words.
    Text = 2,
    /// 32 bits.
    Int = 3,
    /// 64 bits.
    Long = 5,
    /// A fraction.
    Double = 6,
    /// Words with commas.
    List = 7,
}

/// One setting there is.
#[derive(Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// What it is unless it is set.
    pub default: &'static str,
    /// The words it may be; none where it is no word.
    words: &'static [&'static str],
    /// The least number it may be.
    min: i64,
}

/// The largest batch, bytes.
pub const MAX_MESSAGE_BYTES: &str = "max.message.bytes";
/// Whose time records have.
pub const TIMESTAMP_TYPE: &str = "message.timestamp.type";
/// The value of [`TIMESTAMP_TYPE`] by which they have the broker's.
pub const LOG_APPEND_TIME: &str = "LogAppendTime";

/// Those of a topic. [`MAX_MESSAGE_BYTES`] and [`TIMESTAMP_TYPE`] are acted on; the others are kept
/// and shown, since nothing is compacted, rolled or deleted by time here.
pub const OF_TOPICS: &[Setting] = &[
    words(
        "cleanup.policy",
        Kind::List,
        "delete",
        &["delete", "compact"],
    ),
    words(
        "compression.type",
        Kind::Text,
        "producer",
        &["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"],
    ),
    number("delete.retention.ms", Kind::Long, "86400000", 0),
    number("file.delete.delay.ms", Kind::Long, "60000", 0),
    number("flush.messages", Kind::Long, "9223372036854775807", 1),
    number("flush.ms", Kind::Long, "9223372036854775807", 0),
    number("index.interval.bytes", Kind::Int, "4096", 0),
    number("local.retention.bytes", Kind::Long, "-2", -2),
    number("local.retention.ms", Kind::Long, "-2", -2),
    number(
        "max.compaction.lag.ms",
        Kind::Long,
        "9223372036854775807",
        1,
    ),
    number(MAX_MESSAGE_BYTES, Kind::Int, "1048588", 0),
    number("message.timestamp.after.max.ms", Kind::Long, "3600000", 0),
    number(
        "message.timestamp.before.max.ms",
        Kind::Long,
        "9223372036854775807",
        0,
    ),
    words(
        TIMESTAMP_TYPE,
        Kind::Text,
        "CreateTime",
        &["CreateTime", LOG_APPEND_TIME],
    ),
    number("min.cleanable.dirty.ratio", Kind::Double, "0.5", 0),
    number("min.compaction.lag.ms", Kind::Long, "0", 0),
    number("min.insync.replicas", Kind::Int, "1", 1),
    boolean("preallocate", "false"),
    boolean("remote.storage.enable", "false"),
    number("retention.bytes", Kind::Long, "-1", -1),
    number("retention.ms", Kind::Long, "604800000", -1),
    number("segment.bytes", Kind::Int, "1073741824", 1_048_576),
    number("segment.index.bytes", Kind::Int, "10485760", 4),
    number("segment.jitter.ms", Kind::Long, "0", 0),
    number("segment.ms", Kind::Long, "604800000", 1),
    boolean("unclean.leader.election.enable", "false"),
];

const fn words(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    words: &'static [&'static str],
) -> Setting {
    Setting {
        name,
        kind,
        default,
        words,
        min: 0,
    }
}

const fn number(name: &'static str, kind: Kind, default: &'static str, min: i64) -> Setting {
    Setting {
        min,
        ..words(name, kind, default, &[])
    }
}

const fn boolean(name: &'static str, default: &'static str) -> Setting {
    words(name, Kind::Boolean, default, &["true", "false"])
}

/// Why a setting is refused.
pub type Refusal = (BrokerError, String);

impl Setting {
    /// The setting of topics called `name`.
    ///
    /// # Errors
    /// When there is none.
    pub fn of_topics(name: &str) -> Result<&'static Self, Refusal> {
        let mut settings = OF_TOPICS.iter();
        let found = settings.find(|setting| setting.name == name);
        found.ok_or_else(|| refused(format!("topics have no setting {name}")))
    }

    /// Checks that `value` can be its value.
    ///
    /// # Errors
    /// When it can't.
    pub fn check(&self, value: &str) -> Result<(), Refusal> {
        let is_word = |word: &str| self.words.contains(&word);
        let fits = match self.kind {
            Kind::Boolean | Kind::Text => is_word(value),
            Kind::List => value.split(',').map(str::trim).all(is_word),
            Kind::Int => value.parse::<i32>().is_ok_and(|n| i64::from(n) >= self.min),
            Kind::Long => value.parse::<i64>().is_ok_and(|n| n >= self.min),
            Kind::Double => value.parse::<f64>().is_ok_and(|n| (0.0..=1.0).contains(&n)),
        };
        match fits {
            true => Ok(()),
            false => Err(refused(format!("{} can't be {value}", self.name))),
        }
    }

    /// Its value in `configs`, and whether it was set there.
    pub fn value<'a>(&self, configs: &'a Configs) -> (&'a str, bool) {
        match configs.get(self.name) {
            Some(value) => (value, true),
            None => (self.default, false),
        }
    }
}

/// What one change to a setting asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// Another value.
    Set(&'a str),
    /// The default again.
    Delete,
    /// More words of a list.
    Append(&'a str),
    /// Fewer words of a list.
    Subtract(&'a str),
}

/// Changes the setting called `name` in `configs`.
///
/// # Errors
/// When there is no such setting, or it can't be that; nothing is changed then.
pub fn change(configs: &mut Configs, name: &str, change: Change<'_>) -> Result<(), Refusal> {
    let setting = Setting::of_topics(name)?;
    let old = setting.value(configs).0;
    let old = old
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let is_list = setting.kind == Kind::List;
    let value = match change {
        Change::Set(value) => value.to_owned(),
        Change::Delete => {
            configs.remove(name);
            return Ok(());
        }
        Change::Append(more) if is_list => {
            let more = more.split(',').map(str::trim);
            let mut words: Vec<&str> = old.collect();
            for word in more {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            words.join(",")
        }
        Change::Subtract(less) if is_list => {
            let less: Vec<&str> = less.split(',').map(str::trim).collect();
            let left = old.filter(|word| !less.contains(word));
            left.collect::<Vec<_>>().join(",")
        }
        Change::Append(_) | Change::Subtract(_) => {
            return Err(refused(format!(
                "{name} is no list: no words are added to it or taken away"
            )));
        }
    };
    setting.check(&value)?;
    configs.insert(name.to_owned(), value);
    Ok(())
}

fn refused(why: String) -> Refusal {
    (BrokerError::INVALID_CONFIG, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_that_could_be_set() {
        for setting in OF_TOPICS {
            assert_eq!(setting.check(setting.default), Ok(()), "{}", setting.name);
        }
        assert!(OF_TOPICS.is_sorted_by_key(|setting| setting.name));
    }

    #[test]
    fn what_is_no_setting_or_no_value_of_it_is_refused_and_changes_nothing() {
        let mut configs = Configs::new();
        for (name, value) in [
            ("max.mesage.bytes", "1"),
            (MAX_MESSAGE_BYTES, "-1"),
            (MAX_MESSAGE_BYTES, "4294967296"),
            (TIMESTAMP_TYPE, "logappendtime"),
            ("preallocate", "yes"),
            ("cleanup.policy", "delete,shrink"),
            ("min.cleanable.dirty.ratio", "1.5"),
        ] {
            let refused = change(&mut configs, name, Change::Set(value));
            assert_eq!(
                refused.unwrap_err().0,
                BrokerError::INVALID_CONFIG,
                "{name}"
            );
        }
        assert!(change(&mut configs, "retention.ms", Change::Append("1")).is_err());
        assert!(configs.is_empty());
    }

    #[test]
    fn words_of_a_list_are_added_and_taken_away() {
        let mut configs = Configs::new();
        let name = "cleanup.policy";
        let mut value = |what: Change<'_>| {
            change(&mut configs, name, what).unwrap();
            configs.get(name).cloned()
        };
        assert_eq!(value(Change::Append("compact")).unwrap(), "delete,compact");
        assert_eq!(value(Change::Append("compact")).unwrap(), "delete,compact");
        assert_eq!(value(Change::Subtract("delete")).unwrap(), "compact");
        assert_eq!(value(Change::Delete), None);
    }
}
