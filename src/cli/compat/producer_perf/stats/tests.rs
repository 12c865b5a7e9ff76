//! Windows, warm-up, percentiles and sampling as the tool has them.

use super::*;

fn plan(num_records: u64, warmup_records: u64, fidelity: Fidelity) -> StatsPlan {
    StatsPlan {
        num_records,
        warmup_records,
        interval: 5_000 * MILLISECOND,
        fidelity,
        start: 1_000 * MILLISECOND,
    }
}

fn acked(now_ms: u64, latency_ms: u64, steady: bool) -> Acked {
    Acked {
        records: 1,
        latency: latency_ms * MILLISECOND,
        bytes: 100,
        now: (1_000 + now_ms) * MILLISECOND,
        steady,
    }
}

/// Feeds acknowledgements and gives what there was to print.
fn told(stats: &mut Stats, acked: impl IntoIterator<Item = Acked>) -> Vec<Event> {
    let mut told = Vec::new();
    for acked in acked {
        stats.acked(&acked, |event| told.push(event));
    }
    told
}

fn percentiles(latencies_ms: &[u64], num_records: u64, fidelity: Fidelity) -> [u64; 4] {
    let mut stats = Stats::new(plan(num_records, 0, fidelity));
    told(
        &mut stats,
        latencies_ms.iter().map(|&ms| acked(1, ms, false)),
    );
    stats.totals(0).percentiles_ms
}

#[test]
fn a_window_ends_with_the_acknowledgement_that_finds_it_over() {
    let mut stats = Stats::new(plan(100, 0, Fidelity::Exact));
    let told = told(
        &mut stats,
        [
            acked(10, 3, false),
            acked(4_999, 5, false),
            // Nothing came for a while: the window is as long as it was.
            acked(9_000, 7, false),
            acked(13_999, 1, false),
            acked(14_000, 2, false),
        ],
    );
    let windows = [(3, 9_000, 15, 7), (2, 5_000, 3, 2)].map(|(records, elapsed, sum, max)| {
        Event::Window(Window {
            records,
            bytes: 100 * records,
            elapsed: elapsed * MILLISECOND,
            latency_sum: sum * u128::from(MILLISECOND),
            latency_max: max * MILLISECOND,
        })
    });
    assert_eq!(told, windows);
    assert_eq!(stats.totals(0).all.records, 5);
    assert_eq!(stats.steady_totals(0), None);
}

#[test]
fn after_the_warm_up_windows_are_of_the_steady_state_and_say_so_once() {
    let mut stats = Stats::new(plan(100, 2, Fidelity::Exact));
    assert_eq!(told(&mut stats, [acked(100, 900, false)]), []);
    stats.begin_steady(2_000 * MILLISECOND);
    let told = told(
        &mut stats,
        [
            // Sent before the border, acknowledged after it: in the total only, and no window.
            acked(6_500, 800, false),
            acked(6_600, 4, true),
            acked(11_600, 6, true),
        ],
    );
    let kinds: Vec<_> = told
        .iter()
        .map(|event| match event {
            Event::InSteadyState => None,
            Event::Window(window) => Some((window.records, window.elapsed / MILLISECOND)),
        })
        .collect();
    assert_eq!(kinds, [None, Some((1, 5_600)), Some((1, 5_000))]);
    let end = 13_000 * MILLISECOND;
    let (total, steady) = (stats.totals(end), stats.steady_totals(end).unwrap());
    assert_eq!((total.all.records, steady.all.records), (4, 2));
    assert_eq!(total.all.elapsed, 12_000 * MILLISECOND);
    assert_eq!(steady.all.elapsed, 11_000 * MILLISECOND);
    assert_eq!(steady.all.latency_max, 6 * MILLISECOND);
    assert!(steady.steady && !total.steady);
}

#[test]
fn percentiles_are_the_places_floor_p_times_n_of_all_in_order() {
    for fidelity in [Fidelity::Exact, Fidelity::Reference] {
        let upwards: Vec<u64> = (1..=1_000).rev().collect();
        assert_eq!(
            percentiles(&upwards, 1_000, fidelity),
            [501, 951, 991, 1_000]
        );
        assert_eq!(percentiles(&[7], 1, fidelity), [7; 4]);
        assert_eq!(percentiles(&[], 1, fidelity), [0; 4]);
        // 90 seconds lie beyond the dense counts.
        let long = [1, 2, 90_000, 100_000];
        assert_eq!(
            percentiles(&long, 4, fidelity),
            [90_000, 100_000, 100_000, 100_000]
        );
    }
}

#[test]
fn exact_figures_round_to_the_nearest_millisecond_and_reference_ones_cut_it_off() {
    let of = |fidelity| {
        let mut stats = Stats::new(plan(1, 0, fidelity));
        let acked = Acked {
            latency: 2_600_000,
            ..acked(1, 0, false)
        };
        stats.acked(&acked, |_| {});
        let totals = stats.totals(1_012_600_000);
        (
            totals.percentiles_ms[0],
            totals.all.latency_sum,
            totals.all.latency_max,
            totals.all.elapsed,
        )
    };
    assert_eq!(of(Fidelity::Exact), (3, 2_600_000, 2_600_000, 12_600_000));
    assert_eq!(
        of(Fidelity::Reference),
        (2, 2_000_000, 2_000_000, 12_000_000)
    );
}

#[test]
fn reference_percentiles_sample_from_a_million_records_on() {
    for (num_records, every) in [(999_999, 1), (1_000_000, 2), (1_500_000, 3)] {
        let mut stats = Stats::new(plan(num_records, 0, Fidelity::Reference));
        // Groups as acknowledgements come, of sizes that don't divide the step.
        let mut left = num_records;
        while left > 0 {
            let records = left.min(1_001);
            left -= records;
            let acked = Acked {
                records,
                ..acked(1, 1, false)
            };
            stats.acked(&acked, |_| {});
        }
        let Latencies::Sampled { kept, .. } = &stats.total.latencies else {
            panic!("not sampled");
        };
        assert_eq!(kept.len() as u64, num_records / every);
        assert_eq!(stats.totals(0).all.records, num_records);
    }
}

#[test]
fn exact_percentiles_count_every_record() {
    // One slow record of two million: sampling could miss it, a count can't.
    let mut stats = Stats::new(plan(2_000_000, 0, Fidelity::Exact));
    for (records, latency_ms) in [(1_997_999, 1), (2_001, 50)] {
        let acked = Acked {
            records,
            ..acked(1, latency_ms, false)
        };
        stats.acked(&acked, |_| {});
    }
    assert_eq!(stats.totals(0).percentiles_ms, [1, 1, 1, 50]);
}
