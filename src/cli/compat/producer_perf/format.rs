//! The tool's lines, to the last digit: scripts split them at their commas.

use super::stats::{Totals, Window};
use crate::base::clock::Nanos;
use crate::cli::compat::java_number::fixed;

/// What stands before the first window of the steady state.
pub const IN_STEADY_STATE: &str = "In steady state.";

/// One metric of the table that `--print-metrics` prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its group, as `producer-metrics`.
    pub group: &'static str,
    /// Its name, as `record-send-total`.
    pub name: &'static str,
    /// What tells it from others of its name, in order.
    pub tags: Vec<(&'static str, String)>,
    /// Its value.
    pub value: MetricValue,
}

/// What a metric says.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricValue {
    /// A number, printed with three decimals.
    Number(f64),
    /// A word.
    Text(String),
}

/// What is said of a warm-up before the run.
pub fn warmup_notice(records: u64) -> String {
    format!(
        "Warmup first {records} records. Steady state results will print after the complete test \
         summary."
    )
}

/// The line of a window.
pub fn window_line(window: &Window) -> String {
    let figures = Figures::of(window);
    format!(
        "{} records sent, {} records/sec ({} MB/sec), {} ms avg latency, {} ms max latency.",
        window.records,
        fixed(figures.records_per_s, 1),
        fixed(figures.mb_per_s, 2),
        fixed(figures.latency_avg_ms, 1),
        fixed(figures.latency_max_ms, 1),
    )
}

/// The line of a whole run, or of its steady part.
pub fn final_line(totals: &Totals) -> String {
    let figures = Figures::of(&totals.all);
    let steady = if totals.steady { " steady state" } else { "" };
    let [p50, p95, p99, p999] = totals.percentiles_ms;
    format!(
        "{}{steady} records sent, {} records/sec ({} MB/sec), {} ms avg latency, {} ms max \
         latency, {p50} ms 50th, {p95} ms 95th, {p99} ms 99th, {p999} ms 99.9th.",
        totals.all.records,
        fixed(figures.records_per_s, 6),
        fixed(figures.mb_per_s, 2),
        fixed(figures.latency_avg_ms, 2),
        fixed(figures.latency_max_ms, 2),
    )
}

/// What standard error says of records that failed since it last said so. Kafka's tool prints a
/// trace for each record.
pub fn failed_line(records: u64, error_name: &str) -> String {
    format!("{records} records failed: {error_name}")
}

/// What standard error adds at the end: the clock that starts when a record was due, which the lines
/// on standard output don't look at. `None` where nothing was due, or too little was measured.
pub fn response_line(p99: Option<Nanos>, p999: Option<Nanos>) -> String {
    let show = |of: Option<Nanos>| match of {
        Some(nanos) => format!("{} ms", fixed(nanos as f64 / NS_PER_MS, 3)),
        None => "unknown".to_owned(),
    };
    format!(
        "response (due to acknowledged): {} 99th, {} 99.9th; the lines above start their clock at \
         the send",
        show(p99),
        show(p999)
    )
}

/// The table of `--print-metrics`, from the empty line before it to its last line.
pub fn metrics_table(metrics: &[Metric]) -> String {
    let mut rows: Vec<(String, &MetricValue)> = metrics
        .iter()
        .map(|metric| (metric.full_name(), &metric.value))
        .collect();
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut table = format!("\n{:width$}   Value\n", "Metric Name");
    for (name, value) in rows {
        let value = match value {
            MetricValue::Number(number) => fixed(*number, 3),
            MetricValue::Text(text) => text.clone(),
        };
        table += &format!("{name:width$} : {value}\n");
    }
    table
}

impl Metric {
    /// `group:name:{tag=value, tag=value}`.
    fn full_name(&self) -> String {
        let tags: Vec<_> = self
            .tags
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("{}:{}:{{{}}}", self.group, self.name, tags.join(", "))
    }
}

/// What both lines say of a stretch of time. Without a record the mean is not a number, as in Java.
struct Figures {
    records_per_s: f64,
    mb_per_s: f64,
    latency_avg_ms: f64,
    latency_max_ms: f64,
}

impl Figures {
    fn of(window: &Window) -> Self {
        let elapsed_ms = window.elapsed as f64 / NS_PER_MS;
        Self {
            records_per_s: 1_000.0 * window.records as f64 / elapsed_ms,
            mb_per_s: 1_000.0 * window.bytes as f64 / elapsed_ms / BYTES_PER_MB,
            latency_avg_ms: window.latency_sum as f64 / NS_PER_MS / window.records as f64,
            latency_max_ms: window.latency_max as f64 / NS_PER_MS,
        }
    }
}

const NS_PER_MS: f64 = 1e6;

/// Kafka's tools call 2^20 bytes a megabyte.
const BYTES_PER_MB: f64 = 1_048_576.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MILLISECOND;

    fn window(records: u64, elapsed_ms: u64, latency_sum_ms: u128, latency_max_ms: u64) -> Window {
        Window {
            records,
            bytes: records * 100,
            elapsed: elapsed_ms * MILLISECOND,
            latency_sum: latency_sum_ms * u128::from(MILLISECOND),
            latency_max: latency_max_ms * MILLISECOND,
        }
    }

    #[test]
    fn a_window_is_one_line() {
        assert_eq!(
            window_line(&window(24_000, 5_003, 60_001, 41)),
            "24000 records sent, 4797.1 records/sec (0.46 MB/sec), 2.5 ms avg latency, 41.0 ms max \
             latency."
        );
    }

    #[test]
    fn the_final_line_says_steady_state_behind_the_count_or_not() {
        let mut totals = Totals {
            all: window(50_000, 12_345, 123_456, 87),
            steady: false,
            percentiles_ms: [2, 5, 11, 60],
        };
        let rest = "records sent, 4050.222762 records/sec (0.39 MB/sec), 2.47 ms avg latency, \
                    87.00 ms max latency, 2 ms 50th, 5 ms 95th, 11 ms 99th, 60 ms 99.9th.";
        assert_eq!(final_line(&totals), format!("50000 {rest}"));
        totals.steady = true;
        assert_eq!(final_line(&totals), format!("50000 steady state {rest}"));
    }

    #[test]
    fn nothing_sent_has_no_average() {
        let totals = Totals {
            all: window(0, 300, 0, 0),
            steady: false,
            percentiles_ms: [0; 4],
        };
        assert_eq!(
            final_line(&totals),
            "0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max \
             latency, 0 ms 50th, 0 ms 95th, 0 ms 99th, 0 ms 99.9th."
        );
    }

    #[test]
    fn what_standard_error_adds_names_its_clock() {
        let line = response_line(Some(3_900_000), None);
        assert!(line.starts_with("response (due to acknowledged): 3.900 ms 99th, unknown 99.9th"));
        assert_eq!(
            failed_line(12, "UNKNOWN_TOPIC_ID"),
            "12 records failed: UNKNOWN_TOPIC_ID"
        );
    }

    #[test]
    fn metrics_are_sorted_and_padded_to_the_longest_name() {
        let client = |id: &str| vec![("client-id", id.to_owned())];
        let metrics = [
            Metric {
                group: "producer-metrics",
                name: "batch-size-avg",
                tags: client("p"),
                value: MetricValue::Number(f64::NAN),
            },
            Metric {
                group: "app-info",
                name: "version",
                tags: client("p"),
                value: MetricValue::Text("4.4.0".to_owned()),
            },
            Metric {
                group: "producer-node-metrics",
                name: "request-total",
                tags: vec![
                    ("client-id", "p".to_owned()),
                    ("node-id", "node-1".to_owned()),
                ],
                value: MetricValue::Number(7.0),
            },
        ];
        let longest = "producer-node-metrics:request-total:{client-id=p, node-id=node-1}";
        let pad = |name: &str| " ".repeat(longest.len() - name.len());
        let (version, batch) = (
            "app-info:version:{client-id=p}",
            "producer-metrics:batch-size-avg:{client-id=p}",
        );
        let table = [
            String::new(),
            format!("Metric Name{}   Value", pad("Metric Name")),
            format!("{version}{} : 4.4.0", pad(version)),
            format!("{batch}{} : NaN", pad(batch)),
            format!("{longest} : 7.000"),
        ];
        assert_eq!(metrics_table(&metrics), table.join("\n") + "\n");
    }
}
