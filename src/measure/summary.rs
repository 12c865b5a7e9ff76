//! What a recording comes to: rates, percentiles, means, ratios and spread. Computed, never kept.

use super::histogram::{Histogram, Quantile};
use super::parts::{PartMeans, PartSums};
use super::recorder::Arrivals;
use super::recording::{Batches, Recording, SLICE_COUNT, Volume};
use super::stats::{Spread, spread};
use super::verdict::{RateHeld, RateSeen, overloaded};
use crate::base::clock::{Nanos, SECOND};

/// What must be known beside the recording.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// How records became due.
    pub arrivals: Arrivals,
    /// The rate asked, records/s; none flat out.
    pub rate_asked_per_s: Option<f64>,
    /// When the window opened.
    pub window_start: Nanos,
    /// When it closed; none when it closed at the last acknowledgement.
    pub window_end: Option<Nanos>,
    /// When the schedule was to end; none flat out.
    pub schedule_end: Option<Nanos>,
    /// Partitions that could be written to.
    pub partition_count: usize,
    /// Whether answers were awaited; false with acks=0.
    pub acknowledged: bool,
}

/// What a recording comes to.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Length of the window.
    pub window_ns: Nanos,
    /// Acknowledged (acks=0: written) in the window, per second.
    pub throughput: Throughput,
    /// Asked against reached.
    pub rate: RateHeld,
    /// Whether the backlog of the schedule grew over the whole window.
    pub overloaded: bool,
    /// Due → acknowledged; none flat out and with acks=0.
    pub response: Option<Clock>,
    /// Offered → acknowledged; none with acks=0.
    pub send: Option<Clock>,
    /// Written → answered; none with acks=0.
    pub request: Option<Clock>,
    /// The tool's own lateness; none flat out and with acks=0.
    pub lag: Option<Clock>,
    /// Exact sums of the parts over all acknowledged records.
    pub part_sums: PartSums,
    /// Means of the parts over the slowest 1 % of them; none without any.
    pub parts_slowest: Option<PartMeans>,
    /// Batches.
    pub batches: BatchMeans,
    /// Records by partition.
    pub partitions: Spread,
    /// Records by broker, by id: (id, share of all).
    pub broker_shares: Vec<(i32, f64)>,
    /// Records on their way on average: the integral over time ÷ the window.
    pub outstanding_mean: f64,
}

/// Amounts per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Throughput {
    /// Records.
    pub records_per_s: f64,
    /// Key, value and headers, uncompressed.
    pub payload_bytes_per_s: f64,
    /// Bytes of batches as sent.
    pub wire_bytes_per_s: f64,
}

/// One clock: its percentiles, read with the records that have no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    /// Samples.
    pub count: u64,
    /// Records without an answer that its percentiles count with.
    pub censored: u64,
    /// Exact mean of the samples, ns.
    pub mean_ns: Option<f64>,
    /// The shortest sample.
    pub min_ns: Option<Nanos>,
    /// The percentiles of the dial, ascending.
    pub percentiles: Vec<(Quantile, Reading)>,
    /// The longest.
    pub max: Option<Reading>,
}

/// A percentile read twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// With records without an answer at their age.
    pub low_ns: Nanos,
    /// With them at infinity; none: it is infinite.
    pub high_ns: Option<Nanos>,
    /// Whether there are enough samples for it to say anything.
    pub enough: bool,
}

/// Batches and what is in them on average.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BatchMeans {
    /// Batches.
    pub count: u64,
    /// Records a batch.
    pub records: f64,
    /// Bytes before compression, headers included.
    pub raw_bytes: f64,
    /// Bytes as sent.
    pub wire_bytes: f64,
    /// raw ÷ wire; none without bytes.
    pub ratio: Option<f64>,
}

impl Reading {
    /// The figure, if both readings agree.
    pub fn settled(&self) -> Option<Nanos> {
        self.high_ns.filter(|high| *high == self.low_ns)
    }
}

impl Clock {
    /// Reads a percentile of `samples` together with `censored` ones; none without either.
    pub fn read(samples: &Histogram, censored: &Histogram, quantile: Quantile) -> Option<Reading> {
        let count = samples.count() + censored.count();
        let rank = quantile.rank(count);
        let low_ns = match censored.count() {
            0 => samples.value_at_rank(rank),
            _ => union(samples, censored).value_at_rank(rank),
        };
        Some(Reading {
            low_ns: low_ns?,
            high_ns: samples.value_at_rank(rank),
            enough: count >= quantile.samples_min(),
        })
    }

    fn of(samples: &Histogram, censored: &Histogram) -> Self {
        let all = union(samples, censored);
        let read = |quantile: Quantile| Self::read(samples, censored, quantile);
        let dial = Quantile::DIAL.into_iter();
        Self {
            count: samples.count(),
            censored: censored.count(),
            mean_ns: samples.mean_ns(),
            min_ns: samples.min(),
            percentiles: dial.filter_map(|q| Some((q, read(q)?))).collect(),
            max: all.max().map(|low_ns| Reading {
                low_ns,
                high_ns: samples.max().filter(|_| censored.count() == 0),
                enough: true,
            }),
        }
    }
}

/// What `recording` comes to.
pub fn summarise(recording: &Recording, frame: &Frame) -> Summary {
    let window_end = frame.window_end.unwrap_or(recording.last_done);
    let window_ns = window_end.saturating_sub(frame.window_start);
    let answered = frame.acknowledged;
    let scheduled = answered && frame.arrivals == Arrivals::Scheduled;
    let none = Histogram::default();
    let clocks = &recording.clocks;
    let clock = |samples: &Histogram| answered.then(|| Clock::of(samples, &none));
    let response = scheduled.then(|| Clock::of(&clocks.response, &recording.response_censored));
    Summary {
        window_ns,
        throughput: Throughput::of(&recording.in_window, window_ns),
        rate: rate(recording, frame, window_ns),
        overloaded: scheduled && overloaded(&recording.slices, window_ns),
        response,
        send: clock(&clocks.send),
        request: clock(&recording.request()),
        lag: scheduled.then(|| Clock::of(&recording.lag, &none)),
        part_sums: recording.parts.all(),
        parts_slowest: recording.parts.slowest(0.01),
        batches: BatchMeans::of(&recording.batches),
        partitions: partitions(recording, frame.partition_count),
        broker_shares: broker_shares(recording),
        outstanding_mean: recording.outstanding.integral_record_ns as f64 / window_ns.max(1) as f64,
    }
}

impl Throughput {
    fn of(volume: &Volume, window_ns: Nanos) -> Self {
        let per_s = |amount: u64| match window_ns {
            0 => 0.0,
            ns => amount as f64 * SECOND as f64 / ns as f64,
        };
        Self {
            records_per_s: per_s(volume.records),
            payload_bytes_per_s: per_s(volume.payload_bytes),
            wire_bytes_per_s: per_s(volume.wire_bytes),
        }
    }
}

impl BatchMeans {
    fn of(batches: &Batches) -> Self {
        let count = batches.count.max(1) as f64;
        let volume = &batches.volume;
        Self {
            count: batches.count,
            records: volume.records as f64 / count,
            raw_bytes: volume.raw_bytes as f64 / count,
            wire_bytes: volume.wire_bytes as f64 / count,
            ratio: (volume.wire_bytes > 0)
                .then(|| volume.raw_bytes as f64 / volume.wire_bytes as f64),
        }
    }
}

fn union(samples: &Histogram, censored: &Histogram) -> Histogram {
    let mut all = samples.clone();
    all.add(censored);
    all
}

fn rate(recording: &Recording, frame: &Frame, window_ns: Nanos) -> RateHeld {
    let schedule = frame.schedule_end.filter(|_| frame.window_end.is_none());
    let quarter = recording.slices[..SLICE_COUNT / 4].iter();
    let steady = quarter
        .filter_map(|slice| slice.mean_ns())
        .fold(f64::INFINITY, f64::min);
    let counterweight = frame.window_end.is_some() && recording.warmup.due > 0;
    let known = steady.is_finite() && !counterweight;
    RateHeld::judge(&RateSeen {
        asked_per_s: frame.rate_asked_per_s,
        due: recording.measured.due,
        acked: recording.in_window.records,
        window_ns,
        schedule_ns: schedule.map(|end| end.saturating_sub(frame.window_start)),
        steady_response_ns: if known { steady } else { 0.0 },
    })
}

fn partitions(recording: &Recording, count: usize) -> Spread {
    let tallies = recording.partitions.iter().map(|tally| tally.records);
    let mut records: Vec<u64> = tallies.collect();
    records.resize(records.len().max(count), 0);
    spread(&records)
}

fn broker_shares(recording: &Recording) -> Vec<(i32, f64)> {
    let all: u64 = recording.nodes.iter().map(|node| node.records).sum();
    let share = |records: u64| records as f64 / all.max(1) as f64;
    let nodes = recording.nodes.iter();
    let mut shares: Vec<_> = nodes
        .map(|node| (node.node_id, share(node.records)))
        .collect();
    shares.sort_by_key(|(node_id, _)| *node_id);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MILLISECOND;
    use crate::measure::recording::{NodeTally, PartitionTally};

    fn of(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        for (ms, count) in values {
            histogram.record_n(ms * MILLISECOND, *count);
        }
        histogram
    }

    fn frame() -> Frame {
        Frame {
            arrivals: Arrivals::Scheduled,
            rate_asked_per_s: Some(100.0),
            window_start: SECOND,
            window_end: Some(11 * SECOND),
            schedule_end: Some(11 * SECOND),
            partition_count: 4,
            acknowledged: true,
        }
    }

    #[test]
    fn a_percentile_without_unanswered_records_is_one_figure() {
        let reading = Clock::read(&of(&[(1, 990), (5, 10)]), &of(&[]), Quantile::P99);
        assert!(reading.is_some_and(|reading| reading.settled().is_some() && reading.enough));
        assert_eq!(Clock::read(&of(&[]), &of(&[]), Quantile::P99), None);
    }

    #[test]
    fn unanswered_records_are_read_at_their_age_and_at_infinity() {
        let (acked, lost) = (of(&[(1, 950)]), of(&[(500, 50)]));
        let low = |q| Clock::read(&acked, &lost, q).map(|r| r.low_ns / MILLISECOND);
        let high = |q| {
            Clock::read(&acked, &lost, q)
                .and_then(|r| r.high_ns)
                .map(|ns| ns / MILLISECOND)
        };
        assert_eq!(
            (low(Quantile::P90), high(Quantile::P90)),
            (Some(1), Some(1))
        );
        assert_eq!((low(Quantile::P99), high(Quantile::P99)), (Some(500), None));
        let clock = Clock::of(&acked, &lost);
        assert_eq!(clock.max.and_then(|max| max.high_ns), None);
        assert_eq!((clock.count, clock.censored), (950, 50));
    }

    #[test]
    fn ten_samples_are_too_few_for_p99_9() {
        let reading = Clock::read(&of(&[(1, 10)]), &of(&[]), Quantile::P99_9);
        assert!(reading.is_some_and(|reading| !reading.enough));
    }

    #[test]
    fn throughput_is_what_was_acknowledged_in_the_window_over_the_window() {
        let mut recording = Recording::default();
        recording.in_window = Volume {
            records: 1_000,
            payload_bytes: 100_000,
            raw_bytes: 1,
            wire_bytes: 50_000,
        };
        recording.measured.due = 1_000;
        let summary = summarise(&recording, &frame());
        assert_eq!(summary.throughput.records_per_s, 100.0);
        assert_eq!(summary.throughput.payload_bytes_per_s, 10_000.0);
        assert!(summary.rate.held);
        let counted = Frame {
            window_end: None,
            ..frame()
        };
        recording.last_done = 6 * SECOND;
        assert_eq!(
            summarise(&recording, &counted).throughput.records_per_s,
            200.0
        );
    }

    #[test]
    fn partitions_that_got_nothing_are_part_of_the_spread() {
        let tally = |records| PartitionTally {
            records,
            payload_bytes: 0,
        };
        let recording = Recording {
            partitions: vec![tally(30), tally(10)],
            nodes: vec![
                NodeTally {
                    node_id: 2,
                    records: 30,
                    ..NodeTally::default()
                },
                NodeTally {
                    node_id: 1,
                    records: 10,
                    ..NodeTally::default()
                },
            ],
            ..Recording::default()
        };
        let summary = summarise(&recording, &frame());
        assert_eq!((summary.partitions.min, summary.partitions.max), (0, 30));
        assert_eq!(summary.partitions.empty, 2);
        assert_eq!(summary.broker_shares, [(1, 0.25), (2, 0.75)]);
    }

    #[test]
    fn without_acknowledgements_there_is_no_latency() {
        let mut recording = Recording::default();
        recording.measured.written = 5;
        let unacknowledged = Frame {
            acknowledged: false,
            ..frame()
        };
        let summary = summarise(&recording, &unacknowledged);
        assert!(summary.response.is_none() && summary.send.is_none() && summary.request.is_none());
    }
}
