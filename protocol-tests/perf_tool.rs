//! `kafka-producer-perf-test` from its arguments to its last line, in hand-driven time.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use kdyno::base::clock::{MILLISECOND, Nanos};
use kdyno::cli::compat::producer_perf::{
    Acked, Event, Fidelity, IN_STEADY_STATE, PerfArgs, Stats, StatsPlan, final_line, metrics,
    metrics_table, parse, warmup_notice, window_line,
};
use kdyno::cli::compat::{Dispatch, Tool, dispatch};

use crate::support::outcomes;

const START: Nanos = 1_000 * MILLISECOND;

fn perf(line: &str) -> PerfArgs {
    let args: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
    let name = "/opt/kafka/bin/kafka-producer-perf-test.sh";
    let Some(Dispatch::Tool(Tool::ProducerPerf, args)) = dispatch(name, &args) else {
        panic!("{name} is not dispatched");
    };
    parse(&args).unwrap()
}

/// A run in which record `i` is sent at `i` ms and acknowledged 7 ms later, and every hundredth
/// 57 ms later; what it prints.
fn printed(perf: &PerfArgs, value_bytes: u64) -> Vec<String> {
    let mut lines: Vec<String> = perf.notices.iter().map(|&line| line.to_owned()).collect();
    if perf.warmup_records > 0 {
        lines.push(warmup_notice(perf.warmup_records));
    }
    let mut stats = Stats::new(StatsPlan {
        num_records: perf.num_records,
        warmup_records: perf.warmup_records,
        interval: perf.reporting_interval_ms * MILLISECOND,
        fidelity: perf.fidelity,
        start: START,
    });
    let mut events: Vec<(Nanos, Option<Acked>)> = (0..perf.num_records)
        .map(|index| {
            let latency = if index % 100 == 99 { 57 } else { 7 } * MILLISECOND;
            let now = START + index * MILLISECOND + latency;
            let acked = Acked {
                records: 1,
                latency,
                bytes: value_bytes,
                now,
                steady: perf.warmup_records > 0 && index >= perf.warmup_records,
            };
            (now, Some(acked))
        })
        .collect();
    if perf.warmup_records > 0 {
        events.push((START + perf.warmup_records * MILLISECOND, None));
    }
    events.sort_by_key(|(at, _)| *at);
    let end = events.last().unwrap().0;
    for (at, acked) in events {
        let Some(acked) = acked else {
            stats.begin_steady(at);
            continue;
        };
        stats.acked(&acked, |event| {
            lines.push(match event {
                Event::InSteadyState => IN_STEADY_STATE.to_owned(),
                Event::Window(window) => window_line(&window),
            });
        });
    }
    lines.push(final_line(&stats.totals(end)));
    lines.extend(stats.steady_totals(end).as_ref().map(final_line));
    lines
}

#[test]
fn a_run_prints_a_line_a_window_and_its_totals_last() {
    let perf = perf(
        "--topic t --num-records 12000 --record-size 100 --throughput 1000 --bootstrap-server h:1",
    );
    let lines = printed(&perf, 100);
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[0],
        "4994 records sent, 998.8 records/sec (0.10 MB/sec), 7.5 ms avg latency, 57.0 ms max \
         latency."
    );
    assert_eq!(
        lines[2],
        "12000 records sent, 995.355010 records/sec (0.09 MB/sec), 7.50 ms avg latency, 57.00 ms \
         max latency, 7 ms 50th, 7 ms 95th, 57 ms 99th, 57 ms 99.9th."
    );
}

/// Kafka's own system tests split the last line at its commas.
#[test]
fn the_last_line_parses_as_scripts_parse_it() {
    let perf = perf(
        "--topic t --num-records 2000 --record-size 512 --throughput -1 --bootstrap-server h:1",
    );
    let lines = printed(&perf, 512);
    let parts: Vec<&str> = lines.last().unwrap().split(',').collect();
    let first = |part: &str| part.split_whitespace().next().unwrap().to_owned();
    assert_eq!(first(parts[0]), "2000");
    let rate: f64 = first(parts[1]).parse().unwrap();
    let (_, inside) = parts[1].split_once('(').unwrap();
    let mb: f64 = first(inside).parse().unwrap();
    // MB is 2^20 bytes of values alone.
    assert!((mb - rate * 512.0 / 1_048_576.0).abs() < 0.005);
    let figures: Vec<String> = parts[2..].iter().map(|part| first(part)).collect();
    assert_eq!(figures, ["7.50", "57.00", "7", "7", "57", "57"]);
}

#[test]
fn a_warm_up_is_announced_left_and_summed_up_apart() {
    let perf = perf(
        "--topic t --num-records 12000 --record-size 100 --throughput 1000 --warmup-records 6000 \
         --producer-props bootstrap.servers=h:1",
    );
    let lines = printed(&perf, 100);
    let heads: Vec<String> = lines
        .iter()
        .map(|line| line.split(" records").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        heads,
        [
            "Option --producer-props has been deprecated and will be removed in a future version. \
             Use --command-property instead.",
            "Warmup first 6000",
            "4994",
            "In steady state.",
            "4994",
            "12000",
            "6000 steady state",
        ]
    );
    assert!(lines[1].ends_with("will print after the complete test summary."));
}

#[test]
fn the_reference_statistics_differ_only_where_they_sample_or_cut_off() {
    let line = "--topic t --num-records 5000 --record-size 100 --throughput 1000 \
                --bootstrap-server h:1";
    let exact = perf(line);
    let reference = perf(&format!("{line} --stats reference"));
    assert_eq!(reference.fidelity, Fidelity::Reference);
    assert_eq!(printed(&exact, 100), printed(&reference, 100));
}

#[test]
fn metrics_carry_kafkas_names_and_the_runs_figures() {
    let outcome = outcomes::outcome(&outcomes::steady());
    let table = metrics_table(&metrics(&outcome, "perf-producer-client"));
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(""));
    assert!(lines.next().unwrap().starts_with("Metric Name "));
    let value = |name: &str| {
        let full = format!("producer-metrics:{name}:{{client-id=perf-producer-client}}");
        let line = table.lines().find(|line| line.starts_with(&full));
        let (_, value) = line
            .unwrap_or_else(|| panic!("{name}"))
            .rsplit_once(" : ")
            .unwrap();
        value.to_owned()
    };
    assert_eq!(value("record-send-total"), "24000.000");
    assert_eq!(value("records-per-request-avg"), "100.000");
    assert_eq!(value("record-error-total"), "0.000");
    assert_eq!(value("buffer-total-bytes"), "33554432.000");
    assert!(table.contains("producer-node-metrics:request-total:"));
    assert!(table.contains("producer-topic-metrics:record-send-total:"));
    let names: Vec<_> = lines
        .map(|line| line.split(" : ").next().unwrap())
        .collect();
    assert!(names.is_sorted());
}
