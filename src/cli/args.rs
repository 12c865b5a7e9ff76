//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use crate::base::clock::Nanos;
use crate::base::size::parse_bytes;
use crate::base::span;

/// A dynamometer for Kafka.
#[derive(Debug, Parser)]
#[command(name = "kdyno", version, about, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write records: flat out, at a rate, for a count or a time
    Produce(Box<Produce>),
    /// Run the embedded broker: a sink that acknowledges batches and keeps none
    Broker(Broker),
    /// Make, list, describe or delete topics
    Topic(Topic),
    /// Show what this machine and kdyno reach with no broker in the way; takes minutes
    Calibrate(Calibrate),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Which cluster, and how to talk to it.
#[derive(Debug, clap::Args)]
pub struct Cluster {
    /// Brokers to begin with, HOST:PORT with commas; before the property, before the variable
    /// KDYNO_BOOTSTRAP_SERVER; without any an embedded broker is started
    #[arg(short, long, alias = "broker-list", value_name = "HOST:PORT")]
    pub bootstrap_server: Option<String>,
    /// A file of Kafka's client properties
    #[arg(short, long, alias = "producer.config", value_name = "FILE")]
    pub command_config: Option<String>,
    /// A property of Kafka's clients, KEY=VALUE; repeat it for several
    #[arg(
        short = 'X',
        long = "command-property",
        visible_alias = "producer-props",
        value_name = "K=V"
    )]
    pub properties: Vec<String>,
    /// The version of an API to speak, as in produce=9
    #[arg(long = "api-version", value_name = "API=VERSION")]
    pub api_versions: Vec<String>,
    /// How long connecting may take; default: socket.connection.setup.timeout.ms
    #[arg(long, value_name = "SPAN")]
    pub connect_timeout: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Produce {
    #[command(flatten)]
    pub cluster: Cluster,
    /// Whose defaults: java-4, java-3, librdkafka or throughput
    #[arg(long, value_name = "NAME", default_value = "java-4")]
    pub profile: String,
    /// A topic to write to; repeat it for several. With a cluster it must exist, or --partitions
    /// says how to make it
    #[arg(short, long = "topic", value_name = "NAME")]
    pub topics: Vec<String>,
    /// Write to this many topics, the name with -0, -1 and so on behind it
    #[arg(long = "topics", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub topic_count: Option<u32>,
    /// Make topics that do not exist, with this many partitions; they are deleted at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub partitions: Option<u32>,
    /// Replicas of topics that are made; default: the broker's
    #[arg(long, value_name = "N", requires = "partitions", value_parser = clap::value_parser!(u16).range(1..32768))]
    pub replication_factor: Option<u16>,
    /// A setting of topics that are made, NAME=VALUE; repeat it for several
    #[arg(long = "topic-config", value_name = "K=V", requires = "partitions")]
    pub topic_configs: Vec<String>,
    /// Leave topics that were made when the run ends
    #[arg(long)]
    pub keep_topics: bool,
    /// Write to a topic that holds records kdyno did not write
    #[arg(long)]
    pub existing_topic: bool,
    /// Write even more than the brokers' disks have room for
    #[arg(long)]
    pub yes: bool,
    /// Write to these partitions only, one record after the other: 0,2
    #[arg(long = "partition", value_name = "N,…", value_delimiter = ',')]
    pub chosen_partitions: Vec<u32>,
    /// Records to measure
    #[arg(short, long, value_name = "N")]
    pub num_records: Option<u64>,
    /// Time to measure, as in 30s; without it and -n: 10s after 2s of warm-up
    #[arg(short, long, value_name = "SPAN")]
    pub duration: Option<String>,
    /// Time before the window, counted apart
    #[arg(long, value_name = "SPAN")]
    pub warmup: Option<String>,
    /// Records before the window, counted apart
    #[arg(long, value_name = "N", conflicts_with = "warmup")]
    pub warmup_records: Option<u64>,
    /// How long to wait for what is still out at the end; default: delivery.timeout.ms
    #[arg(long, value_name = "SPAN")]
    pub drain: Option<String>,
    /// Records a second (60k), or bytes (50MB/s), over all clients; without it: flat out
    #[arg(
        short,
        long,
        alias = "throughput",
        value_name = "RATE",
        allow_hyphen_values = true
    )]
    pub rate: Option<String>,
    /// How due times are spread at a rate: constant or poisson
    #[arg(long, value_name = "PROCESS", default_value = "constant")]
    pub arrival: String,
    /// Whether batches are made record by record as clients make them, or prepared before the start
    /// and only dated and numbered anew for each send: the most that this machine can push
    #[arg(long, value_enum, default_value_t = Mode::Assembled)]
    pub mode: Mode,
    /// Value bytes: 1KiB, uniform:100..2000 or lognormal:1KiB,0.5
    #[arg(short = 's', long, value_name = "SIZE", default_value = "100")]
    pub record_size: String,
    /// What values are made of: letters, bytes or zeros
    #[arg(long, value_name = "CONTENT", default_value = "letters")]
    pub payload: String,
    /// The share of each value that a codec can remove, 0 to 1
    #[arg(long, value_name = "SHARE", conflicts_with = "payload")]
    pub compressibility: Option<f64>,
    /// Values are lines of this file, - for standard input; they bring their sizes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["payload", "compressibility"])]
    pub payload_file: Option<String>,
    /// Keys: none, sequence, uniform:N, zipf:N,S, fixed:TEXT or file:PATH
    #[arg(long, value_name = "KEYS", default_value = "none")]
    pub key: String,
    /// A header of every record, NAME=VALUE; repeat it for several
    #[arg(long = "header", value_name = "K=V")]
    pub headers: Vec<String>,
    /// The share of records without a value, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub null_values: f64,
    /// Virtual clients, each with connections, producer id and buffers of its own
    #[arg(long, value_name = "N")]
    pub clients: Option<u32>,
    /// Connections of each client to each broker
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub connections: u32,
    /// Load threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: u32,
    /// Time between two wakes for due records
    #[arg(long, value_name = "SPAN", default_value = "1ms")]
    pub tick: String,
    /// Meet due times to microseconds, at the price of a core
    #[arg(long)]
    pub precise: bool,
    /// The seed of all randomness; drawn and printed when not given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A promise that must hold, as in 'response.p99<20ms'; repeat it for several
    #[arg(long = "slo", value_name = "PROMISE")]
    pub promises: Vec<String>,
    /// Records that fail do not change the exit code
    #[arg(long)]
    pub allow_errors: bool,
    /// A file for the result: .json, .csv, .hgrm or .hlog; repeat it for several
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<String>,
    /// The length of the intervals of the series, and between lines while it runs
    #[arg(long, value_name = "SPAN", default_value = "1s")]
    pub interval: String,
    /// Say on standard error what became of each property
    #[arg(short, long)]
    pub verbose: bool,
    /// Say nothing on standard error but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show no progress while it runs
    #[arg(long)]
    pub no_progress: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// How batches come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Record by record
    Assembled,
    /// Prepared, and sent again and again
    Stamped,
}

#[derive(Debug, clap::Args)]
pub struct Calibrate {
    /// Rounds of each case; figures are medians over them
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Run this case; repeat it for several; without it: all
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct Topic {
    #[command(subcommand)]
    pub action: TopicAction,
}

#[derive(Debug, Subcommand)]
pub enum TopicAction {
    /// Make topics, and wait until every replica is in sync
    Create(TopicCreate),
    /// Names of all topics
    List(TopicList),
    /// Partitions, leaders, replicas and configuration
    Describe(TopicDescribe),
    /// Delete topics
    Delete(TopicDelete),
}

#[derive(Debug, clap::Args)]
pub struct TopicCreate {
    #[command(flatten)]
    pub cluster: Cluster,
    /// Their names
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Partitions of each; default: the broker's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: Option<u32>,
    /// Replicas of each partition; default: the broker's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..32768))]
    pub replication_factor: Option<u16>,
    /// A setting of the topics, NAME=VALUE; repeat it for several
    #[arg(long = "config", alias = "topic-config", value_name = "K=V")]
    pub configs: Vec<String>,
    /// Leave a topic that is there as it is
    #[arg(long)]
    pub if_not_exists: bool,
}

#[derive(Debug, clap::Args)]
pub struct TopicList {
    #[command(flatten)]
    pub cluster: Cluster,
    /// The cluster's own topics too
    #[arg(long)]
    pub internal: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct TopicDescribe {
    #[command(flatten)]
    pub cluster: Cluster,
    /// Their names; without any: all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct TopicDelete {
    #[command(flatten)]
    pub cluster: Cluster,
    /// Their names
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// A topic that is not there is no error
    #[arg(long)]
    pub if_exists: bool,
}

#[derive(Debug, clap::Args)]
pub struct Broker {
    /// Where to listen; further brokers take the ports behind it
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9092")]
    pub listen: SocketAddr,
    /// Brokers of the cluster
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub brokers: u16,
    /// Partitions of a topic that is made by being asked for
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub partitions: u32,
    /// What becomes of records: memory keeps them, sink acknowledges and drops them
    #[arg(long, value_enum, value_name = "LOG", default_value = "memory")]
    pub log: BrokerLog,
    /// Bytes of batches that the memory log keeps over all partitions; the oldest go first
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = parse_bytes)]
    pub retention_bytes: u64,
    /// Hold every answer this long
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = span::parse)]
    pub delay: Nanos,
    /// Let what was written be read this much later
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = span::parse)]
    pub append_delay: Nanos,
    /// Write down how long each of them was really held, in nanoseconds: what,asked_ns,held_ns
    #[arg(long, value_name = "FILE")]
    pub hold_log: Option<PathBuf>,
    /// How long the first members of a consumer group wait for more
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = span::parse)]
    pub initial_rebalance_delay: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BrokerLog {
    Memory,
    Sink,
}
