//! The tool's statistics: windows while it runs, totals at its end, with and without the warm-up.

use std::collections::BTreeMap;

use crate::base::clock::{MILLISECOND, Nanos};

/// How latencies become figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Every record counts; means and maxima come from nanoseconds, percentiles are rounded to the
    /// nearest millisecond.
    #[default]
    Exact,
    /// As Kafka's tool: whole milliseconds, cut off, of which every so manieth enters percentiles.
    Reference,
}

/// What statistics have to know beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatsPlan {
    /// Records to be sent.
    pub num_records: u64,
    /// How many of them are warm-up, 0 for none.
    pub warmup_records: u64,
    /// Between progress lines.
    pub interval: Nanos,
    /// How latencies become figures.
    pub fidelity: Fidelity,
    /// When the client stood and the first record was about to be sent.
    pub start: Nanos,
}

/// Records of one latency that were acknowledged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acked {
    /// How many, at least 1.
    pub records: u64,
    /// From just before `send()` to the acknowledgement.
    pub latency: Nanos,
    /// Bytes of their values together.
    pub bytes: u64,
    /// When they were acknowledged.
    pub now: Nanos,
    /// Whether they were sent after the warm-up.
    pub steady: bool,
}

/// Something to print now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// From here on, windows are of the steady state.
    InSteadyState,
    /// A window is over.
    Window(Window),
}

/// What happened in one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Records acknowledged.
    pub records: u64,
    /// Bytes of their values.
    pub bytes: u64,
    /// How long it really was.
    pub elapsed: Nanos,
    /// Sum of latencies.
    pub latency_sum: u128,
    /// Longest latency.
    pub latency_max: Nanos,
}

/// What a whole run, or its steady part, comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Everything, as in a window.
    pub all: Window,
    /// Whether it leaves out the warm-up.
    pub steady: bool,
    /// The 50th, 95th, 99th and 99.9th percentile, in milliseconds; 0 without a record.
    pub percentiles_ms: [u64; 4],
}

/// The statistics of one run.
#[derive(Debug)]
pub struct Stats {
    total: Series,
    steady: Option<Series>,
    plan: StatsPlan,
    said_steady: bool,
}

impl Stats {
    /// Begins to count.
    pub fn new(plan: StatsPlan) -> Self {
        Self {
            total: Series::new(plan.num_records, plan.fidelity, plan.start),
            steady: None,
            plan,
            said_steady: false,
        }
    }

    /// The first record behind the warm-up is about to be sent. Windows are of such records from
    /// here on; the totals go on to count all.
    pub fn begin_steady(&mut self, now: Nanos) {
        let records = self.plan.num_records - self.plan.warmup_records;
        self.steady = Some(Series::new(records, self.plan.fidelity, now));
    }

    /// Counts records, and tells what there is to print. Nothing is told while nothing is
    /// acknowledged: a window is then as long as it really was.
    pub fn acked(&mut self, acked: &Acked, mut tell: impl FnMut(Event)) {
        let interval = self.plan.interval;
        self.total.count(acked);
        let Some(steady) = &mut self.steady else {
            self.total
                .end_window(acked.now, interval, |window| tell(Event::Window(window)));
            return;
        };
        if acked.steady {
            steady.count(acked);
            steady.end_window(acked.now, interval, |window| {
                if !std::mem::replace(&mut self.said_steady, true) {
                    tell(Event::InSteadyState);
                }
                tell(Event::Window(window));
            });
        }
    }

    /// What all records come to; `now` is when the last one was acknowledged or given up.
    pub fn totals(&self, now: Nanos) -> Totals {
        self.total.totals(now, false)
    }

    /// What those behind the warm-up come to; `None` without a warm-up or before its end.
    pub fn steady_totals(&self, now: Nanos) -> Option<Totals> {
        Some(self.steady.as_ref()?.totals(now, true))
    }
}

#[derive(Debug)]
struct Series {
    start: Nanos,
    all: Window,
    window_start: Nanos,
    window: Window,
    latencies: Latencies,
    fidelity: Fidelity,
}

impl Series {
    fn new(num_records: u64, fidelity: Fidelity, start: Nanos) -> Self {
        let latencies = match fidelity {
            Fidelity::Exact => Latencies::Counted(ByMillisecond::default()),
            Fidelity::Reference => Latencies::Sampled {
                every: num_records / num_records.clamp(1, SAMPLES_MAX),
                seen: 0,
                kept: Vec::new(),
            },
        };
        Self {
            start,
            all: Window::default(),
            window_start: start,
            window: Window::default(),
            latencies,
            fidelity,
        }
    }

    fn count(&mut self, acked: &Acked) {
        let latency = self.fidelity.of(acked.latency);
        for counts in [&mut self.all, &mut self.window] {
            counts.records += acked.records;
            counts.bytes += acked.bytes;
            counts.latency_sum += u128::from(latency) * u128::from(acked.records);
            counts.latency_max = counts.latency_max.max(latency);
        }
        self.latencies.add(latency, acked.records);
    }

    fn end_window(&mut self, now: Nanos, interval: Nanos, tell: impl FnOnce(Window)) {
        let elapsed = now.saturating_sub(self.window_start);
        if elapsed < interval {
            return;
        }
        let window = std::mem::take(&mut self.window);
        self.window_start = now;
        tell(Window {
            elapsed: self.fidelity.of(elapsed),
            ..window
        });
    }

    fn totals(&self, now: Nanos, steady: bool) -> Totals {
        Totals {
            all: Window {
                elapsed: self.fidelity.of(now.saturating_sub(self.start)),
                ..self.all
            },
            steady,
            percentiles_ms: self.latencies.percentiles_ms(),
        }
    }
}

impl Fidelity {
    /// A length of time as it is counted.
    fn of(self, span: Nanos) -> Nanos {
        match self {
            Self::Exact => span,
            Self::Reference => span - span % MILLISECOND,
        }
    }
}

#[derive(Debug)]
enum Latencies {
    Counted(ByMillisecond),
    Sampled {
        every: u64,
        seen: u64,
        kept: Vec<u32>,
    },
}

impl Latencies {
    fn add(&mut self, latency: Nanos, records: u64) {
        match self {
            Self::Counted(counts) => counts.add((latency + MILLISECOND / 2) / MILLISECOND, records),
            Self::Sampled { every, seen, kept } => {
                let before = *seen / *every;
                *seen += records;
                let ms = u32::try_from(latency / MILLISECOND).unwrap_or(u32::MAX);
                kept.extend((before..*seen / *every).map(|_| ms));
            }
        }
    }

    /// The latency at the place `floor(p × n)` of all in order, counted from 0.
    fn percentiles_ms(&self) -> [u64; 4] {
        let place = |p: f64, n: u64| (p * n as f64) as u64;
        match self {
            Self::Counted(counts) => PERCENTILES.map(|p| counts.at(place(p, counts.records))),
            Self::Sampled { kept, .. } => {
                let mut sorted = kept.clone();
                sorted.sort_unstable();
                PERCENTILES.map(|p| {
                    let latency = sorted.get(place(p, sorted.len() as u64) as usize);
                    latency.copied().map_or(0, u64::from)
                })
            }
        }
    }
}

/// How many records had which latency, in whole milliseconds.
#[derive(Debug, Default)]
struct ByMillisecond {
    records: u64,
    /// Up to [`DENSE_MS`], one count each.
    dense: Vec<u64>,
    /// The rest, rare.
    sparse: BTreeMap<u64, u64>,
}

impl ByMillisecond {
    fn add(&mut self, ms: u64, records: u64) {
        self.records += records;
        if ms >= DENSE_MS {
            *self.sparse.entry(ms).or_default() += records;
            return;
        }
        let place = ms as usize;
        if self.dense.len() <= place {
            self.dense.resize(place + 1, 0);
        }
        self.dense[place] += records;
    }

    fn at(&self, place: u64) -> u64 {
        let dense = (0..).zip(self.dense.iter().copied());
        let sparse = self.sparse.iter().map(|(&ms, &records)| (ms, records));
        let mut before = 0;
        for (ms, records) in dense.chain(sparse) {
            before += records;
            if place < before {
                return ms;
            }
        }
        0
    }
}

const PERCENTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Kafka's tool keeps at most one and a half times this many samples.
const SAMPLES_MAX: u64 = 500_000;

/// Latencies up to this many milliseconds have a count of their own: 512 KiB at most.
const DENSE_MS: u64 = 1 << 16;

#[cfg(test)]
mod tests;
