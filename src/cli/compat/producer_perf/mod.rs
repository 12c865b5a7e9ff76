//! `kafka-producer-perf-test`: Kafka's own load generator for producers, by its options and lines.
//!
//! All but `run` is pure: arguments to what is to be run, acknowledgements to figures, figures to
//! lines.

mod argparse;
mod args;
mod format;
mod metrics;
mod payload;
mod reporter;
mod run;
mod stats;
mod usage;

pub use args::{KeyDistribution, Payload, PerfArgs, Refusal, Throughput, from_positions, parse};
pub use format::{
    IN_STEADY_STATE, Metric, MetricValue, failed_line, final_line, metrics_table, response_line,
    warmup_notice, window_line,
};
pub use metrics::metrics;
pub use payload::{PayloadFileError, reading_line, records_read_line, split as split_payload};
pub use run::run;
pub use stats::{Acked, Event, Fidelity, Stats, StatsPlan, Totals, Window};
