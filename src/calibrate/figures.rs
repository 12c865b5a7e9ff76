//! What the rounds of a case come to.

use crate::base::clock::{Nanos, SECOND};
use crate::measure::histogram::{Histogram, Quantile};

/// What one round of a case took.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Records.
    pub records: u64,
    /// Bytes of batches; of whole requests where there is nothing but writes. 0 where nothing was made.
    pub bytes: u64,
    /// Time of the window, ns.
    pub wall: Nanos,
    /// CPU time of the client's thread in it, ns.
    pub cpu: Nanos,
    /// The share of a core that the sink used, where there is one.
    pub sink_share: Option<f64>,
    /// What only a schedule has.
    pub paced: Option<Paced>,
}

/// How a schedule was kept.
#[derive(Debug, Clone)]
pub struct Paced {
    /// How late records were.
    pub lag: Histogram,
    /// Records due in the window.
    pub due: u64,
}

/// Medians over the rounds of a case; none where a figure has no meaning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Records a second of the client's CPU time.
    pub records_per_cpu_s: Option<f64>,
    /// Bytes a second.
    pub bytes_per_s: Option<f64>,
    /// Seconds of the client's CPU time for 10⁹ bytes.
    pub cpu_s_per_gb: Option<f64>,
    /// Bytes a second over those of `raw_256k` in the same round.
    pub bytes_per_s_vs_raw: Option<f64>,
    /// CPU time a byte over that of `raw_256k` in the same round.
    pub cpu_per_byte_vs_raw: Option<f64>,
    /// The share of a core that the client's thread used.
    pub core_share: Option<f64>,
    /// The share of a core that the sink used.
    pub sink_core_share: Option<f64>,
    /// How late records were, the 50th percentile, ns.
    pub lag_p50_ns: Option<f64>,
    /// And the 99th.
    pub lag_p99_ns: Option<f64>,
    /// Records that went out in the window over those due in it.
    pub emitted_vs_due: Option<f64>,
}

/// The figures of `samples`, of which `raw` are those of the writes alone, round by round.
pub fn figures(samples: &[Sample], raw: &[Sample]) -> Figures {
    let over = |figure: &dyn Fn(&Sample) -> Option<f64>| median(samples.iter().filter_map(figure));
    let against = |figure: &dyn Fn(&Sample) -> Option<f64>| {
        let pairs = samples.iter().zip(raw);
        median(pairs.filter_map(|(own, raw)| Some(figure(own)? / figure(raw)?)))
    };
    let lag = |quantile: u32| {
        over(&|sample| {
            let lag = &sample.paced.as_ref()?.lag;
            lag.quantile(Quantile(quantile)).map(|ns| ns as f64)
        })
    };
    Figures {
        records_per_cpu_s: over(&Sample::records_per_cpu_s),
        bytes_per_s: over(&Sample::bytes_per_s),
        cpu_s_per_gb: over(&Sample::cpu_s_per_gb),
        bytes_per_s_vs_raw: against(&Sample::bytes_per_s),
        cpu_per_byte_vs_raw: against(&Sample::cpu_s_per_gb),
        core_share: over(&|sample| Some(ratio(sample.cpu, sample.wall))),
        sink_core_share: over(&|sample| sample.sink_share),
        lag_p50_ns: lag(500_000),
        lag_p99_ns: lag(990_000),
        emitted_vs_due: over(&|sample| Some(ratio(sample.records, sample.paced.as_ref()?.due))),
    }
}

impl Sample {
    fn records_per_cpu_s(&self) -> Option<f64> {
        let makes = self.bytes > 0 && self.records > 0;
        makes.then(|| ratio(self.records, self.cpu) * SECOND as f64)
    }

    fn bytes_per_s(&self) -> Option<f64> {
        (self.bytes > 0).then(|| ratio(self.bytes, self.wall) * SECOND as f64)
    }

    fn cpu_s_per_gb(&self) -> Option<f64> {
        // Nanoseconds a byte are seconds a gigabyte.
        (self.bytes > 0).then(|| ratio(self.cpu, self.bytes))
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The middle one of `values`, of two the mean; none of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(records: u64, bytes: u64, cpu: Nanos) -> Sample {
        Sample {
            records,
            bytes,
            wall: SECOND,
            cpu,
            sink_share: None,
            paced: None,
        }
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_two() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn figures_are_medians_and_ratios_pair_rounds() {
        let half = SECOND / 2;
        let own = [
            sample(10, 2_000, half),
            sample(30, 6_000, half),
            sample(20, 4_000, half),
        ];
        let raw = [
            sample(0, 4_000, half),
            sample(0, 6_000, half),
            sample(0, 16_000, half),
        ];
        let figures = figures(&own, &raw);
        assert_eq!(figures.records_per_cpu_s, Some(40.0));
        assert_eq!(figures.bytes_per_s, Some(4_000.0));
        assert_eq!(figures.bytes_per_s_vs_raw, Some(0.5));
        assert_eq!(figures.cpu_per_byte_vs_raw, Some(2.0));
        assert_eq!(figures.core_share, Some(0.5));
        assert_eq!(figures.lag_p50_ns, None);
        assert_eq!(figures.emitted_vs_due, None);
    }
}
