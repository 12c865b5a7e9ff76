//! Every sample counted, in HdrHistogram's own buckets: 1 ns to 1 h, three digits.
//!
//! The buckets are those of an HdrHistogram with lowest value 1 and three significant digits, so
//! `report` writes them out in that format without moving a single count, and an outside merge of
//! the written files reads the same percentiles as kdyno does. What is added here is an exact sum
//! (means come from nanoseconds, not from buckets) and a [`coarse`] index that costs one shift.

use crate::base::clock::{Nanos, SECOND};

/// The largest value told apart, 1 h in nanoseconds; longer ones are recorded as this and counted
/// in [`Histogram::saturated`].
pub const VALUE_NS_MAX: Nanos = 3_600 * SECOND;

/// How far above its samples the upper end of a bucket lies at most, of its value.
pub const BUCKET_ERROR_SHARE: f64 = 1.0 / (1 << SUB_HALF_BITS) as f64;

/// Coarse buckets an octave is cut into (below 1,024 ns: buckets of 64 ns).
pub const COARSE_PER_OCTAVE: u32 = 16;

/// Coarse buckets there are.
pub const COARSE_COUNT: usize = coarse(index(VALUE_NS_MAX)) + 1;

/// A share of the samples in parts per million: `Quantile(990_000)` is p99.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantile(pub u32);

/// Counts by bucket, the number of samples, and their exact sum.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    saturated: u64,
}

/// One bucket that holds samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value it stands for, ns.
    pub lowest_ns: Nanos,
    /// The largest value it stands for, ns.
    pub highest_ns: Nanos,
    /// Samples in it; never 0.
    pub count: u64,
}

impl Histogram {
    /// Counts one sample of `value` ns.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.record_n(value, 1);
    }

    /// Counts `count` samples of the same `value` ns.
    #[inline]
    pub fn record_n(&mut self, value: Nanos, count: u64) {
        self.record_bucket(value, count);
        self.add_sum(u128::from(value) * u128::from(count), count);
    }

    /// Counts `count` samples in the bucket of `value` and gives that bucket's index; the caller
    /// owes [`Self::add_sum`] for them.
    #[inline]
    pub(super) fn record_bucket(&mut self, value: Nanos, count: u64) -> usize {
        if value > VALUE_NS_MAX {
            self.saturated += count;
        }
        let index = index(value.min(VALUE_NS_MAX));
        match self.counts.get_mut(index) {
            Some(slot) => *slot += count,
            None => self.grow(index, count),
        }
        index
    }

    /// Adds the sum and the number of samples whose buckets were counted before.
    #[inline]
    pub(super) fn add_sum(&mut self, sum_ns: u128, count: u64) {
        self.sum_ns += sum_ns;
        self.count += count;
    }

    #[cold]
    fn grow(&mut self, index: usize, count: u64) {
        // To the end of the octave: a run grows its histogram a few times in all, and histograms
        // of equal samples are equal however they came about.
        let room = ((index >> SUB_HALF_BITS) + 1) << SUB_HALF_BITS;
        self.counts.resize(room, 0);
        self.counts[index] += count;
    }

    /// Adds all samples of `other`; exact.
    pub fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (slot, count) in self.counts.iter_mut().zip(&other.counts) {
            *slot += count;
        }
        self.add_sum(other.sum_ns, other.count);
        self.saturated += other.saturated;
    }

    /// Samples counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of all samples, ns.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Samples longer than [`VALUE_NS_MAX`].
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The exact mean, ns; none without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The value that `quantile` of the samples do not exceed: the upper end of its bucket, so
    /// never below the true sample and at most 0.1 % above it. None without samples.
    pub fn quantile(&self, quantile: Quantile) -> Option<Nanos> {
        self.value_at_rank(quantile.rank(self.count))
    }

    /// The upper end of the bucket of the `rank`-th smallest sample, counted from 1; none when
    /// there are fewer samples, or `rank` is 0.
    pub fn value_at_rank(&self, rank: u64) -> Option<Nanos> {
        if rank == 0 || rank > self.count {
            return None;
        }
        let mut seen = 0;
        self.buckets()
            .find(|bucket| {
                seen += bucket.count;
                seen >= rank
            })
            .map(|bucket| bucket.highest_ns)
    }

    /// The upper end of the fullest right bucket: the longest sample, at most 0.1 % above it.
    pub fn max(&self) -> Option<Nanos> {
        self.value_at_rank(self.count)
    }

    /// The lower end of the first bucket: the shortest sample, at most 0.1 % below it.
    pub fn min(&self) -> Option<Nanos> {
        self.buckets().next().map(|bucket| bucket.lowest_ns)
    }

    /// The buckets that hold samples, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let filled = self.counts.iter().enumerate();
        filled
            .filter(|(_, count)| **count > 0)
            .map(|(index, &count)| Bucket {
                lowest_ns: lowest(index),
                highest_ns: highest(index),
                count,
            })
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (count, sum) = (self.count, self.sum_ns);
        write!(f, "Histogram({count} samples, sum {sum} ns, ")?;
        let buckets = self
            .buckets()
            .map(|bucket| (bucket.lowest_ns, bucket.count));
        f.debug_map().entries(buckets).finish()?;
        f.write_str(")")
    }
}

impl Quantile {
    /// The median.
    pub const P50: Self = Self(500_000);
    /// 90 %.
    pub const P90: Self = Self(900_000);
    /// 99 %.
    pub const P99: Self = Self(990_000);
    /// 99.9 %.
    pub const P99_9: Self = Self(999_000);
    /// 99.99 %.
    pub const P99_99: Self = Self(999_900);
    /// Those of the dial, ascending.
    pub const DIAL: [Self; 5] = [Self::P50, Self::P90, Self::P99, Self::P99_9, Self::P99_99];

    /// Which of `count` sorted samples it is, counted from 1; 0 without samples. Exact: no float.
    pub fn rank(self, count: u64) -> u64 {
        let share = u128::from(count) * u128::from(self.0);
        (share.div_ceil(1_000_000) as u64).max(1).min(count)
    }

    /// Samples it takes before it says anything: ten beyond it (p99.9 needs 10,000).
    pub fn samples_min(self) -> u64 {
        10_000_000_u64.div_ceil(u64::from(1_000_000 - self.0.min(999_999)))
    }

    /// Reads `p99`, `p99.9`, `p50`; none for what is not a percentile between 0 and 100, or has
    /// more than four decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('p')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let dangling = digits.ends_with('.') || whole.is_empty();
        if dangling
            || whole.len() > 2
            || fraction.len() > 4
            || !is_number(whole)
            || !is_number(fraction)
        {
            return None;
        }
        let parts = format!("{whole}{fraction:0<4}").parse().ok()?;
        (parts > 0).then_some(Self(parts))
    }
}

impl std::fmt::Display for Quantile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fraction = format!("{:04}", self.0 % 10_000);
        let fraction = fraction.trim_end_matches('0');
        let dot = if fraction.is_empty() { "" } else { "." };
        write!(f, "p{}{dot}{fraction}", self.0 / 10_000)
    }
}

/// The coarse bucket (16 an octave) that the fine bucket `index` lies in.
#[inline]
pub const fn coarse(index: usize) -> usize {
    index >> (SUB_HALF_BITS - COARSE_PER_OCTAVE.ilog2())
}

/// The coarse bucket of a value in ns; longer than 1 h counts as 1 h.
#[inline]
pub fn coarse_of(value: Nanos) -> usize {
    coarse(index(value.min(VALUE_NS_MAX)))
}

/// The smallest and the largest value of a coarse bucket, ns.
pub fn coarse_bounds(coarse: usize) -> (Nanos, Nanos) {
    let per = 1 << (SUB_HALF_BITS - COARSE_PER_OCTAVE.ilog2());
    (lowest(coarse * per), highest(coarse * per + per - 1))
}

/// Three digits need 2,000 buckets in the first octaves; 2,048 is the next power of two.
const SUB_BITS: u32 = 11;
const SUB_HALF_BITS: u32 = SUB_BITS - 1;

/// The bucket of `value`: one each below 2,048, then 1,024 an octave.
#[inline]
const fn index(value: Nanos) -> usize {
    let shift = (u64::BITS - SUB_BITS).saturating_sub(value.leading_zeros());
    ((shift as usize) << SUB_HALF_BITS) + (value >> shift) as usize
}

const fn lowest(index: usize) -> Nanos {
    let shift = (index >> SUB_HALF_BITS).saturating_sub(1);
    ((index - (shift << SUB_HALF_BITS)) as Nanos) << shift
}

const fn highest(index: usize) -> Nanos {
    lowest(index + 1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MILLISECOND;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    fn hdr(values: &[u64]) -> hdrhistogram::Histogram<u64> {
        let mut histogram =
            hdrhistogram::Histogram::new_with_bounds(1, VALUE_NS_MAX, 3).expect("valid bounds");
        for value in values {
            histogram.saturating_record(*value);
        }
        histogram
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_hdrhistogram(
            values in proptest::collection::vec((0u32..42).prop_flat_map(|bits| 0..(1u64 << bits)), 1..300)
        ) {
            let (ours, theirs) = (of(&values), hdr(&values));
            for rank in 1..=values.len() as u64 {
                let at = theirs.value_at_quantile((rank as f64 - 0.5) / values.len() as f64);
                prop_assert_eq!(ours.value_at_rank(rank), Some(at));
            }
            prop_assert_eq!(ours.max(), Some(theirs.max()));
            prop_assert_eq!(ours.min(), Some(theirs.min()));
            prop_assert_eq!(ours.sum_ns(), values.iter().map(|v| u128::from(*v)).sum::<u128>());
        }

        #[test]
        fn a_merge_is_the_histogram_of_all_samples(
            left in proptest::collection::vec(0u64..1 << 40, 0..50),
            right in proptest::collection::vec(0u64..1 << 40, 0..50),
        ) {
            let mut merged = of(&left);
            merged.add(&of(&right));
            let all = of(&[left, right].concat());
            prop_assert_eq!(merged.buckets().collect::<Vec<_>>(), all.buckets().collect::<Vec<_>>());
            prop_assert_eq!((merged.count(), merged.sum_ns()), (all.count(), all.sum_ns()));
        }
    }

    #[test]
    fn percentiles_come_from_the_merged_histogram_and_not_from_averages() {
        let mut merged = Histogram::default();
        for worker_ms in [1, 1, 1, 100] {
            let mut worker = Histogram::default();
            worker.record_n(worker_ms * MILLISECOND, 1_000);
            merged.add(&worker);
        }
        let ms = |quantile| merged.quantile(quantile).expect("samples") as f64 / 1e6;
        assert!((ms(Quantile::P50) - 1.0).abs() < 0.001);
        assert!((ms(Quantile::P90) - 100.0).abs() < 0.1);
        assert_eq!(merged.mean_ns(), Some(25.75e6));
    }

    #[test]
    fn values_beyond_an_hour_are_kept_at_an_hour_and_counted() {
        let histogram = of(&[VALUE_NS_MAX + 1, 5]);
        assert_eq!((histogram.count(), histogram.saturated()), (2, 1));
        assert!(histogram.max().expect("samples") >= VALUE_NS_MAX);
    }

    #[test]
    fn a_coarse_bucket_holds_the_fine_ones_it_covers() {
        for value in [
            0,
            63,
            64,
            1_023,
            1_024,
            2_047,
            2_048,
            1_500_000,
            VALUE_NS_MAX,
        ] {
            let (low, high) = coarse_bounds(coarse_of(value));
            assert!(low <= value && value <= high, "{value} in {low}..={high}");
            assert!(value < 1_024 || high as f64 <= low as f64 * (1.0 + 1.0 / 16.0));
        }
    }

    #[test]
    fn a_percentile_reads_and_prints_alike_and_says_what_it_needs() {
        for (text, parts) in [
            ("p50", 500_000),
            ("p99.9", 999_000),
            ("p99.99", 999_900),
            ("p5", 50_000),
        ] {
            assert_eq!(Quantile::parse(text), Some(Quantile(parts)));
            assert_eq!(Quantile(parts).to_string(), text);
        }
        for text in ["p", "p100", "p99.", "99", "p99.99999", "p-1", "p0"] {
            assert_eq!(Quantile::parse(text), None, "{text}");
        }
        assert_eq!(Quantile::P99_9.samples_min(), 10_000);
        assert_eq!(Quantile::P50.samples_min(), 20);
    }
}
