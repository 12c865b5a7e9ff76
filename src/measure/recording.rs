//! What one load thread recorded, and the exact sum of what all of them did.

use super::histogram::Histogram;
use super::interval::Series;
use super::parts::PartTable;
use crate::base::clock::Nanos;

/// How many differently named errors are told apart; further names share [`OTHER_ERRORS`].
pub const ERROR_NAMES_MAX: usize = 64;

/// The name under which errors are counted once [`ERROR_NAMES_MAX`] names are in use.
pub const OTHER_ERRORS: &str = "OTHER";

/// Slices the window is cut into to see whether the backlog of a schedule grows.
pub const SLICE_COUNT: usize = 16;

/// How a record ended that was not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Never written to a socket, or surely not appended by the broker.
    Failed,
    /// Perhaps appended, perhaps not.
    Unknown,
    /// Due, and the run ended before it was handed to a socket.
    Unsent,
}

impl Ending {
    /// Its word on the dial.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Unsent => "unsent",
        }
    }
}

/// Records of one phase by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Made due by the schedule (flat out: offered).
    pub due: u64,
    /// Acknowledged by the broker.
    pub acked: u64,
    /// Fully written with acks=0, where nothing is acknowledged.
    pub written: u64,
    /// Surely not stored.
    pub failed: u64,
    /// Perhaps stored.
    pub unknown: u64,
    /// Never handed to a socket.
    pub unsent: u64,
    /// Sent again, counted once a retry.
    pub retried_records: u64,
    /// Requests in which at least one batch had to be sent again.
    pub retried_requests: u64,
}

/// Records that ended under one error name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCount {
    /// How they ended.
    pub ending: Ending,
    /// Kafka's name of the error, or kdyno's own.
    pub name: &'static str,
    /// Records of the measured phase.
    pub records: u64,
}

/// Amounts that travel together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Volume {
    /// Records.
    pub records: u64,
    /// Key, value and headers, uncompressed.
    pub payload_bytes: u64,
    /// Batches before compression, headers included.
    pub raw_bytes: u64,
    /// What went over the wire for them.
    pub wire_bytes: u64,
}

/// Acknowledged (acks=0: written) batches that held a measured record, with all their records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Batches {
    /// Batches.
    pub count: u64,
    /// What was in them.
    pub volume: Volume,
}

/// What one partition took, measured phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartitionTally {
    /// Records acknowledged (acks=0: written).
    pub records: u64,
    /// Their payload bytes.
    pub payload_bytes: u64,
}

/// What one broker took, measured phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeTally {
    /// The broker's id.
    pub node_id: i32,
    /// Records acknowledged (acks=0: written).
    pub records: u64,
    /// First byte read − last byte written, one sample a request.
    pub request: Histogram,
    /// Answers that asked for a pause.
    pub throttled_replies: u64,
    /// The pauses asked for, ns.
    pub throttled_ns: u64,
}

/// The clocks of one phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks {
    /// done − due of acknowledged records; empty flat out.
    pub response: Histogram,
    /// done − offered of acknowledged records.
    pub send: Histogram,
}

/// One slice of the window, by the time of the acknowledgement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slice {
    /// Records acknowledged in it.
    pub records: u64,
    /// Sum of their responses, ns.
    pub response_ns: u128,
}

/// Records on their way, integrated over time: the separate count that Little's law is checked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// ∫ measured records offered and not yet ended, in record × ns.
    pub integral_record_ns: u128,
    /// Sum of the ages since offered of measured records that ended otherwise than acknowledged.
    pub ended_age_ns: u128,
    /// The most there were at once; summed over threads, an upper bound.
    pub records_max: u64,
}

/// How the load thread itself did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoopTally {
    /// The longest time between two polls.
    pub pause_ns_max: Nanos,
    /// Time spent in the loop outside poll and spin, in the window.
    pub busy_ns: Nanos,
    /// Time in which the lane was blocked on `buffer.memory`.
    pub memory_blocked_ns: Nanos,
    /// Time in which no request could be sent because the in-flight window was full.
    pub window_blocked_ns: Nanos,
}

/// Everything load threads recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Counts of the warm-up.
    pub warmup: Counts,
    /// Counts of the measured phase.
    pub measured: Counts,
    /// How the unacknowledged records of the measured phase ended, by name.
    pub errors: Vec<ErrorCount>,
    /// Clocks of the warm-up.
    pub warmup_clocks: Clocks,
    /// Clocks of the measured phase.
    pub clocks: Clocks,
    /// now − due of measured records that ended otherwise than acknowledged (flat out: − offered).
    pub response_censored: Histogram,
    /// Sums of the parts, measured phase.
    pub parts: PartTable,
    /// lag of acknowledged measured records: its 99th percentile decides on validity.
    pub lag: Histogram,
    /// How far stored due times may lie beside the true ones, ns: 0 flat out, 1 at a constant
    /// rate, 64 where each record has its own.
    pub due_ns_error: Nanos,
    /// Acknowledgements inside the window, whatever their phase.
    pub in_window: Volume,
    /// Acknowledged payload of each phase: measured.
    pub volume: Volume,
    /// Requests answered that carried a measured record.
    pub requests: u64,
    /// Batches of the measured phase.
    pub batches: Batches,
    /// By partition slot, as the load numbers them.
    pub partitions: Vec<PartitionTally>,
    /// By broker.
    pub nodes: Vec<NodeTally>,
    /// The series of intervals.
    pub series: Series,
    /// The window cut into [`SLICE_COUNT`] slices; all empty where its end was not known.
    pub slices: [Slice; SLICE_COUNT],
    /// Records on their way.
    pub outstanding: Outstanding,
    /// The last acknowledgement of a measured record; 0 when there was none.
    pub last_done: Nanos,
    /// One a load thread.
    pub loops: Vec<LoopTally>,
}

impl Recording {
    /// Adds what another load thread recorded; exact. Both must have been given the same start
    /// of run, window and interval.
    pub fn add(&mut self, other: &Self) {
        self.warmup.add(&other.warmup);
        self.measured.add(&other.measured);
        for error in &other.errors {
            self.count_error(error.ending, error.name, error.records);
        }
        self.warmup_clocks.add(&other.warmup_clocks);
        self.clocks.add(&other.clocks);
        self.response_censored.add(&other.response_censored);
        self.parts.add(&other.parts);
        self.lag.add(&other.lag);
        self.due_ns_error = self.due_ns_error.max(other.due_ns_error);
        self.in_window.add(&other.in_window);
        self.volume.add(&other.volume);
        self.requests += other.requests;
        self.batches.count += other.batches.count;
        self.batches.volume.add(&other.batches.volume);
        self.add_partitions(&other.partitions);
        for node in &other.nodes {
            self.node_mut(node.node_id).add(node);
        }
        self.series.add(&other.series);
        for (slice, more) in self.slices.iter_mut().zip(&other.slices) {
            slice.records += more.records;
            slice.response_ns += more.response_ns;
        }
        self.outstanding.add(&other.outstanding);
        self.last_done = self.last_done.max(other.last_done);
        self.loops.extend_from_slice(&other.loops);
    }

    /// Request times over all brokers.
    pub fn request(&self) -> Histogram {
        let mut all = Histogram::default();
        for node in &self.nodes {
            all.add(&node.request);
        }
        all
    }

    pub(super) fn count_error(&mut self, ending: Ending, name: &'static str, records: u64) {
        let known = |errors: &[ErrorCount], name| {
            let mut errors = errors.iter();
            errors.position(|error| error.ending == ending && error.name == name)
        };
        let full = self.errors.len() >= ERROR_NAMES_MAX;
        let found = known(&self.errors, name);
        let (found, name) = match (found, full) {
            (None, true) => (known(&self.errors, OTHER_ERRORS), OTHER_ERRORS),
            (found, _) => (found, name),
        };
        match found {
            Some(index) => self.errors[index].records += records,
            None => self.errors.push(ErrorCount {
                ending,
                name,
                records,
            }),
        }
    }

    pub(super) fn node_mut(&mut self, node_id: i32) -> &mut NodeTally {
        let found = self.nodes.iter().position(|node| node.node_id == node_id);
        let index = found.unwrap_or_else(|| {
            self.nodes.push(NodeTally {
                node_id,
                ..NodeTally::default()
            });
            self.nodes.len() - 1
        });
        &mut self.nodes[index]
    }

    pub(super) fn partition_mut(&mut self, slot: u32) -> &mut PartitionTally {
        let slot = slot as usize;
        if self.partitions.len() <= slot {
            self.partitions.resize(slot + 1, PartitionTally::default());
        }
        &mut self.partitions[slot]
    }

    fn add_partitions(&mut self, others: &[PartitionTally]) {
        for (slot, other) in others.iter().enumerate() {
            let tally = self.partition_mut(slot as u32);
            tally.records += other.records;
            tally.payload_bytes += other.payload_bytes;
        }
    }
}

impl Counts {
    /// Records that ended, in whatever way.
    pub fn ended(&self) -> u64 {
        self.acked + self.written + self.failed + self.unknown + self.unsent
    }

    /// Adds all counts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.acked += other.acked;
        self.written += other.written;
        self.failed += other.failed;
        self.unknown += other.unknown;
        self.unsent += other.unsent;
        self.retried_records += other.retried_records;
        self.retried_requests += other.retried_requests;
    }
}

impl Volume {
    /// Adds all amounts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.payload_bytes += other.payload_bytes;
        self.raw_bytes += other.raw_bytes;
        self.wire_bytes += other.wire_bytes;
    }
}

impl Clocks {
    fn add(&mut self, other: &Self) {
        self.response.add(&other.response);
        self.send.add(&other.send);
    }
}

impl NodeTally {
    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.request.add(&other.request);
        self.throttled_replies += other.throttled_replies;
        self.throttled_ns += other.throttled_ns;
    }
}

impl Outstanding {
    fn add(&mut self, other: &Self) {
        self.integral_record_ns += other.integral_record_ns;
        self.ended_age_ns += other.ended_age_ns;
        self.records_max += other.records_max;
    }
}

impl Slice {
    /// The mean response, ns; none without records.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.records > 0).then(|| self.response_ns as f64 / self.records as f64)
    }
}
