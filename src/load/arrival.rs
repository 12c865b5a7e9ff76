//! When records are due: the schedule of one lane, from arithmetic alone, never from a clock.

use crate::base::clock::{Nanos, SECOND};
use crate::base::rate::{PER_S_MAX, PER_S_MIN, Rate};
use crate::base::rng::Rng;

/// Which of the lanes a lane is; record `i` of the whole run belongs to lane `i mod lane_count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Zero-based, below `lane_count`.
    pub lane: u32,
    /// At least 1, at most [`LANES_MAX`].
    pub lane_count: u32,
}

/// The most lanes a run may have.
pub const LANES_MAX: u32 = 1 << 20;

/// How the gaps between records are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// All alike: record `i` is due at `start + i / rate`.
    Constant,
    /// Independent and exponential: what many unrelated senders look like together.
    Poisson {
        /// Seed of the gaps; each lane has a stream of its own.
        seed: u64,
    },
}

/// What is due when, over all lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival(Kind);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    FlatOut,
    Records {
        per_s: f64,
        process: Process,
    },
    Bytes {
        per_s: f64,
        bytes_mean: f64,
        process: Process,
    },
}

/// The schedule of one lane.
///
/// The lane asks for [`Schedule::next_due`], and takes the record off with [`Schedule::advance`]
/// once it stands in a batch; so a record that finds no room keeps its due time. Debt is kept:
/// a lane that is late is given every due time that it missed.
#[derive(Debug, Clone)]
pub struct Schedule {
    pace: Pace,
    due: Nanos,
    taken: u64,
}

#[derive(Debug, Clone)]
enum Pace {
    FlatOut,
    Even(Steps),
    Poisson { gap_mean: f64, rest: f64, rng: Rng },
    EvenBytes { per_byte_fp: u128, rest_fp: u64 },
    PoissonBytes { per_byte: f64, rest: f64, rng: Rng },
}

/// Equal steps of a fraction of nanoseconds, without an error that adds up.
#[derive(Debug, Clone, Copy)]
struct Steps {
    /// Whole nanoseconds of a step.
    whole: u64,
    /// And this many [`Steps::parts`]-ths of one.
    part: u64,
    parts: u64,
    /// How many parts the due time is past its whole nanosecond.
    rest: u64,
}

impl Share {
    /// The whole run, for a single lane.
    pub const ALL: Self = Self {
        lane: 0,
        lane_count: 1,
    };

    /// How many of the records `0..records` of the run are the lane's.
    pub fn of(self, records: u64) -> u64 {
        let (lane, lanes) = (u64::from(self.lane), u64::from(self.lane_count));
        records / lanes + u64::from(records % lanes > lane)
    }

    /// The number in the whole run of the lane's record `index`.
    #[inline]
    pub fn global(self, index: u64) -> u64 {
        index
            .wrapping_mul(u64::from(self.lane_count))
            .wrapping_add(u64::from(self.lane))
    }
}

impl Arrival {
    /// As fast as it goes: a record is due when it is offered.
    pub const FLAT_OUT: Self = Self(Kind::FlatOut);

    /// Paces `rate` over all lanes. `bytes` says how large records are, as the rate counts them;
    /// when all are alike, a rate in bytes is a rate in records, exact to the nanosecond.
    /// Rates are held within [`PER_S_MIN`]`..=`[`PER_S_MAX`].
    pub fn new(rate: Rate, process: Process, bytes: RecordBytes) -> Self {
        let held = |per_s: f64| per_s.clamp(PER_S_MIN, PER_S_MAX);
        match (rate, bytes) {
            (Rate::Unlimited, _) => Self::FLAT_OUT,
            (Rate::Records(per_s), _) => Self(Kind::Records {
                per_s: held(per_s),
                process,
            }),
            (Rate::Bytes(per_s) | Rate::WireBytes(per_s), RecordBytes::Each(bytes)) => {
                Self(Kind::Records {
                    per_s: held(per_s / bytes.max(1) as f64),
                    process,
                })
            }
            (Rate::Bytes(per_s) | Rate::WireBytes(per_s), RecordBytes::Mean(bytes_mean)) => {
                Self(Kind::Bytes {
                    per_s: held(per_s),
                    bytes_mean: bytes_mean.max(1.0),
                    process,
                })
            }
        }
    }

    /// Whether records are due whenever there is room.
    pub fn is_flat_out(&self) -> bool {
        self.0 == Kind::FlatOut
    }

    /// Records per second that come due in the long run; `None` when flat out.
    pub fn records_per_s(&self) -> Option<f64> {
        match self.0 {
            Kind::FlatOut => None,
            Kind::Records { per_s, .. } => Some(per_s),
            Kind::Bytes {
                per_s, bytes_mean, ..
            } => Some(per_s / bytes_mean),
        }
    }

    /// How long after the start record `index` of the run is due, where that needs no history.
    pub fn due_of(&self, index: u64) -> Option<Nanos> {
        match self.0 {
            Kind::Records {
                per_s,
                process: Process::Constant,
            } => Some(Steps::new(per_s, 1).after(index).0),
            _ => None,
        }
    }

    /// The first record of the run due `after` its start or later, where that needs no history.
    pub fn first_due_from(&self, after: Nanos) -> Option<u64> {
        let Kind::Records {
            per_s,
            process: Process::Constant,
        } = self.0
        else {
            return None;
        };
        let steps = Steps::new(per_s, 1);
        // The guess is off by what a double can't hold; a few steps correct it.
        let mut index = (after as f64 / SECOND as f64 * per_s) as u64;
        while index > 0 && steps.after(index - 1).0 >= after {
            index -= 1;
        }
        while steps.after(index).0 < after {
            index += 1;
        }
        Some(index)
    }
}

/// How many bytes records have, as far as the plan knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RecordBytes {
    /// All of them this many.
    Each(u64),
    /// They vary around this.
    Mean(f64),
}

impl Schedule {
    /// The schedule of the lane `share` of a run that starts at `start`.
    pub fn new(arrival: &Arrival, share: Share, start: Nanos) -> Self {
        let lanes = f64::from(share.lane_count);
        let poisson = |seed| Rng::new(seed, u64::from(share.lane));
        let mut schedule = Self {
            pace: Pace::FlatOut,
            due: start,
            taken: 0,
        };
        match arrival.0 {
            Kind::FlatOut => {}
            Kind::Records {
                per_s,
                process: Process::Constant,
            } => {
                let mut steps = Steps::new(per_s, share.lane_count);
                let (whole, rest) = Steps::new(per_s, 1).after(u64::from(share.lane));
                schedule.due = start.saturating_add(whole);
                steps.rest = rest;
                schedule.pace = Pace::Even(steps);
            }
            Kind::Records {
                per_s,
                process: Process::Poisson { seed },
            } => {
                let gap_mean = SECOND as f64 * lanes / per_s;
                schedule.pace = Pace::Poisson {
                    gap_mean,
                    rest: 0.0,
                    rng: poisson(seed),
                };
                schedule.advance(0);
                schedule.taken = 0;
            }
            Kind::Bytes {
                per_s,
                bytes_mean,
                process,
            } => {
                // Lanes begin spread over the time that one mean record of each takes together.
                let spread = f64::from(share.lane) * bytes_mean / per_s * SECOND as f64;
                schedule.due = start.saturating_add(spread as Nanos);
                let per_byte = SECOND as f64 * lanes / per_s;
                schedule.pace = match process {
                    Process::Constant => Pace::EvenBytes {
                        per_byte_fp: (per_byte * TWO_POW_64) as u128,
                        rest_fp: 0,
                    },
                    Process::Poisson { seed } => Pace::PoissonBytes {
                        per_byte,
                        rest: 0.0,
                        rng: poisson(seed),
                    },
                };
            }
        }
        schedule
    }

    /// When the next record is due; `None` when flat out: as soon as there is room.
    #[inline]
    pub fn next_due(&self) -> Option<Nanos> {
        (!matches!(self.pace, Pace::FlatOut)).then_some(self.due)
    }

    /// Whether the next record is due by `now`.
    #[inline]
    pub fn is_due(&self, now: Nanos) -> bool {
        matches!(self.pace, Pace::FlatOut) || self.due <= now
    }

    /// Takes the next record, of `bytes` as the rate counts them, off the schedule.
    #[inline]
    pub fn advance(&mut self, bytes: usize) {
        self.taken += 1;
        let gap = match &mut self.pace {
            Pace::FlatOut => 0,
            Pace::Even(steps) => steps.step(),
            Pace::Poisson {
                gap_mean,
                rest,
                rng,
            } => whole(rest, *gap_mean * exponential(rng)),
            Pace::EvenBytes {
                per_byte_fp,
                rest_fp,
            } => {
                let gap_fp = per_byte_fp
                    .saturating_mul(bytes as u128)
                    .saturating_add(u128::from(*rest_fp));
                *rest_fp = gap_fp as u64;
                (gap_fp >> 64) as Nanos
            }
            Pace::PoissonBytes {
                per_byte,
                rest,
                rng,
            } => whole(rest, *per_byte * bytes as f64 * exponential(rng)),
        };
        self.due = self.due.saturating_add(gap);
    }

    /// Takes the next `records`, of `bytes` together, off the schedule at once.
    pub fn advance_together(&mut self, records: u32, bytes: usize) {
        match &mut self.pace {
            Pace::FlatOut => self.taken += u64::from(records),
            Pace::Even(steps) => {
                self.due = self.due.saturating_add(steps.step_by(records));
                self.taken += u64::from(records);
            }
            _ => {
                let each = bytes / records.max(1) as usize;
                let first = bytes - each * records.saturating_sub(1) as usize;
                self.advance(first);
                (1..records).for_each(|_| self.advance(each));
            }
        }
    }

    /// Takes off and gives the due times up to `now`, of records of `bytes` each as the rate counts
    /// them (at least 1). Ends at once when flat out.
    pub fn due_until(&mut self, now: Nanos, bytes: usize) -> impl Iterator<Item = Nanos> + '_ {
        std::iter::from_fn(move || {
            let due = self.next_due().filter(|&due| due <= now)?;
            self.advance(bytes.max(1));
            Some(due)
        })
    }

    /// Records taken off so far: the index of the next one within the lane.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The gap between any two records of the lane, nanoseconds in 32.32 fixed point: 0 when flat
    /// out, `None` when gaps differ or are 4.29 s and longer.
    pub fn step_fp(&self) -> Option<u64> {
        match &self.pace {
            Pace::FlatOut => Some(0),
            Pace::Even(steps) if steps.whole >> 32 == 0 => {
                let part = (u128::from(steps.part) << 32) / u128::from(steps.parts);
                Some(steps.whole << 32 | part as u64)
            }
            _ => None,
        }
    }
}

impl Steps {
    /// Steps of `lanes / per_s` seconds, exactly: a double is a whole number times a power of two.
    fn new(per_s: f64, lanes: u32) -> Self {
        let bits = per_s.to_bits();
        let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
        let odd = mantissa >> mantissa.trailing_zeros();
        let exponent = (bits >> 52) as i32 - 1075 + mantissa.trailing_zeros() as i32;
        let span = u128::from(SECOND) * u128::from(lanes);
        // PER_S_MIN bounds the shift to 72 bits, LANES_MAX the rest to 50.
        let (span, parts) = if exponent < 0 {
            (span << -exponent, odd)
        } else {
            (span, odd << exponent)
        };
        Self {
            whole: u64::try_from(span / u128::from(parts)).unwrap_or(u64::MAX),
            part: (span % u128::from(parts)) as u64,
            parts,
            rest: 0,
        }
    }

    /// Where `count` steps lead from nothing: whole nanoseconds, and parts of one.
    fn after(&self, count: u64) -> (Nanos, u64) {
        let parts = u128::from(self.part) * u128::from(count);
        let carried = parts / u128::from(self.parts);
        let whole = u128::from(self.whole) * u128::from(count) + carried;
        let rest = (parts % u128::from(self.parts)) as u64;
        (u64::try_from(whole).unwrap_or(u64::MAX), rest)
    }

    #[inline]
    fn step(&mut self) -> Nanos {
        // `parts` is at most 2^53 (a double's mantissa) or PER_S_MAX: the sum can't overflow.
        self.rest += self.part;
        let carry = self.rest >= self.parts;
        self.rest -= if carry { self.parts } else { 0 };
        self.whole.saturating_add(u64::from(carry))
    }

    fn step_by(&mut self, count: u32) -> Nanos {
        let parts = u128::from(self.part) * u128::from(count) + u128::from(self.rest);
        self.rest = (parts % u128::from(self.parts)) as u64;
        let whole = u128::from(self.whole) * u128::from(count) + parts / u128::from(self.parts);
        u64::try_from(whole).unwrap_or(u64::MAX)
    }
}

/// The whole nanoseconds of `gap` and what earlier gaps left over; keeps the new rest.
#[inline]
fn whole(rest: &mut f64, gap: f64) -> Nanos {
    let exact = gap + *rest;
    let whole = exact.floor();
    *rest = exact - whole;
    whole as Nanos
}

/// An exponential draw of mean 1.
#[inline]
fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.unit()).ln()
}

const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests;
