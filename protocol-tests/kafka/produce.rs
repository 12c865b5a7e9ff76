//! `kdyno produce` against real Apache Kafka, checked by Kafka's own tools.

use std::collections::BTreeMap;

use super::{CURRENT, OLDEST, shared};
use crate::produce::result;

const RECORDS: usize = 3_000;

fn write(bootstrap: &str, topic: &str, more: &[&str]) -> serde_json::Value {
    let count = RECORDS.to_string();
    let own = [
        "-b",
        bootstrap,
        "-t",
        topic,
        "--existing-topic",
        "-n",
        &count,
    ];
    result(&[&own, more].concat())
}

fn end_offset_sum(kafka: &super::Cluster, topic: &str) -> i64 {
    kafka
        .end_offsets(topic)
        .iter()
        .map(|(_, offset)| offset)
        .sum()
}

#[test]
fn what_is_written_is_what_kafkas_own_consumer_reads() {
    for version in [CURRENT, OLDEST] {
        let Some(kafka) = shared(version) else { return };
        let bootstrap = kafka.bootstrap();
        for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
            let topic = format!("written-{codec}");
            kafka.create_topic(&topic, 1, &[]);
            let codec = format!("compression.type={codec}");
            let more = [
                "-X", &codec, "--key", "sequence", "--header", "h=1", "--seed", "7",
            ];
            let result = write(&bootstrap, &topic, &more);
            assert_eq!(result["records"]["acked"], RECORDS, "{version} {codec}");
            let lines = kafka.read_all(&topic, RECORDS);
            assert_eq!(lines.len(), RECORDS, "{version} {codec}");
            for (offset, line) in lines.iter().enumerate() {
                let place = format!("|Partition:0|Offset:{offset}|h:1|{offset}|");
                let (_, value) = line.split_once(&place).expect("place, header and key");
                assert_eq!(value.len(), 100, "{line}");
            }
        }
    }
}

/// Acknowledgements and idempotence in all ways that go together.
const PROMISES: [(&str, &[&str]); 5] = [
    ("all-idempotent", &["-X", "acks=all"]),
    (
        "all-plain",
        &["-X", "acks=all", "-X", "enable.idempotence=false"],
    ),
    ("leader", &["-X", "acks=1"]),
    ("nobody", &["-X", "acks=0"]),
    (
        "one-at-a-time",
        &["-X", "max.in.flight.requests.per.connection=1"],
    ),
];

#[test]
fn acks_codecs_and_idempotence_in_all_combinations_arrive_once_and_whole() {
    const EACH: usize = 500;
    for version in [CURRENT, OLDEST] {
        let Some(kafka) = shared(version) else { return };
        let mut topics = Vec::new();
        for (promise, properties) in PROMISES {
            for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
                let topic = format!("promise-{promise}-{codec}");
                let codec = format!("compression.type={codec}");
                let load = [
                    "-n", "500", "--key", "sequence", "--seed", "7", "-X", &codec,
                ];
                let topic_life = ["--partitions", "1", "--keep-topics"];
                let output = run(
                    &kafka,
                    &topic,
                    &[&load[..], &topic_life, properties].concat(),
                );
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(output.status.code(), Some(0), "{version} {topic}: {errors}");
                topics.push(topic);
            }
        }
        // With acks=0 the broker may still be at it when the client has ended.
        let whole = |sums: &BTreeMap<String, i64>| sums.values().all(|sum| *sum == EACH as i64);
        let sums = (0..5).map(|_| kafka.end_offset_sums("promise-"));
        let sums = sums.reduce(|last, next| if whole(&last) { last } else { next });
        let sums = sums.unwrap_or_default();
        assert_eq!(sums.len(), topics.len(), "{version}");
        assert!(whole(&sums), "{version}: {sums:?}");
        // Each key is in each topic once, with a value of the length asked for.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for line in kafka.read_matching("promise-.*", EACH * topics.len()) {
            let record = line.splitn(5, '|').nth(4).expect("key and value");
            let (key, value) = record.split_once('|').expect("key and value");
            assert_eq!(value.len(), 100, "{version}: {line}");
            *seen.entry(key.to_owned()).or_default() += 1;
        }
        assert_eq!(seen.len(), EACH, "{version}");
        let once_a_topic = seen.values().all(|times| *times == topics.len());
        assert!(once_a_topic, "{version}: {seen:?}");
        let log = kafka.dump_log(0, "promise-all-idempotent-zstd", 0);
        let valid = log.contains("isvalid: true") && !log.contains("isvalid: false");
        assert!(valid, "{version}: {log}");
    }
}

#[test]
fn prepared_batches_are_whole_numbered_and_dated_to_kafkas_own_tools() {
    for version in [CURRENT, OLDEST] {
        let Some(kafka) = shared(version) else { return };
        let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
        for codec in codecs {
            let topic = format!("stamped-{codec}");
            let codec = format!("compression.type={codec}");
            let stamped = ["--mode", "stamped", "-n", "2900", "--warmup-records", "100"];
            let keyed = ["--key", "sequence", "-X", "partitioner.ignore.keys=true"];
            let made = ["--partitions", "1", "--keep-topics", "-X", &codec];
            let output = run(&kafka, &topic, &[&stamped[..], &keyed, &made].concat());
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{version} {topic}: {errors}");
            let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!(result["records"]["acked"], 2900, "{version} {topic}");
            assert_eq!(result["records"]["warmup"]["acked"], 100);
        }
        let lines = kafka.read_matching("stamped-.*", RECORDS * codecs.len());
        assert_eq!(lines.len(), RECORDS * codecs.len(), "{version}");
        let now = std::time::SystemTime::now();
        let now = now
            .duration_since(std::time::UNIX_EPOCH)
            .expect("past 1970");
        for line in lines {
            let (_, value) = line.rsplit_once('|').expect("key and value");
            assert_eq!(value.len(), 100, "{version}: {line}");
            let time = line
                .strip_prefix("CreateTime:")
                .and_then(|rest| rest.split('|').next());
            let time: u128 = time.expect("a time").parse().expect("a number");
            let age = now.as_millis().saturating_sub(time);
            assert!(age < 300_000, "{version}: {line}");
        }
        let log = kafka.dump_log(0, "stamped-lz4", 0);
        let valid = log.contains("isvalid: true") && !log.contains("isvalid: false");
        assert!(
            valid && log.contains("baseSequence: 0 "),
            "{version}: {log}"
        );
    }
}

#[test]
fn prepared_batches_too_large_for_their_topic_are_refused_before_the_start() {
    let Some(kafka) = shared(CURRENT) else { return };
    kafka.create_topic("low", 1, &["max.message.bytes=5000"]);
    let output = run(&kafka, "low", &["--mode", "stamped", "-n", "1000"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("max.message.bytes"), "{errors}");
    assert_eq!(end_offset_sum(&kafka, "low"), 0);
}

#[test]
fn a_batch_too_large_for_its_topic_is_split_and_arrives() {
    let Some(kafka) = shared(CURRENT) else { return };
    kafka.create_topic("narrow", 1, &["max.message.bytes=20000"]);
    let more = ["-s", "500", "-X", "batch.size=1000000"];
    let result = write(&kafka.bootstrap(), "narrow", &more);
    assert_eq!(result["records"]["acked"], RECORDS);
    assert_eq!(end_offset_sum(&kafka, "narrow"), RECORDS as i64);
}

/// Runs `kdyno produce` on `topic` with `more`, however it ends.
fn run(kafka: &super::Cluster, topic: &str, more: &[&str]) -> std::process::Output {
    let bootstrap = kafka.bootstrap();
    let common = ["-b", &bootstrap, "-t", topic, "-q", "--json"];
    crate::produce::produce(&[&common, more].concat())
}

fn topics_of(kafka: &super::Cluster) -> Vec<String> {
    let bootstrap = kafka.bootstrap();
    let list = ["--bootstrap-server", &bootstrap, "--list"];
    let text = kafka.tool("org.apache.kafka.tools.TopicCommand", &list);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn topics_that_a_run_makes_go_with_it_unless_they_are_kept() {
    let Some(kafka) = shared(CURRENT) else { return };
    let made = run(
        &kafka,
        "brief",
        &["-n", "1000", "--partitions", "3", "--topics", "2"],
    );
    let errors = String::from_utf8_lossy(&made.stderr).into_owned();
    assert_eq!(made.status.code(), Some(0), "{errors}");
    let result: serde_json::Value = serde_json::from_slice(&made.stdout).expect("one JSON text");
    for (index, name) in ["brief-0", "brief-1"].iter().enumerate() {
        let topic = &result["load"]["topics"][index];
        assert_eq!(topic["name"], *name);
        assert_eq!(topic["partitions"], 3);
        assert_eq!(topic["made"], true);
        assert_eq!(topic["min_insync_replicas"], 1);
    }
    let kept = run(
        &kafka,
        "kept",
        &["-n", "9", "--partitions", "2", "--keep-topics"],
    );
    assert_eq!(kept.status.code(), Some(0));
    let there = topics_of(&kafka);
    assert!(there.contains(&"kept".to_owned()), "{there:?}");
    assert!(
        !there.iter().any(|name| name.starts_with("brief")),
        "{there:?}"
    );
}

#[test]
fn topics_that_are_not_as_asked_are_refused_and_left_alone() {
    let Some(kafka) = shared(CURRENT) else { return };
    kafka.create_topic("shaped", 2, &[]);
    assert_eq!(
        run(&kafka, "shaped", &["-n", "1000"]).status.code(),
        Some(0)
    );
    for (topic, more, code, words) in [
        (
            "shaped",
            &["--partitions", "3"][..],
            2,
            "2 partitions × 1, not with 3",
        ),
        ("shaped", &[], 2, "--existing-topic"),
        ("nobody", &[], 1, "topic nobody does not exist"),
        (
            "wide",
            &["--partitions", "1", "--replication-factor", "5"],
            2,
            "--replication-factor 5: the cluster has 1 broker",
        ),
        (
            "strange",
            &["--partitions", "1", "--topic-config", "no.such=1"],
            1,
            "INVALID_CONFIG",
        ),
        (
            "huge",
            &["--partitions", "1", "-n", "1000000000000000"],
            2,
            "--yes",
        ),
    ] {
        let output = run(&kafka, topic, more);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{topic} {more:?}: {errors}"
        );
        assert!(errors.contains(words), "{topic} {more:?}: {errors}");
        assert!(output.stdout.is_empty());
    }
    let there = topics_of(&kafka);
    assert!(there.contains(&"shaped".to_owned()), "{there:?}");
    assert!(!there.contains(&"huge".to_owned()), "{there:?}");
    assert_eq!(end_offset_sum(&kafka, "shaped"), 1000);
}
