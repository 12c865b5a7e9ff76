//! What must add up in every result file, whatever was run.

use serde_json::Value;

/// Fails with the sum that is wrong when `result` (a parsed result file) does not add up:
/// records by their endings, parts to the whole, means to their sums, throughput to its window,
/// spread to the records, and, from 1,000 requests on, Little's law within 2 %.
pub fn assert_arithmetic(result: &Value) {
    let reader = Reader(result);
    records(&reader);
    latency(&reader);
    batches(&reader);
    throughput(&reader);
    spread(&reader);
    intervals(&reader);
    littles_law(&reader);
}

struct Reader<'a>(&'a Value);

impl Reader<'_> {
    /// The value at a path such as `records.due`; null where there is none.
    fn at(&self, path: &str) -> &Value {
        path.split('.').fold(self.0, |value, key| &value[key])
    }

    fn whole(&self, path: &str) -> u64 {
        self.at(path)
            .as_u64()
            .unwrap_or_else(|| panic!("{path} is {}", self.at(path)))
    }

    fn real(&self, path: &str) -> f64 {
        self.at(path)
            .as_f64()
            .unwrap_or_else(|| panic!("{path} is {}", self.at(path)))
    }

    fn list(&self, path: &str) -> &[Value] {
        self.at(path)
            .as_array()
            .unwrap_or_else(|| panic!("{path} is {}", self.at(path)))
    }

    fn sum(&self, paths: &[&str]) -> u64 {
        paths.iter().map(|path| self.whole(path)).sum()
    }

    fn has(&self, path: &str) -> bool {
        !self.at(path).is_null()
    }
}

fn records(is: &Reader<'_>) {
    let ends = ["acked", "written", "failed", "unknown", "unsent"];
    for of in ["records", "records.warmup"] {
        let paths = ends.map(|end| format!("{of}.{end}"));
        let sum = is.sum(&paths.each_ref().map(String::as_str));
        let due = is.whole(&format!("{of}.due"));
        assert_eq!(
            due, sum,
            "{of}: due = acked + written + failed + unknown + unsent"
        );
    }
    let errors = is.list("records.errors").iter();
    let errors: u64 = errors
        .map(|error| error["records"].as_u64().unwrap_or(0))
        .sum();
    let ended = is.sum(&["records.failed", "records.unknown", "records.unsent"]);
    assert_eq!(
        errors, ended,
        "every record that ended otherwise has a name"
    );
    let taken = is.sum(&[
        "records.acked",
        "records.written",
        "records.warmup.acked",
        "records.warmup.written",
    ]);
    assert_eq!(
        is.whole("records.taken_in_all"),
        taken,
        "taken = measured + warm-up"
    );
    let unacked = is.whole("latency.response_censored.count");
    assert_eq!(
        unacked, ended,
        "every record without an answer keeps its age"
    );
}

fn latency(is: &Reader<'_>) {
    if !is.has("latency.send") {
        assert!(!is.has("parts"), "without latency there are no parts");
        return;
    }
    let acked = is.whole("records.acked");
    assert_eq!(
        is.whole("latency.send.count"),
        acked,
        "send has a sample a record"
    );
    for clock in ["response", "send", "request", "lag"] {
        let of = |key: &str| format!("latency.{clock}.{key}");
        if !is.has(&format!("latency.{clock}")) || is.whole(&of("count")) == 0 {
            continue;
        }
        let (count, mean) = (is.whole(&of("count")), is.real(&of("mean_ns")));
        assert_eq!(count, is.whole(&of("histogram.count")), "{clock}");
        near(
            mean * count as f64,
            is.real(&of("histogram.sum_ns")),
            1e-9,
            "mean × count = sum",
        );
        let order = [
            "min_ns",
            "p50_ns",
            "p90_ns",
            "p99_ns",
            "p99_9_ns",
            "p99_99_ns",
            "max_ns",
        ];
        let values = order.iter().filter_map(|key| is.at(&of(key)).as_u64());
        let values: Vec<u64> = values.collect();
        assert!(
            values.is_sorted(),
            "{clock}: percentiles ascend: {values:?}"
        );
    }
    parts(is, acked);
}

fn parts(is: &Reader<'_>, acked: u64) {
    const PARTS: [&str; 9] = [
        "lag_ns",
        "buffer_ns",
        "batch_ns",
        "queue_ns",
        "throttle_ns",
        "earlier_attempts_ns",
        "write_ns",
        "request_ns",
        "reply_ns",
    ];
    assert_eq!(
        is.whole("parts.records"),
        acked,
        "every acknowledged record has parts"
    );
    let sums = PARTS.map(|part| is.real(&format!("parts.sum.{part}")));
    let total = is.real("parts.sum.total_ns");
    near(sums.iter().sum(), total, 1e-12, "sums of the parts = total");
    let of = is.at("parts.of").as_str().unwrap_or_default();
    let whole = is.real(&format!("latency.{of}.histogram.sum_ns"));
    near(total, whole, 1e-12, "parts = the latency they are of");
    if of == "send" {
        assert_eq!(is.real("parts.sum.lag_ns"), 0.0, "flat out nothing is lag");
    }
    for means in ["parts.mean", "parts.slowest_1_percent"] {
        if is.has(means) {
            let sum = PARTS.map(|part| is.real(&format!("{means}.{part}")));
            let total = is.real(&format!("{means}.total_ns"));
            near(sum.iter().sum(), total, 1e-9, "mean parts = mean");
        }
    }
}

fn batches(is: &Reader<'_>) {
    let count = is.whole("batches.count");
    if count == 0 {
        return;
    }
    for (sum, mean) in [
        ("batches.records", "batches.records_mean"),
        ("batches.raw_bytes", "batches.raw_bytes_mean"),
        ("batches.wire_bytes", "batches.wire_bytes_mean"),
    ] {
        near(is.real(sum) / count as f64, is.real(mean), 1e-12, mean);
    }
    let ratio = is.real("batches.raw_bytes") / is.real("batches.wire_bytes");
    near(
        ratio,
        is.real("batches.compression_ratio"),
        1e-12,
        "compression",
    );
}

fn throughput(is: &Reader<'_>) {
    let window_s = is.real("window.measured_ns") / 1e9;
    if window_s == 0.0 {
        return;
    }
    for amount in ["records", "payload_bytes", "wire_bytes"] {
        let per_s = is.real(&format!("throughput.{amount}_per_s"));
        let amount = is.real(&format!("throughput.{amount}"));
        near(
            per_s * window_s,
            amount,
            1e-9,
            "throughput × window = what was acknowledged in it",
        );
    }
}

fn spread(is: &Reader<'_>) {
    let taken = is.sum(&["records.acked", "records.written"]);
    for places in ["spread.partitions", "spread.brokers"] {
        let records = is.list(places).iter();
        let records: u64 = records
            .map(|place| place["records"].as_u64().unwrap_or(0))
            .sum();
        assert_eq!(records, taken, "{places} add up to the records");
    }
}

fn intervals(is: &Reader<'_>) {
    let rows = is.list("intervals.rows");
    let sum = |key: &str| {
        rows.iter()
            .map(|row| row[key].as_u64().unwrap_or(0))
            .sum::<u64>()
    };
    assert_eq!(
        sum("acked"),
        is.whole("records.taken_in_all"),
        "intervals hold every record"
    );
    let due = is.sum(&["records.due", "records.warmup.due"]);
    assert_eq!(sum("due"), due, "intervals hold all that was due");
    for row in rows {
        let samples = row["send_ns"]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
            .iter();
        let samples: u64 = samples.map(|pair| pair[1].as_u64().unwrap_or(0)).sum();
        let acked = row["acked"].as_u64().unwrap_or(0);
        assert!(
            samples == acked || !is.has("latency.send"),
            "{samples} sends of {acked}"
        );
    }
}

fn littles_law(is: &Reader<'_>) {
    if is.whole("requests.count") < 1_000 || !is.has("latency.send") {
        return;
    }
    let integral = is.real("outstanding.integral_record_ns");
    let ages = is.real("outstanding.ended_age_ns");
    let sum = is.real("latency.send.histogram.sum_ns") + ages;
    near(
        integral,
        sum,
        0.02,
        "Little's law: records on their way over time = their ages",
    );
    let mean = is.real("outstanding.mean_records") * is.real("window.measured_ns");
    near(mean, integral, 1e-9, "mean on their way × window");
}

fn near(left: f64, right: f64, relative: f64, what: &str) {
    let off = (left - right).abs();
    assert!(
        off <= left.abs().max(right.abs()) * relative,
        "{what}: {left} and {right}"
    );
}
