//! What will be run, whichever command asks for it.

use std::sync::Arc;
use std::time::Duration;

use crate::auth::security::Security;
use crate::base::clock::Nanos;
use crate::cli::Failure;
use crate::client::profile::Profile;
use crate::client::properties::Outcome as Properties;
use crate::client::settings::Settings;
use crate::cluster::control::ControlOptions;
use crate::load::run::Workload;
use crate::net::address::Address;
use crate::net::connect::ConnectOptions;
use crate::net::handshake::HandshakeOptions;
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
    pub fn control(&self, bootstrap: Vec<Address>) -> ControlOptions {
        let settings = self.settings();
        let topics = self.workload.topics.iter();
        ControlOptions {
            bootstrap,
            connect: ConnectOptions {
                client_id: settings.client_id.as_str().into(),
                timeout: Duration::from_nanos(settings.connect_timeout),
                socket: settings.socket.clone(),
                security: Security::Plaintext,
                handshake: HandshakeOptions {
                    pins: Arc::new(self.pins.clone()),
                    required: [ApiKey::PRODUCE, ApiKey::METADATA].into(),
                },
                tap: None,
            },
            request_timeout: Duration::from_nanos(settings.producer.request_timeout),
            api_timeout: Duration::from_secs(60),
            retry: settings.producer.retry_backoff,
            reconnect: settings.reconnect,
            connect_concurrency: 64,
            metadata_max_age: Duration::from_nanos(settings.metadata_max_age),
            rebootstrap_after: Duration::from_nanos(settings.rebootstrap_after),
            topics: topics.map(|topic| topic.as_str().into()).collect(),
            allow_auto_topic_creation: self.auto_create,
        }
    }
}

/// The tick asked for; shorter when batches linger for less than two of them.
pub fn tick(asked: Nanos, linger: Nanos) -> Nanos {
    match linger {
        0 => asked,
        linger => asked.min(linger / 2).max(TICK_MIN),
    }
}

/// The shortest tick that a short linger brings about.
const TICK_MIN: Nanos = 100_000;

/// The brokers named by the properties or, last of all, by the environment; none, or the word
/// `embedded`, stand for the embedded broker.
///
/// # Errors
/// When an entry is no address, or when a file of properties stands alone.
pub fn bootstrap(settings: &Settings, file: Option<&str>) -> Result<Option<Vec<Address>>, Failure> {
    let from_environment = || std::env::var("KDYNO_BOOTSTRAP_SERVER").ok();
    match settings.bootstrap.clone().or_else(from_environment) {
        Some(word) if word == "embedded" => Ok(None),
        Some(list) => match Address::parse_list(&list) {
            Ok(addresses) => Ok(Some(addresses)),
            Err(error) => Err(Failure::Usage(format!("--bootstrap-server: {error}"))),
        },
        None => match file {
            Some(path) => Err(Failure::Usage(format!(
                "--command-config {path} names no bootstrap.servers: give --bootstrap-server, or \
                 --bootstrap-server embedded"
            ))),
            None => Ok(None),
        },
    }
}
