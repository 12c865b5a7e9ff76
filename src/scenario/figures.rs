//! Every figure of a result by its name: what `--slo` bounds and `--list-figures` prints.

use super::outcome::Outcome;
use crate::measure::histogram::{Histogram, Quantile};
use crate::measure::parts::{Part, PartMeans};
use crate::measure::promise::{Figure, Samples, Unit};
use crate::measure::recorder::Arrivals;
use crate::measure::summary::{Clock, Summary};

/// A figure there is, or a family of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its name; `pN` stands for a percentile (`p99`, `p99.9`), `PART` for a part of latency,
    /// `ERROR` for Kafka's name of an error.
    pub name: &'static str,
    /// What it counts in.
    pub unit: Unit,
    /// What it is, half a sentence.
    pub what: &'static str,
}

/// There is no such figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure '{name}'; did you mean {nearest}? --list-figures shows all")]
pub struct UnknownFigure {
    /// What was asked for.
    pub name: String,
    /// The nearest one there is.
    pub nearest: String,
}

const fn known(name: &'static str, unit: Unit, what: &'static str) -> Known {
    Known { name, unit, what }
}

/// All figures, in the order of the dial.
pub const KNOWN: &[Known] = &[
    known(
        "response.pN",
        Unit::Duration,
        "due → acknowledged; not flat out",
    ),
    known(
        "response.mean",
        Unit::Duration,
        "mean of the acknowledged records",
    ),
    known("response.min", Unit::Duration, "shortest"),
    known("response.max", Unit::Duration, "longest"),
    known("response.count", Unit::Number, "records it comes from"),
    known("send.pN", Unit::Duration, "offered → acknowledged"),
    known(
        "send.mean",
        Unit::Duration,
        "mean of the acknowledged records",
    ),
    known("send.min", Unit::Duration, "shortest"),
    known("send.max", Unit::Duration, "longest"),
    known("send.count", Unit::Number, "records it comes from"),
    known("request.pN", Unit::Duration, "written → answered"),
    known("request.mean", Unit::Duration, "mean over requests"),
    known("request.min", Unit::Duration, "shortest"),
    known("request.max", Unit::Duration, "longest"),
    known("request.count", Unit::Number, "requests it comes from"),
    known(
        "lag.pN",
        Unit::Duration,
        "kdyno's own lateness; not flat out",
    ),
    known(
        "lag.mean",
        Unit::Duration,
        "mean of the acknowledged records",
    ),
    known("lag.min", Unit::Duration, "shortest"),
    known("lag.max", Unit::Duration, "longest"),
    known("lag.count", Unit::Number, "records it comes from"),
    known(
        "parts.mean.PART",
        Unit::Duration,
        "mean of one part over all acknowledged records",
    ),
    known(
        "parts.slowest.PART",
        Unit::Duration,
        "mean of one part over the slowest 1 %",
    ),
    known(
        "throughput.records_per_s",
        Unit::Number,
        "acknowledged in the window, a second",
    ),
    known(
        "throughput.payload_bytes_per_s",
        Unit::Bytes,
        "key, value and headers, uncompressed",
    ),
    known(
        "throughput.wire_bytes_per_s",
        Unit::Bytes,
        "batches as sent",
    ),
    known(
        "rate.due_per_s",
        Unit::Number,
        "what the schedule made due, a second",
    ),
    known(
        "rate.reached_per_s",
        Unit::Number,
        "acknowledged in the window, a second",
    ),
    known("rate.reached", Unit::Share, "reached ÷ due"),
    known("records.due", Unit::Number, "records due"),
    known("records.acked", Unit::Number, "acknowledged"),
    known("records.written", Unit::Number, "written, with acks=0"),
    known("records.failed", Unit::Number, "surely not stored"),
    known("records.unknown", Unit::Number, "perhaps stored"),
    known("records.unsent", Unit::Number, "never handed to a socket"),
    known(
        "records.missing",
        Unit::Number,
        "failed, unknown and unsent",
    ),
    known("records.retried", Unit::Number, "sent again"),
    known(
        "errors.ERROR",
        Unit::Number,
        "records that ended with that error",
    ),
    known("requests.count", Unit::Number, "requests answered"),
    known(
        "requests.retried",
        Unit::Number,
        "requests with a batch that was sent again",
    ),
    known("batches.count", Unit::Number, "batches"),
    known("batches.records_mean", Unit::Number, "records a batch"),
    known(
        "batches.raw_bytes_mean",
        Unit::Bytes,
        "bytes a batch before compression",
    ),
    known(
        "batches.wire_bytes_mean",
        Unit::Bytes,
        "bytes a batch as sent",
    ),
    known(
        "batches.compression_ratio",
        Unit::Number,
        "before ÷ after compression",
    ),
    known(
        "spread.partition_max_over_min",
        Unit::Number,
        "fullest ÷ emptiest partition",
    ),
    known(
        "spread.partitions_empty",
        Unit::Number,
        "partitions that got nothing",
    ),
    known(
        "outstanding.mean",
        Unit::Number,
        "records on their way on average",
    ),
    known(
        "tool.busy",
        Unit::Share,
        "busiest load thread: loop time outside poll and spin",
    ),
    known("tool.cpu", Unit::Share, "busiest load thread: CPU time"),
    known(
        "tool.loop_pause_max",
        Unit::Duration,
        "longest time between two polls",
    ),
];

/// What the figure called `name` counts in.
pub fn unit_of(name: &str) -> Result<Unit, UnknownFigure> {
    let found = KNOWN.iter().find(|known| known.matches(name));
    found.map(|known| known.unit).ok_or_else(|| UnknownFigure {
        name: name.to_owned(),
        nearest: nearest(name),
    })
}

/// The figure called `name`, as it stands in this result; none when the result has none.
pub fn look_up(outcome: &Outcome, summary: &Summary, name: &str) -> Option<Figure> {
    let plain = |value: Option<f64>| Figure {
        value,
        samples: None,
    };
    let (group, rest) = name.split_once('.')?;
    let recording = &outcome.recording;
    let none = Histogram::default();
    let request = recording.request();
    match group {
        "response" => {
            let censored = &recording.response_censored;
            let samples = &recording.clocks.response;
            clock(summary.response.as_ref(), samples, censored, rest)
        }
        "send" => clock(summary.send.as_ref(), &recording.clocks.send, &none, rest),
        "request" => clock(summary.request.as_ref(), &request, &none, rest),
        "lag" => clock(summary.lag.as_ref(), &recording.lag, &none, rest),
        "parts" => part(summary, rest).map(|value| plain(Some(value))),
        "errors" => Some(plain(Some(errors(outcome, rest)))),
        _ => Some(plain(plain_figure(outcome, summary, name))),
    }
}

/// Figures that are one number.
fn plain_figure(outcome: &Outcome, summary: &Summary, name: &str) -> Option<f64> {
    let recording = &outcome.recording;
    let counts = &recording.measured;
    let scheduled = outcome.load.arrivals == Arrivals::Scheduled;
    let rate = |value: f64| scheduled.then_some(value);
    let count = |value: u64| Some(value as f64);
    let window_ns = summary.window_ns.max(1) as f64;
    let busiest = |ns: Option<u64>| ns.map(|ns| ns as f64 / window_ns);
    match name {
        "throughput.records_per_s" => Some(summary.throughput.records_per_s),
        "throughput.payload_bytes_per_s" => Some(summary.throughput.payload_bytes_per_s),
        "throughput.wire_bytes_per_s" => Some(summary.throughput.wire_bytes_per_s),
        "rate.due_per_s" => rate(summary.rate.due_per_s),
        "rate.reached_per_s" => rate(summary.rate.reached_per_s),
        "rate.reached" => rate(summary.rate.reached_per_s / summary.rate.due_per_s),
        "records.due" => count(counts.due),
        "records.acked" => count(counts.acked),
        "records.written" => count(counts.written),
        "records.failed" => count(counts.failed),
        "records.unknown" => count(counts.unknown),
        "records.unsent" => count(counts.unsent),
        "records.missing" => count(counts.failed + counts.unknown + counts.unsent),
        "records.retried" => count(counts.retried_records),
        "requests.count" => count(recording.requests),
        "requests.retried" => count(counts.retried_requests),
        "batches.count" => count(summary.batches.count),
        "batches.records_mean" => Some(summary.batches.records),
        "batches.raw_bytes_mean" => Some(summary.batches.raw_bytes),
        "batches.wire_bytes_mean" => Some(summary.batches.wire_bytes),
        "batches.compression_ratio" => summary.batches.ratio,
        "spread.partition_max_over_min" => summary.partitions.max_over_min(),
        "spread.partitions_empty" => count(summary.partitions.empty as u64),
        "outstanding.mean" => Some(summary.outstanding_mean),
        "tool.busy" => busiest(recording.loops.iter().map(|one| one.busy_ns).max()),
        "tool.cpu" => busiest(outcome.tool.thread_cpu_ns.iter().copied().max()),
        "tool.loop_pause_max" => {
            let pauses = recording.loops.iter().map(|one| one.pause_ns_max);
            pauses.max().map(|ns| ns as f64)
        }
        _ => None,
    }
}

fn clock(
    clock: Option<&Clock>,
    samples: &Histogram,
    censored: &Histogram,
    rest: &str,
) -> Option<Figure> {
    let clock = clock?;
    let plain = |value: Option<f64>| Figure {
        value,
        samples: None,
    };
    let ns = |ns: u64| ns as f64;
    if let Some(quantile) = Quantile::parse(rest) {
        let reading = Clock::read(samples, censored, quantile);
        return Some(Figure {
            value: reading.map(|reading| reading.high_ns.map_or(f64::INFINITY, ns)),
            samples: Some(Samples {
                count: samples.count() + censored.count(),
                needed: quantile.samples_min(),
            }),
        });
    }
    match rest {
        // Records without an answer have no mean: with one of them it is unbounded.
        "mean" if clock.censored > 0 => Some(plain(Some(f64::INFINITY))),
        "mean" => Some(plain(clock.mean_ns)),
        "min" => Some(plain(clock.min_ns.map(ns))),
        "max" => Some(plain(
            clock.max.map(|max| max.high_ns.map_or(f64::INFINITY, ns)),
        )),
        "count" => Some(plain(Some(clock.count as f64))),
        _ => None,
    }
}

fn part(summary: &Summary, rest: &str) -> Option<f64> {
    let (of, part) = rest.split_once('.')?;
    let part = Part::ALL
        .into_iter()
        .find(|known| part_name(*known) == part)?;
    let means: PartMeans = match of {
        "mean" if summary.part_sums.records > 0 => summary.part_sums.means(),
        "slowest" => summary.parts_slowest?,
        _ => return None,
    };
    Some(means.of(part))
}

/// A part's name without blanks, as figures and JSON keys have it.
pub fn part_name(part: Part) -> &'static str {
    match part {
        Part::EarlierAttempts => "earlier_attempts",
        other => other.name(),
    }
}

fn errors(outcome: &Outcome, name: &str) -> f64 {
    let errors = outcome.recording.errors.iter();
    errors
        .filter(|error| error.name == name)
        .map(|error| error.records as f64)
        .sum()
}

impl Known {
    fn matches(&self, name: &str) -> bool {
        let (head, last) = self.name.rsplit_once('.').unwrap_or(("", self.name));
        let Some((given_head, given_last)) = self.split_like(name) else {
            return false;
        };
        head == given_head
            && match last {
                "pN" => Quantile::parse(given_last).is_some(),
                "PART" => Part::ALL
                    .into_iter()
                    .any(|part| part_name(part) == given_last),
                "ERROR" => is_error_name(given_last),
                _ => last == given_last,
            }
    }

    /// Cuts a name where this one's last word begins: `p99.9` has a dot of its own.
    fn split_like<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        match self.name.ends_with(".pN") {
            true => name.split_once('.'),
            false => name.rsplit_once('.'),
        }
    }
}

fn is_error_name(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !text.is_empty() && text.bytes().all(good)
}

fn nearest(name: &str) -> String {
    let concrete = |known: &Known| {
        let name = known.name.replace("pN", "p99").replace("PART", "lag");
        name.replace("ERROR", "REQUEST_TIMED_OUT")
    };
    let names = KNOWN.iter().map(concrete);
    names
        .min_by_key(|known| distance(name, known))
        .unwrap_or_default()
}

/// Edits from one word to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_figures_are_known_with_their_unit() {
        for (name, unit) in [
            ("response.p99", Unit::Duration),
            ("response.p99.9", Unit::Duration),
            ("send.max", Unit::Duration),
            ("parts.mean.lag", Unit::Duration),
            ("parts.slowest.earlier_attempts", Unit::Duration),
            ("throughput.wire_bytes_per_s", Unit::Bytes),
            ("rate.reached", Unit::Share),
            ("errors.TOPIC_AUTHORIZATION_FAILED", Unit::Number),
        ] {
            assert_eq!(unit_of(name), Ok(unit), "{name}");
        }
    }

    #[test]
    fn an_unknown_figure_is_refused_with_the_nearest_one() {
        for (name, nearest) in [
            ("respons.p99", "response.p99"),
            ("throughput.record_per_s", "throughput.records_per_s"),
            ("records.fail", "records.failed"),
            ("response.p100", "response.p99"),
            ("parts.mean.wait", "parts.mean.lag"),
        ] {
            let error = unit_of(name).expect_err(name);
            assert_eq!(error.nearest, nearest, "{name}");
        }
    }
}
