//! Schedules against arithmetic.

use super::*;

fn constant(per_s: f64) -> Arrival {
    Arrival::new(
        Rate::Records(per_s),
        Process::Constant,
        RecordBytes::Each(100),
    )
}

fn lanes(arrival: &Arrival, lane_count: u32, start: Nanos) -> Vec<Schedule> {
    (0..lane_count)
        .map(|lane| Schedule::new(arrival, Share { lane, lane_count }, start))
        .collect()
}

#[test]
fn record_i_is_due_at_start_plus_i_over_rate_after_hours_too() {
    let mut schedule = Schedule::new(&constant(7_000.0), Share::ALL, 500);
    for i in 0..20_000_000u64 {
        if i % 999_983 == 0 {
            assert_eq!(schedule.next_due(), Some(500 + i * 1_000_000 / 7), "{i}");
        }
        schedule.advance(100);
    }
    assert_eq!(schedule.taken(), 20_000_000);
}

#[test]
fn rates_below_one_and_fractions_are_kept() {
    let mut half = Schedule::new(&constant(0.5), Share::ALL, 0);
    let dues: Vec<_> = half.due_until(20 * SECOND, 1).collect();
    assert_eq!(dues.len(), 11);
    assert_eq!(dues[10], 20 * SECOND);
    let mut odd = Schedule::new(&constant(2.5), Share::ALL, 0);
    let dues: Vec<_> = odd.due_until(2 * SECOND, 1).collect();
    let tenths: Vec<_> = dues.iter().map(|due| due / 100_000_000).collect();
    assert_eq!(tenths, [0, 4, 8, 12, 16, 20]);
}

#[test]
fn lanes_take_turns_so_that_together_they_are_the_one_schedule() {
    for lane_count in [2, 3, 7] {
        let arrival = constant(300_007.0);
        let mut one = Schedule::new(&arrival, Share::ALL, 77);
        let mut lanes = lanes(&arrival, lane_count, 77);
        for i in 0..100_000usize {
            let lane = &mut lanes[i % lane_count as usize];
            assert_eq!(lane.next_due(), one.next_due(), "{i} of {lane_count}");
            lane.advance(1);
            one.advance(1);
        }
    }
}

#[test]
fn records_taken_together_lead_to_where_they_lead_one_by_one() {
    let poisson = Process::Poisson { seed: 9 };
    let mean = RecordBytes::Mean(70.0);
    for arrival in [
        Arrival::FLAT_OUT,
        constant(300_007.0),
        Arrival::new(Rate::Records(300_007.0), poisson, mean),
        Arrival::new(Rate::Bytes(5e6), Process::Constant, mean),
        Arrival::new(Rate::Bytes(5e6), poisson, mean),
    ] {
        let mut one = Schedule::new(&arrival, Share::ALL, 5);
        let mut together = one.clone();
        for records in [1, 148, 7] {
            (0..records).for_each(|_| one.advance(70));
            together.advance_together(records, 70 * records as usize);
            assert_eq!(together.next_due(), one.next_due(), "{arrival:?}");
            assert_eq!(together.taken(), one.taken(), "{arrival:?}");
        }
    }
}

#[test]
fn the_step_said_is_the_step_taken() {
    let mut schedule = Schedule::new(&constant(300_000.0), Share::ALL, 0);
    let step_fp = schedule.step_fp().unwrap();
    for i in 0..1_000_000u64 {
        let told = ((u128::from(i) * u128::from(step_fp)) >> 32) as u64;
        assert!(schedule.next_due().unwrap().abs_diff(told) <= 1, "{i}");
        schedule.advance(1);
    }
    let slow = Schedule::new(&constant(0.2), Share::ALL, 0);
    assert_eq!(slow.step_fp(), None);
    assert_eq!(
        Schedule::new(&Arrival::FLAT_OUT, Share::ALL, 0).step_fp(),
        Some(0)
    );
}

#[test]
fn flat_out_is_always_due_and_has_no_due_times() {
    let mut schedule = Schedule::new(&Arrival::FLAT_OUT, Share::ALL, 1_000);
    assert!(schedule.is_due(0));
    assert_eq!(schedule.next_due(), None);
    assert_eq!(schedule.due_until(u64::MAX, 1).count(), 0);
}

#[test]
fn a_late_lane_is_given_every_due_time_it_missed() {
    let mut schedule = Schedule::new(&constant(1_000.0), Share::ALL, 0);
    assert_eq!(schedule.due_until(SECOND, 1).count(), 1_001);
    // Nothing was asked for five seconds.
    let dues: Vec<_> = schedule.due_until(6 * SECOND, 1).collect();
    assert_eq!(dues.len(), 5_000);
    assert_eq!(dues[0], SECOND + 1_000_000);
}

#[test]
fn poisson_gaps_have_the_mean_and_spread_of_the_exponential() {
    let arrival = Arrival::new(
        Rate::Records(40_000.0),
        Process::Poisson { seed: 42 },
        RecordBytes::Each(1),
    );
    for mut lane in lanes(&arrival, 4, 0) {
        let mut last = 0;
        let gaps: Vec<f64> = lane
            .due_until(20 * SECOND, 1)
            .map(|due| (due - std::mem::replace(&mut last, due)) as f64)
            .collect();
        let n = gaps.len() as f64;
        // 10,000 a second and lane; 200,000 draws: one standard error of the mean is 0.22 %.
        assert!((n - 200_000.0).abs() < 2_000.0, "{n}");
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
        let beyond = gaps.iter().filter(|&&gap| gap > 3.0 * mean).count() as f64;
        assert!((beyond / n - (-3f64).exp()).abs() < 0.002);
    }
}

#[test]
fn poisson_lanes_are_independent_and_a_seed_repeats() {
    let of = |seed, lane| {
        let arrival = Arrival::new(
            Rate::Records(1_000.0),
            Process::Poisson { seed },
            RecordBytes::Each(1),
        );
        let share = Share {
            lane,
            lane_count: 2,
        };
        Schedule::new(&arrival, share, 0)
            .due_until(SECOND, 1)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(1, 0), of(1, 0));
    assert_ne!(of(1, 0), of(1, 1));
    assert_ne!(of(1, 0), of(2, 0));
}

#[test]
fn a_rate_in_bytes_of_equal_records_is_a_rate_in_records() {
    let arrival = Arrival::new(
        Rate::Bytes(50e6),
        Process::Constant,
        RecordBytes::Each(1_000),
    );
    assert_eq!(arrival, constant(50_000.0));
    assert_eq!(arrival.records_per_s(), Some(50_000.0));
}

#[test]
fn a_rate_in_bytes_waits_for_what_each_record_weighs() {
    let arrival = Arrival::new(
        Rate::Bytes(1e6),
        Process::Constant,
        RecordBytes::Mean(600.0),
    );
    let mut schedule = Schedule::new(&arrival, Share::ALL, 0);
    let mut bytes = 0u64;
    for i in 0..1_000_000u64 {
        assert_eq!(schedule.next_due(), Some(bytes * 1_000));
        let record = 100 + i % 1_000;
        schedule.advance(record as usize);
        bytes += record;
    }
}

#[test]
fn lanes_share_a_rate_in_bytes_and_poisson_keeps_it_too() {
    for process in [Process::Constant, Process::Poisson { seed: 5 }] {
        let arrival = Arrival::new(Rate::Bytes(30e6), process, RecordBytes::Mean(300.0));
        let mut bytes = 0;
        for mut lane in lanes(&arrival, 3, 0) {
            while lane.is_due(SECOND) {
                let record = 200 + lane.taken() % 201;
                lane.advance(record as usize);
                bytes += record;
            }
        }
        assert!((bytes as f64 / 30e6 - 1.0).abs() < 0.02, "{bytes}");
    }
}

#[test]
fn shares_of_a_count_add_up_to_it() {
    for records in [0, 1, 5, 6, 7, 1_000_003] {
        let shares = (0..7).map(|lane| {
            let share = Share {
                lane,
                lane_count: 7,
            };
            share.of(records)
        });
        assert_eq!(shares.sum::<u64>(), records);
    }
}

#[test]
fn the_first_record_due_from_a_time_is_found_exactly() {
    for per_s in [0.3, 1.0, 7_000.0, 300_007.0, 60_000.0] {
        let arrival = constant(per_s);
        for after in [0, 1, SECOND - 1, SECOND, 3_600 * SECOND + 12_345] {
            let index = arrival.first_due_from(after).unwrap();
            assert!(arrival.due_of(index).unwrap() >= after);
            assert!(index == 0 || arrival.due_of(index - 1).unwrap() < after);
        }
    }
}
