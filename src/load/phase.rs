//! Which phase a record belongs to, by its due time or its number, and when a lane has no more to send.

use super::arrival::{Arrival, Share};
use crate::base::clock::Nanos;
use crate::measure::stamps::Phase;

/// What comes before the window, sent but counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// Records due within this time of the start; 0 for no warm-up.
    For(Nanos),
    /// The first records, this many over all lanes.
    Records(u64),
}

/// How much is measured; the first bound reached ends it, and without any it runs until stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Records, over all lanes.
    pub records: Option<u64>,
    /// Time from the first due time that counts.
    pub span: Option<Nanos>,
}

/// The phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// What comes before the window.
    pub warmup: Warmup,
    /// The window.
    pub measure: Extent,
    /// How long to wait, after the last record was offered, for what is still out.
    pub drain: Nanos,
}

/// The phases as one lane goes through them.
#[derive(Debug, Clone)]
pub struct LanePhases {
    warmup_left: u64,
    warmup_until: Nanos,
    measured_left: u64,
    measured_from: Option<Nanos>,
    span: Nanos,
    end: Nanos,
}

impl LanePhases {
    /// The part of lane `share` in `phases`, in a run that starts at `start`.
    ///
    /// Where the schedule has a formula, exactly the records `w..w + n` of the run are measured;
    /// elsewhere each lane measures its share of `n`.
    pub fn new(phases: &Phases, arrival: &Arrival, share: Share, start: Nanos) -> Self {
        let (warmup_left, warmup_until, from, first) = match phases.warmup {
            Warmup::For(span) => {
                let from = start.saturating_add(span);
                let first = arrival.first_due_from(span).unwrap_or(0);
                (0, from, Some(from), first)
            }
            Warmup::Records(records) => {
                let from = arrival.due_of(records).map(|due| start.saturating_add(due));
                (share.of(records), 0, from, records)
            }
        };
        let measured_left = phases.measure.records.map_or(u64::MAX, |records| {
            share.of(first.saturating_add(records)) - share.of(first)
        });
        let span = phases.measure.span.unwrap_or(Nanos::MAX);
        Self {
            warmup_left,
            warmup_until,
            measured_left,
            measured_from: from,
            span,
            end: from.map_or(Nanos::MAX, |from| from.saturating_add(span)),
        }
    }

    /// The phase of the lane's next record, due at `due` (flat out: offered then); `None` when the
    /// lane has no more to send.
    #[inline]
    pub fn of(&self, due: Nanos) -> Option<Phase> {
        if self.warmup_left > 0 || due < self.warmup_until {
            return Some(Phase::Warmup);
        }
        (self.measured_left > 0 && due < self.end).then_some(Phase::Measured)
    }

    /// Records of `phase`, the one asked about among them, that a bound by count leaves at most.
    #[inline]
    pub fn left(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Warmup if self.warmup_left == 0 => u64::MAX,
            Phase::Warmup => self.warmup_left,
            Phase::Measured => self.measured_left,
        }
    }

    /// Takes the record asked about, of `phase`, due at `due`.
    #[inline]
    pub fn take(&mut self, phase: Phase, due: Nanos) {
        self.take_together(phase, due, 1);
    }

    /// Takes `records` that are due together, at most those that are [`Self::left`].
    #[inline]
    pub fn take_together(&mut self, phase: Phase, due: Nanos, records: u64) {
        match phase {
            Phase::Warmup => self.warmup_left = self.warmup_left.saturating_sub(records),
            Phase::Measured => {
                if self.measured_from.is_none() {
                    self.measured_from = Some(due);
                    self.end = due.saturating_add(self.span);
                }
                // Without a bound it stands at the top and comes to no end.
                if self.measured_left != u64::MAX {
                    self.measured_left -= records;
                }
            }
        }
    }

    /// When the window begins: known from the start where the plan says it, else from the lane's
    /// first measured record on.
    pub fn measured_from(&self) -> Option<Nanos> {
        self.measured_from
    }

    /// The due time from which on nothing is sent; [`Nanos::MAX`] when only a count or a signal
    /// ends the run, or the window hasn't begun.
    pub fn end(&self) -> Nanos {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::SECOND;
    use crate::base::rate::Rate;
    use crate::load::arrival::{Process, RecordBytes, Schedule};

    const START: Nanos = 5 * SECOND;

    fn constant(per_s: f64) -> Arrival {
        Arrival::new(
            Rate::Records(per_s),
            Process::Constant,
            RecordBytes::Each(1),
        )
    }

    fn phases(warmup: Warmup, records: Option<u64>, span: Option<Nanos>) -> Phases {
        Phases {
            warmup,
            measure: Extent { records, span },
            drain: SECOND,
        }
    }

    /// Due times of warm-up and window over all lanes, in order.
    fn play(phases: &Phases, arrival: &Arrival, lane_count: u32) -> [Vec<Nanos>; 2] {
        let mut played = [vec![], vec![]];
        for lane in 0..lane_count {
            let share = Share { lane, lane_count };
            let mut schedule = Schedule::new(arrival, share, START);
            let mut lane = LanePhases::new(phases, arrival, share, START);
            while let Some(due) = schedule.next_due()
                && let Some(phase) = lane.of(due)
            {
                played[usize::from(phase == Phase::Measured)].push(due);
                lane.take(phase, due);
                schedule.advance(1);
            }
        }
        played.each_mut().map(|dues| {
            dues.sort_unstable();
            std::mem::take(dues)
        })
    }

    #[test]
    fn warm_up_and_window_by_time_hold_what_is_due_in_them() {
        let phases = phases(Warmup::For(2 * SECOND), None, Some(10 * SECOND));
        for lanes in [1, 3] {
            let [warm, measured] = play(&phases, &constant(1_000.0), lanes);
            assert_eq!((warm.len(), measured.len()), (2_000, 10_000));
            assert_eq!(measured[0], START + 2 * SECOND);
            assert_eq!(measured[9_999], START + 12 * SECOND - 1_000_000);
        }
    }

    #[test]
    fn warm_up_and_window_by_records_hold_exactly_so_many_in_a_row() {
        let phases = phases(Warmup::Records(500), Some(1_000), None);
        for lanes in [1, 4, 7] {
            let [warm, measured] = play(&phases, &constant(100.0), lanes);
            assert_eq!((warm.len(), measured.len()), (500, 1_000));
            assert!(warm[499] < measured[0]);
            assert_eq!(measured[0], START + 5 * SECOND);
        }
    }

    #[test]
    fn a_count_after_a_warm_up_by_time_takes_records_in_a_row_over_all_lanes() {
        let phases = phases(Warmup::For(5 * SECOND + 1), Some(1_001), None);
        let arrival = constant(100.0);
        let one = play(&phases, &arrival, 1);
        assert_eq!((one[0].len(), one[1].len()), (501, 1_001));
        assert_eq!(play(&phases, &arrival, 7), one);
    }

    #[test]
    fn the_first_bound_reached_ends_the_window() {
        let by_count = phases(Warmup::For(0), Some(10), Some(SECOND));
        assert_eq!(play(&by_count, &constant(100.0), 2)[1].len(), 10);
        let by_time = phases(Warmup::For(0), Some(1_000), Some(SECOND));
        assert_eq!(play(&by_time, &constant(100.0), 2)[1].len(), 100);
    }

    #[test]
    fn a_warm_up_by_records_starts_the_windows_time_with_the_first_that_counts() {
        let phases = phases(Warmup::Records(50), None, Some(SECOND));
        let [warm, measured] = play(&phases, &constant(100.0), 3);
        assert_eq!((warm.len(), measured.len()), (50, 100));
        let mut flat = LanePhases::new(&phases, &Arrival::FLAT_OUT, Share::ALL, START);
        for i in 0..50 {
            assert_eq!(flat.of(START + i), Some(Phase::Warmup));
            flat.take(Phase::Warmup, START + i);
        }
        assert_eq!(flat.measured_from(), None);
        flat.take(Phase::Measured, START + 70);
        assert_eq!(flat.measured_from(), Some(START + 70));
        assert_eq!(flat.of(START + 69 + SECOND), Some(Phase::Measured));
        assert_eq!(flat.of(START + 70 + SECOND), None);
    }

    #[test]
    fn what_is_left_of_a_phase_is_what_its_count_has_not_taken() {
        let phases = phases(Warmup::Records(50), Some(30), None);
        let mut lane = LanePhases::new(&phases, &Arrival::FLAT_OUT, Share::ALL, START);
        assert_eq!(lane.left(Phase::Warmup), 50);
        lane.take_together(Phase::Warmup, START, 50);
        assert_eq!(lane.of(START), Some(Phase::Measured));
        lane.take_together(Phase::Measured, START, 29);
        assert_eq!(lane.left(Phase::Measured), 1);
        lane.take(Phase::Measured, START);
        assert_eq!(lane.of(START), None);
    }

    #[test]
    fn without_a_bound_it_ends_only_from_outside() {
        let phases = phases(Warmup::For(0), None, None);
        let mut lane = LanePhases::new(&phases, &Arrival::FLAT_OUT, Share::ALL, START);
        for _ in 0..10 {
            lane.take(Phase::Measured, START);
        }
        assert_eq!(lane.of(Nanos::MAX - 1), Some(Phase::Measured));
    }
}
