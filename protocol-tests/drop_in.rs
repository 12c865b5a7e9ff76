//! Kafka's own tools as kdyno stands in for them, called from outside as scripts call them.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::processes::{OwnBroker, signal};

const KDYNO: &str = env!("CARGO_BIN_EXE_kdyno");
const TOOL: &str = "kafka-producer-perf-test";

/// What the last line of standard output says, taken apart as Kafka's system tests do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Records.
    pub records: u64,
    /// Records a second.
    pub per_s: f64,
    /// 2^20 bytes a second.
    pub mb_per_s: f64,
    /// The average latency, ms.
    pub avg_ms: f64,
    /// The 99.9th percentile, ms.
    pub p999_ms: f64,
}

/// Reads the line that scripts read.
pub fn totals(stdout: &str) -> Totals {
    let line = stdout.lines().last().unwrap();
    let parts: Vec<&str> = line.split(',').collect();
    assert_eq!(parts.len(), 8, "{line}");
    let first = |part: usize| parts[part].trim().split(' ').next().unwrap();
    let mb = parts[1].split(['(', ' ']).nth(4).unwrap();
    Totals {
        records: first(0).parse().unwrap(),
        per_s: first(1).parse().unwrap(),
        mb_per_s: mb.parse().unwrap(),
        avg_ms: first(2).parse().unwrap(),
        p999_ms: first(7).parse().unwrap(),
    }
}

/// Runs kdyno with `arguments`, and a variable that drop-ins must not read.
pub fn kdyno(arguments: &[&str]) -> Output {
    Command::new(KDYNO)
        .args(arguments)
        .env("KDYNO_BOOTSTRAP_SERVER", "127.0.0.1:1")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(broker: &OwnBroker, arguments: &[&str]) -> Output {
    let common = [TOOL, "--bootstrap-server", &broker.address, "--topic", "t"];
    kdyno(&[&common, arguments].concat())
}

#[test]
fn the_last_line_is_what_scripts_take_apart() {
    let broker = OwnBroker::start();
    let arguments = ["--num-records", "3000", "--record-size", "2000"];
    let output = run(
        &broker,
        &[&arguments[..], &["--throughput", "3000"]].concat(),
    );
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let totals = totals(&stdout);
    assert_eq!(totals.records, 3000);
    assert!((2700.0..3100.0).contains(&totals.per_s), "{totals:?}");
    let mb_per_s = totals.per_s * 2000.0 / f64::from(1 << 20);
    assert!((totals.mb_per_s - mb_per_s).abs() < 0.01, "{totals:?}");
    assert!(
        stderr.contains("response (due to acknowledged)"),
        "{stderr}"
    );
}

#[test]
fn windows_come_while_it_runs_and_a_warm_up_is_summed_up_apart() {
    let broker = OwnBroker::start();
    let output = run(
        &broker,
        &[
            "--num-records",
            "2000",
            "--payload-monotonic",
            "--throughput",
            "2000",
            "--reporting-interval",
            "200",
            "--warmup-records",
            "1000",
            "--record-key-range",
            "7",
            "--key-distribution",
            "random",
        ],
    );
    let stdout = text(&output.stdout);
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(
        lines[0].starts_with("Warmup first 1000 records."),
        "{stdout}"
    );
    let steady = lines
        .iter()
        .position(|line| *line == "In steady state.")
        .unwrap();
    assert!((3..7).contains(&steady), "{stdout}");
    let [all, apart] = lines[lines.len() - 2..] else {
        panic!("{stdout}")
    };
    assert!(all.starts_with("2000 records sent, "), "{stdout}");
    assert!(
        apart.starts_with("1000 steady state records sent, "),
        "{stdout}"
    );
    // Values only: 10 + 90 × 2 + 900 × 3 + 1000 × 4 digits, at 2000 records a second.
    let bytes_per_s = 6890.0 / 2000.0 * totals(all).per_s;
    let mb_per_s = bytes_per_s / f64::from(1 << 20);
    assert!((totals(all).mb_per_s - mb_per_s).abs() < 0.01, "{stdout}");
}

#[test]
fn a_link_by_the_tools_name_is_the_tool() {
    let broker = OwnBroker::start();
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("kafka-producer-perf-test.sh");
    symlink(KDYNO, &link).unwrap();
    let output = Command::new(&link)
        .args(["--topic", "t", "--num-records", "10", "--record-size", "10"])
        .args(["--throughput", "-1", "--producer-props"])
        .arg(format!("bootstrap.servers={}", broker.address))
        .output()
        .unwrap();
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        stdout.starts_with("Option --producer-props has been deprecated"),
        "{stdout}"
    );
    assert_eq!(totals(&stdout).records, 10);
    let link = dir.path().join("kafka-run-class.sh");
    symlink(KDYNO, &link).unwrap();
    let output = Command::new(&link)
        .arg("kafka.tools.MirrorMaker")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("kafka.tools.MirrorMaker"));
}

#[test]
fn an_interrupted_run_leaves_no_line_that_could_be_taken_for_a_result() {
    let broker = OwnBroker::start();
    let process = Command::new(KDYNO)
        .args([TOOL, "--bootstrap-server", &broker.address, "--topic", "t"])
        .args([
            "--num-records",
            "1000000",
            "--record-size",
            "10",
            "--throughput",
            "1000",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has to be under way before it is interrupted.
    std::thread::sleep(Duration::from_millis(700));
    signal(process.id(), "-INT");
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("interrupted: ") && stderr.contains(" records sent, "),
        "{stderr}"
    );
}

#[test]
fn it_never_starts_a_broker_of_its_own_and_refuses_as_kafka_does() {
    for (arguments, stderr_has) in [
        (
            &[
                "--topic",
                "t",
                "--num-records",
                "1",
                "--record-size",
                "1",
                "--throughput",
                "-1",
            ][..],
            "At least one of --bootstrap-server",
        ),
        (
            &[
                "--topic",
                "t",
                "--num-records",
                "1",
                "--record-size",
                "1",
                "--throughput",
                "-1",
                "--command-property",
                "acks=1",
            ],
            "no bootstrap.servers",
        ),
        (
            &[
                "--topic",
                "t",
                "--num-records",
                "1",
                "--record-size",
                "1",
                "--throughput",
                "-1",
                "--bootstrap-server",
                "127.0.0.1:1",
            ],
            "127.0.0.1:1",
        ),
        (
            &[
                "--topic",
                "t",
                "--num-records",
                "1",
                "--throughput",
                "-1",
                "--bootstrap-server",
                "127.0.0.1:1",
                "--payload-file",
                "/dev/null",
            ],
            "File does not exist or empty file provided.",
        ),
    ] {
        let output = kdyno(&[&[TOOL], arguments].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(stderr_has), "{arguments:?}: {stderr}");
    }
}
