//! One interval of a run that is still going on, as one line.

use super::words::{bytes, latency, rate, seconds};
use crate::base::clock::{Nanos, SECOND};
use crate::measure::interval::Interval;

/// What happened in the interval `row` of `length` that ended `at` after the start.
pub fn line(at: Nanos, row: &Interval, length: Nanos) -> String {
    let per_s = |amount: u64| amount as f64 * SECOND as f64 / length as f64;
    let (clock, samples) = match row.response.count() {
        0 => ("send", &row.send),
        _ => ("response", &row.response),
    };
    let mut line = format!(
        "{:>8}   {} rec/s   {}/s",
        seconds(at),
        rate(per_s(row.acked), false),
        bytes(per_s(row.payload_bytes)),
    );
    if let Some(p99) = samples.quantile(0.99) {
        line += &format!("   {clock} p99 {}", latency(p99));
    }
    if row.ended_otherwise > 0 {
        line += &format!("   {} not acknowledged", row.ended_otherwise);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::interval::Sparse;

    #[test]
    fn a_line_tells_rates_and_the_clock_that_counts() {
        let mut row = Interval {
            acked: 500,
            payload_bytes: 1 << 20,
            send: Sparse::from_pairs(vec![(100, 500)]),
            ..Interval::default()
        };
        let told = line(3 * SECOND, &row, SECOND / 2);
        assert!(
            told.contains("3.00 s   1000 rec/s   2.0 MiB/s   send p99 "),
            "{told}"
        );
        row.response = Sparse::from_pairs(vec![(120, 500)]);
        row.ended_otherwise = 7;
        let told = line(3 * SECOND, &row, SECOND);
        assert!(
            told.contains("response p99 ") && told.ends_with("7 not acknowledged"),
            "{told}"
        );
    }

    #[test]
    fn an_interval_in_which_nothing_came_back_says_so() {
        assert_eq!(
            line(SECOND, &Interval::default(), SECOND).trim(),
            "1.00 s   0.00 rec/s   0 B/s"
        );
    }
}
