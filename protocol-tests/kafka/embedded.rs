//! Kafka's own tools against the embedded broker, as against a real one.

use std::path::PathBuf;

use rstest::rstest;

use super::tools::java;
use super::{CURRENT, OLDEST, jars, required};
use crate::support::processes::OwnBroker;

/// Kafka's tools of one release, and two embedded brokers that keep what they get.
struct Tools {
    class_path: PathBuf,
    brokers: OwnBroker,
}

impl Tools {
    /// `None` where Java or Maven is missing.
    fn of(version: &str) -> Option<Self> {
        let class_path = required(version, jars::class_path(version))?;
        Some(Self {
            class_path,
            brokers: OwnBroker::with(&["--brokers", "2"]),
        })
    }

    /// Standard output of the tool of class `class`, which has to succeed.
    fn run(&self, class: &str, args: &[&str]) -> String {
        let bootstrap = ["--bootstrap-server", &self.brokers.address];
        let args = [&bootstrap, args].concat();
        let class = format!("org.apache.kafka.tools.{class}");
        let output = java(&self.class_path, None, &class, &args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(
            output.status.success(),
            "{class} {args:?}: {stdout}{stderr}"
        );
        stdout
    }
}

#[rstest]
fn topics_are_made_widened_described_and_deleted(#[values(CURRENT, OLDEST)] version: &str) {
    let Some(tools) = Tools::of(version) else {
        return;
    };
    let topic = |args: &[&str]| tools.run("TopicCommand", &[args, &["--topic", "t"]].concat());
    topic(&["--create", "--partitions", "3", "--replication-factor", "2"]);
    topic(&["--alter", "--partitions", "5"]);
    let described = topic(&["--describe"]);
    assert!(described.contains("PartitionCount: 5"), "{described}");
    assert!(described.contains("ReplicationFactor: 2"), "{described}");
    assert!(
        described.contains("Partition: 4\tLeader: 1\tReplicas: 1,2\tIsr: 1,2"),
        "{described}"
    );
    topic(&["--delete"]);
    assert_eq!(tools.run("TopicCommand", &["--list"]).trim(), "");
}

#[rstest]
fn what_its_producer_writes_its_consumers_read_in_a_group(
    #[values(CURRENT, OLDEST)] version: &str,
) {
    let Some(tools) = Tools::of(version) else {
        return;
    };
    // Release 3.9 wants brokers by a producer's property, 4.4 by either.
    let brokers = format!("bootstrap.servers={}", tools.brokers.address);
    let args = [
        "--topic",
        "t",
        "--num-records",
        "5000",
        "--record-size",
        "100",
    ];
    let more = [
        "--throughput",
        "-1",
        "--producer-props",
        &brokers,
        "compression.type=lz4",
    ];
    let class = "org.apache.kafka.tools.ProducerPerformance";
    let output = java(&tools.class_path, None, class, &[&args[..], &more].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("5000 records sent"), "{text}");
    let ends = tools.run("GetOffsetShell", &["--topic", "t"]);
    let ends = ends
        .lines()
        .filter_map(|line| line.rsplit(':').next()?.parse::<u64>().ok());
    assert_eq!(ends.sum::<u64>(), 5_000);
    let args = ["--topic", "t", "--group", "g", "--from-beginning"];
    let read = |more: &[&str]| {
        let output = tools.run("consumer.ConsoleConsumer", &[&args[..], more].concat());
        let is_record = |line: &&str| line.bytes().all(|byte| byte.is_ascii_uppercase());
        output
            .lines()
            .filter(is_record)
            .filter(|line| line.len() == 100)
            .count()
    };
    let up_to = |count: &str| read(&["--max-messages", count, "--timeout-ms", "20000"]);
    // The second goes on where the first, that left the group, committed.
    assert_eq!((up_to("3000"), up_to("2000")), (3_000, 2_000));
    assert_eq!(read(&["--timeout-ms", "1000"]), 0);
}
