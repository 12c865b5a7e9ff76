//! Reports of whole outcomes: what stands in them adds up, and reads as the dial says.

use crate::support::arithmetic::assert_arithmetic;
use crate::support::outcomes::{Made, outcome, recording, steady, unjudged};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use kdyno::base::clock::MILLISECOND;
use kdyno::measure::histogram::Quantile;
use kdyno::measure::promise::Promise;
use kdyno::measure::recorder::Arrivals;
use kdyno::report::file::Output;
use kdyno::report::json::{result_file, to_json};
use kdyno::report::schema::{JSON_SCHEMA, ResultFile};
use kdyno::report::text::{Style, dial};
use kdyno::scenario::judge::{Asked, judge};
use serde_json::Value;

const TERMINAL: Style = Style { grouped: true };

fn line<'a>(dial: &'a str, label: &str) -> &'a str {
    let mut lines = dial.lines();
    lines
        .find(|line| line.starts_with(label))
        .unwrap_or_else(|| panic!("no {label} in\n{dial}"))
}

#[test]
fn the_dial_reads_as_its_rules_say() {
    let dial = dial(&outcome(&steady()), TERMINAL);
    let labels: Vec<&str> = dial
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected = [
        "target",
        "load",
        "client",
        "measured",
        "throughput",
        "latency",
        "response",
        "send",
        "request",
        "(…)",
        "mean",
        "slowest",
        "records",
        "batches",
        "spread",
        "limit",
    ];
    assert_eq!(labels, expected, "{dial}");
    for (label, text) in [
        ("target", "4.4.0 @ 127.0.0.1:19092   3 brokers   PLAINTEXT"),
        (
            "load",
            "topic kdyno-7f3a  6 partitions × 3 (min.insync 2)   100 B values, no key",
        ),
        ("load", "2000/s constant   seed 42"),
        (
            "client",
            "1 client × 1 connection/broker × 1 thread   acks=all idempotent  linger 5 ms",
        ),
        ("client", "batch 16 384  lz4"),
        ("client", "(else Java 4.4 defaults)"),
        ("measured", "10.0 s after 2.00 s warm-up"),
        ("throughput", "2 000 rec/s   0.191 MiB/s payload"),
        (" request", "written → answered, 200 requests"),
        (
            "records",
            "due 20 000   acked 20 000   failed 0   unknown 0   unsent 0   retried 0 (0 requests)",
        ),
        ("records", "duplicates not checked (--verify)"),
        (
            "batches",
            "200   100 records, 10.5 KiB → 4.4 KiB each   2.41:1 (0.41)",
        ),
        ("spread", "partitions 3 300 / 3 300 / 3 400"),
        (
            "limit",
            "none: the rate asked was reached; busiest load thread 9 % CPU",
        ),
    ] {
        assert!(line(&dial, label).contains(text), "{text} in\n{dial}");
    }
}

#[test]
fn flat_out_shows_its_own_buffer_and_no_response() {
    let flat_out = Made {
        arrivals: Arrivals::FlatOut,
        ..steady()
    };
    let dial = dial(&outcome(&flat_out), TERMINAL);
    assert!(!dial.contains("response"), "{dial}");
    assert!(
        dial.contains("this is your own buffer (32.0 MiB ÷ 195.3 KiB/s ≈ 167.77 s)"),
        "{dial}"
    );
    assert!(
        dial.contains("(lag, buffer, throttle, earlier attempts 0)"),
        "{dial}"
    );
}

#[test]
fn an_embedded_broker_is_named_in_the_first_line() {
    let mut outcome = outcome(&steady());
    outcome.target.embedded = true;
    let dial = dial(&outcome, TERMINAL);
    assert!(
        dial.starts_with("target       embedded broker in this process, not a cluster"),
        "{dial}"
    );
}

#[test]
fn refused_records_are_named_and_leave_high_percentiles_open() {
    let refused = Made {
        refuse_every: 2,
        ..steady()
    };
    let outcome = outcome(&refused);
    let dial = dial(&outcome, TERMINAL);
    assert!(
        line(&dial, "records").contains("acked 10 000   failed 10 000"),
        "{dial}"
    );
    assert!(
        dial.contains(" TOPIC_AUTHORIZATION_FAILED  10 000 failed"),
        "{dial}"
    );
    assert!(line(&dial, " response").contains("> "), "{dial}");
    assert!(
        line(&dial, " response").contains("10 000 without an answer"),
        "{dial}"
    );
    assert!(line(&dial, "exit").contains("5: "), "{dial}");
}

#[test]
fn written_records_have_no_latency_and_are_not_called_acknowledged() {
    let mut outcome = unjudged(&steady());
    for property in &mut outcome.client.properties {
        if property.name == "acks" {
            property.value = "0".to_owned();
        }
    }
    outcome.recording.measured.written = std::mem::take(&mut outcome.recording.measured.acked);
    judge(
        &mut outcome,
        &Asked {
            promises: &[],
            errors_allowed: false,
        },
    );
    let dial = dial(&outcome, TERMINAL);
    assert!(line(&dial, "latency").contains("not available"), "{dial}");
    assert!(line(&dial, "records").contains("written 20 000"), "{dial}");
    assert!(!dial.contains("acked"), "{dial}");
}

#[test]
fn an_interrupted_run_says_that_it_is_partial() {
    let mut outcome = unjudged(&steady());
    outcome.timeline.interrupted_by = Some(2);
    judge(
        &mut outcome,
        &Asked {
            promises: &[],
            errors_allowed: false,
        },
    );
    let dial = dial(&outcome, TERMINAL);
    assert!(
        line(&dial, "measured").contains("partial: interrupted (SIGINT)"),
        "{dial}"
    );
    assert!(line(&dial, "exit").contains("130: "), "{dial}");
}

#[test]
fn promises_stand_below_with_the_figure_they_were_judged_by() {
    let mut outcome = unjudged(&steady());
    let promises = ["p50<10s", "p99<1ms", "p99.99<10s"];
    let promises = promises.map(|text| Promise::parse(text, false).expect("good"));
    judge(
        &mut outcome,
        &Asked {
            promises: &promises,
            errors_allowed: false,
        },
    );
    let kept: Vec<bool> = outcome
        .promises
        .iter()
        .map(|promise| promise.kept)
        .collect();
    assert_eq!(kept, [true, false, false]);
    let dial = dial(&outcome, TERMINAL);
    assert!(
        dial.contains("promise      kept   --slo p50<10s: response.p50 was "),
        "{dial}"
    );
    assert!(
        dial.contains("response.p99.99 needs 100000 samples, there were 20000"),
        "{dial}"
    );
}

#[test]
fn flat_out_no_promise_about_latency_is_kept() {
    let mut outcome = unjudged(&Made {
        arrivals: Arrivals::FlatOut,
        ..steady()
    });
    let promises = ["p99<1h", "send.p50<1h", "throughput.records_per_s>1"];
    let promises = promises.map(|text| Promise::parse(text, false).expect("good"));
    let asked = Asked {
        promises: &promises,
        errors_allowed: false,
    };
    judge(&mut outcome, &asked);
    let kept: Vec<bool> = outcome.promises.iter().map(|one| one.kept).collect();
    assert_eq!(kept, [false, false, true]);
    assert!(outcome.promises[1].reason.contains("your own buffer"));
}

fn all_kinds() -> Vec<Made> {
    let flat_out = Made {
        arrivals: Arrivals::FlatOut,
        ..steady()
    };
    let refused = Made {
        refuse_every: 3,
        ..steady()
    };
    let many = Made {
        rate: 20_000,
        warmup_s: 0,
        ..steady()
    };
    let none = Made {
        refuse_every: 1,
        ..steady()
    };
    vec![steady(), flat_out, refused, many, none]
}

fn json(made: &Made) -> Value {
    let text = to_json(&outcome(made)).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn every_result_adds_up() {
    for made in all_kinds() {
        assert_arithmetic(&json(&made));
    }
}

#[test]
#[should_panic(expected = "Little's law")]
fn a_result_whose_outstanding_records_do_not_fit_its_latency_is_found() {
    let mut wrong = json(&Made {
        rate: 20_000,
        ..steady()
    });
    let integral = wrong["outstanding"]["integral_record_ns"]
        .as_f64()
        .expect("a number");
    wrong["outstanding"]["integral_record_ns"] = Value::from((integral * 1.03) as u64);
    assert_arithmetic(&wrong);
}

#[test]
fn a_result_file_is_what_its_schema_says_and_holds_nothing_else() {
    let mut schema: Value = serde_json::from_str(JSON_SCHEMA).expect("JSON");
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for made in all_kinds() {
        let json = json(&made);
        let errors: Vec<String> = validator
            .iter_errors(&json)
            .map(|error| format!("{} {error}", error.instance_path))
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// The published schema allows keys to be added; today's results must not have any.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            object.values_mut().for_each(close);
        }
        Value::Array(array) => array.iter_mut().for_each(close),
        _ => (),
    }
}

#[test]
fn a_result_file_reads_back_as_it_was_written() {
    for made in all_kinds() {
        let outcome = outcome(&made);
        let text = to_json(&outcome).expect("a result");
        let read: ResultFile = serde_json::from_str(&text).expect("readable");
        assert_eq!(read, result_file(&outcome));
    }
}

#[test]
fn keys_say_their_unit_and_no_figure_is_infinite_or_secret() {
    let text = to_json(&outcome(&Made {
        refuse_every: 1,
        ..steady()
    }))
    .expect("a result");
    for wrong in ["NaN", "inf", "Infinity"] {
        assert!(!text.contains(&format!(": {wrong}")), "{wrong}");
    }
    assert!(text.contains("[hidden]"));
}

#[test]
fn the_histograms_in_a_result_merge_outside_to_the_percentiles_inside() {
    let parts = [
        steady(),
        Made {
            takes: 90 * MILLISECOND,
            ..steady()
        },
    ];
    let mut merged = recording(&parts[0]);
    merged.add(&recording(&parts[1]));
    let mut outside = hdrhistogram::Histogram::<u64>::new(3).expect("three digits");
    for made in &parts {
        let result = json(made);
        let text = result["latency"]["response"]["histogram"]["hdr_v2_base64"].as_str();
        let bytes = STANDARD.decode(text.expect("samples")).expect("base64");
        let one: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .expect("V2");
        outside.add(one).expect("room");
    }
    for (quantile, share) in [
        (Quantile::P50, 0.5),
        (Quantile::P90, 0.9),
        (Quantile::P99_9, 0.999),
    ] {
        let inside = merged.clocks.response.quantile(quantile);
        assert_eq!(inside, Some(outside.value_at_quantile(share)));
    }
}

#[test]
fn the_printed_throughput_is_the_files_to_the_last_digit() {
    let made = Made {
        rate: 40_000,
        ..steady()
    };
    let (result, dial) = (json(&made), dial(&outcome(&made), Style { grouped: false }));
    let mib = result["throughput"]["payload_bytes_per_s"]
        .as_f64()
        .expect("a number")
        / 1_048_576.0;
    let line = line(&dial, "throughput");
    assert!(
        line.contains(&format!("{mib:.1} MiB/s payload")),
        "{mib} in {line}"
    );
    let gbit = result["throughput"]["wire_bits_per_s"]
        .as_f64()
        .expect("a number")
        / 1e9;
    assert!(
        line.contains(&format!("({gbit:.2} Gbit/s)")),
        "{gbit} in {line}"
    );
}

#[test]
fn few_samples_are_marked_with_their_count_beside_them() {
    let few = Made {
        rate: 100,
        warmup_s: 0,
        measured_s: 1,
        ..steady()
    };
    let result = json(&few);
    let response = &result["latency"]["response"];
    assert_eq!(response["count"], 100);
    assert_eq!(
        response["too_few_samples"],
        serde_json::json!(["p99", "p99_9", "p99_99"])
    );
    let dial = dial(&outcome(&few), TERMINAL);
    assert!(line(&dial, " response").contains("100 samples"), "{dial}");
    assert!(line(&dial, " response").contains(" ("), "{dial}");
}

#[test]
fn intervals_become_a_table_and_a_histogram_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = outcome(&steady());
    let write = |name: &str| {
        let path = folder.path().join(name);
        let output = Output::parse(&path.display().to_string()).expect("a known ending");
        output.write(&outcome).expect("written");
        std::fs::read_to_string(path).expect("text")
    };
    let csv = write("r.csv");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.iter().filter(|row| &row[2] == "warmup").count(), 2);
    assert_eq!(rows.iter().filter(|row| &row[2] == "measured").count(), 10);
    let acked: u64 = rows
        .iter()
        .map(|row| row[4].parse::<u64>().expect("a number"))
        .sum();
    assert_eq!(acked, 24_000);

    let log = write("r.hlog");
    let entries: Vec<_> = IntervalLogIterator::new(log.as_bytes())
        .map(|entry| entry.expect("an entry"))
        .collect();
    let mut sends = 0;
    for entry in &entries {
        if let LogEntry::Interval(interval) = entry
            && interval.tag().is_some_and(|tag| tag.as_str() == "send")
        {
            let bytes = STANDARD
                .decode(interval.encoded_histogram())
                .expect("base64");
            let one: hdrhistogram::Histogram<u64> = Deserializer::new()
                .deserialize(&mut bytes.as_slice())
                .expect("V2");
            sends += one.len();
        }
    }
    assert_eq!(sends, 24_000);
    assert!(write("r.hgrm").contains("Total count    =        20000]"));
    let parsed: Value = serde_json::from_str(&write("r.json")).expect("JSON");
    assert_arithmetic(&parsed);
}
