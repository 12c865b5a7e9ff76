//! The drop-in beside Kafka's own tool, on one real broker.

use super::{CURRENT, ClusterOptions, shared, start};
use crate::drop_in::{kdyno, totals};

const RECORDS: u64 = 3000;

fn arguments<'a>(bootstrap: &'a str, topic: &'a str) -> Vec<&'a str> {
    let line = ["--bootstrap-server", bootstrap, "--topic", topic];
    let load = ["--num-records", "3000", "--throughput", "1000"];
    [&line[..], &load, &["--record-size", "100"]].concat()
}

#[test]
fn its_last_line_agrees_with_kafkas_own_tool() {
    let options = ClusterOptions {
        properties: &["auto.create.topics.enable=true"],
        ..ClusterOptions::default()
    };
    let Some(kafka) = start(CURRENT, options) else {
        return;
    };
    let bootstrap = kafka.bootstrap();
    let class = "org.apache.kafka.tools.ProducerPerformance";
    let theirs = totals(&kafka.tool(class, &arguments(&bootstrap, "perf-theirs")));
    let ours = kdyno(
        &[
            &["kafka-producer-perf-test"],
            &arguments(&bootstrap, "perf-ours")[..],
        ]
        .concat(),
    );
    let stdout = String::from_utf8_lossy(&ours.stdout).into_owned();
    assert!(
        ours.status.success(),
        "{}",
        String::from_utf8_lossy(&ours.stderr)
    );
    let ours = totals(&stdout);
    assert_eq!((ours.records, theirs.records), (RECORDS, RECORDS));
    // A rate that both hold: what differs is the JVM's slow start.
    assert!(ours.per_s > 900.0 && ours.per_s < 1100.0, "{ours:?}");
    assert!(theirs.per_s > 600.0 && theirs.per_s < 1100.0, "{theirs:?}");
    assert!((ours.mb_per_s - 0.095).abs() < 0.01, "{ours:?}");
    // Neither topic existed: both tools made theirs by asking for it.
    for topic in ["perf-theirs", "perf-ours"] {
        let ends = kafka.end_offsets(topic);
        assert_eq!(
            ends.iter().map(|(_, end)| end).sum::<i64>(),
            RECORDS as i64,
            "{topic}"
        );
    }
}

#[test]
fn record_numbers_are_values_and_range_keys_follow_them() {
    let Some(kafka) = shared(CURRENT) else { return };
    kafka.create_topic("monotonic", 3, &[]);
    let bootstrap = kafka.bootstrap();
    let output = kdyno(&[
        "kafka-producer-perf-test",
        "--bootstrap-server",
        &bootstrap,
        "--topic",
        "monotonic",
        "--num-records",
        "50",
        "--throughput",
        "-1",
        "--payload-monotonic",
        "--key-distribution",
        "range",
        "--record-key-range",
        "7",
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut numbers = Vec::new();
    for line in kafka.read_all("monotonic", 50) {
        let mut fields = line.rsplit('|');
        let value: u64 = fields
            .next()
            .and_then(|v| v.parse().ok())
            .expect("a number");
        let key: u64 = fields
            .next()
            .and_then(|v| v.parse().ok())
            .expect("a number");
        assert_eq!(key, value % 7, "{line}");
        numbers.push(value);
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..50).collect::<Vec<u64>>());
}
