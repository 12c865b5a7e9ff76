//! `kdyno produce` against real Apache Kafka, checked by Kafka's own tools.

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

#[test]
fn acks_and_idempotence_in_all_combinations_arrive_once() {
    let Some(kafka) = shared(CURRENT) else { return };
    let bootstrap = kafka.bootstrap();
    for (name, properties) in [
        ("all-idempotent", &["-X", "acks=all"][..]),
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
    ] {
        let topic = format!("acks-{name}");
        kafka.create_topic(&topic, 3, &[]);
        let result = write(&bootstrap, &topic, properties);
        let count = match name {
            "nobody" => &result["records"]["written"],
            _ => &result["records"]["acked"],
        };
        assert_eq!(count, RECORDS, "{name}");
        // With acks=0 the broker may still be at it when the client has ended.
        let arrived = (0..50).any(|_| end_offset_sum(&kafka, &topic) == RECORDS as i64);
        assert!(arrived, "{name}: {:?}", kafka.end_offsets(&topic));
    }
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
