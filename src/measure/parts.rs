//! The parts that a response consists of, summed in whole nanoseconds so that they always add up.
//!
//! Sums are kept per coarse response bucket (16 an octave). All rows together give the exact mean
//! over every record; the rows from the top give the mean over the slowest share, the row on the
//! border prorated.

use super::histogram::coarse_bounds;
use super::stamps::Marks;
use crate::base::clock::Nanos;

/// One part of a response, in the order a record passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The tool's own lateness: due, not yet appended, and nothing blocked the lane.
    Lag,
    /// The lane was blocked on memory or on its in-flight window.
    Buffer,
    /// In an open batch, until that was ready.
    Batch,
    /// In a ready batch, until its first byte was written.
    Queue,
    /// Held back because the broker asked for it.
    Throttle,
    /// Used up by attempts before the one that succeeded.
    EarlierAttempts,
    /// From the first to the last byte written.
    Write,
    /// From the last byte written to the first byte of the answer.
    Request,
    /// From the first byte of the answer to its end and its handling.
    Reply,
}

/// How many parts there are.
pub const PART_COUNT: usize = Part::ALL.len();

impl Part {
    /// All parts in order.
    pub const ALL: [Self; 9] = [
        Self::Lag,
        Self::Buffer,
        Self::Batch,
        Self::Queue,
        Self::Throttle,
        Self::EarlierAttempts,
        Self::Write,
        Self::Request,
        Self::Reply,
    ];

    /// Its name on the dial.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lag => "lag",
            Self::Buffer => "buffer",
            Self::Batch => "batch",
            Self::Queue => "queue",
            Self::Throttle => "throttle",
            Self::EarlierAttempts => "earlier attempts",
            Self::Write => "write",
            Self::Request => "request",
            Self::Reply => "reply",
        }
    }
}

/// Sums of the parts over some records, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartSums {
    /// Records summed.
    pub records: u64,
    /// One sum a part, in the order of [`Part::ALL`].
    pub ns: [u128; PART_COUNT],
}

impl PartSums {
    /// The sum over all parts, which is the sum of the responses.
    pub fn total_ns(&self) -> u128 {
        self.ns.iter().sum()
    }

    /// The means; all 0 without records.
    pub fn means(&self) -> PartMeans {
        let records = self.records.max(1) as f64;
        PartMeans {
            records: self.records as f64,
            ns: self.ns.map(|sum| sum as f64 / records),
        }
    }

    fn add(&mut self, other: &Self) {
        self.records += other.records;
        for (sum, ns) in self.ns.iter_mut().zip(other.ns) {
            *sum += ns;
        }
    }
}

/// Means of the parts, ns. They add up to [`PartMeans::total_ns`] but for rounding of floats.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartMeans {
    /// Records they are over; a fraction where the border row was prorated.
    pub records: f64,
    /// One mean a part, in the order of [`Part::ALL`].
    pub ns: [f64; PART_COUNT],
}

impl PartMeans {
    /// The mean of one part.
    pub fn of(&self, part: Part) -> f64 {
        self.ns[part as usize]
    }

    /// The mean response.
    pub fn total_ns(&self) -> f64 {
        self.ns.iter().sum()
    }
}

/// Part sums by coarse bucket of the response (flat out: of the send).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartTable {
    rows: Vec<PartSums>,
}

impl PartTable {
    /// Adds the sums of records whose response lies in coarse bucket `coarse`.
    #[inline]
    pub(super) fn add_row(&mut self, coarse: usize, sums: &PartSums) {
        if self.rows.len() <= coarse {
            self.rows.resize(coarse + 1, PartSums::default());
        }
        self.rows[coarse].add(sums);
    }

    /// Adds all rows of `other`.
    pub fn add(&mut self, other: &Self) {
        for (coarse, row) in other.rows.iter().enumerate() {
            self.add_row(coarse, row);
        }
    }

    /// Sums over every record.
    pub fn all(&self) -> PartSums {
        let mut sums = PartSums::default();
        for row in &self.rows {
            sums.add(row);
        }
        sums
    }

    /// Means over the slowest `share` of the records (0.01: the slowest 1 %); none without records.
    pub fn slowest(&self, share: f64) -> Option<PartMeans> {
        let wanted = self.all().records as f64 * share;
        let mut taken = 0.0;
        let mut ns = [0.0; PART_COUNT];
        for row in self.rows.iter().rev().filter(|row| row.records > 0) {
            let take = (wanted - taken).min(row.records as f64);
            if take <= 0.0 {
                break;
            }
            let fraction = take / row.records as f64;
            for (sum, row_ns) in ns.iter_mut().zip(row.ns) {
                *sum += row_ns as f64 * fraction;
            }
            taken += take;
        }
        (taken > 0.0).then(|| PartMeans {
            records: taken,
            ns: ns.map(|sum| sum / taken),
        })
    }

    /// The rows that hold records: bounds of the response in ns, and the sums.
    pub fn rows(&self) -> impl Iterator<Item = ((Nanos, Nanos), &PartSums)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.records > 0)
            .map(|(coarse, row)| (coarse_bounds(coarse), row))
    }
}

/// The parts after *appended*, which all records of a run share. They add up to `rest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AfterAppend {
    /// From appended to done, ns.
    pub(super) rest: Nanos,
    /// Batch to reply, in the order of [`Part::ALL`] from [`Part::Batch`] on.
    parts: [Nanos; PART_COUNT - 2],
}

impl AfterAppend {
    /// Cuts the way from `appended` to done at the marks. A mark out of order is moved to its
    /// neighbour, so that no part is negative and the sum holds whatever the marks are.
    #[inline]
    pub(super) fn cut(appended: Nanos, marks: &Marks) -> Self {
        let done = marks.done.max(appended);
        let last_read = marks.first_byte_read.clamp(appended, done);
        let last_written = marks.last_byte_written.clamp(appended, last_read);
        let first_written = marks.first_byte_written.clamp(appended, last_written);
        let ready = marks.ready.clamp(appended, first_written);
        let waiting = first_written - ready;
        let throttle = marks.throttled.min(waiting);
        let earlier = marks.earlier_attempts.min(waiting - throttle);
        Self {
            rest: done - appended,
            parts: [
                ready - appended,
                waiting - throttle - earlier,
                throttle,
                earlier,
                last_written - first_written,
                last_read - last_written,
                done - last_read,
            ],
        }
    }

    /// The sums over `records` records that waited `lag` and `buffer` ns in all before appended.
    #[inline]
    pub(super) fn sums(&self, records: u64, lag: u128, buffer: u128) -> PartSums {
        let mut ns = [0; PART_COUNT];
        ns[Part::Lag as usize] = lag;
        ns[Part::Buffer as usize] = buffer;
        for (sum, part) in ns[Part::Batch as usize..].iter_mut().zip(self.parts) {
            *sum = u128::from(part) * u128::from(records);
        }
        PartSums { records, ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::histogram::coarse_of;
    use proptest::prelude::*;

    fn row(records: u64, ns: u128) -> PartSums {
        let mut sums = PartSums {
            records,
            ns: [0; PART_COUNT],
        };
        sums.ns[Part::Request as usize] = ns;
        sums
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_whole_whatever_the_marks_say(
            appended in 0u64..1_000, ready in 0u64..1_000, first in 0u64..1_000, last in 0u64..1_000,
            read in 0u64..1_000, done in 0u64..1_000, throttled in 0u64..1_000, earlier in 0u64..1_000,
        ) {
            let marks = Marks {
                ready, first_byte_written: first, last_byte_written: last, first_byte_read: read,
                done, throttled, earlier_attempts: earlier,
            };
            let cut = AfterAppend::cut(appended, &marks);
            let sums = cut.sums(3, 0, 0);
            prop_assert_eq!(sums.total_ns(), 3 * u128::from(cut.rest));
            prop_assert_eq!(cut.rest, done.saturating_sub(appended));
        }
    }

    #[test]
    fn a_record_appended_after_its_batch_was_ready_has_no_batch_part() {
        let marks = Marks {
            ready: 100,
            first_byte_written: 400,
            last_byte_written: 410,
            first_byte_read: 900,
            done: 905,
            throttled: 50,
            earlier_attempts: 20,
        };
        let means = AfterAppend::cut(300, &marks).sums(1, 0, 0).means();
        let of = |part| means.of(part);
        assert_eq!(of(Part::Batch), 0.0);
        assert_eq!(of(Part::Queue), 30.0);
        assert_eq!(
            (of(Part::Throttle), of(Part::EarlierAttempts)),
            (50.0, 20.0)
        );
        assert_eq!(
            (of(Part::Write), of(Part::Request), of(Part::Reply)),
            (10.0, 490.0, 5.0)
        );
    }

    #[test]
    fn the_slowest_share_takes_whole_rows_from_the_top_and_prorates_the_border() {
        let mut table = PartTable::default();
        table.add_row(coarse_of(1_000_000), &row(980, 980_000_000));
        table.add_row(coarse_of(5_000_000), &row(15, 75_000_000));
        table.add_row(coarse_of(9_000_000), &row(5, 45_000_000));
        let slowest = table.slowest(0.01).expect("there are records");
        assert_eq!(slowest.records, 10.0);
        assert!((slowest.total_ns() - 7_000_000.0).abs() < 1e-6);
        assert_eq!(table.all().total_ns(), 1_100_000_000);
        assert_eq!(PartTable::default().slowest(0.01), None);
    }
}
