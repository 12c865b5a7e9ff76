//! What does it cost to record a record? Flat out, at a constant rate, and with Poisson arrivals,
//! each against counting alone. Every case checks its answer before it is timed.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kdyno::base::clock::{MILLISECOND, Nanos, SECOND};
use kdyno::base::rng::Rng;
use kdyno::measure::histogram::Histogram;
use kdyno::measure::recorder::{Acked, Arrivals, Detail, Recorder, RecorderOptions, Window};
use kdyno::measure::stamps::{Marks, Pass, Phase, Stamps};

criterion_group!(benches, recorder, histogram);
criterion_main!(benches);

/// Records of 100 B in a batch of 16 KiB.
const RECORDS: u32 = 145;

fn recorder(criterion: &mut Criterion) {
    for (name, arrivals, stamps) in [
        ("flat out", Arrivals::FlatOut, flat_out()),
        (
            "constant rate 200k/s",
            Arrivals::Scheduled,
            constant(200_000),
        ),
        (
            "constant rate 10M/s",
            Arrivals::Scheduled,
            constant(10_000_000),
        ),
        ("poisson 200k/s", Arrivals::Scheduled, poisson(200_000)),
    ] {
        check(arrivals, &stamps);
        let mut group = criterion.benchmark_group(format!("recorder, a record: {name}"));
        group.throughput(Throughput::Elements(u64::from(RECORDS)));
        group.warm_up_time(Duration::from_millis(500));
        group.measurement_time(Duration::from_secs(2));
        for (name, detail) in [("counts only", Detail::CountsOnly), ("full", Detail::Full)] {
            let mut recorder = new(arrivals, detail);
            let mut done = APPENDED + 2 * MILLISECOND;
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    // Latencies between 2 and 3 ms, so that buckets are not always the same.
                    done = APPENDED + 2 * MILLISECOND + (done * 7) % MILLISECOND;
                    recorder.acked(black_box(&stamps), &marks(done), &BATCH);
                });
            });
        }
        group.finish();
    }
}

fn histogram(criterion: &mut Criterion) {
    let mut rng = Rng::new(1, 0);
    let values: Vec<u64> = (0..4_096)
        .map(|_| MILLISECOND + rng.below(MILLISECOND))
        .collect();
    let mut ours = Histogram::default();
    let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 3_600 * SECOND, 3)
        .expect("a good range");
    for value in &values {
        ours.record(*value);
        theirs.saturating_record(*value);
    }
    assert_eq!(ours.max(), Some(theirs.max()));
    assert_eq!(ours.count(), theirs.len());
    let mut group = criterion.benchmark_group("histogram, a sample");
    group.throughput(Throughput::Elements(values.len() as u64));
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    group.bench_function("kdyno", |bencher| {
        bencher.iter(|| values.iter().for_each(|value| ours.record(*value)));
    });
    group.bench_function("hdrhistogram", |bencher| {
        bencher.iter(|| {
            values
                .iter()
                .for_each(|value| theirs.saturating_record(*value))
        });
    });
    group.finish();
}

/// Recording a batch must give what recording each of its records would.
fn check(arrivals: Arrivals, stamps: &Stamps) {
    let done = APPENDED + 2 * MILLISECOND;
    let mut recorder = new(arrivals, Detail::Full);
    recorder.acked(stamps, &marks(done), &BATCH);
    let recording = recorder.finish(done);
    let (mut response, mut send) = (Histogram::default(), Histogram::default());
    for run in stamps.runs() {
        for due in stamps.dues(run) {
            send.record(done - run.pass.offered);
            if arrivals == Arrivals::Scheduled {
                response.record(done - due);
            }
        }
    }
    assert_eq!(recording.clocks.response, response);
    assert_eq!(recording.clocks.send, send);
    assert_eq!(recording.parts.all().records, u64::from(RECORDS));
}

fn new(arrivals: Arrivals, detail: Detail) -> Recorder {
    let mut recorder = Recorder::new(RecorderOptions {
        detail,
        arrivals,
        start: 0,
        interval: SECOND,
    });
    recorder.set_window(Window {
        start: 0,
        end: Some(10 * SECOND),
        end_planned: Some(10 * SECOND),
    });
    recorder
}

const APPENDED: Nanos = 100 * MILLISECOND;

const BATCH: Acked = Acked {
    partition: 3,
    node: 1,
    records: RECORDS,
    payload_bytes: 100 * RECORDS as u64,
    raw_bytes: 108 * RECORDS as u64,
    wire_bytes: 108 * RECORDS as u64,
};

fn marks(done: Nanos) -> Marks {
    Marks {
        ready: APPENDED + 1_000,
        first_byte_written: APPENDED + 3_000,
        last_byte_written: APPENDED + 9_000,
        first_byte_read: done - 1_000,
        done,
        throttled: 0,
        earlier_attempts: 0,
    }
}

fn pass(offered: Nanos) -> Pass {
    Pass {
        phase: Phase::Measured,
        offered,
        appended: offered,
        blocked: 0,
        block_from: 0,
    }
}

fn flat_out() -> Stamps {
    let mut stamps = Stamps::default();
    for _ in 0..RECORDS {
        stamps.push_even(APPENDED, 0, &pass(APPENDED));
    }
    stamps
}

fn constant(per_s: u64) -> Stamps {
    let gap = SECOND / per_s;
    let mut stamps = Stamps::default();
    let first = APPENDED - u64::from(RECORDS) * gap;
    for i in 0..u64::from(RECORDS) {
        stamps.push_even(first + i * gap, gap << 32, &pass(APPENDED));
    }
    stamps
}

fn poisson(per_s: u64) -> Stamps {
    let mut rng = Rng::new(7, 0);
    let gap = SECOND as f64 / per_s as f64;
    let mut stamps = Stamps::default();
    let mut due = APPENDED as f64 - f64::from(RECORDS) * gap * 2.0;
    for _ in 0..RECORDS {
        due += -(1.0 - rng.unit()).ln() * gap;
        stamps.push_irregular((due as Nanos).min(APPENDED), &pass(APPENDED));
    }
    stamps
}
