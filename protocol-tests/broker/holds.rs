//! What the broker holds back: answers, and records from being read; never shorter than asked.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::{ApiVersionsRequest, FetchRequest};
use kdyno::broker::{self, BrokerOptions, Holding, LogKind, Running};
use rstest::rstest;

use super::{batch, make, name, produce};
use crate::support::asker::Asker;

const HOLD: Duration = Duration::from_millis(50);

fn holding(answers: Duration, appends: Duration, log: &Path) -> Running {
    let retention_bytes = 1 << 30;
    let options = BrokerOptions {
        log: LogKind::Memory { retention_bytes },
        holds: Holding {
            answers: answers.as_nanos() as u64,
            appends: appends.as_nanos() as u64,
            log: Some(log.to_owned()),
        },
        ..BrokerOptions::sink(1)
    };
    broker::start(&options).expect("a free port")
}

/// What was held, asked and real, of the log's lines about `what`.
fn logged(log: &Path, what: &str) -> Vec<(u64, u64)> {
    let text = fs::read_to_string(log).expect("text");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("what,asked_ns,held_ns"));
    let lines = lines.filter_map(|line| line.strip_prefix(what)?.strip_prefix(','));
    let numbers = lines.filter_map(|line| line.split_once(','));
    let number = |text: &str| text.parse().expect("a number");
    numbers
        .map(|(asked, held)| (number(asked), number(held)))
        .collect()
}

#[test]
fn every_answer_is_held_and_those_asked_together_are_held_together() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("holds.csv");
    let broker = holding(HOLD, Duration::ZERO, &log);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let start = Instant::now();
    let asked = 10;
    let ids: Vec<i32> = (0..asked)
        .map(|_| asker.send(3, &ApiVersionsRequest::default()))
        .collect();
    for id in ids {
        asker.answer::<ApiVersionsRequest>(3, id);
        assert!(start.elapsed() >= HOLD);
    }
    // One after the other they would have taken ten times as long.
    assert!(start.elapsed() < asked * HOLD);
    drop(broker);
    let held = logged(&log, "answer");
    assert_eq!(held.len(), asked as usize);
    let asked_ns = HOLD.as_nanos() as u64;
    assert!(
        held.iter()
            .all(|(asked, held)| *asked == asked_ns && held >= asked)
    );
}

#[test]
fn what_was_appended_is_acknowledged_at_once_and_read_later() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("holds.csv");
    let broker = holding(Duration::ZERO, HOLD, &log);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, "t");
    let start = Instant::now();
    assert_eq!(
        produce(&mut asker, "t", 0, &batch(1, &[b"a"])).error_code,
        0
    );
    let wanted = FetchPartition::default().with_partition_max_bytes(1_000);
    let topic = FetchTopic::default()
        .with_topic(name("t"))
        .with_partitions(vec![wanted]);
    let request = FetchRequest::default()
        .with_max_bytes(1_000)
        .with_session_epoch(-1)
        .with_topics(vec![topic]);
    let early = asker.ask(12, &request);
    // A machine that stood still in between proves nothing.
    if start.elapsed() < HOLD {
        assert_eq!(early.responses[0].partitions[0].high_watermark, 0);
    }
    let waiting = request.with_min_bytes(1).with_max_wait_ms(5_000);
    let read = asker.ask(12, &waiting);
    assert!(start.elapsed() >= HOLD && start.elapsed() < Duration::from_secs(4));
    assert_eq!(read.responses[0].partitions[0].high_watermark, 1);
    drop(broker);
    let asked = HOLD.as_nanos() as u64;
    assert!(matches!(logged(&log, "append")[..], [(a, held)] if a == asked && held >= asked));
}

#[rstest]
#[case(&["--hold-log", "holds.csv"], 2, "without --delay or --append-delay")]
#[case(&["--log", "sink", "--append-delay", "1ms"], 2, "nothing can be read")]
#[case(&["--delay", "soon"], 2, "soon")]
#[case(&["--retention-bytes", "-1"], 2, "-1")]
#[case(&["--brokers", "0"], 2, "0")]
#[case(&["--brokers", "2", "--listen", "127.0.0.1:65535"], 2, "ports")]
#[case(&["--delay", "1ms", "--hold-log", "/nowhere/holds.csv"], 1, "/nowhere/holds.csv")]
#[case(&["--listen", "192.0.2.1:9092"], 1, "can't listen on 192.0.2.1:9092")]
fn a_broker_that_can_not_be_as_asked_says_why(
    #[case] args: &[&str],
    #[case] code: i32,
    #[case] why: &str,
) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdyno"));
    let listen = ["--listen", "127.0.0.1:0"];
    let listen = &listen[..if args.contains(&"--listen") { 0 } else { 2 }];
    let output = command.arg("broker").args(listen).args(args).output();
    let output = output.expect("the binary was built for this test");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(why), "{stderr}");
    assert!(output.stdout.is_empty());
}
