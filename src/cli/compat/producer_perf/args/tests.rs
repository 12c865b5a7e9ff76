//! What the tool takes and what it refuses, in the words of Apache Kafka's own.

use super::*;

const GOOD: &str = "--topic t --num-records 5 --throughput -1 --record-size 10";

fn words(line: &str) -> Vec<String> {
    line.split_ascii_whitespace().map(str::to_owned).collect()
}

fn run(line: &str) -> PerfArgs {
    match parse(&words(line)) {
        Ok(perf) => perf,
        Err(refusal) => panic!("{line}: {refusal:?}"),
    }
}

fn good(line: &str) -> PerfArgs {
    run(&format!("{GOOD} --bootstrap-server h:1 {line}"))
}

fn usage(line: &str) -> String {
    match parse(&words(line)) {
        Err(Refusal::Usage(reason)) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

fn failed(line: &str) -> String {
    match parse(&words(&format!("{GOOD} --bootstrap-server h:1 {line}"))) {
        Err(Refusal::Failed(reason)) => reason,
        other => panic!("{line}: {other:?}"),
    }
}

/// Lines and what Kafka 4.4.0 says of them, its justified blanks squeezed; `=` repeats the good line.
const REFUSED: [(&str, &str); 45] = [
    ("--topic t", "argument --throughput is required"),
    ("--throughput 1", "argument --num-records is required"),
    (
        "--throughput 1 --num-records 5",
        "argument --topic is required",
    ),
    (
        "--topic t --throughput -1 --num-records 5",
        "one of the arguments --record-size --payload-file --payload-monotonic is required",
    ),
    (
        "=",
        "At least one of --bootstrap-server, --command-property, --producer-props, \
         --producer.config or --command-config must be specified.",
    ),
    (
        "= --num-records 0",
        "--num-records should be greater than zero.",
    ),
    (
        "= --num-records -5",
        "--num-records should be greater than zero.",
    ),
    (
        "= --num-records abc",
        "argument --num-records: could not convert 'abc' to Long (For input string: \"abc\")",
    ),
    (
        "= --num-records 1.5",
        "argument --num-records: could not convert '1.5' to Long (For input string: \"1.5\")",
    ),
    (
        "= --num-records=",
        "argument --num-records: could not convert '' to Long (For input string: \"\")",
    ),
    (
        "= --num-records 9223372036854775808",
        "argument --num-records: could not convert '9223372036854775808' to Long (For input \
         string: \"9223372036854775808\")",
    ),
    (
        "= --throughput abc",
        "argument --throughput: could not convert 'abc' to Double (For input string: \"abc\")",
    ),
    (
        "= --throughput -",
        "argument --throughput: could not convert '-' to Double (For input string: \"-\")",
    ),
    (
        "= --record-size 0",
        "--record-size should be greater than zero.",
    ),
    (
        "= --record-size 99999999999",
        "argument --record-size: could not convert '99999999999' to Integer (For input string: \
         \"99999999999\")",
    ),
    (
        "= --payload-monotonic",
        "argument --payload-monotonic: not allowed with argument --record-size",
    ),
    (
        "--payload-file f --record-size 5",
        "argument --record-size: not allowed with argument --payload-file",
    ),
    (
        "= --warmup-records 5",
        "The value for --warmup-records must be strictly fewer than the number of records in the \
         test, --num-records.",
    ),
    (
        "= --bootstrap-server x:1 --reporting-interval 0",
        "--reporting-interval should be greater than zero.",
    ),
    (
        "= --bootstrap-server x:1 --reporting-interval 0 --transaction-duration-ms 0",
        "--transaction-duration-ms should be greater than zero.",
    ),
    (
        "= --bootstrap-server x:1 --record-key-range 0",
        "--record-key-range should be greater than zero.",
    ),
    (
        "= --bootstrap-server x:1 --record-key-range 5",
        "--key-distribution must be 'range' or 'random' when --record-key-range is specified.",
    ),
    (
        "= --bootstrap-server x:1 --key-distribution none --record-key-range 5",
        "--key-distribution must be 'range' or 'random' when --record-key-range is specified.",
    ),
    (
        "= --bootstrap-server x:1 --key-distribution range",
        "--record-key-range is required when --key-distribution is 'range' or 'random'.",
    ),
    (
        "= --key-distribution RANGE --record-key-range 5",
        "argument --key-distribution: invalid choice: 'RANGE' (choose from {none,range,random})",
    ),
    (
        "= --producer-props a=b --command-property c=d",
        "--command-property and --producer-props cannot be specified together.",
    ),
    (
        "= --producer.config /x --command-config /y",
        "--command-config and --producer.config cannot be specified together.",
    ),
    (
        "= --producer-props a=b --command-property a=b --producer.config /a --command-config /b",
        "--command-property and --producer-props cannot be specified together.",
    ),
    (
        "= --command-property --producer-props",
        "argument --command-property: expected 1 argument(s)",
    ),
    ("= --frob 1", "unrecognized arguments: '--frob'"),
    ("= --frob=7", "unrecognized arguments: '--frob=7'"),
    ("= -x", "unrecognized arguments: '-x'"),
    ("= extra", "unrecognized arguments: 'extra'"),
    (
        "--topic t u --num-records 5",
        "unrecognized arguments: 'u --num-records 5'",
    ),
    (
        "= --throughput -1 -1 --record-size 1",
        "unrecognized arguments: '-1 --record-size 1'",
    ),
    ("= --print-metrics extra", "unrecognized arguments: 'extra'"),
    ("= -- extra", "unrecognized arguments: 'extra'"),
    (
        "= --record 7",
        "ambiguous option: --record could match --record-key-range, --record-size",
    ),
    (
        "= --pro a=b",
        "ambiguous option: --pro could match --producer-props, --producer.config",
    ),
    ("--topic", "argument --topic: expected one argument"),
    (
        "--topic --throughput -1",
        "argument --topic: expected one argument",
    ),
    (
        "= --print-metrics=5",
        "argument --print-metrics: ignore implicit argument '5'",
    ),
    (
        "= --random-seed x",
        "argument --random-seed: could not convert 'x' to Long (For input string: \"x\")",
    ),
    // Of several faults, the one that Kafka's tool names.
    (
        "= --record-size 0 --warmup-records 9 --reporting-interval 0",
        "The value for --warmup-records must be strictly fewer than the number of records in the \
         test, --num-records.",
    ),
    (
        "= --record-key-range 0",
        "At least one of --bootstrap-server, --command-property, --producer-props, \
         --producer.config or --command-config must be specified.",
    ),
];

#[test]
fn what_kafkas_tool_refuses_is_refused_in_its_words() {
    for (line, reason) in REFUSED {
        let whole = match line.strip_prefix('=') {
            Some(rest) => format!("{GOOD}{rest}"),
            None => line.to_owned(),
        };
        assert_eq!(usage(&whole), reason, "{line}");
    }
}

#[test]
fn every_option_is_understood() {
    let perf = run(
        "--bootstrap-server h:1,i:2 --topic t --num-records 1000 --throughput 12.5 \
         --payload-file f --payload-delimiter , --command-property linger.ms=10 acks=1 \
         --command-config c --print-metrics --warmup-records 10 --reporting-interval 250 \
         --record-key-range 7 --key-distribution random --random-seed -3 --stats reference",
    );
    assert_eq!(
        perf,
        PerfArgs {
            bootstrap_server: Some("h:1,i:2".to_owned()),
            topic: "t".to_owned(),
            num_records: 1_000,
            payload: Payload::File {
                path: "f".to_owned(),
                delimiter: ",".to_owned(),
            },
            throughput: Throughput::PerSecond(12.5),
            properties: vec![
                ("linger.ms".to_owned(), "10".to_owned()),
                ("acks".to_owned(), "1".to_owned()),
            ],
            config_file: Some("c".to_owned()),
            print_metrics: true,
            warmup_records: 10,
            reporting_interval_ms: 250,
            keys: KeyDistribution::Random { range: 7 },
            random_seed: -3,
            fidelity: Fidelity::Reference,
            notices: vec![],
        }
    );
}

#[test]
fn defaults_are_those_of_kafkas_tool() {
    let perf = good("");
    assert_eq!(perf.throughput, Throughput::Unlimited);
    assert_eq!(perf.payload, Payload::Random { bytes: 10 });
    assert_eq!(
        (perf.warmup_records, perf.reporting_interval_ms),
        (0, 5_000)
    );
    assert_eq!((perf.keys, perf.random_seed), (KeyDistribution::None, 0));
    assert_eq!(perf.fidelity, Fidelity::Exact);
    assert_eq!(good("--warmup-records -3").warmup_records, 0);
    let file = run("--topic t --num-records 1 --throughput 1 --payload-file f --command-config c");
    let newline = "\n".to_owned();
    assert!(matches!(file.payload, Payload::File { delimiter, .. } if delimiter == newline));
}

#[test]
fn a_long_option_may_be_cut_short_and_given_again_or_with_an_equals_sign() {
    let perf = run("--top t --num-rec 7 --through=1e3 --payload-m --bootstrap-s h:1 --num-rec=9");
    assert_eq!((perf.num_records, perf.payload), (9, Payload::Monotonic));
    assert_eq!(perf.throughput, Throughput::PerSecond(1_000.0));
    assert_eq!(good("--").topic, "t");
}

#[test]
fn old_names_work_and_say_so_once() {
    let perf = run(&format!(
        "{GOOD} --producer-props a=1 b=2 --producer-props c=3 --producer.config f"
    ));
    let names: Vec<_> = perf.properties.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(perf.config_file.as_deref(), Some("f"));
    assert_eq!(
        perf.notices,
        [
            "Option --producer-props has been deprecated and will be removed in a future version. \
             Use --command-property instead.",
            "Option --producer.config has been deprecated and will be removed in a future version. \
             Use --command-config instead.",
        ]
    );
}

#[test]
fn a_property_is_split_at_its_first_equals_sign() {
    let perf = good("--command-property sasl.jaas.config=a=b=c client.rack=");
    let [jaas, rack] = &perf.properties[..] else {
        panic!("{:?}", perf.properties);
    };
    assert_eq!((&jaas.1[..], &rack.1[..]), ("a=b=c", ""));
    assert_eq!(failed("--command-property a=1 b"), "Invalid property: b");
    assert_eq!(failed("--command-property =1"), "Invalid property: =1");
}

#[test]
fn a_throughput_that_is_no_limit_is_none_and_0_is_refused() {
    for no_limit in ["-1", "-0.5", "NaN", "Infinity", "-Infinity"] {
        let perf = good(&format!("--throughput={no_limit}"));
        assert_eq!(perf.throughput, Throughput::Unlimited, "{no_limit}");
    }
    assert_eq!(
        good("--throughput 0.5").throughput,
        Throughput::PerSecond(0.5)
    );
    assert!(failed("--throughput 0").contains("--throughput 0"));
}

#[test]
fn transactions_are_refused_wherever_they_are_asked_for() {
    for line in [
        "--transactional-id x",
        "--transaction-duration-ms 500",
        "--command-property transactional.id=x",
    ] {
        assert!(
            failed(line).contains("transactions are not supported"),
            "{line}"
        );
    }
    let file = of_file(&[("transactional.id", "x")]);
    assert!(good("").client_properties(file).is_err());
}

fn of_file(properties: &[(&str, &str)]) -> Vec<Property> {
    let given = properties.iter().map(|(name, value)| Property {
        origin: "client.properties line 1:".to_owned(),
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    });
    given.collect()
}

#[test]
fn flags_beat_properties_and_properties_beat_the_file() {
    let perf = good("--command-property bootstrap.servers=i:2 linger.ms=1 client.id=mine");
    let file = of_file(&[("linger.ms", "9"), ("acks", "1")]);
    let properties = perf.client_properties(file).unwrap();
    let last = |name: &str| {
        let mut given = properties.iter().rev();
        given
            .find(|given| given.name == name)
            .map(|given| given.value.as_str())
    };
    assert_eq!(last("bootstrap.servers"), Some("h:1"));
    assert_eq!((last("linger.ms"), last("acks")), (Some("1"), Some("1")));
    assert_eq!(last("client.id"), Some("mine"));
    let unnamed = good("").client_properties(vec![]).unwrap();
    let id = unnamed.iter().find(|given| given.name == "client.id");
    assert_eq!(id.unwrap().value, "perf-producer-client");
    let nowhere = run(&format!("{GOOD} --command-property acks=1"));
    assert!(nowhere.client_properties(vec![]).is_err());
}

#[test]
fn help_version_and_nothing_at_all() {
    let refusal = |line: &str| parse(&words(line)).unwrap_err();
    let nothing = refusal("");
    assert_eq!((nothing.exit_code(), nothing.stderr()), (0, String::new()));
    assert!(
        nothing
            .stdout()
            .starts_with("usage: kafka-producer-perf-test")
    );
    for help in ["--help", "-h", "--hel", "-hx", "--topic t --help --frob"] {
        assert_eq!(refusal(help), Refusal::Help { exit_code: 1 }, "{help}");
    }
    for option in OPTS {
        assert!(nothing.stdout().contains(option.name), "{}", option.name);
    }
    let version = refusal("--version");
    assert_eq!((version.exit_code(), &version.stdout()[..]), (0, "4.4.0\n"));
    assert!(version.stderr().starts_with("kdyno "));
}

#[test]
fn a_wrong_command_line_prints_the_synopsis_and_why_on_standard_error() {
    let refusal = parse(&words("--frob")).unwrap_err();
    assert_eq!((refusal.exit_code(), refusal.stdout()), (1, String::new()));
    let said = refusal.stderr();
    assert!(said.starts_with("usage: kafka-producer-perf-test\n"));
    assert!(
        said.ends_with("\nkafka-producer-perf-test: error: unrecognized arguments: '--frob'\n")
    );
}
