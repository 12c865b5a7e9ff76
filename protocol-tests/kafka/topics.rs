//! Topics made, described and deleted on a real cluster, beside Kafka's own tool.

use std::process::Output;

use super::{CURRENT, Cluster, OLDEST, shared};
use crate::drop_in::kdyno;

const CLASS: &str = "org.apache.kafka.tools.TopicCommand";

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs `kdyno topic ACTION -b …` with `arguments`.
fn topic(kafka: &Cluster, action: &str, arguments: &[&str]) -> Output {
    let bootstrap = kafka.bootstrap();
    kdyno(&[&["topic", action, "-b", &bootstrap], arguments].concat())
}

/// What Kafka's own tool and the drop-in print for the same arguments, and their exit codes.
fn both(kafka: &Cluster, arguments: &[&str]) -> [(String, Option<i32>); 2] {
    let bootstrap = kafka.bootstrap();
    let arguments = [&["--bootstrap-server", &bootstrap], arguments].concat();
    let theirs = kafka.tool_output(CLASS, &arguments);
    let ours = kdyno(&[&["kafka-topics"], &arguments[..]].concat());
    [theirs, ours].map(|output| (stdout(&output), output.status.code()))
}

#[test]
fn a_topic_lives_as_it_is_told() {
    let Some(kafka) = shared(CURRENT) else { return };
    let made = topic(
        &kafka,
        "create",
        &[
            "life",
            "--partitions",
            "3",
            "--config",
            "retention.ms=60000",
        ],
    );
    assert!(made.status.success(), "{}", stderr(&made));
    let again = topic(&kafka, "create", &["life"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(
        stderr(&again).contains("TOPIC_ALREADY_EXISTS"),
        "{}",
        stderr(&again)
    );
    assert!(
        topic(&kafka, "create", &["life", "--if-not-exists"])
            .status
            .success()
    );
    let many = topic(&kafka, "create", &["many", "--replication-factor", "9"]);
    assert!(
        stderr(&many).contains("INVALID_REPLICATION_FACTOR"),
        "{}",
        stderr(&many)
    );

    let listed = stdout(&topic(&kafka, "list", &[]));
    assert!(listed.lines().any(|line| line == "life"), "{listed}");
    let described = topic(&kafka, "describe", &["life", "--json"]);
    let described: serde_json::Value =
        serde_json::from_slice(&described.stdout).expect("one JSON text");
    let of = &described["topics"][0];
    assert_eq!(of["partitions"].as_array().map(Vec::len), Some(3));
    assert_eq!(of["configs"]["retention.ms"], "60000");
    assert_eq!(of["partitions"][2]["isr"], serde_json::json!([1]));

    assert!(topic(&kafka, "delete", &["life"]).status.success());
    let gone = topic(&kafka, "describe", &["life"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(
        stderr(&gone).contains("there is no topic life"),
        "{}",
        stderr(&gone)
    );
    assert!(
        topic(&kafka, "delete", &["life", "--if-exists"])
            .status
            .success()
    );
}

#[test]
fn without_a_cluster_it_asks_which() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_kdyno"))
        .args(["topic", "list"])
        .env_remove("KDYNO_BOOTSTRAP_SERVER")
        .output()
        .expect("the binary was built for this test");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--bootstrap-server"));
}

#[test]
fn the_drop_in_prints_what_kafkas_own_tool_prints() {
    for version in [CURRENT, OLDEST] {
        let Some(kafka) = shared(version) else { return };
        kafka.create_topic("lines", 2, &["retention.ms=60000", "segment.bytes=2000000"]);
        kafka.create_topic("plain", 1, &[]);
        // Of refusals the older tool has other words; kdyno stands in for the newer one.
        let upto = if version == CURRENT { usize::MAX } else { 6 };
        let cases = [
            &["--describe", "--topic", "lines"][..],
            &["--describe", "--topic", "lines|plain", "--exclude-internal"],
            &[
                "--describe",
                "--topics-with-overrides",
                "--topic",
                "lines,plain",
            ],
            &["--describe", "--under-replicated-partitions"],
            &["--describe", "--at-min-isr-partitions", "--topic", "plain"],
            &["--list", "--topic", "lines"],
            &["--describe", "--topic", "nobody"],
            &["--describe", "--topic", "nobody", "--if-exists"],
            &["--create", "--topic", "lines"],
            &["--create", "--topic", "lines", "--if-not-exists"],
            &["--create", "--topic", "bad name"],
            &["--create", "--topic", "wide", "--replication-factor", "5"],
            &["--alter", "--topic", "lines", "--partitions", "1"],
            &["--delete", "--topic", "nobody"],
        ];
        for arguments in cases.iter().take(upto) {
            let [theirs, ours] = both(&kafka, arguments);
            assert_eq!(ours, theirs, "{version} {arguments:?}");
        }
    }
}

#[test]
fn the_drop_in_makes_widens_and_deletes() {
    let Some(kafka) = shared(CURRENT) else { return };
    let bootstrap = kafka.bootstrap();
    let try_to = |arguments: &[&str]| {
        let common = [
            "kafka-topics",
            "--bootstrap-server",
            &bootstrap,
            "--topic",
            "made.here",
        ];
        let output = kdyno(&[&common, arguments].concat());
        (output.status.success(), stdout(&output))
    };
    // The broker that is asked may hear of a change a little later than the controller.
    let comes_to = |words: &str| (0..50).any(|_| try_to(&["--describe"]).1.contains(words));
    let create = [
        "--create",
        "--replica-assignment",
        "1,1",
        "--config",
        "retention.ms=60000",
    ];
    let (made, said) = try_to(&create);
    assert!(made, "{said}");
    assert!(
        said.starts_with("WARNING: ") && said.ends_with("Created topic made.here.\n"),
        "{said}"
    );
    assert!(comes_to(
        "PartitionCount: 2\tReplicationFactor: 1\tConfigs: "
    ));
    assert!(try_to(&["--alter", "--partitions", "4"]).0);
    assert!(comes_to("PartitionCount: 4"));
    assert!(try_to(&["--delete"]).0);
    assert!(comes_to("does not exist as expected"));
}
