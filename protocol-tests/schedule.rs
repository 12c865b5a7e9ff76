//! Pacing in hand-driven time: what is due when, over lanes, stalls and phases, at any rate.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use kdyno::base::clock::{MILLISECOND, Nanos, SECOND};
use kdyno::base::{rate, span};
use kdyno::load::arrival::{Arrival, Process, RecordBytes, Schedule, Share};
use kdyno::load::phase::{Extent, LanePhases, Phases, Warmup};
use kdyno::measure::stamps::{Pass, Phase, Stamps};

fn arrival(text: &str) -> Arrival {
    let rate = rate::parse(text).unwrap();
    Arrival::new(rate, Process::Constant, RecordBytes::Each(1_000))
}

/// Due times of all lanes up to `until`, in order.
fn dues(arrival: &Arrival, lane_count: u32, until: Nanos) -> Vec<Nanos> {
    let mut dues: Vec<Nanos> = (0..lane_count)
        .flat_map(|lane| {
            let share = Share { lane, lane_count };
            let mut schedule = Schedule::new(arrival, share, 0);
            schedule.due_until(until, 1_000).collect::<Vec<_>>()
        })
        .collect();
    dues.sort_unstable();
    dues
}

/// K-08 (a): a rate below one a second is paced, not rounded away.
#[test]
fn half_a_record_a_second_is_one_every_two_seconds() {
    let until = span::parse("20s").unwrap() - 1;
    let dues = dues(&arrival("0.5"), 1, until);
    assert_eq!(dues.len(), 10);
    let gaps = dues.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.into_iter().all(|gap| gap == 2 * SECOND));
}

/// K-08 (b): nothing is saved up for the beginning of a second.
#[test]
fn no_stretch_of_100_ms_holds_more_than_its_share_whatever_the_lanes() {
    for lanes in [1, 3, 16] {
        let dues = dues(&arrival("1k"), lanes, 10 * SECOND - 1);
        assert_eq!(dues.len(), 10_000);
        for stretch in 0..100 {
            let within = |due: &&Nanos| **due / (100 * MILLISECOND) == stretch;
            assert_eq!(dues.iter().filter(within).count(), 100);
        }
    }
}

/// K-01, its arithmetic: a stall makes nothing less due, and each record keeps its due time.
#[test]
fn records_due_in_a_stall_wait_as_long_as_it_lasts() {
    let mut schedule = Schedule::new(&arrival("1000"), Share::ALL, 0);
    let mut waits = Vec::new();
    let mut now = 0;
    while now < 30 * SECOND {
        // Nothing moves from 10 s to 15 s.
        now += if now == 10 * SECOND {
            5 * SECOND
        } else {
            MILLISECOND
        };
        waits.extend(schedule.due_until(now, 1_000).map(|due| now - due));
    }
    assert_eq!(waits.len(), 30_001);
    waits.sort_unstable();
    let at = |share: f64| waits[(share * waits.len() as f64) as usize] as f64 / 1e9;
    assert!((at(0.9) - 2.0).abs() < 0.02, "{}", at(0.9));
    assert!((at(0.99) - 4.7).abs() < 0.02, "{}", at(0.99));
    assert!((at(1.0 - 1e-9) - 5.0).abs() < 0.02);
}

#[test]
fn bytes_a_second_pace_records_by_their_size() {
    let megabytes = dues(&arrival("50MB/s"), 4, SECOND - 1);
    assert_eq!(megabytes, dues(&arrival("50k"), 4, SECOND - 1));
    let bits = dues(&arrival("400Mbit/s"), 1, SECOND - 1);
    assert_eq!(bits, megabytes);
}

/// K-06, its arithmetic: the window begins with its first due time, and holds what was asked.
#[test]
fn a_warm_up_by_time_or_by_records_leaves_the_whole_count_to_the_window() {
    for warmup in [Warmup::For(5 * SECOND), Warmup::Records(500)] {
        let phases = Phases {
            warmup,
            measure: Extent {
                records: Some(1_000),
                span: None,
            },
            drain: SECOND,
        };
        let arrival = arrival("100");
        let mut counts = [0, 0];
        for lane in 0..3 {
            let share = Share {
                lane,
                lane_count: 3,
            };
            let mut schedule = Schedule::new(&arrival, share, 0);
            let mut lane = LanePhases::new(&phases, &arrival, share, 0);
            assert_eq!(lane.measured_from(), Some(5 * SECOND));
            while let Some(due) = schedule.next_due()
                && let Some(phase) = lane.of(due)
            {
                counts[usize::from(phase == Phase::Measured)] += 1;
                lane.take(phase, due);
                schedule.advance(1_000);
            }
        }
        assert_eq!(counts, [500, 1_000]);
    }
}

/// What the schedule says of its step is what stamps need to keep a whole batch as one run.
#[test]
fn a_batch_of_a_constant_rate_is_stamped_as_one_run_with_every_due_time() {
    let share = Share {
        lane: 1,
        lane_count: 3,
    };
    let mut schedule = Schedule::new(&arrival("777_777"), share, 12_345);
    let step_fp = schedule.step_fp().unwrap();
    let pass = Pass {
        phase: Phase::Measured,
        offered: SECOND,
        appended: SECOND,
        blocked: 0,
        block_from: 0,
    };
    let mut stamps = Stamps::default();
    let mut dues = Vec::new();
    for _ in 0..100_000 {
        let due = schedule.next_due().unwrap();
        stamps.push_even(due, step_fp, &pass);
        dues.push(due);
        schedule.advance(1_000);
    }
    assert_eq!(stamps.runs().len(), 1);
    let stamped = stamps.dues(&stamps.runs()[0]);
    for (stamped, due) in stamped.zip(dues) {
        assert!(stamped.abs_diff(due) <= 1);
    }
}
