//! `kdyno produce` from outside, against the embedded broker: what it prints adds up.

use std::process::{Command, Output};

use crate::support::arithmetic::assert_arithmetic;
use crate::support::processes::{OwnBroker, signal};

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
    result_of(arguments, &[0])
}

/// The JSON result of a run that ended with one of `codes`; its arithmetic is checked.
fn result_of(arguments: &[&str], codes: &[i32]) -> serde_json::Value {
    let mut all = arguments.to_vec();
    all.push("--json");
    let output = produce(&all);
    let errors = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().unwrap_or(-1);
    assert!(codes.contains(&code), "{code}: {errors}");
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
        // 6 says that this machine was too busy for the rate, which is no fault of the program.
        let result = result_of(&["-r", "5k", "-d", "1s", "--arrival", arrival], &[0, 6]);
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
        (&["--payload-file", "no-such-file"], "no-such-file"),
        (&["--payload-file", "/dev/null"], "/dev/null"),
        (&["--profile", "java-5"], "java-4, java-3, librdkafka"),
        (&["-c", "no-such.properties"], "no-such.properties"),
        (&["--partition", "0,6"], "--partition 6"),
        (&["-X", "bootstrap.servers=h"], "\"h\""),
    ] {
        let output = produce(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_properties_file_gives_way_to_the_command_line_and_must_name_brokers() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("client.properties");
    std::fs::write(
        &file,
        "acks = 1\nlinger.ms: 20\nkey.serializer=x\nlingr.ms=3\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let output = produce(&["-c", file, "-n", "10"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("names no bootstrap.servers"), "{errors}");

    let result = result(&[
        "-c",
        file,
        "-b",
        "embedded",
        "-n",
        "100",
        "-X",
        "linger.ms=1",
    ]);
    let properties = result["client"]["properties"].as_array().unwrap();
    let of = |name: &str| properties.iter().find(|p| p["name"] == name).unwrap();
    assert_eq!(of("acks")["value"], "1");
    assert_eq!(of("linger.ms")["value"], "1");
    assert_eq!(of("enable.idempotence")["value"], "false");
    assert_eq!(of("key.serializer")["class"], "ignored");
    assert!(!properties.iter().any(|p| p["name"] == "lingr.ms"));
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("line 4: lingr.ms"), "{warnings}");
    assert!(warnings.contains("linger.ms?"), "{warnings}");
}

#[test]
fn every_profile_runs_and_is_named() {
    for profile in ["java-4", "java-3", "librdkafka", "throughput"] {
        let result = result(&["-n", "20000", "--profile", profile, "--key", "uniform:50"]);
        assert_eq!(result["records"]["acked"], 20_000);
        assert_eq!(result["client"]["profile"], profile);
    }
}

#[test]
fn chosen_partitions_and_round_robin_spread_evenly() {
    let class = "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner";
    for (arguments, each) in [
        (&["--partition", "1,4"][..], &[(1, 300), (4, 300)][..]),
        (
            &["-X", class],
            &[(0, 100), (1, 100), (2, 100), (3, 100), (4, 100), (5, 100)],
        ),
    ] {
        let result = result(&[&["-n", "600"], arguments].concat());
        let partitions = result["spread"]["partitions"].as_array().unwrap().iter();
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let records: Vec<_> = partitions
            .map(|p| (number(&p["partition"]), number(&p["records"])))
            .collect();
        assert_eq!(records, each, "{arguments:?}");
    }
}

#[test]
fn lines_of_a_file_are_values_as_they_are() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/rustfmt.toml");
    let result = result(&["-n", "1000", "--payload-file", file]);
    assert_eq!(result["records"]["acked"], 1000);
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
    let promise = ["-r", "1k", "-d", "1s", "--slo", "response.p50<1us"];
    // A machine too busy for the rate says so as well, and that code goes first.
    let result = result_of(&promise, &[3, 6]);
    let reasons = result["exit"]["reasons"].as_array().expect("reasons");
    assert!(
        reasons.iter().any(|reason| reason["code"] == 3),
        "{reasons:?}"
    );
}

#[test]
fn a_broker_that_stands_still_shows_in_every_record_that_was_due_meanwhile() {
    let broker = OwnBroker::start();
    let mut load = Command::new(env!("CARGO_BIN_EXE_kdyno"))
        .args([
            "produce",
            "-b",
            &broker.address,
            "-t",
            "t",
            "--partitions",
            "6",
            "--json",
        ])
        .args(["-r", "1000", "-d", "4s", "-X", "buffer.memory=65536"])
        .args(["-X", "max.in.flight.requests.per.connection=1"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    // The stall itself is what is measured: it has to be waited for.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    broker.signal("-STOP");
    std::thread::sleep(std::time::Duration::from_millis(1000));
    broker.signal("-CONT");
    let mut text = String::new();
    let mut stdout = load.stdout.take().expect("it was piped");
    std::io::Read::read_to_string(&mut stdout, &mut text).expect("text");
    load.wait().expect("it ends");
    let result: serde_json::Value = serde_json::from_str(&text).expect("one JSON text");
    assert_arithmetic(&result);
    assert_eq!(result["records"]["acked"], 4000);
    // A quarter of the records was due in the stall: the slowest of them waited nearly all of it.
    let p95 = result["latency"]["response"]["p95_ns"].as_f64();
    let p99 = result["latency"]["response"]["p99_ns"].as_f64();
    let seen = p95
        .or(p99)
        .unwrap_or_else(|| panic!("{}", result["latency"]));
    assert!((0.5e9..1.5e9).contains(&seen), "{seen}");
}

#[test]
fn prepared_batches_make_up_the_count_or_the_rate_that_was_asked() {
    for more in [
        &[][..],
        &[
            "--warmup-records",
            "777",
            "--clients",
            "3",
            "--threads",
            "2",
        ],
        &["-X", "compression.type=zstd", "-s", "uniform:1..2000"],
        &["-t", "a", "-t", "b", "--partition", "0,2"],
        &["-s", "40000", "--null-values", "0.5"],
        &["-X", "buffer.memory=20000"],
    ] {
        let stamped = ["--mode", "stamped", "-n", "20001", "--seed", "1"];
        let result = result(&[&stamped, more].concat());
        assert_eq!(result["records"]["acked"], 20_001, "{more:?}");
        assert_eq!(result["load"]["mode"], "stamped");
        assert!(result["load"]["prepared_batches"].as_u64() > Some(1));
    }
    for rate in [
        &["-r", "50000"][..],
        &["-r", "5MB/s", "--arrival", "poisson"],
    ] {
        let stamped = ["--mode", "stamped", "-d", "1s", "--clients", "2"];
        let result = result_of(&[&stamped, rate].concat(), &[0, 6]);
        let due = result["records"]["due"].as_u64().expect("a count");
        assert!((44_000..57_000).contains(&due), "{rate:?}: {due}");
        assert_eq!(result["records"]["acked"], due);
    }
}

#[test]
fn a_run_that_ends_while_it_waits_for_room_accounts_for_the_record_that_waited() {
    let full = [
        "-X",
        "buffer.memory=65536",
        "-d",
        "300ms",
        "--warmup",
        "200ms",
    ];
    for threads in ["1", "2"] {
        let result = result_of(&[&full[..], &["--threads", threads]].concat(), &[0, 6]);
        assert_eq!(result["records"]["unsent"], 0, "{}", result["records"]);
    }
}

#[test]
fn a_signal_keeps_what_was_measured() {
    let load = Command::new(env!("CARGO_BIN_EXE_kdyno"))
        .args(["produce", "-r", "1000", "-d", "60s", "--json"])
        .env_remove("KDYNO_BOOTSTRAP_SERVER")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    // The load has to run before it can be ended.
    std::thread::sleep(std::time::Duration::from_millis(1000));
    signal(load.id(), "-INT");
    let output = load.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let records = &result["records"];
    let due = records["due"].as_u64().expect("a count");
    assert!((300..2_000).contains(&due), "{records}");
    let acked = records["acked"].as_u64().expect("a count");
    let unsent = records["unsent"].as_u64().expect("a count");
    assert_eq!(due, acked + unsent, "{records}");
}

#[test]
fn standard_error_tells_of_every_interval_unless_it_is_asked_not_to() {
    let load = ["-r", "1000", "-d", "1s", "--interval", "200ms"];
    for (more, least) in [(&[][..], 4), (&["-q"], 0), (&["--no-progress"], 0)] {
        let output = produce(&[&load, more].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = errors.lines().filter(|line| line.contains(" rec/s "));
        let told = lines.count();
        assert!((least..least + 3).contains(&told), "{more:?}: {errors}");
        assert!(least > 0 || errors.is_empty(), "{errors}");
    }
}
