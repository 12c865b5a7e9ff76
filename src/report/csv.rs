//! The intervals of a run as CSV: a header, then a line an interval.

use crate::measure::interval::{Interval, Sparse};
use crate::scenario::outcome::Outcome;

/// The intervals of `outcome`. Percentiles are of the interval alone, from 16 buckets an octave
/// (at most 6.25 % above the sample); a cell without samples is empty.
pub fn intervals(outcome: &Outcome) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER)?;
    let series = &outcome.recording.series;
    let warmup = outcome
        .timeline
        .window_start
        .saturating_sub(outcome.timeline.started);
    let closed = outcome.timeline.window_start + outcome.summary().window_ns;
    let closed = closed.saturating_sub(outcome.timeline.started);
    for (index, row) in (0u64..).zip(&series.rows) {
        let start = index * series.length;
        let phase = match start {
            start if start < warmup => "warmup",
            start if start < closed => "measured",
            _ => "drain",
        };
        writer.write_record(cells(start, phase, series.length, row))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8(bytes).expect("only text was written"))
}

const HEADER: [&str; 14] = [
    "start_ns",
    "length_ns",
    "phase",
    "due",
    "acked",
    "ended_otherwise",
    "payload_bytes",
    "wire_bytes",
    "response_p50_ns",
    "response_p99_ns",
    "response_max_ns",
    "send_p50_ns",
    "send_p99_ns",
    "send_max_ns",
];

fn cells(start: u64, phase: &str, length: u64, row: &Interval) -> Vec<String> {
    let mut cells = vec![start.to_string(), length.to_string(), phase.to_owned()];
    let counts = [
        row.due,
        row.acked,
        row.ended_otherwise,
        row.payload_bytes,
        row.wire_bytes,
    ];
    cells.extend(counts.map(|count| count.to_string()));
    for sparse in [&row.response, &row.send] {
        cells.extend([0.5, 0.99, 1.0].map(|share| quantile(sparse, share)));
    }
    cells
}

fn quantile(sparse: &Sparse, share: f64) -> String {
    sparse
        .quantile(share)
        .map(|ns| ns.to_string())
        .unwrap_or_default()
}
