//! What came out of one run: plain data, everything that a report may say and nothing computed.
//!
//! Times are on the monotonic clock of [`crate::base::clock`] unless they say otherwise. Nothing
//! here is written to disk as it is: `report::schema` is the form on disk.

use crate::base::clock::Nanos;
use crate::measure::limit::Limit;
use crate::measure::promise::PromiseResult;
use crate::measure::recorder::Arrivals;
use crate::measure::recording::Recording;
use crate::measure::summary::{Frame, Summary, summarise};
use crate::measure::verdict::ExitReason;

/// The result of one run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was run.
    pub kind: Kind,
    /// The command line, secrets replaced; empty when the run did not come from one.
    pub command: Vec<String>,
    /// The seed used, given or drawn.
    pub seed: u64,
    /// What it ran against.
    pub target: Target,
    /// What was sent, and how fast it was meant to be.
    pub load: Load,
    /// How the client was set up.
    pub client: Client,
    /// What it ran on.
    pub environment: Environment,
    /// When what happened.
    pub timeline: Timeline,
    /// What all load threads recorded, merged.
    pub recording: Recording,
    /// The partitions in the order of the recording's partition slots.
    pub partitions: Vec<PartitionName>,
    /// How the tool itself fared.
    pub tool: Tool,
    /// What the sockets say of the way to each broker.
    pub network: Vec<NodeNetwork>,
    /// Reconnects, leader moves and the like, in order of time; the first [`EVENTS_MAX`].
    pub events: Vec<Event>,
    /// Events that were not kept because there were too many.
    pub events_dropped: u64,
    /// Whether duplicates, loss and order were looked for.
    pub verification: Verification,
    /// With acks=0, how many records arrived; none otherwise.
    pub arrived: Option<Arrived>,
    /// The promises asked for, judged.
    pub promises: Vec<PromiseResult>,
    /// What kept the run from going faster.
    pub limit: Limit,
    /// Every reason for the exit code; empty when all went well.
    pub exit_reasons: Vec<ExitReason>,
    /// What the reader should know, a sentence each.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// What the recording comes to.
    pub fn summary(&self) -> Summary {
        summarise(
            &self.recording,
            &Frame {
                arrivals: self.load.arrivals,
                rate_asked_per_s: self.load.rate_records_per_s,
                window_start: self.timeline.window_start,
                window_end: self.timeline.window_end,
                schedule_end: self.timeline.schedule_end,
                partition_count: self.partitions.len(),
                acknowledged: !self.is_unacknowledged(),
            },
        )
    }

    /// With acks=0 records are written and nothing else is known of them.
    pub fn is_unacknowledged(&self) -> bool {
        self.client.property("acks") == Some("0")
    }
}

impl Client {
    /// The value of a property in effect.
    pub fn property(&self, name: &str) -> Option<&str> {
        let mut properties = self.properties.iter();
        let found = properties.find(|property| property.name == name);
        found.map(|property| property.value.as_str())
    }
}

/// How many events a result keeps.
pub const EVENTS_MAX: usize = 10_000;

/// What was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Records were written.
    Produce,
}

/// The cluster, or the embedded broker.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// The embedded broker inside this process; never to be compared with a real one.
    pub embedded: bool,
    /// The bootstrap addresses as given; the embedded broker's own address otherwise.
    pub bootstrap: Vec<String>,
    /// The brokers' version, where they tell it.
    pub version: Option<String>,
    /// The cluster's id, where there is one.
    pub cluster_id: Option<String>,
    /// The brokers.
    pub brokers: Vec<Broker>,
    /// `PLAINTEXT`, `SSL` and so on.
    pub security_protocol: String,
}

/// One broker of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Its id.
    pub node_id: i32,
    /// Its advertised host.
    pub host: String,
    /// Its advertised port.
    pub port: u16,
    /// Its rack, if it says one.
    pub rack: Option<String>,
}

/// What was sent, and how fast.
#[derive(Debug, Clone)]
pub struct Load {
    /// The topics written to.
    pub topics: Vec<Topic>,
    /// The values in words, as understood: `100 B values`, `uniform:100..2000 B values`.
    pub values: String,
    /// The batches that were prepared and sent again and again; none where each was assembled.
    pub prepared_batches: Option<u32>,
    /// The keys in words: `no key`, `16 B keys, 1 000 different`.
    pub keys: String,
    /// Headers a record.
    pub headers: u32,
    /// How records became due.
    pub arrivals: Arrivals,
    /// The arrival process in a word: `flat out`, `constant`, `poisson`, `ramp`, `steps`.
    pub arrival: String,
    /// The rate asked in words, as understood: `200 000/s`, `50 MB/s`; none flat out.
    pub rate_text: Option<String>,
    /// The rate asked as records a second, over all clients; none flat out.
    pub rate_records_per_s: Option<f64>,
    /// `--num-records`.
    pub records_asked: Option<u64>,
    /// `--duration`.
    pub duration_asked_ns: Option<Nanos>,
    /// `--compressibility`, 0 to 1.
    pub compressibility_asked: Option<f64>,
}

/// A topic written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Its partitions.
    pub partitions: u32,
    /// Replicas of each; none when not known.
    pub replication_factor: Option<u32>,
    /// `min.insync.replicas`; none when not known.
    pub min_insync_replicas: Option<u32>,
    /// Whether this run made it.
    pub made: bool,
}

/// How the client was set up.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Clients, over all threads.
    pub clients: u32,
    /// Whether clients were raised to the number of threads.
    pub clients_raised: bool,
    /// Connections each keeps to each broker.
    pub connections_per_broker: u32,
    /// Load threads.
    pub threads: u32,
    /// Whether threads were pinned to cores.
    pub pinned: bool,
    /// The profile the defaults came from, as the user spells it: `java-4`.
    pub profile: String,
    /// The same in words: `Java 4.4 defaults`.
    pub profile_text: String,
    /// `--tick`, or what it was lowered to.
    pub tick_ns: Nanos,
    /// Every property in effect, with secrets already replaced.
    pub properties: Vec<Property>,
}

/// One client property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Kafka's name of it.
    pub name: String,
    /// Its value as Kafka would write it; secrets replaced.
    pub value: String,
    /// What kdyno made of it.
    pub class: PropertyClass,
    /// Whether it differs from the profile's default.
    pub deviates: bool,
}

/// What kdyno made of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyClass {
    /// It has its effect.
    Honoured,
    /// It has no meaning here.
    Ignored,
    /// A class name for which kdyno has its own.
    Mapped,
    /// It could not be accepted.
    Refused,
}

/// What the run ran on. Empty text: not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// kdyno's own version.
    pub kdyno_version: String,
    /// Operating system and kernel release.
    pub kernel: String,
    /// The CPU's name.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: u32,
    /// The congestion control of the sockets.
    pub congestion_control: String,
}

/// When what happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Wall clock at time zero, milliseconds since 1970.
    pub started_utc_ms: i64,
    /// Time zero: connections, metadata and producer ids stand.
    pub started: Nanos,
    /// When the window opened; equal to `started` without a warm-up.
    pub window_start: Nanos,
    /// When the window closed; none when it closed at the last acknowledgement (`-n`).
    pub window_end: Option<Nanos>,
    /// When the schedule was to end: its last record due, and one gap more; none flat out.
    pub schedule_end: Option<Nanos>,
    /// When the drain was over.
    pub ended: Nanos,
    /// The signal that ended the run early, if one did: 2 or 15.
    pub interrupted_by: Option<i32>,
}

/// The partition behind a slot of the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionName {
    /// Its topic.
    pub topic: String,
    /// Its index.
    pub partition: i32,
}

/// How the tool itself fared, over the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tool {
    /// CPU time of each load thread, in the order of the recording's loops, ns.
    pub thread_cpu_ns: Vec<u64>,
    /// Time each load thread waited for a core, ns.
    pub thread_run_queue_ns: Vec<u64>,
    /// CPU time of the whole process, ns.
    pub process_cpu_ns: u64,
    /// Time the process's cgroup was throttled, ns; none when it has no limit.
    pub cgroup_throttled_ns: Option<u64>,
    /// Share of the machine's CPU time that its hypervisor took, 0 to 1; none when not known.
    pub steal_share: Option<f64>,
    /// The most that `buffer.memory` was filled, over all clients, bytes.
    pub buffer_bytes_max: u64,
    /// Memory physically held by batches at most, bytes.
    pub physical_bytes_max: u64,
}

/// What the sockets to one broker say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NodeNetwork {
    /// The broker.
    pub node_id: i32,
    /// Smoothed round-trip time at the end, ns; 0 when not known.
    pub rtt_ns: u64,
    /// Segments sent.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
}

/// Something that happened once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Nanos,
    /// What, in a word: `reconnect`, `leader_moved`, `connection_lost`, `batch_split` …
    pub kind: &'static str,
    /// The broker it was about.
    pub node_id: Option<i32>,
    /// The partition it was about.
    pub partition: Option<PartitionName>,
    /// The rest in words.
    pub text: String,
}

/// Whether duplicates, loss and order were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Nobody looked.
    NotChecked,
}

/// With acks=0: what the end offsets say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Growth of the end offsets over the run, warm-up included.
    pub records: u64,
    /// Whether somebody else may have written too (a topic that kdyno did not make).
    pub others_may_write: bool,
}
