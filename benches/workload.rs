//! What does it cost to know the next record: its due time, its value, its key? Without appending it.
//! Every case checks its answer before it is timed.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kdyno::base::rate::Rate;
use kdyno::load::arrival::{Arrival, Process, RecordBytes, Schedule, Share};
use kdyno::load::key::{KeyPlan, KeyPool, Keys};
use kdyno::load::payload::{Content, Lines, POOL_BYTES, Plan, Pool, Sizes, Values};

criterion_group!(benches, schedule, values, keys);
criterion_main!(benches);

/// Records a pass of the load loop takes at once.
const CHUNK: u64 = 256;

fn schedule(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("schedule, a record");
    group.throughput(Throughput::Elements(CHUNK));
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    for (name, process) in [
        ("constant", Process::Constant),
        ("poisson", Process::Poisson { seed: 1 }),
    ] {
        let arrival = Arrival::new(Rate::Records(1e6), process, RecordBytes::Each(100));
        let mut schedule = Schedule::new(&arrival, Share::ALL, 0);
        let million = schedule.due_until(1_000_000_000, 1).count();
        assert!(million.abs_diff(1_000_000) < 5_000);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..CHUNK {
                    black_box(schedule.next_due());
                    schedule.advance(100);
                }
            });
        });
    }
    group.finish();
}

fn values(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("value, a record");
    group.throughput(Throughput::Elements(CHUNK));
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    let lines = Lines::from_texts([&[b'x'; 100][..]; 10_000]).expect("1 MB of lines");
    for (name, content, sizes, null_ratio) in [
        ("100 B letters", Content::Letters, Sizes::Fixed(100), 0.0),
        ("a tenth null", Content::Letters, Sizes::Fixed(100), 0.1),
        (
            "uniform:50..150",
            Content::Letters,
            Sizes::Uniform { min: 50, max: 150 },
            0.0,
        ),
        (
            "lines of 100 B",
            Content::Lines(lines),
            Sizes::Fixed(100),
            0.0,
        ),
        ("record numbers", Content::Index, Sizes::Fixed(0), 0.0),
    ] {
        let plan = Plan {
            content,
            sizes,
            null_ratio,
            pool_bytes: POOL_BYTES,
            seed: 1,
        };
        let pool = Arc::new(Pool::prepare(plan).expect("a good plan"));
        let mut values = Values::new(pool, Share::ALL);
        assert!(values.value(0).is_some_and(|value| value.len() <= 150));
        let mut index = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..CHUNK {
                    index += 1;
                    black_box(values.value(index));
                }
            });
        });
    }
    group.finish();
}

fn keys(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("key with its hash, a record");
    group.throughput(Throughput::Elements(CHUNK));
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    for (name, plan) in [
        ("uniform:10000", KeyPlan::Uniform { n: 10_000 }),
        ("zipf:10000,0.99", KeyPlan::Zipf { n: 10_000, s: 0.99 }),
        ("sequence", KeyPlan::Sequence { modulo: None }),
    ] {
        let pool = KeyPool::prepare(plan, 1, crc32c::crc32c).expect("a good plan");
        let mut keys = Keys::new(Arc::new(pool), Share::ALL);
        let key = keys.key(7).expect("a key");
        assert_eq!(key.hash, crc32c::crc32c(key.bytes));
        let mut index = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for _ in 0..CHUNK {
                    index += 1;
                    black_box(keys.key(index));
                }
            });
        });
    }
    group.finish();
}
