//! `kdyno produce` from outside, against the embedded broker: what it prints adds up.

use std::process::{Command, Output};

use crate::support::arithmetic::assert_arithmetic;

/// Runs `kdyno produce` with `arguments`, and no bootstrap from the environment.
pub fn produce(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kdyno"))
        .arg("produce")
        .args(arguments)
        .env_remove("KDYNO_BOOTSTRAP_SERVER")
        .output()
        .expect("the binary was built for this test")
}

/// The JSON result of a run that ended well; its arithmetic is checked.
pub fn result(arguments: &[&str]) -> serde_json::Value {
    let mut all = arguments.to_vec();
    all.push("--json");
    let output = produce(&all);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    let result = serde_json::from_slice(&output.stdout).expect("standard output is one JSON text");
    assert_arithmetic(&result);
    result
}

#[test]
fn a_count_is_written_and_acknowledged_whole() {
    for more in [
        &[][..],
        &["-X", "acks=1"],
        &["-X", "compression.type=lz4"],
        &["-X", "linger.ms=0", "--clients", "3", "--threads", "2"],
        &[
            "--key",
            "uniform:100",
            "--header",
            "a=b",
            "--null-values",
            "0.5",
        ],
        &["-t", "a", "-t", "b", "--connections", "2"],
    ] {
        let result = result(&[&["-n", "20000", "--seed", "1"], more].concat());
        assert_eq!(result["records"]["due"], 20_000, "{more:?}");
        assert_eq!(result["records"]["acked"], 20_000, "{more:?}");
        assert_eq!(result["target"]["embedded"], true);
    }
}

#[test]
fn every_version_of_produce_can_be_pinned() {
    for version in 3..=13 {
        let pin = format!("produce={version}");
        let result = result(&["-n", "500", "--api-version", &pin]);
        assert_eq!(result["records"]["acked"], 500, "{version}");
    }
}

#[test]
fn a_rate_is_held_and_every_due_record_ends() {
    for arrival in ["constant", "poisson"] {
        let result = result(&["-r", "5k", "-d", "1s", "--arrival", arrival]);
        let records = &result["records"];
        assert_eq!(records["due"], records["acked"]);
        let due = records["due"].as_u64().expect("a count");
        assert!((4_700..5_300).contains(&due), "{arrival}: {due}");
    }
}

#[test]
fn acks_0_claims_nothing_but_that_it_was_written() {
    let result = result(&["-n", "10000", "-X", "acks=0"]);
    assert_eq!(result["records"]["written"], 10_000);
    assert_eq!(result["records"]["acked"], 0);
}

#[test]
fn wrong_input_exits_with_2_and_says_what_is_wrong() {
    for (arguments, words) in [
        (&["-r", "0"][..], "0"),
        (&["-d", "5"], "--duration"),
        (&["-n", "0"], "nothing to measure"),
        (&["-o", "result.txt"], "result.txt"),
        (
            &["-X", "acks=1", "-X", "enable.idempotence=true"],
            "acks=all",
        ),
        (&["-X", "batch.size=64KiB"], "65536"),
        (&["--clients", "1", "--threads", "2"], "--threads"),
        (&["-b", "127.0.0.1:1"], "--topic"),
        (&["--slo", "nonsense<1ms"], "nonsense"),
    ] {
        let output = produce(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_unreachable_bootstrap_names_the_address_and_why() {
    let output = produce(&[
        "-b",
        "127.0.0.1:1",
        "-t",
        "t",
        "--existing-topic",
        "-n",
        "1",
    ]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors.contains("127.0.0.1:1") && errors.contains("refused"),
        "{errors}"
    );
}

#[test]
fn a_promise_that_is_not_kept_exits_with_3() {
    let output = produce(&["-r", "1k", "-d", "1s", "--slo", "response.p50<1us"]);
    assert_eq!(output.status.code(), Some(3));
}
