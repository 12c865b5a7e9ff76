//! Brokers that die, come back or lose a topic while kdyno writes to them.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{CURRENT, Cluster, ClusterOptions, start};
use crate::support::arithmetic::assert_arithmetic;

const RECORDS: usize = 15_000;

/// A load of [`RECORDS`] at 3,000 a second whose keys are record numbers.
fn load(kafka: &Cluster, topic: &str, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_kdyno"))
        .args([
            "produce",
            "-b",
            &kafka.bootstrap(),
            "-t",
            topic,
            "-q",
            "--json",
        ])
        .args([
            "-n",
            &RECORDS.to_string(),
            "-r",
            "3000",
            "--key",
            "sequence",
        ])
        .args(more)
        .env_remove("KDYNO_BOOTSTRAP_SERVER")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test")
}

fn result(load: Child, codes: &[i32]) -> serde_json::Value {
    let output = load.wait_with_output().expect("it ends");
    let code = output.status.code().unwrap_or(-1);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(codes.contains(&code), "{code}: {errors}");
    let result = serde_json::from_slice(&output.stdout).expect("one JSON text");
    assert_arithmetic(&result);
    result
}

/// Every record number is there once, and in each partition they ascend.
fn assert_whole_and_in_order(kafka: &Cluster, topic: &str) {
    let ends: i64 = kafka.end_offsets(topic).iter().map(|(_, end)| end).sum();
    assert_eq!(ends, RECORDS as i64, "written twice, or not at all");
    let mut partitions: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for line in kafka.read_all(topic, RECORDS) {
        let fields: Vec<&str> = line.split('|').collect();
        let offset = fields[2]
            .trim_start_matches("Offset:")
            .parse()
            .expect("an offset");
        let key = fields[4].parse().expect("a record number");
        partitions
            .entry(fields[1].to_owned())
            .or_default()
            .push((offset, key));
    }
    let mut keys = Vec::new();
    for (partition, records) in &mut partitions {
        records.sort_unstable();
        let ascending = records.windows(2).all(|pair| pair[0].1 < pair[1].1);
        assert!(ascending, "{partition} is out of order");
        keys.extend(records.iter().map(|(_, key)| *key));
    }
    keys.sort_unstable();
    assert_eq!(keys, (0..RECORDS as u64).collect::<Vec<_>>());
}

/// The load has to be under way before its broker is taken away.
fn under_way() {
    std::thread::sleep(Duration::from_millis(1500));
}

#[test]
fn a_leader_that_is_killed_under_load_loses_repeats_and_reorders_nothing() {
    let options = ClusterOptions {
        nodes: 3,
        ..ClusterOptions::default()
    };
    let Some(kafka) = start(CURRENT, options) else {
        return;
    };
    kafka.create_topic("led", 6, &["min.insync.replicas=2"]);
    let load = load(&kafka, "led", &[]);
    under_way();
    kafka.kill_node(0);
    let result = result(load, &[0, 6]);
    assert_eq!(result["records"]["acked"], RECORDS);
    assert!(
        result["records"]["retried"].as_u64() > Some(0),
        "{}",
        result["records"]
    );
    assert_whole_and_in_order(&kafka, "led");
}

#[test]
fn a_broker_that_is_restarted_under_load_loses_repeats_and_reorders_nothing() {
    let Some(kafka) = start(CURRENT, ClusterOptions::default()) else {
        return;
    };
    kafka.create_topic("kept", 3, &[]);
    let load = load(&kafka, "kept", &[]);
    under_way();
    kafka.kill_node(0);
    kafka.start_node(0).expect("it started once");
    let result = result(load, &[0, 6]);
    assert_eq!(result["records"]["acked"], RECORDS);
    assert_whole_and_in_order(&kafka, "kept");
}

#[test]
fn a_topic_that_is_deleted_under_load_ends_it_by_name_and_in_time() {
    let Some(kafka) = start(CURRENT, ClusterOptions::default()) else {
        return;
    };
    kafka.create_topic("gone", 3, &[]);
    let timeouts = [
        "-X",
        "delivery.timeout.ms=4000",
        "-X",
        "request.timeout.ms=2000",
    ];
    let load = load(&kafka, "gone", &timeouts);
    under_way();
    let bootstrap = kafka.bootstrap();
    let delete = [
        "--bootstrap-server",
        &bootstrap,
        "--delete",
        "--topic",
        "gone",
    ];
    kafka.tool("org.apache.kafka.tools.TopicCommand", &delete);
    let deleted = std::time::Instant::now();
    let result = result(load, &[5]);
    assert!(
        deleted.elapsed() < Duration::from_secs(20),
        "{:?}",
        deleted.elapsed()
    );
    let number = |name: &str| result["records"][name].as_u64().unwrap_or(0);
    assert!(number("acked") > 0);
    assert!(
        number("failed") + number("unknown") > 0,
        "{}",
        result["records"]
    );
    let errors = result["records"]["errors"].to_string();
    assert!(errors.contains("UNKNOWN_TOPIC"), "{errors}");
}
