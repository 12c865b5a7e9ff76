//! What is measured of whole runs, played through a client in hand-driven time.

use crate::support::arithmetic::assert_arithmetic;
use crate::support::outcomes::{START, outcome_of};
use crate::support::played::{Played, play};
use kdyno::base::clock::{MILLISECOND, SECOND};
use kdyno::measure::histogram::Quantile;
use kdyno::measure::limit::Suspect;
use kdyno::measure::parts::Part;
use kdyno::measure::promise::Promise;
use kdyno::measure::recorder::Arrivals;
use kdyno::measure::verdict::exit_code;
use kdyno::report::json::to_json;
use kdyno::report::text::{Style, dial};
use kdyno::scenario::judge::{Asked, judge};
use kdyno::scenario::outcome::Outcome;
use serde_json::Value;

const NOTHING: Asked<'static> = Asked {
    promises: &[],
    errors_allowed: false,
};

fn run(played: &Played) -> Outcome {
    let mut outcome = outcome_of(play(played), played.arrivals);
    outcome.timeline.window_start = START + played.warmup;
    outcome.timeline.window_end = Some(START + played.warmup + played.measured);
    outcome.timeline.schedule_end = outcome.timeline.window_end;
    outcome.load.rate_records_per_s = Some(played.rate as f64);
    outcome.partitions.truncate(1);
    judge(&mut outcome, &NOTHING);
    outcome
}

fn json(outcome: &Outcome) -> Value {
    let value = serde_json::from_str(&to_json(outcome).expect("a result")).expect("JSON");
    assert_arithmetic(&value);
    value
}

fn quiet() -> Played {
    Played {
        arrivals: Arrivals::Scheduled,
        rate: 1_000,
        warmup: 0,
        measured: 30 * SECOND,
        linger: 0,
        in_flight_max: 5,
        answer_after: MILLISECOND / 2,
        stalled: None,
        refuse_every: 0,
        drain: 60 * SECOND,
    }
}

fn percentile_s(outcome: &Outcome, quantile: Quantile) -> f64 {
    let response = outcome.summary().response.expect("a rate was asked");
    let mut all = response.percentiles.iter();
    let reading = all
        .find(|(known, _)| *known == quantile)
        .expect("on the dial")
        .1;
    reading.settled().expect("all were answered") as f64 / 1e9
}

#[test]
fn a_stall_counts_for_every_record_that_was_due_in_it() {
    let stall = (START + 10 * SECOND, START + 15 * SECOND);
    let outcome = run(&Played {
        stalled: Some(stall),
        ..quiet()
    });
    let measured = &outcome.recording.measured;
    assert_eq!((measured.due, measured.acked), (30_000, 30_000));
    // A sixth of the records waited, evenly from 0 to 5 s.
    for (quantile, seconds) in [(Quantile::P90, 2.0), (Quantile::P99, 4.7)] {
        let read = percentile_s(&outcome, quantile);
        assert!(
            (read - seconds).abs() < seconds * 0.05,
            "{quantile} is {read} s"
        );
    }
    assert!((percentile_s(&outcome, Quantile::P50)) < 0.005);
    let dial = dial(&outcome, Style::default());
    for word in [" response", " send", "lag"] {
        assert!(dial.contains(word), "no {word} in\n{dial}");
    }
    assert!(!outcome.summary().overloaded, "a stall is no overload");
    json(&outcome);
}

#[test]
fn what_the_broker_refuses_is_no_success_and_keeps_its_name() {
    let outcome = run(&Played {
        refuse_every: 2,
        ..quiet()
    });
    let measured = &outcome.recording.measured;
    assert!(
        measured.failed > 14_000 && measured.acked > 14_000,
        "{measured:?}"
    );
    assert_eq!(measured.due, measured.acked + measured.failed);
    assert_eq!(measured.retried_records, 0);
    let result = json(&outcome);
    assert_eq!(
        result["records"]["errors"][0]["name"],
        "TOPIC_AUTHORIZATION_FAILED"
    );
    assert_eq!(result["latency"]["send"]["count"], measured.acked);
    assert_eq!(
        result["latency"]["response"]["censored_count"],
        measured.failed
    );
    assert_eq!(result["throughput"]["records"], measured.acked);
    assert_eq!(exit_code(&outcome.exit_reasons), 5);
}

#[test]
fn warm_up_stays_out_however_slow_it_was() {
    let stalled = Some((START, START + 4 * SECOND));
    let warmup = 5 * SECOND;
    let measured = 10 * SECOND;
    let outcome = run(&Played {
        rate: 100,
        warmup,
        measured,
        stalled,
        ..quiet()
    });
    let result = json(&outcome);
    assert_eq!(result["latency"]["response"]["count"], 1_000);
    assert!(result["latency"]["response"]["max_ns"].as_u64() < Some(50_000_000));
    assert_eq!(result["records"]["taken_in_all"], 1_500);
    assert_eq!(result["records"]["warmup"]["acked"], 500);
    let dial = dial(&outcome, Style::default());
    assert!(
        dial.contains("500 records of warm-up apart, 1500 written in all"),
        "{dial}"
    );
}

#[test]
fn time_in_the_batch_is_told_apart_from_the_brokers() {
    let slow = Played {
        rate: 5,
        linger: 100 * MILLISECOND,
        ..quiet()
    };
    let summary = run(&slow).summary();
    let mean = summary.part_sums.means();
    assert!((mean.of(Part::Batch) - 100e6).abs() < 2e6, "{mean:?}");
    assert!(
        mean.of(Part::Request) < 5e6 && mean.of(Part::Buffer) == 0.0,
        "{mean:?}"
    );
    assert!((mean.total_ns() - 100e6).abs() < 5e6, "{mean:?}");
    let at_once = run(&Played { linger: 0, ..slow }).summary();
    assert!(at_once.part_sums.means().total_ns() < 10e6);
}

#[test]
fn one_request_in_flight_with_slow_answers_is_limited_by_its_window() {
    let narrow = Played {
        rate: 50_000,
        measured: 5 * SECOND,
        in_flight_max: 1,
        answer_after: 20 * MILLISECOND,
        drain: 0,
        ..quiet()
    };
    let outcome = run(&narrow);
    assert_eq!(
        outcome.limit.suspect,
        Suspect::InFlightWindow,
        "{:?}",
        outcome.limit
    );
    assert!(
        outcome.limit.reason.contains('%'),
        "{}",
        outcome.limit.reason
    );
}

#[test]
fn a_rate_that_was_not_reached_is_not_a_measurement_of_it() {
    // Batches of at most 100 records and 20 ms an answer: 5,000/s at best.
    let asked = Played {
        rate: 8_000,
        measured: 10 * SECOND,
        in_flight_max: 1,
        answer_after: 20 * MILLISECOND,
        drain: SECOND,
        ..quiet()
    };
    let outcome = run(&asked);
    let summary = outcome.summary();
    assert!(
        !summary.rate.held && summary.overloaded,
        "{:?}",
        summary.rate
    );
    let codes: Vec<u8> = outcome
        .exit_reasons
        .iter()
        .map(|reason| reason.code)
        .collect();
    assert_eq!(codes, [5, 6], "{:?}", outcome.exit_reasons);
    let result = json(&outcome);
    assert!(
        result["records"]["unsent"].as_u64() > Some(0),
        "debt is kept, never shed"
    );
    let dial = dial(&outcome, Style::default());
    assert!(
        dial.contains("overload: latency here depends on how long you run"),
        "{dial}"
    );
    assert!(dial.contains("> "), "high percentiles are open\n{dial}");
}

#[test]
fn every_record_counts_and_no_latency_is_rounded_to_a_millisecond() {
    let many = Played {
        rate: 60_000,
        measured: 10 * SECOND,
        ..quiet()
    };
    let outcome = run(&many);
    let result = json(&outcome);
    assert_eq!(result["latency"]["response"]["histogram"]["count"], 600_000);
    let p50 = result["latency"]["send"]["p50_ns"]
        .as_u64()
        .expect("a figure");
    assert_ne!(p50 % MILLISECOND, 0);
    let dial = dial(&outcome, Style::default());
    let send = dial
        .lines()
        .find(|line| line.starts_with(" send"))
        .expect("a line");
    assert!(send.contains("0.5"), "{send}");
}

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    for (signal, code) in [(2, 130), (15, 143)] {
        let mut outcome = run(&Played {
            measured: 5 * SECOND,
            ..quiet()
        });
        outcome.timeline.interrupted_by = Some(signal);
        judge(&mut outcome, &NOTHING);
        let result = json(&outcome);
        assert_eq!(result["partial"], true);
        assert_eq!(result["exit"]["code"], code);
        assert_eq!(result["records"]["acked"], 5_000);
    }
}

#[test]
fn raw_and_wire_bytes_and_their_ratio_are_known() {
    let result = json(&run(&quiet()));
    let batches = &result["batches"];
    let ratio = batches["wire_bytes"].as_f64().expect("bytes")
        / batches["raw_bytes"].as_f64().expect("bytes");
    let shown = batches["compression_ratio"].as_f64().expect("a ratio");
    assert!((shown * ratio - 1.0).abs() < 1e-12);
}

#[test]
fn compression_that_misses_what_was_asked_is_warned_about() {
    let warned = |asked| {
        let mut outcome = outcome_of(play(&quiet()), Arrivals::Scheduled);
        outcome.load.compressibility_asked = Some(asked);
        judge(&mut outcome, &NOTHING);
        outcome
            .warnings
            .iter()
            .any(|warning| warning.contains("was asked"))
    };
    let achieved = outcome_of(play(&quiet()), Arrivals::Scheduled)
        .summary()
        .batches
        .ratio;
    let right = 1.0 - 1.0 / achieved.expect("bytes");
    assert!(!warned(right) && warned(right - 0.1) && warned(right + 0.1));
}

#[test]
fn a_promise_about_a_percentile_counts_records_without_an_answer_as_never_answered() {
    // One record in fifty is refused: p99 is one of them, p50 is not.
    let mut outcome = run(&Played {
        refuse_every: 50,
        ..quiet()
    });
    let promises = ["p50<1s", "p99<1h"].map(|text| Promise::parse(text, false).expect("good"));
    judge(
        &mut outcome,
        &Asked {
            promises: &promises,
            errors_allowed: true,
        },
    );
    let kept: Vec<bool> = outcome
        .promises
        .iter()
        .map(|promise| promise.kept)
        .collect();
    assert_eq!(kept, [true, false]);
    assert!(
        outcome.promises[1].reason.contains("no answer"),
        "{:?}",
        outcome.promises[1]
    );
    assert_eq!(
        exit_code(&outcome.exit_reasons),
        6,
        "{:?}",
        outcome.exit_reasons
    );
}
