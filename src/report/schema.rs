//! The result on disk, version 1: its own types, so that the inside can change and files cannot.
//!
//! `result.schema.json` beside this file says the same to other programs. Keys end in their unit;
//! an infinite or unknown figure is null, never NaN. Times are nanoseconds since time zero of the
//! run, unless they say otherwise.

use serde::{Deserialize, Serialize};

/// Written into every file. Raised when a key changes its meaning or goes away, not when one is
/// added.
pub const SCHEMA_VERSION: u32 = 1;

/// The published JSON Schema of [`ResultFile`].
pub const JSON_SCHEMA: &str = include_str!("result.schema.json");

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultFile {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// `produce`.
    pub kind: String,
    /// The run was interrupted: everything here is true and not all of what was asked.
    pub partial: bool,
    /// The command line, secrets replaced.
    pub command: Vec<String>,
    /// The seed used.
    pub seed: u64,
    /// Wall clock at time zero, RFC 3339 in UTC.
    pub started_utc: String,
    /// Time zero on the monotonic clock of the process.
    pub started_monotonic_ns: u64,
    /// What it ran against.
    pub target: Target,
    /// What was sent.
    pub load: Load,
    /// How the client was set up.
    pub client: Client,
    /// What it ran on.
    pub environment: Environment,
    /// The phases.
    pub window: Window,
    /// Records by how they ended.
    pub records: Records,
    /// Requests.
    pub requests: Requests,
    /// Acknowledged (acks=0: written) in the window.
    pub throughput: Throughput,
    /// Asked against reached.
    pub rate: Rate,
    /// The clocks.
    pub latency: Latency,
    /// What the latency consists of; null with acks=0.
    pub parts: Option<Parts>,
    /// Batches.
    pub batches: Batches,
    /// Where the records went.
    pub spread: Spread,
    /// Records on their way, counted apart.
    pub outstanding: Outstanding,
    /// How the tool itself fared.
    pub tool: Tool,
    /// The series of the run.
    pub intervals: Intervals,
    /// What happened once.
    pub events: Vec<Event>,
    /// Events that were too many to keep.
    pub events_dropped: u64,
    /// What kept the run from going faster.
    pub limit: Limit,
    /// The promises asked for.
    pub promises: Vec<Promise>,
    /// The exit code and all its reasons.
    pub exit: Exit,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// The cluster, or the embedded broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The embedded broker of this process; never comparable with a real one.
    pub embedded: bool,
    /// Bootstrap addresses.
    pub bootstrap: Vec<String>,
    /// The brokers' version; null when they don't tell.
    pub version: Option<String>,
    /// The cluster's id.
    pub cluster_id: Option<String>,
    /// The brokers.
    pub brokers: Vec<Broker>,
    /// `PLAINTEXT`, `SSL` …
    pub security_protocol: String,
}

/// A broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Broker {
    /// Its id.
    pub node_id: i32,
    /// Advertised host.
    pub host: String,
    /// Advertised port.
    pub port: u16,
    /// Its rack.
    pub rack: Option<String>,
}

/// What was sent, and how fast it was meant to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The topics written to.
    pub topics: Vec<Topic>,
    /// `assembled`, or `stamped`: batches were prepared and sent again and again.
    pub mode: String,
    /// How many were prepared; null where each was assembled.
    pub prepared_batches: Option<u32>,
    /// The values in words.
    pub values: String,
    /// The keys in words.
    pub keys: String,
    /// Headers a record.
    pub headers: u32,
    /// `flat out`, `constant`, `poisson` …
    pub arrival: String,
    /// The rate as understood; null flat out.
    pub rate: Option<String>,
    /// `--num-records`.
    pub records_asked: Option<u64>,
    /// `--duration`.
    pub duration_asked_ns: Option<u64>,
    /// `--compressibility`.
    pub compressibility_asked: Option<f64>,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Its partitions.
    pub partitions: u32,
    /// Replicas of each.
    pub replication_factor: Option<u32>,
    /// `min.insync.replicas`.
    pub min_insync_replicas: Option<u32>,
    /// Whether the run made it.
    pub made: bool,
}

/// How the client was set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Clients over all threads.
    pub clients: u32,
    /// Whether they were raised to the number of threads.
    pub clients_raised: bool,
    /// Connections of each to each broker.
    pub connections_per_broker: u32,
    /// Load threads.
    pub threads: u32,
    /// Whether those were pinned.
    pub pinned: bool,
    /// The profile the defaults come from.
    pub profile: String,
    /// The tick of the load loop.
    pub tick_ns: u64,
    /// Every property in effect.
    pub properties: Vec<Property>,
}

/// A property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Property {
    /// Kafka's name of it.
    pub name: String,
    /// Its value; secrets replaced.
    pub value: String,
    /// `honoured`, `ignored`, `mapped` or `refused`.
    pub class: String,
    /// Whether it differs from the profile's default.
    pub deviates: bool,
}

/// What the run ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// kdyno's version.
    pub kdyno_version: String,
    /// Operating system and kernel.
    pub kernel: String,
    /// The CPU.
    pub cpu: String,
    /// Cores the process may use.
    pub cores: u32,
    /// Congestion control of the sockets.
    pub congestion_control: String,
}

/// The phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Length of the warm-up, which is where the window opens.
    pub warmup_ns: u64,
    /// Length of the window.
    pub measured_ns: u64,
    /// From the window's close to the end of the drain.
    pub drain_ns: u64,
    /// `duration`: at its time. `last_acknowledgement`: with `--num-records`.
    pub closed_by: String,
}

/// Records of the measured phase by how they ended: due = acked + written + failed + unknown + unsent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// Due (flat out: offered).
    pub due: u64,
    /// Acknowledged.
    pub acked: u64,
    /// Written, with acks=0.
    pub written: u64,
    /// Surely not stored.
    pub failed: u64,
    /// Perhaps stored.
    pub unknown: u64,
    /// Never handed to a socket.
    pub unsent: u64,
    /// Sent again, once a retry.
    pub retried: u64,
    /// Key, value and header bytes of the acknowledged (written) ones.
    pub payload_bytes: u64,
    /// Growth of the end offsets, with acks=0; warm-up included.
    pub arrived: Option<u64>,
    /// Whether others may have written too; null where nothing was asked.
    pub arrived_others_may_write: Option<bool>,
    /// `not checked`.
    pub duplicates: String,
    /// The others by error.
    pub errors: Vec<ErrorCount>,
    /// Records of the warm-up by how they ended.
    pub warmup: WarmupRecords,
    /// Acknowledged and written ones of both phases: what the topic got.
    pub taken_in_all: u64,
}

/// Records of the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmupRecords {
    /// Due (flat out: offered).
    pub due: u64,
    /// Acknowledged.
    pub acked: u64,
    /// Written, with acks=0.
    pub written: u64,
    /// Surely not stored.
    pub failed: u64,
    /// Perhaps stored.
    pub unknown: u64,
    /// Never handed to a socket.
    pub unsent: u64,
    /// Sent again.
    pub retried: u64,
}

/// Records that ended with one error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Kafka's name of the error, or kdyno's own.
    pub name: String,
    /// `failed`, `unknown` or `unsent`.
    pub ended: String,
    /// How many.
    pub records: u64,
}

/// Requests of the measured phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Answered, that held a measured record.
    pub count: u64,
    /// With a batch that was sent again.
    pub retried: u64,
}

/// Acknowledged (acks=0: written) in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Records a second.
    pub records_per_s: f64,
    /// Payload bytes a second: key, value and headers, uncompressed.
    pub payload_bytes_per_s: f64,
    /// Bytes of batches as sent, a second.
    pub wire_bytes_per_s: f64,
    /// The same in bits.
    pub wire_bits_per_s: f64,
    /// Records in the window.
    pub records: u64,
    /// Their payload bytes.
    pub payload_bytes: u64,
    /// Bytes of their batches before compression.
    pub raw_bytes: u64,
    /// Bytes of their batches as sent.
    pub wire_bytes: u64,
}

/// Asked against reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Asked; null flat out.
    pub asked_records_per_s: Option<f64>,
    /// What the schedule made due; null flat out.
    pub due_records_per_s: Option<f64>,
    /// What was acknowledged in the window.
    pub reached_records_per_s: f64,
    /// Whether that is what was due, within 1 %; null flat out.
    pub held: Option<bool>,
    /// Whether the backlog grew over the whole window.
    pub overloaded: bool,
}

/// The clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Due → acknowledged; null flat out and with acks=0.
    pub response: Option<Clock>,
    /// Ages of measured records without an answer, when they ended.
    pub response_censored: Histogram,
    /// Offered → acknowledged; null with acks=0.
    pub send: Option<Clock>,
    /// Written → answered, a sample a request; null with acks=0.
    pub request: Option<Clock>,
    /// The tool's own lateness; null flat out and with acks=0.
    pub lag: Option<Clock>,
    /// How far due times may be rounded: `response` and `lag` are off by as much.
    pub due_error_ns: u64,
    /// How far above the sample a percentile may stand, of its value: the width of a bucket.
    pub percentile_error_share: f64,
    /// `request` broker by broker.
    pub request_by_broker: Vec<BrokerClock>,
    /// Response of the warm-up's records.
    pub warmup_response: Histogram,
    /// Send of the warm-up's records.
    pub warmup_send: Histogram,
}

/// One clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Samples.
    pub count: u64,
    /// Records without an answer that the percentiles count with.
    pub censored_count: u64,
    /// Exact mean of the samples.
    pub mean_ns: Option<f64>,
    /// Shortest sample, at most 0.1 % below it.
    pub min_ns: Option<u64>,
    /// Percentiles with records without an answer at infinity; null: infinite, or no samples.
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// The same with those records at their age.
    pub low: Percentiles,
    /// Percentiles from fewer than ten samples beyond them: `p99_9` and so on.
    pub too_few_samples: Vec<String>,
    /// All samples.
    pub histogram: Histogram,
}

/// `request` of one broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokerClock {
    /// The broker.
    pub node_id: i32,
    /// Its requests.
    pub histogram: Histogram,
}

/// Percentiles of the dial: the upper end of the bucket, so at most 0.1 % above the sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Median.
    pub p50_ns: Option<u64>,
    /// 90 %.
    pub p90_ns: Option<u64>,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p99_9_ns: Option<u64>,
    /// 99.99 %.
    pub p99_99_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

/// All samples of something, losslessly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Samples.
    pub count: u64,
    /// Their exact sum.
    pub sum_ns: u128,
    /// Samples beyond 1 h, kept as 1 h.
    pub saturated_count: u64,
    /// HdrHistogram V2, deflated, in base64; values in ns; null without samples.
    pub hdr_v2_base64: Option<String>,
}

/// What the latency consists of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// What they sum to: `response`, or `send` flat out.
    pub of: String,
    /// Records summed.
    pub records: u64,
    /// Exact sums over them.
    pub sum: PartSums,
    /// Means over them.
    pub mean: PartMeans,
    /// Means over the slowest 1 % of them; null without any.
    pub slowest_1_percent: Option<PartMeans>,
}

/// Exact sums of the parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartSums {
    /// The sum of all parts.
    pub total_ns: u128,
    /// The tool's own lateness.
    pub lag_ns: u128,
    /// Blocked on memory or on the in-flight window.
    pub buffer_ns: u128,
    /// In an open batch.
    pub batch_ns: u128,
    /// In a ready batch.
    pub queue_ns: u128,
    /// Held back by a quota.
    pub throttle_ns: u128,
    /// Attempts before the last.
    pub earlier_attempts_ns: u128,
    /// First to last byte written.
    pub write_ns: u128,
    /// Last byte written to first byte read.
    pub request_ns: u128,
    /// First byte read to acknowledged.
    pub reply_ns: u128,
}

/// Means of the parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartMeans {
    /// The sum of all parts.
    pub total_ns: f64,
    /// The tool's own lateness.
    pub lag_ns: f64,
    /// Blocked on memory or on the in-flight window.
    pub buffer_ns: f64,
    /// In an open batch.
    pub batch_ns: f64,
    /// In a ready batch.
    pub queue_ns: f64,
    /// Held back by a quota.
    pub throttle_ns: f64,
    /// Attempts before the last.
    pub earlier_attempts_ns: f64,
    /// First to last byte written.
    pub write_ns: f64,
    /// Last byte written to first byte read.
    pub request_ns: f64,
    /// First byte read to acknowledged.
    pub reply_ns: f64,
}

/// Acknowledged (written) batches that held a measured record, with all their records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    /// Batches.
    pub count: u64,
    /// Records in them.
    pub records: u64,
    /// Their bytes before compression.
    pub raw_bytes: u64,
    /// Their bytes as sent.
    pub wire_bytes: u64,
    /// Records ÷ batches; null without batches.
    pub records_mean: Option<f64>,
    /// Bytes before compression ÷ batches.
    pub raw_bytes_mean: Option<f64>,
    /// Bytes as sent ÷ batches.
    pub wire_bytes_mean: Option<f64>,
    /// Before ÷ after compression.
    pub compression_ratio: Option<f64>,
}

/// Where the records of the measured phase went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Partition by partition.
    pub partitions: Vec<Partition>,
    /// Records of the emptiest partition.
    pub partition_records_min: u64,
    /// Records of the median partition.
    pub partition_records_median: f64,
    /// Records of the fullest partition.
    pub partition_records_max: u64,
    /// Fullest ÷ emptiest; null when one got nothing.
    pub partition_max_over_min: Option<f64>,
    /// Broker by broker.
    pub brokers: Vec<BrokerSpread>,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Its topic.
    pub topic: String,
    /// Its index.
    pub partition: i32,
    /// Records acknowledged (written).
    pub records: u64,
    /// Their payload bytes.
    pub payload_bytes: u64,
}

/// One broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokerSpread {
    /// Its id.
    pub node_id: i32,
    /// Records acknowledged (written).
    pub records: u64,
    /// Of all, 0 to 1.
    pub share: f64,
    /// Answers that asked for a pause.
    pub throttled_replies: u64,
    /// The pauses.
    pub throttled_ns: u64,
    /// Round trip of its connection at the end; null when not known.
    pub rtt_ns: Option<u64>,
    /// Segments sent to it; null when not known.
    pub segments: Option<u64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
}

/// Records of the measured phase on their way. Little's law: the integral is the sum of `send`
/// and of the ages of those that ended otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outstanding {
    /// ∫ records on their way, record × ns, counted by itself.
    pub integral_record_ns: u128,
    /// Sum of the ages since offered of offered records that were not acknowledged.
    pub ended_age_ns: u128,
    /// The integral ÷ the window.
    pub mean_records: f64,
    /// The most at once.
    pub records_max: u64,
}

/// How the tool itself fared in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Thread by thread.
    pub load_threads: Vec<LoadThread>,
    /// CPU time of the process.
    pub process_cpu_ns: u64,
    /// Time the cgroup was throttled; null without a limit.
    pub cgroup_throttled_ns: Option<u64>,
    /// CPU time the hypervisor took, 0 to 1; null when not known.
    pub steal_share: Option<f64>,
    /// The most that `buffer.memory` was filled.
    pub buffer_max_bytes: u64,
    /// The most memory that batches held.
    pub physical_max_bytes: u64,
}

/// One load thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadThread {
    /// Loop time outside poll and spin.
    pub busy_ns: u64,
    /// CPU time; null when not known.
    pub cpu_ns: Option<u64>,
    /// Time it waited for a core; null when not known.
    pub run_queue_ns: Option<u64>,
    /// Longest time between two polls.
    pub loop_pause_max_ns: u64,
    /// Time its lanes were blocked on `buffer.memory`.
    pub memory_blocked_ns: u64,
    /// Time its connections could not send because the in-flight window was full.
    pub window_blocked_ns: u64,
}

/// The series of the run, both phases and the drain, by the time things happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// Length of each.
    pub length_ns: u64,
    /// Row `i` begins at `i × length_ns`.
    pub rows: Vec<Interval>,
}

/// One interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Records the schedule made due (flat out: offered).
    pub due: u64,
    /// Records acknowledged (written).
    pub acked: u64,
    /// Records that ended otherwise.
    pub ended_otherwise: u64,
    /// Payload bytes of the acknowledged ones.
    pub payload_bytes: u64,
    /// Bytes as sent of their batches.
    pub wire_bytes: u64,
    /// Their responses: pairs of the bucket's upper end in ns and count, 16 buckets an octave.
    pub response_ns: Vec<(u64, u64)>,
    /// Their sends, alike.
    pub send_ns: Vec<(u64, u64)>,
}

/// What happened once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at_ns: u64,
    /// What, in a word.
    pub kind: String,
    /// The broker it was about.
    pub node_id: Option<i32>,
    /// The topic it was about.
    pub topic: Option<String>,
    /// The partition it was about.
    pub partition: Option<i32>,
    /// The rest in words.
    pub text: String,
}

/// What kept the run from going faster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// `none`, `client: load thread`, `in-flight window`, `broker` …
    pub name: String,
    /// Why.
    pub reason: String,
    /// The figures that were asked.
    pub evidence: Evidence,
}

/// The figures the limit was looked for in. Shares are of the window, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Longest time between two polls.
    pub loop_pause_max_ns: u64,
    /// Busiest load thread.
    pub busy_share_max: f64,
    /// CPU of the busiest load thread.
    pub cpu_share_max: f64,
    /// Time the cgroup was throttled.
    pub cgroup_throttled_share: f64,
    /// CPU time the hypervisor took.
    pub steal_share: f64,
    /// Time the worst load thread waited for a core.
    pub run_queue_share_max: f64,
    /// 99th percentile of lag.
    pub lag_p99_ns: u64,
    /// The lag that would still be valid.
    pub lag_allowed_ns: u64,
    /// Time blocked on `buffer.memory`.
    pub memory_blocked_share: f64,
    /// Time the in-flight window was full.
    pub window_blocked_share: f64,
    /// `send.buffer.bytes`.
    pub send_buffer_bytes: i64,
    /// Segments sent again, worst broker.
    pub retransmit_share_max: f64,
    /// Longest round trip of a broker.
    pub rtt_max_ns: u64,
    /// Pauses asked for, worst broker.
    pub quota_share_max: f64,
    /// Fullest partition.
    pub partition_share_max: f64,
    /// Fullest broker.
    pub broker_share_max: f64,
}

/// A promise, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// `slo` or `fail-if`.
    pub option: String,
    /// As typed.
    pub text: String,
    /// The figure's full name.
    pub figure: String,
    /// Its value in ns, bytes, or plain; null when missing or unbounded.
    pub value: Option<f64>,
    /// Samples it comes from; null where that makes no sense.
    pub samples: Option<u64>,
    /// Samples it needs.
    pub samples_needed: Option<u64>,
    /// Whether it was kept.
    pub kept: bool,
    /// Why not, or by which figure.
    pub reason: String,
}

/// The exit code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exit {
    /// What the process exits with.
    pub code: u8,
    /// Every reason, the decisive one first.
    pub reasons: Vec<ExitReason>,
}

/// A reason for an exit code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExitReason {
    /// The code it asks for.
    pub code: u8,
    /// What happened.
    pub text: String,
}
