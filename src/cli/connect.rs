//! From what was typed about a cluster to a control plane of it.

use crate::base::span;
use crate::cli::Failure;
use crate::cli::args;
use crate::cli::properties::{Sources, settings};
use crate::client::profile::Profile;
use crate::client::properties::Outcome as Properties;
use crate::client::settings::Settings;
use crate::cluster::control::{ControlOptions, ControlPlane};
use crate::net::address::Address;
use crate::net::versions::Pins;

/// A cluster, and how to talk to it.
#[derive(Debug)]
pub struct Target {
    /// Kafka's properties, and what became of each.
    pub properties: Properties,
    /// The brokers to begin with; none for the embedded one.
    pub bootstrap: Option<Vec<Address>>,
    /// Versions that are not to be agreed.
    pub pins: Pins,
}

impl Target {
    /// What `args` say over the defaults of `profile`.
    pub fn of(args: &args::Cluster, profile: Profile) -> Result<Self, Failure> {
        let mut properties = settings(&Sources {
            profile,
            file: args.command_config.as_deref(),
            command_line: &args.properties,
            flags: &[(
                "--bootstrap-server",
                "bootstrap.servers",
                args.bootstrap_server.as_deref(),
            )],
        })?;
        if let Some(text) = &args.connect_timeout {
            let timeout = span::parse(text);
            properties.settings.connect_timeout =
                timeout.map_err(|e| Failure::Usage(format!("--connect-timeout: {e}")))?;
        }
        let pins = Pins::parse(args.api_versions.iter().map(String::as_str));
        let bootstrap = bootstrap(&properties.settings, args.command_config.as_deref())?;
        Ok(Self {
            properties,
            bootstrap,
            pins: pins.map_err(|e| Failure::Usage(e.to_string()))?,
        })
    }

    /// A control plane of it that has heard of the cluster, for requests of administrators.
    pub fn control(&self) -> Result<ControlPlane, Failure> {
        let Some(bootstrap) = &self.bootstrap else {
            return Err(Failure::Usage(
                "which cluster? Give --bootstrap-server HOST:PORT".into(),
            ));
        };
        let options = self.properties.settings.control(bootstrap, &self.pins);
        start(options)
    }
}

/// Starts a control plane and waits until it has heard of the cluster.
pub fn start(options: ControlOptions) -> Result<ControlPlane, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::Run(e.to_string());
    let control = ControlPlane::start(options, Vec::new()).map_err(|e| failed(&e))?;
    control.bootstrap().map_err(|e| failed(&e))?;
    Ok(control)
}

/// The brokers named by the properties or, last of all, by the environment; none, or the word
/// `embedded`, stand for the embedded broker.
fn bootstrap(settings: &Settings, file: Option<&str>) -> Result<Option<Vec<Address>>, Failure> {
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
