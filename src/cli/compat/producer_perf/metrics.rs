//! The metrics of `--print-metrics`: those of Kafka's names that kdyno measures.
//!
//! Averages, maxima and totals are over the whole measured phase, where Kafka's client forgets after
//! 30 seconds; what is per time is left out for that reason.

use super::format::{Metric, MetricValue};
use crate::base::clock::{MILLISECOND, Nanos};
use crate::measure::histogram::Histogram;
use crate::measure::parts::Part;
use crate::measure::recording::Counts;
use crate::scenario::outcome::Outcome;

/// The metrics of a finished run, of the client that calls itself `client_id`.
pub fn metrics(outcome: &Outcome, client_id: &str) -> Vec<Metric> {
    let client = || vec![("client-id", client_id.to_owned())];
    let mut metrics = vec![Metric {
        group: "app-info",
        name: "version",
        tags: client(),
        value: MetricValue::Text(format!("kdyno-{}", env!("CARGO_PKG_VERSION"))),
    }];
    metrics.extend(
        of_producer(outcome)
            .into_iter()
            .map(|(name, value)| Metric {
                group: "producer-metrics",
                name,
                tags: client(),
                value: MetricValue::Number(value),
            }),
    );
    let answered = outcome.recording.nodes.iter();
    for node in answered.filter(|_| !outcome.is_unacknowledged()) {
        metrics.extend(of_requests(&node.request).into_iter().map(|(name, value)| {
            Metric {
                group: "producer-node-metrics",
                name,
                tags: [
                    client(),
                    vec![("node-id", format!("node-{}", node.node_id))],
                ]
                .concat(),
                value: MetricValue::Number(value),
            }
        }));
    }
    metrics.extend(
        of_topics(outcome)
            .into_iter()
            .map(|(topic, records)| Metric {
                group: "producer-topic-metrics",
                name: "record-send-total",
                tags: [client(), vec![("topic", topic.to_owned())]].concat(),
                value: MetricValue::Number(records as f64),
            }),
    );
    metrics
}

fn of_producer(outcome: &Outcome) -> Vec<(&'static str, f64)> {
    let recording = &outcome.recording;
    let batches = &recording.batches;
    let volume = &batches.volume;
    let ended =
        |count: fn(&Counts) -> u64| (count(&recording.warmup) + count(&recording.measured)) as f64;
    let throttled: Nanos = recording.nodes.iter().map(|node| node.throttled_ns).sum();
    let blocked: Nanos = recording.loops.iter().map(|of| of.memory_blocked_ns).sum();
    let parts = recording.parts.all().means();
    let queued = parts.of(Part::Batch) + parts.of(Part::Queue);
    let requests = recording.requests as f64;
    let mut metrics = vec![
        (
            "batch-size-avg",
            volume.wire_bytes as f64 / batches.count as f64,
        ),
        (
            "compression-rate-avg",
            volume.wire_bytes as f64 / volume.raw_bytes as f64,
        ),
        ("bufferpool-wait-time-ns-total", blocked as f64),
        (
            "record-error-total",
            ended(|of| of.failed + of.unknown + of.unsent),
        ),
        ("record-queue-time-avg", ms(queued)),
        ("record-retry-total", ended(|of| of.retried_records)),
        ("record-send-total", sent(outcome) as f64),
    ];
    // Requests that nobody answers are not seen to end.
    if !outcome.is_unacknowledged() {
        metrics.push(("produce-throttle-time-avg", ms(throttled as f64) / requests));
        metrics.push(("records-per-request-avg", volume.records as f64 / requests));
        metrics.extend(of_requests(&recording.request()));
    }
    let buffer = outcome.client.property("buffer.memory");
    if let Some(bytes) = buffer.and_then(|bytes| bytes.parse().ok()) {
        metrics.push(("buffer-total-bytes", bytes));
    }
    metrics
}

fn of_requests(requests: &Histogram) -> [(&'static str, f64); 3] {
    let mean = requests.mean_ns().unwrap_or(f64::NAN);
    let max = requests.max().map_or(f64::NAN, |max| max as f64);
    [
        ("request-latency-avg", ms(mean)),
        ("request-latency-max", ms(max)),
        ("request-total", requests.count() as f64),
    ]
}

/// Records acknowledged, with acks=0 written, in warm-up and window.
fn sent(outcome: &Outcome) -> u64 {
    let of = |counts: &Counts| counts.acked + counts.written;
    of(&outcome.recording.warmup) + of(&outcome.recording.measured)
}

/// Records acknowledged by topic, in the order of the partitions. Of several topics those of the
/// warm-up are not told apart and left out; the tool itself writes to one.
fn of_topics(outcome: &Outcome) -> Vec<(&str, u64)> {
    if let [topic] = outcome.load.topics.as_slice() {
        return vec![(&topic.name, sent(outcome))];
    }
    let mut topics: Vec<(&str, u64)> = Vec::new();
    for (name, tally) in outcome.partitions.iter().zip(&outcome.recording.partitions) {
        match topics.iter_mut().find(|(topic, _)| *topic == name.topic) {
            Some((_, records)) => *records += tally.records,
            None => topics.push((&name.topic, tally.records)),
        }
    }
    topics
}

fn ms(nanos: f64) -> f64 {
    nanos / MILLISECOND as f64
}
