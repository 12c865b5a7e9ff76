//! The series of a run: one row an interval, with sparse histograms of 16 buckets an octave.

use super::histogram::{COARSE_COUNT, coarse_bounds};
use crate::base::clock::Nanos;

/// Counts by coarse bucket, only those that hold something: `(coarse index, count)`, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sparse(Vec<(u16, u64)>);

impl Sparse {
    /// From pairs of coarse index and count, ascending by index.
    pub fn from_pairs(pairs: Vec<(u16, u64)>) -> Self {
        Self(pairs)
    }

    /// The pairs of coarse index and count, ascending by index.
    pub fn pairs(&self) -> &[(u16, u64)] {
        &self.0
    }

    /// Samples counted.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The upper end, in ns, of the bucket that `share` (0 to 1) of the samples do not exceed:
    /// at most 6.25 % above the sample. None without samples.
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let rank = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map(|(coarse, _)| coarse_bounds(usize::from(*coarse)).1)
    }

    /// Adds all counts of `other`.
    pub fn add(&mut self, other: &Self) {
        let mut merged = Vec::with_capacity(self.0.len().max(other.0.len()));
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    merged.push((a.0, a.1 + b.1));
                    left.next();
                    right.next();
                }
                (Some(a), Some(b)) if a.0 > b.0 => merged.extend(right.next()),
                (Some(_), _) => merged.extend(left.next()),
                (None, Some(_)) => merged.extend(right.next()),
                (None, None) => break,
            }
        }
        self.0 = merged;
    }
}

/// What happened in one interval, by the time it happened (not by due time), in all phases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interval {
    /// Records the schedule made due (flat out: offered).
    pub due: u64,
    /// Records acknowledged (acks=0: written).
    pub acked: u64,
    /// Payload bytes of those: key, value and headers, uncompressed.
    pub payload_bytes: u64,
    /// Bytes on the wire of their batches.
    pub wire_bytes: u64,
    /// Records that ended failed, unknown or unsent.
    pub ended_otherwise: u64,
    /// Responses of the acknowledged ones; empty flat out.
    pub response: Sparse,
    /// Sends of the acknowledged ones.
    pub send: Sparse,
    /// The exact sum of those sends, ns.
    pub send_ns_sum: u128,
    /// The longest of them, exact; 0 without any.
    pub send_ns_max: Nanos,
}

impl Interval {
    /// Adds what another load thread did in the same interval.
    pub fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.acked += other.acked;
        self.payload_bytes += other.payload_bytes;
        self.wire_bytes += other.wire_bytes;
        self.ended_otherwise += other.ended_otherwise;
        self.response.add(&other.response);
        self.send.add(&other.send);
        self.send_ns_sum += other.send_ns_sum;
        self.send_ns_max = self.send_ns_max.max(other.send_ns_max);
    }
}

/// Rows a series keeps; beyond it neighbours are joined and the intervals are twice as long.
pub const ROWS_MAX: usize = 36_000;

/// All intervals of a run: row `i` covers `start + i × length` to `start + (i + 1) × length`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    /// When the first interval began.
    pub start: Nanos,
    /// How long each is, ns; the last one may have been cut short by the end of the run.
    pub length: Nanos,
    /// The rows.
    pub rows: Vec<Interval>,
}

impl Series {
    /// Adds the series of another load thread, which began at the same time.
    pub fn add(&mut self, other: &Self) {
        // A thread that ended an interval later may have joined rows once more.
        while self.length < other.length {
            self.join_neighbours();
        }
        let mut other = other.clone();
        while other.length < self.length {
            other.join_neighbours();
        }
        if self.rows.len() < other.rows.len() {
            self.rows.resize(other.rows.len(), Interval::default());
        }
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.add(more);
        }
    }

    /// Makes intervals twice as long.
    pub(super) fn join_neighbours(&mut self) {
        self.rows = self.rows.chunks(2).map(joined).collect();
        self.length *= 2;
    }
}

fn joined(rows: &[Interval]) -> Interval {
    let mut sum = Interval::default();
    for row in rows {
        sum.add(row);
    }
    sum
}

/// The interval being filled: dense counters, because they are touched for every run of records.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) row: Interval,
    pub(super) response: Dense,
    pub(super) send: Dense,
}

impl Open {
    pub(super) fn new() -> Self {
        Self {
            row: Interval::default(),
            response: Dense::new(),
            send: Dense::new(),
        }
    }

    /// Gives the finished row and starts the next one.
    pub(super) fn close(&mut self) -> Interval {
        let mut row = std::mem::take(&mut self.row);
        row.response = self.response.drain();
        row.send = self.send.drain();
        row
    }
}

/// Counts by coarse bucket, all of them.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    counts: Box<[u64]>,
    top: usize,
}

impl Dense {
    fn new() -> Self {
        Self {
            counts: vec![0; COARSE_COUNT].into_boxed_slice(),
            top: 0,
        }
    }

    #[inline]
    pub(super) fn record_n(&mut self, coarse: usize, count: u64) {
        self.counts[coarse] += count;
        self.top = self.top.max(coarse + 1);
    }

    fn drain(&mut self) -> Sparse {
        let filled = self.counts[..self.top].iter_mut().enumerate();
        let pairs = filled
            .filter(|(_, count)| **count > 0)
            .map(|(coarse, count)| (coarse as u16, std::mem::take(count)))
            .collect();
        self.top = 0;
        Sparse(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::histogram::coarse_of;

    #[test]
    fn sparse_counts_add_by_bucket() {
        let mut left = Sparse::from_pairs(vec![(3, 1), (9, 2)]);
        left.add(&Sparse::from_pairs(vec![(1, 5), (9, 1), (12, 7)]));
        assert_eq!(left.pairs(), [(1, 5), (3, 1), (9, 3), (12, 7)]);
        assert_eq!(left.count(), 16);
    }

    #[test]
    fn a_closed_interval_leaves_the_next_one_empty() {
        let mut open = Open::new();
        open.row.acked = 4;
        open.send.record_n(coarse_of(1_000_000), 4);
        let first = open.close();
        assert_eq!((first.acked, first.send.count()), (4, 4));
        assert!(
            first
                .send
                .quantile(0.5)
                .is_some_and(|ns| (1_000_000..1_070_000).contains(&ns))
        );
        assert_eq!(open.close(), Interval::default());
    }

    #[test]
    fn the_series_of_threads_add_row_by_row() {
        let row = |acked| Interval {
            acked,
            ..Interval::default()
        };
        let mut left = Series {
            start: 5,
            length: 10,
            rows: vec![row(1)],
        };
        left.add(&Series {
            start: 5,
            length: 10,
            rows: vec![row(2), row(3)],
        });
        assert_eq!(left.rows, [row(3), row(3)]);
    }

    #[test]
    fn series_of_unlike_intervals_add_by_the_longer_ones() {
        let row = |acked| Interval {
            acked,
            ..Interval::default()
        };
        let fine = Series {
            start: 0,
            length: 10,
            rows: vec![row(1), row(2), row(3)],
        };
        let coarse = Series {
            start: 0,
            length: 20,
            rows: vec![row(10), row(20)],
        };
        let (mut left, mut right) = (fine.clone(), coarse.clone());
        left.add(&coarse);
        right.add(&fine);
        assert_eq!(left.rows, [row(13), row(23)]);
        assert_eq!(left, right);
    }
}
