//! Histogram files: HdrHistogram's V2 encoding, `.hgrm` percentile tables, `.hlog` interval logs.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::measure::histogram::{Histogram, VALUE_NS_MAX, coarse_bounds};
use crate::measure::interval::Sparse;
use crate::scenario::outcome::Outcome;

/// `histogram` as HdrHistogram V2, deflated, in base64; none without samples. No count moves:
/// the buckets are the same.
pub fn encode(histogram: &Histogram) -> Option<String> {
    if histogram.count() == 0 {
        return None;
    }
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(&to_hdr(histogram), &mut bytes);
    written.expect("a Vec takes all bytes, and counts fit 63 bits");
    Some(STANDARD.encode(bytes))
}

/// The percentile table of `histogram` as HdrHistogram's plotter reads it, values in ms.
pub fn percentile_table(histogram: &Histogram) -> String {
    let hdr = to_hdr(histogram);
    let mut out = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let mut seen = 0;
    for step in hdr.iter_quantiles(TICKS_PER_HALF) {
        seen += step.count_since_last_iteration();
        let value = step.value_iterated_to() as f64 / NS_PER_MS;
        let share = step.quantile_iterated_to();
        let line = match share < 1.0 {
            true => writeln!(
                out,
                "{value:12.6} {share:2.12} {seen:10} {:14.2}",
                1.0 / (1.0 - share)
            ),
            false => writeln!(out, "{value:12.6} {share:2.12} {seen:10}"),
        };
        line.expect("a String takes all text");
    }
    let mean = histogram.mean_ns().unwrap_or(0.0) / NS_PER_MS;
    let max = histogram.max().unwrap_or(0) as f64 / NS_PER_MS;
    let count = histogram.count();
    let deviation = hdr.stdev() / NS_PER_MS;
    let text = format!(
        "#[Mean    = {mean:12.6}, StdDeviation   = {deviation:12.6}]\n\
         #[Max     = {max:12.6}, Total count    = {count:12}]\n\
         #[Buckets = {:12}, SubBuckets     = {:12}]\n",
        hdr.buckets(),
        2048
    );
    out + &text
}

/// The intervals of `outcome` as a HdrHistogram log: a line an interval with tag `response` (not
/// flat out) and one with tag `send`. Values are in ns, of 16 buckets an octave.
pub fn interval_log(outcome: &Outcome) -> io::Result<Vec<u8>> {
    let series = &outcome.recording.series;
    let started_ms = u64::try_from(outcome.timeline.started_utc_ms).unwrap_or(0);
    let started = SystemTime::UNIX_EPOCH + Duration::from_millis(started_ms);
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("kdyno: nanoseconds; acknowledged records by interval, 16 buckets an octave")
        .with_start_time(started)
        .with_base_time(started)
        .with_max_value_divisor(NS_PER_MS)
        .begin_log_with(&mut out, &mut serializer)?;
    for (index, row) in (0u64..).zip(&series.rows) {
        let at = Duration::from_nanos(index * series.length);
        let length = Duration::from_nanos(series.length);
        for (tag, sparse) in [("response", &row.response), ("send", &row.send)] {
            if sparse.count() > 0 {
                let histogram = sparse_to_hdr(sparse);
                let written = log.write_histogram(&histogram, at, length, Tag::new(tag));
                written.map_err(as_io)?;
            }
        }
    }
    Ok(out)
}

fn as_io<E: std::fmt::Debug + std::fmt::Display>(error: IntervalLogWriterError<E>) -> io::Error {
    match error {
        IntervalLogWriterError::IoError(error) => error,
        IntervalLogWriterError::SerializeError(error) => io::Error::other(error.to_string()),
    }
}

fn to_hdr(histogram: &Histogram) -> hdrhistogram::Histogram<u64> {
    let mut hdr = empty();
    for bucket in histogram.buckets() {
        hdr.saturating_record_n(bucket.lowest_ns, bucket.count);
    }
    hdr
}

fn sparse_to_hdr(sparse: &Sparse) -> hdrhistogram::Histogram<u64> {
    let mut hdr = empty();
    for (coarse, count) in sparse.pairs() {
        hdr.saturating_record_n(coarse_bounds(usize::from(*coarse)).1, *count);
    }
    hdr
}

fn empty() -> hdrhistogram::Histogram<u64> {
    let made = hdrhistogram::Histogram::new_with_bounds(1, VALUE_NS_MAX, 3);
    made.expect("1 ns to 1 h with three digits is a good range")
}

const NS_PER_MS: f64 = 1e6;
/// As HdrHistogram's own printer.
const TICKS_PER_HALF: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    #[test]
    fn an_encoded_histogram_reads_back_bucket_by_bucket() {
        let ours = of(&[0, 1, 2_047, 2_048, 1_500_000, 1_500_000, VALUE_NS_MAX]);
        let text = encode(&ours).expect("there are samples");
        let bytes = STANDARD.decode(text).expect("base64");
        let mut reader = Deserializer::new();
        let theirs: hdrhistogram::Histogram<u64> =
            reader.deserialize(&mut bytes.as_slice()).expect("V2");
        let theirs: Vec<_> = theirs
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect();
        let ours: Vec<_> = ours
            .buckets()
            .map(|bucket| (bucket.highest_ns, bucket.count))
            .collect();
        assert_eq!(theirs, ours);
        assert_eq!(encode(&of(&[])), None);
    }

    #[test]
    fn a_percentile_table_ends_with_all_samples_and_the_maximum() {
        let table = percentile_table(&of(&[1_000_000, 2_000_000, 3_000_000]));
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].contains("Value") && lines[0].contains("1/(1-Percentile)"));
        let last = lines
            .iter()
            .rfind(|line| !line.starts_with('#'))
            .expect("rows");
        let words: Vec<&str> = last.split_whitespace().collect();
        assert_eq!(words, ["3.000319", "1.000000000000", "3"]);
        assert!(table.contains("Total count    =            3]"), "{table}");
        assert!(!percentile_table(&of(&[])).contains("NaN"));
    }
}
