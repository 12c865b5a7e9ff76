//! The options of the producer's performance tool: what is to be run, or why nothing is.

use super::argparse::{Given, Kind, Opt, read};
use super::stats::Fidelity;
use super::usage::{OPTIONS, PROGRAM, SYNOPSIS};
use crate::cli::compat::KAFKA_LEVEL;
use crate::cli::compat::java_number::parse_double;
use crate::client::properties::Given as Property;

/// What is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct PerfArgs {
    /// `--bootstrap-server`; it wins over `bootstrap.servers` of [`PerfArgs::properties`].
    pub bootstrap_server: Option<String>,
    /// The topic to write to.
    pub topic: String,
    /// Records to send, at least 1.
    pub num_records: u64,
    /// What values hold.
    pub payload: Payload,
    /// How fast.
    pub throughput: Throughput,
    /// Properties given on the command line, in their order; the last of a name counts.
    pub properties: Vec<(String, String)>,
    /// A file of properties, which those on the command line win over.
    pub config_file: Option<String>,
    /// Whether a table of metrics stands at the end.
    pub print_metrics: bool,
    /// Records left out of the steady summary; below [`PerfArgs::num_records`].
    pub warmup_records: u64,
    /// Milliseconds between progress lines, at least 1.
    pub reporting_interval_ms: u64,
    /// Which keys records have.
    pub keys: KeyDistribution,
    /// Equal seeds send equal records.
    pub random_seed: i64,
    /// How latencies become figures.
    pub fidelity: Fidelity,
    /// Lines for standard output before anything else.
    pub notices: Vec<&'static str>,
}

/// What values hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Random upper-case letters, this many.
    Random {
        /// At least 1.
        bytes: u32,
    },
    /// Pieces of a file, see [`super::split_payload`].
    File {
        /// Its path as given.
        path: String,
        /// The regular expression between pieces.
        delimiter: String,
    },
    /// The number of the record.
    Monotonic,
}

/// How fast records are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Throughput {
    /// As fast as it goes.
    Unlimited,
    /// Records per second, above 0.
    PerSecond(f64),
}

/// Which keys records have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyDistribution {
    /// None.
    None,
    /// The record's number modulo `range`, in decimal digits.
    Range {
        /// At least 1.
        range: u32,
    },
    /// A random number below `range`, in decimal digits.
    Random {
        /// At least 1.
        range: u32,
    },
}

/// Why nothing is run, and what is printed instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The help was asked for, or no argument was given.
    Help {
        /// Kafka's tool ends with 1 for `--help` and with 0 for no argument.
        exit_code: u8,
    },
    /// The version was asked for.
    Version,
    /// The command line is wrong: the reason, in Kafka's words.
    Usage(String),
    /// The command line is right but can't be run: the reason.
    Failed(String),
}

/// Reads the tool's arguments, its own name not among them.
///
/// # Errors
/// What is printed instead of a run, with its exit code.
pub fn parse(args: &[String]) -> Result<PerfArgs, Refusal> {
    if args.is_empty() {
        return Err(Refusal::Help { exit_code: 0 });
    }
    let given = read(&OPTS, args).map_err(Refusal::Usage)?;
    if given.has("--help") {
        return Err(Refusal::Help { exit_code: 1 });
    }
    if given.has("--version") {
        return Err(Refusal::Version);
    }
    check_required(&given).map_err(Refusal::Usage)?;
    let mut perf = build(&given).map_err(Refusal::Usage)?;
    perf.properties = properties(&given).map_err(Refusal::Failed)?;
    check_supported(&given, &perf).map_err(Refusal::Failed)?;
    Ok(perf)
}

/// The arguments of today's tool for those of 0.8.2, which went by position:
/// `topic num_records record_size target_records_sec [prop_name=prop_value]*`. Arguments that begin
/// with an option are today's already.
///
/// # Errors
/// The usage, when there are too few.
pub fn from_positions(args: &[String]) -> Result<Vec<String>, String> {
    match args {
        [first, ..] if first.starts_with("--") => Ok(args.to_vec()),
        [topic, num_records, record_size, throughput, properties @ ..] => {
            let named = [
                ("--topic", topic),
                ("--num-records", num_records),
                ("--record-size", record_size),
                ("--throughput", throughput),
            ];
            let mut args: Vec<String> = named
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            if !properties.is_empty() {
                args.push("--command-property".to_owned());
                args.extend_from_slice(properties);
            }
            Ok(args)
        }
        _ => Err(
            "USAGE: ProducerPerformance topic_name num_records record_size \
                  target_records_sec [prop_name=prop_value]*"
                .to_owned(),
        ),
    }
}

impl PerfArgs {
    /// The client's properties, given those of [`PerfArgs::config_file`]: the command line wins over
    /// the file, `--bootstrap-server` over both, and the client has the tool's name unless it was
    /// given one.
    ///
    /// # Errors
    /// When they ask for what kdyno doesn't have, or name no broker.
    pub fn client_properties(&self, file: Vec<Property>) -> Result<Vec<Property>, Refusal> {
        let by = |origin: &str, name: &str, value: &str| Property {
            origin: origin.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let mut properties = file;
        let own = self.properties.iter();
        properties.extend(own.map(|(name, value)| by("--command-property", name, value)));
        if let Some(servers) = &self.bootstrap_server {
            properties.push(by("--bootstrap-server", "bootstrap.servers", servers));
        }
        let has = |name: &str| properties.iter().any(|given| given.name == name);
        if !has("bootstrap.servers") {
            let said = "no bootstrap.servers: give --bootstrap-server";
            return Err(Refusal::Failed(said.to_owned()));
        }
        if !has("client.id") {
            properties.push(by(PROGRAM, "client.id", "perf-producer-client"));
        }
        let names = properties.iter().map(|given| given.name.as_str());
        check_transactional(names).map_err(Refusal::Failed)?;
        Ok(properties)
    }
}

impl Refusal {
    /// What goes to standard output.
    pub fn stdout(&self) -> String {
        match self {
            Self::Help { .. } => format!("{SYNOPSIS}{OPTIONS}"),
            Self::Version => format!("{KAFKA_LEVEL}\n"),
            Self::Usage(_) | Self::Failed(_) => String::new(),
        }
    }

    /// What goes to standard error.
    pub fn stderr(&self) -> String {
        match self {
            Self::Help { .. } => String::new(),
            Self::Version => format!("kdyno {}\n", env!("CARGO_PKG_VERSION")),
            Self::Usage(reason) => format!("{SYNOPSIS}{PROGRAM}: error: {reason}\n"),
            Self::Failed(reason) => format!("{PROGRAM}: error: {reason}\n"),
        }
    }

    /// What the program ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Help { exit_code } => *exit_code,
            Self::Version => 0,
            Self::Usage(_) | Self::Failed(_) => 1,
        }
    }
}

/// In the order in which Kafka's tool looks for what is missing.
fn check_required(given: &Given) -> Result<(), String> {
    let missing = ["--throughput", "--num-records", "--topic"]
        .into_iter()
        .find(|name| !given.has(name));
    if let Some(name) = missing {
        return Err(format!("argument {name} is required"));
    }
    let mut payloads = OPTS.iter().filter(|option| option.exclusive);
    if !payloads.any(|option| given.has(option.name)) {
        let said = "one of the arguments --record-size --payload-file --payload-monotonic is \
                    required";
        return Err(said.to_owned());
    }
    Ok(())
}

/// Judges the values, in the order in which Kafka's tool does.
fn build(given: &Given) -> Result<PerfArgs, String> {
    let long = |name: &str| given.one(name).and_then(|value| value.parse::<i64>().ok());
    let int = |name: &str| given.one(name).and_then(|value| value.parse::<i32>().ok());
    let above_zero = |name: &str, value: Option<i64>| match value {
        Some(value) if value <= 0 => Err(format!("{name} should be greater than zero.")),
        value => Ok(value.map(|value| value as u64)),
    };
    let num_records = above_zero("--num-records", long("--num-records"))?.unwrap_or(0);
    let warmup_records = long("--warmup-records").unwrap_or(0).max(0) as u64;
    if warmup_records >= num_records {
        let said = "The value for --warmup-records must be strictly fewer than the number of \
                    records in the test, --num-records.";
        return Err(said.to_owned());
    }
    let record_size = above_zero("--record-size", int("--record-size").map(i64::from))?;
    check_sources(given)?;
    above_zero(
        "--transaction-duration-ms",
        long("--transaction-duration-ms"),
    )?;
    let interval = above_zero("--reporting-interval", long("--reporting-interval"))?;
    let range = above_zero(
        "--record-key-range",
        int("--record-key-range").map(i64::from),
    )?;
    let keys = keys(given.one("--key-distribution"), range)?;
    Ok(PerfArgs {
        bootstrap_server: given.one("--bootstrap-server").map(str::to_owned),
        topic: given.one("--topic").unwrap_or_default().to_owned(),
        num_records,
        payload: payload(given, record_size),
        throughput: throughput(given.one("--throughput")),
        properties: Vec::new(),
        config_file: ["--command-config", "--producer.config"]
            .into_iter()
            .find_map(|name| given.one(name))
            .map(str::to_owned),
        print_metrics: given.has("--print-metrics"),
        warmup_records,
        reporting_interval_ms: interval.unwrap_or(INTERVAL_MS_DEFAULT),
        keys,
        random_seed: long("--random-seed").unwrap_or(0),
        fidelity: match given.one("--stats") {
            Some("reference") => Fidelity::Reference,
            _ => Fidelity::Exact,
        },
        notices: DEPRECATED
            .into_iter()
            .filter(|(name, _)| given.has(name))
            .map(|(_, notice)| notice)
            .collect(),
    })
}

/// Where the brokers and properties come from: somewhere, and not from an old and a new option both.
fn check_sources(given: &Given) -> Result<(), String> {
    let sources = [
        "--bootstrap-server",
        "--command-property",
        "--producer-props",
        "--producer.config",
        "--command-config",
    ];
    if !sources.into_iter().any(|name| given.has(name)) {
        let said = "At least one of --bootstrap-server, --command-property, --producer-props, \
                    --producer.config or --command-config must be specified.";
        return Err(said.to_owned());
    }
    for (new, old) in [
        ("--command-property", "--producer-props"),
        ("--command-config", "--producer.config"),
    ] {
        if given.has(new) && given.has(old) {
            return Err(format!("{new} and {old} cannot be specified together."));
        }
    }
    Ok(())
}

fn keys(distribution: Option<&str>, range: Option<u64>) -> Result<KeyDistribution, String> {
    let range = range.map(|range| range as u32);
    match (distribution, range) {
        (Some("range"), Some(range)) => Ok(KeyDistribution::Range { range }),
        (Some("random"), Some(range)) => Ok(KeyDistribution::Random { range }),
        (Some("range" | "random"), None) => Err("--record-key-range is required when \
             --key-distribution is 'range' or 'random'."
            .to_owned()),
        (_, Some(_)) => Err("--key-distribution must be 'range' or 'random' when \
             --record-key-range is specified."
            .to_owned()),
        (_, None) => Ok(KeyDistribution::None),
    }
}

fn payload(given: &Given, record_size: Option<u64>) -> Payload {
    if let Some(bytes) = record_size {
        return Payload::Random {
            bytes: bytes as u32,
        };
    }
    match given.one("--payload-file") {
        Some(path) => Payload::File {
            path: path.to_owned(),
            // The two characters are what a shell passes on; the tool takes them for a line feed.
            delimiter: match given.one("--payload-delimiter") {
                None | Some("\\n") => "\n".to_owned(),
                Some(delimiter) => delimiter.to_owned(),
            },
        },
        None => Payload::Monotonic,
    }
}

/// Not-a-number compares with nothing, so Kafka's tool never throttles by it.
fn throughput(value: Option<&str>) -> Throughput {
    match value.and_then(parse_double) {
        Some(per_s) if per_s.is_finite() && per_s >= 0.0 => Throughput::PerSecond(per_s),
        _ => Throughput::Unlimited,
    }
}

/// The properties given by the old or the new name, each split at its first `=`. A wrong one is no
/// matter of usage: Kafka's tool fails over it later, without printing its synopsis.
fn properties(given: &Given) -> Result<Vec<(String, String)>, String> {
    let all = given
        .all("--producer-props")
        .chain(given.all("--command-property"));
    all.map(|property| match property.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("Invalid property: {property}")),
    })
    .collect()
}

/// What the command line may ask for but kdyno doesn't do, or can't.
fn check_supported(given: &Given, perf: &PerfArgs) -> Result<(), String> {
    if given.has("--transactional-id") || given.has("--transaction-duration-ms") {
        return Err(NO_TRANSACTIONS.to_owned());
    }
    if perf.throughput == Throughput::PerSecond(0.0) {
        let said = "--throughput 0 would send next to nothing and wait for ever: give a rate above \
                    0, or -1 for no limit";
        return Err(said.to_owned());
    }
    check_transactional(perf.properties.iter().map(|(name, _)| name.as_str()))
}

fn check_transactional<'a>(mut names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    if names.any(|name| name == "transactional.id") {
        return Err(NO_TRANSACTIONS.to_owned());
    }
    Ok(())
}

const NO_TRANSACTIONS: &str = "transactions are not supported by kdyno yet: leave out \
                               --transactional-id, --transaction-duration-ms and transactional.id";

const INTERVAL_MS_DEFAULT: u64 = 5_000;

/// The old names, and what Kafka's tool says about them.
const DEPRECATED: [(&str, &str); 2] = [
    (
        "--producer-props",
        "Option --producer-props has been deprecated and will be removed in a future version. \
         Use --command-property instead.",
    ),
    (
        "--producer.config",
        "Option --producer.config has been deprecated and will be removed in a future version. \
         Use --command-config instead.",
    ),
];

const OPTS: [Opt; 23] = [
    opt("--help", Kind::Flag),
    opt("--version", Kind::Flag),
    opt("--bootstrap-server", Kind::Text),
    opt("--topic", Kind::Text),
    opt("--num-records", Kind::Long),
    opt("--payload-delimiter", Kind::Text),
    opt("--throughput", Kind::Double),
    opt("--producer-props", Kind::Many),
    opt("--command-property", Kind::Many),
    opt("--producer.config", Kind::Text),
    opt("--command-config", Kind::Text),
    opt("--print-metrics", Kind::Flag),
    opt("--transactional-id", Kind::Text),
    opt("--transaction-duration-ms", Kind::Long),
    opt("--warmup-records", Kind::Long),
    opt("--reporting-interval", Kind::Long),
    opt("--record-key-range", Kind::Int),
    opt(
        "--key-distribution",
        Kind::Choice(&["none", "range", "random"]),
    ),
    opt("--random-seed", Kind::Long),
    opt("--stats", Kind::Choice(&["exact", "reference"])),
    payload_opt("--record-size", Kind::Int),
    payload_opt("--payload-file", Kind::Text),
    payload_opt("--payload-monotonic", Kind::Flag),
];

const fn opt(name: &'static str, kind: Kind) -> Opt {
    Opt {
        name,
        kind,
        exclusive: false,
    }
}

const fn payload_opt(name: &'static str, kind: Kind) -> Opt {
    Opt {
        name,
        kind,
        exclusive: true,
    }
}

#[cfg(test)]
mod tests;
