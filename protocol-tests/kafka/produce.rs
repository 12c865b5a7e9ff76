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
