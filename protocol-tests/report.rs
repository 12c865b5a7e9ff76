//! Reports of whole outcomes: what stands in them adds up, and reads as the dial says.

use crate::support::outcomes::{Made, outcome, steady, unjudged};
use kdyno::measure::promise::Promise;
use kdyno::measure::recorder::Arrivals;
use kdyno::report::text::{Style, dial};
use kdyno::scenario::judge::{Asked, judge};

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
