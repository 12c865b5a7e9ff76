//! Kafka's own names of client options, in four classes: honoured, mapped, ignored, refused.

pub mod classes;
pub mod file;
pub mod providers;
pub mod table;
mod value;

use thiserror::Error;

use crate::client::produce::options::Acks;
use crate::client::profile::Profile;
use crate::client::settings::Settings;
use classes::{Class, class, is_secret};
use table::{ROWS, Row, row};

/// A property somebody gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Who gave it, as in `-X` or `client.properties line 3:`.
    pub origin: String,
    /// Kafka's name of it.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A property and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Kafka's name of it.
    pub name: String,
    /// Its value as Kafka would write it; secrets replaced.
    pub value: String,
    /// What became of it.
    pub class: Class,
    /// Whether somebody gave it.
    pub given: bool,
    /// Whether it differs from the profile's default.
    pub deviates: bool,
}

/// What came of a profile and properties.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How the client works.
    pub settings: Settings,
    /// Every property that is in effect, then those that are given without effect.
    pub properties: Vec<Listed>,
    /// What somebody should hear of: names nobody knows.
    pub warnings: Vec<String>,
}

/// What can't be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PropertyError {
    /// One property.
    #[error("{} {}: {why}", given.origin, shown(given))]
    One {
        /// The property.
        given: Given,
        /// What is wrong, or the way out.
        why: String,
    },
    /// Two that don't go together.
    #[error("{0}")]
    Together(String),
}

/// `profile`'s defaults with what was given on top; of one given twice the later counts.
///
/// # Errors
/// The property that can't be, and why.
pub fn read(profile: Profile, given: &[Given]) -> Result<Outcome, PropertyError> {
    let given = last_of_each(given);
    let mut warnings = Vec::new();
    for property in &given {
        let why = match class(&property.name, &property.value) {
            Class::Refused(why) => why,
            Class::Unknown(nearest) => {
                warnings.push(unknown(property, nearest));
                continue;
            }
            Class::Honoured | Class::Mapped | Class::Ignored => continue,
        };
        let given = (*property).clone();
        return Err(PropertyError::One { given, why });
    }
    let defaults = profile.settings();
    let mut settings = defaults.clone();
    for row in ROWS {
        let Some(property) = given.iter().find(|property| property.name == row.name) else {
            continue;
        };
        (row.set)(&mut settings, &property.value).map_err(|why| PropertyError::One {
            given: (*property).clone(),
            why,
        })?;
    }
    agree(&mut settings, |name| {
        given.iter().any(|property| property.name == name)
    })
    .map_err(PropertyError::Together)?;
    let properties = list(&defaults, &settings, &given);
    Ok(Outcome {
        settings,
        properties,
        warnings,
    })
}

fn last_of_each(given: &[Given]) -> Vec<&Given> {
    let mut kept: Vec<&Given> = Vec::new();
    for property in given {
        kept.retain(|before| before.name != property.name);
        kept.push(property);
    }
    kept
}

fn unknown(given: &Given, nearest: Option<&str>) -> String {
    let hint = nearest.map_or_else(String::new, |name| format!("; {name}?"));
    let Given { origin, name, .. } = given;
    format!("{origin} {name}: no client of Kafka's has this property, it has no effect{hint}")
}

/// Java's rules about what goes together: idempotence gives way silently unless it was asked for,
/// and so does the delivery time-out.
fn agree(settings: &mut Settings, given: impl Fn(&str) -> bool) -> Result<(), String> {
    let producer = &mut settings.producer;
    let asked = given("enable.idempotence") && producer.idempotent;
    if asked && !given(IN_FLIGHT) {
        producer.in_flight_max = producer.in_flight_max.min(IN_FLIGHT_IDEMPOTENT_MAX);
    }
    let missing = if producer.acks != Acks::All {
        Some("acks=all")
    } else if producer.in_flight_max > IN_FLIGHT_IDEMPOTENT_MAX {
        Some("max.in.flight.requests.per.connection of at most 5")
    } else if producer.retries == 0 {
        Some("retries above 0")
    } else {
        None
    };
    if let Some(needed) = missing.filter(|_| producer.idempotent) {
        if asked {
            return Err(format!("enable.idempotence=true needs {needed}"));
        }
        producer.idempotent = false;
    }
    let least = producer.linger.saturating_add(producer.request_timeout);
    if producer.delivery_timeout < least {
        if given("delivery.timeout.ms") {
            return Err(
                "delivery.timeout.ms must be at least linger.ms + request.timeout.ms".into(),
            );
        }
        producer.delivery_timeout = least;
    }
    Ok(())
}

fn list(defaults: &Settings, settings: &Settings, given: &[&Given]) -> Vec<Listed> {
    let in_effect = ROWS.iter().map(|row: &Row| {
        let value = (row.show)(settings);
        let given = given.iter().any(|property| property.name == row.name);
        Listed {
            name: row.name.to_owned(),
            class: match given {
                true => class(row.name, &value),
                false => Class::Honoured,
            },
            deviates: value != (row.show)(defaults),
            given,
            value,
        }
    });
    let without_effect = given
        .iter()
        .filter(|property| row(&property.name).is_none());
    let without_effect = without_effect.map(|property| Listed {
        name: property.name.clone(),
        value: hidden(property).to_owned(),
        class: class(&property.name, &property.value),
        given: true,
        deviates: false,
    });
    in_effect.chain(without_effect).collect()
}

fn shown(given: &Given) -> String {
    format!("{}={}", given.name, hidden(given))
}

fn hidden(given: &Given) -> &str {
    match is_secret(&given.name) {
        true => "[hidden]",
        false => &given.value,
    }
}

const IN_FLIGHT: &str = "max.in.flight.requests.per.connection";
const IN_FLIGHT_IDEMPOTENT_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::partition::Partitioner;

    fn of(profile: Profile, properties: &[&str]) -> Result<Outcome, PropertyError> {
        let given = properties.iter().map(|property| {
            let (name, value) = property.split_once('=').unwrap();
            Given {
                origin: "-X".to_owned(),
                name: name.to_owned(),
                value: value.to_owned(),
            }
        });
        read(profile, &given.collect::<Vec<_>>())
    }

    fn java(properties: &[&str]) -> Settings {
        of(Profile::Java4, properties).unwrap().settings
    }

    fn refused(properties: &[&str]) -> String {
        of(Profile::Java4, properties).unwrap_err().to_string()
    }

    #[test]
    fn idempotence_gives_way_silently_and_is_refused_when_it_was_asked_for() {
        assert!(java(&[]).producer.idempotent);
        assert!(!java(&["acks=1"]).producer.idempotent);
        let said = refused(&["acks=1", "enable.idempotence=true"]);
        assert_eq!(said, "enable.idempotence=true needs acks=all");
        assert!(refused(&["enable.idempotence=TRUE", "retries=0"]).contains("retries"));
        let asked = of(Profile::Librdkafka, &["enable.idempotence=true"]).unwrap();
        assert_eq!(asked.settings.producer.in_flight_max, 5);
    }

    #[test]
    fn sizes_with_units_are_refused_with_the_number_to_write() {
        assert_eq!(
            refused(&["batch.size=64KiB"]),
            "-X batch.size=64KiB: Java reads plain numbers only: write 65536"
        );
    }

    #[test]
    fn a_timeout_too_short_for_linger_is_raised_or_refused_when_it_was_asked_for() {
        assert_eq!(
            java(&["linger.ms=200000"]).producer.delivery_timeout,
            java(&["delivery.timeout.ms=230000"])
                .producer
                .delivery_timeout
        );
        assert!(refused(&["delivery.timeout.ms=100"]).contains("linger.ms + request.timeout.ms"));
    }

    #[test]
    fn what_would_be_ignored_is_refused_without_its_secret() {
        assert!(refused(&["transactional.id=t"]).contains("not there yet"));
        assert!(refused(&["security.protocol=SSL"]).contains("PLAINTEXT only"));
        let said = refused(&["sasl.jaas.config=user password=\"p\""]);
        assert!(said.contains("sasl.jaas.config=[hidden]"), "{said}");
        assert!(refused(&["partitioner.class=com.example.Mine"]).contains("--partition"));
    }

    #[test]
    fn the_later_of_two_counts_and_order_between_names_does_not_matter() {
        assert_eq!(java(&["acks=0", "acks=1"]).producer.acks, Acks::Leader);
        let ignoring = Partitioner::Default {
            adaptive: true,
            ignore_keys: true,
        };
        let class = "partitioner.class=org.apache.kafka.clients.producer.UniformStickyPartitioner";
        assert_eq!(java(&[class]).producer.partitioner, ignoring);
        let level = java(&["compression.zstd.level=9", "compression.type=zstd"]);
        assert_eq!(
            level,
            java(&["compression.type=zstd", "compression.zstd.level=9"])
        );
    }

    #[test]
    fn every_property_in_effect_is_listed_and_deviations_are_told() {
        let outcome = of(
            Profile::Java4,
            &[
                "acks=1",
                "batch.size=16384",
                "key.serializer=x",
                "lingr.ms=1",
            ],
        )
        .unwrap();
        let find = |name: &str| outcome.properties.iter().find(|p| p.name == name).unwrap();
        assert!(find("acks").deviates && find("acks").given);
        assert!(!find("batch.size").deviates && find("batch.size").given);
        // Not given, but no longer the default, since acks=1.
        assert!(find("enable.idempotence").deviates && !find("enable.idempotence").given);
        assert_eq!(find("key.serializer").class, Class::Ignored);
        assert_eq!(find("linger.ms").value, "5");
        assert_eq!(outcome.warnings.len(), 1);
        assert!(
            outcome.warnings[0].ends_with("linger.ms?"),
            "{:?}",
            outcome.warnings
        );
    }
}
