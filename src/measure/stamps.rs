//! When the records of one batch were due, offered and appended, kept as runs instead of per record.
//!
//! A run is a stretch of records that one pass of the load loop appended to one batch: they share
//! the time they were appended at. Their due times are an arithmetic series (a constant rate, or
//! flat out with step 0), or irregular (Poisson arrivals, keys scattered over partitions); then
//! each record keeps a 32-bit offset in units of [`OFFSET_UNIT_NS`].

use crate::base::clock::Nanos;

/// The grain of irregular due times: 64 ns, so that 32 bits reach 275 s.
pub const OFFSET_UNIT_NS: u64 = 64;

/// The phase a record belongs to, by its due time (flat out: by its offered time).
///
/// Whoever makes records due knows their exact due time and says the phase; deriving it later from
/// a stored due time would misplace the records within a rounding of the border.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Before the window: sent, counted apart.
    Warmup,
    /// In the window: what the result is about. The drain only waits for such records.
    #[default]
    Measured,
}

/// What a pass of the load loop knows about the records it appends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// The phase of the records; a pass that crosses the border is two passes.
    pub phase: Phase,
    /// When the first attempt to append was made. Kafka's own tool starts its clock here.
    pub offered: Nanos,
    /// When the record stood in a batch.
    pub appended: Nanos,
    /// Time the lane was blocked (memory, in-flight window) between `block_floor` and `appended`.
    pub blocked: Nanos,
    /// Blocking before this time does not count for the records of this pass; a record due later
    /// than this, and inside the block, counts one nanosecond less for each nanosecond of lateness.
    pub block_from: Nanos,
}

/// How the due times of a run are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Record `i` is due at `first_due + (i × step_fp) >> 32`.
    Even {
        /// Nanoseconds between records, 32.32 fixed point.
        step_fp: u64,
    },
    /// Record `i` is due at `base + offsets[from + i] × 64 ns`.
    Irregular {
        /// Where the run's offsets begin.
        from: u32,
    },
}

/// One stretch of records of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// What the pass knew.
    pub pass: Pass,
    /// When the first record was due (irregular: see [`Stamps::due`]).
    pub first_due: Nanos,
    /// How the others follow.
    pub spacing: Spacing,
    /// Records in the run; never 0.
    pub count: u32,
}

/// The marks that all records of a batch share, as the engine observed them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// When the batch could have been sent: full, linger over, or flushed.
    pub ready: Nanos,
    /// First byte of the successful attempt written.
    pub first_byte_written: Nanos,
    /// Last byte of the successful attempt accepted by the socket.
    pub last_byte_written: Nanos,
    /// First byte of the answer read.
    pub first_byte_read: Nanos,
    /// The batch was acknowledged.
    pub done: Nanos,
    /// Time between ready and first byte in which a throttle held the connection.
    pub throttled: Nanos,
    /// Time between ready and first byte that earlier attempts used, back-off included.
    pub earlier_attempts: Nanos,
}

/// The stamps of one batch.
#[derive(Debug, Default, Clone)]
pub struct Stamps {
    runs: Vec<Run>,
    base_due: Nanos,
    offsets: Vec<u32>,
}

impl Stamps {
    /// Forgets everything and keeps the room, for the next batch.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.offsets.clear();
        self.base_due = 0;
    }

    /// The runs, in the order of the records.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Records stamped.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.count)).sum()
    }

    /// Stamps one record whose due time follows its predecessor's by `step_fp` (0 when flat out).
    #[inline]
    pub fn push_even(&mut self, due: Nanos, step_fp: u64, pass: &Pass) {
        if let Some(run) = self.runs.last_mut()
            && run.spacing == (Spacing::Even { step_fp })
            && run.pass == *pass
        {
            let expected = run.first_due + even_offset(run.count, step_fp);
            if due.abs_diff(expected) <= 1 {
                run.count += 1;
                return;
            }
        }
        let spacing = Spacing::Even { step_fp };
        self.runs.push(Run {
            pass: *pass,
            first_due: due,
            spacing,
            count: 1,
        });
    }

    /// Stamps `count` records that are due together.
    #[inline]
    pub fn push_together(&mut self, due: Nanos, count: u32, pass: &Pass) {
        self.runs.push(Run {
            pass: *pass,
            first_due: due,
            spacing: Spacing::Even { step_fp: 0 },
            count,
        });
    }

    /// Stamps one record whose due time follows no rule.
    #[inline]
    pub fn push_irregular(&mut self, due: Nanos, pass: &Pass) {
        if self.offsets.is_empty() {
            // Half the reach of an offset stays free for records that come with an earlier due time.
            self.base_due = due.saturating_sub(1 << 37);
        }
        let units = due.saturating_sub(self.base_due).div_ceil(OFFSET_UNIT_NS);
        let from = self.offsets.len() as u32;
        self.offsets.push(u32::try_from(units).unwrap_or(u32::MAX));
        if let Some(run) = self.runs.last_mut()
            && matches!(run.spacing, Spacing::Irregular { .. })
            && run.pass == *pass
        {
            run.count += 1;
            return;
        }
        let spacing = Spacing::Irregular { from };
        self.runs.push(Run {
            pass: *pass,
            first_due: due,
            spacing,
            count: 1,
        });
    }

    /// When record `index` of `run` was due.
    #[inline]
    pub fn due(&self, run: &Run, index: u32) -> Nanos {
        match run.spacing {
            Spacing::Even { step_fp } => run.first_due + even_offset(index, step_fp),
            Spacing::Irregular { from } => {
                let units = self.offsets[(from + index) as usize];
                self.base_due + u64::from(units) * OFFSET_UNIT_NS
            }
        }
    }

    /// When the records of `run` were due, in their order.
    #[inline]
    pub fn dues(&self, run: &Run) -> impl Iterator<Item = Nanos> + use<'_> {
        let run = *run;
        (0..run.count).map(move |index| self.due(&run, index))
    }

    /// Keeps the first `records` stamps and gives the rest, for a batch that is split.
    pub fn split_off(&mut self, records: u32) -> Self {
        let mut rest = Self::default();
        let mut left = records;
        let runs = std::mem::take(&mut self.runs);
        for run in &runs {
            let kept = run.count.min(left);
            left -= kept;
            if kept > 0 {
                self.runs.push(Run {
                    count: kept,
                    ..*run
                });
            }
            for index in kept..run.count {
                let due = self.due(run, index);
                match run.spacing {
                    Spacing::Even { step_fp } => rest.push_even(due, step_fp, &run.pass),
                    Spacing::Irregular { .. } => rest.push_irregular(due, &run.pass),
                }
            }
        }
        rest
    }
}

impl Run {
    /// How long the lane was blocked while a record of this run, due at `due`, waited to be appended.
    #[inline]
    pub fn blocked_for(&self, due: Nanos) -> Nanos {
        self.pass
            .blocked
            .saturating_sub(due.saturating_sub(self.pass.block_from))
    }
}

/// `index × step`, in whole nanoseconds.
#[inline]
fn even_offset(index: u32, step_fp: u64) -> u64 {
    ((u128::from(index) * u128::from(step_fp)) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(appended: Nanos) -> Pass {
        Pass {
            phase: Phase::Measured,
            offered: appended,
            appended,
            blocked: 0,
            block_from: 0,
        }
    }

    #[test]
    fn a_constant_rate_with_a_fractional_step_stays_one_run() {
        let mut stamps = Stamps::default();
        let step_fp = ((1u128 << 32) * 1_000_000_000 / 300_000) as u64;
        for i in 0..100_000u64 {
            stamps.push_even(5_000 + i * 1_000_000_000 / 300_000, step_fp, &pass(9));
        }
        assert_eq!(stamps.runs().len(), 1);
        assert_eq!(stamps.count(), 100_000);
        let run = stamps.runs()[0];
        assert!(
            stamps
                .due(&run, 99_999)
                .abs_diff(5_000 + 99_999 * 1_000_000_000 / 300_000)
                <= 1
        );
    }

    #[test]
    fn irregular_due_times_come_back_within_their_grain() {
        let mut stamps = Stamps::default();
        let dues = [10_000_000u64, 10_000_777, 10_900_001, 9_999_000];
        for due in dues {
            stamps.push_irregular(due, &pass(11_000_000));
        }
        let run = stamps.runs()[0];
        for (i, due) in dues.iter().enumerate() {
            assert!(stamps.due(&run, i as u32).abs_diff(*due) < OFFSET_UNIT_NS);
        }
    }

    #[test]
    fn a_split_keeps_every_due_time_on_its_side() {
        let mut stamps = Stamps::default();
        for i in 0..10u64 {
            stamps.push_even(1_000 + i * 10, 10 << 32, &pass(if i < 6 { 1 } else { 2 }));
        }
        let rest = stamps.split_off(4);
        assert_eq!((stamps.count(), rest.count()), (4, 6));
        let first = rest.runs()[0];
        assert_eq!(rest.due(&first, 0), 1_040);
    }
}
