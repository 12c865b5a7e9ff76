//! What will be run, whichever command asks for it.

use crate::base::clock::Nanos;
use crate::cli::topic_life::TopicRules;
use crate::client::profile::Profile;
use crate::client::properties::Outcome as Properties;
use crate::client::settings::Settings;
use crate::cluster::control::ControlOptions;
use crate::load::run::Workload;
use crate::net::address::Address;
use crate::net::versions::Pins;
use crate::wire::api::ApiKey;

/// What will be run.
#[derive(Debug)]
pub struct Plan {
    /// The load.
    pub workload: Workload,
    /// The brokers to begin with; none for the embedded one.
    pub bootstrap: Option<Vec<Address>>,
    /// Whose defaults hold.
    pub profile: Profile,
    /// Kafka's properties, and what became of each.
    pub properties: Properties,
    /// Versions that are not to be agreed.
    pub pins: Pins,
    /// What may be done with topics of a cluster; none leaves them alone.
    pub topic_rules: Option<TopicRules>,
    /// Partitions of a topic that the embedded broker makes.
    pub embedded_partitions: u32,
    /// Whether asking for a topic may make it, where the broker allows that.
    pub auto_create: bool,
    /// The load in the words of a result.
    pub words: Words,
}

/// A load in the words of a result.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// Sizes and kind of values.
    pub values: String,
    /// Which keys.
    pub keys: String,
    /// Headers of each record.
    pub headers: u32,
    /// How due times are spread.
    pub arrival: String,
    /// The rate as it was asked; none flat out.
    pub rate: Option<String>,
    /// The compressible share of values, where one was asked.
    pub compressibility: Option<f64>,
    /// Whether there are more clients than were asked for.
    pub clients_raised: bool,
}

impl Plan {
    /// How the client works.
    pub fn settings(&self) -> &Settings {
        &self.properties.settings
    }

    /// The control plane that it needs, with `bootstrap` to begin with.
    pub fn control(&self, bootstrap: &[Address]) -> ControlOptions {
        let mut options = self.settings().control(bootstrap, &self.pins);
        options.connect.handshake.required = [ApiKey::PRODUCE, ApiKey::METADATA].into();
        let topics = self.workload.topics.iter();
        options.topics = topics.map(|topic| topic.as_str().into()).collect();
        options.allow_auto_topic_creation = self.auto_create;
        options
    }
}

/// Partitions of the embedded broker's topics, unless somebody asks for others.
pub const EMBEDDED_PARTITIONS: u32 = 6;

/// The tick asked for; shorter when batches linger for less than two of them.
pub fn tick(asked: Nanos, linger: Nanos) -> Nanos {
    match linger {
        0 => asked,
        linger => asked.min(linger / 2).max(TICK_MIN),
    }
}

/// The shortest tick that a short linger brings about.
const TICK_MIN: Nanos = 100_000;
