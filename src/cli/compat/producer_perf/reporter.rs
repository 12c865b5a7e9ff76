//! The tool's lines while it runs, from what a load thread hears of its batches.

use std::sync::mpsc::Sender;

use super::format::{IN_STEADY_STATE, failed_line, window_line};
use super::stats::{Acked, Event, Fidelity, Stats, StatsPlan};
use crate::base::clock::Nanos;
use crate::client::produce::Done;
use crate::load::ledger::Witness;
use crate::measure::stamps::{Phase, Stamps};

/// What is to be printed; nothing is printed on a load thread.
#[derive(Debug)]
pub enum Said {
    /// A line of standard output.
    Out(String),
    /// A line of standard error.
    Err(String),
    /// The load is over: its statistics, and when it ended.
    Ended(Box<Stats>, Nanos),
}

/// Hears of batches and says the tool's lines.
#[derive(Debug)]
pub struct Reporter {
    stats: Option<Box<Stats>>,
    plan: StatsPlan,
    steady: bool,
    failures: Failures,
    printer: Sender<Said>,
}

/// Records that failed and were not told of yet, by the name of the error.
#[derive(Debug, Default)]
struct Failures {
    untold: Vec<(&'static str, u64)>,
    told_at: Option<Nanos>,
}

impl Reporter {
    /// A reporter for `plan`, whose start is yet to come, that speaks through `printer`.
    pub fn new(plan: StatsPlan, printer: Sender<Said>) -> Self {
        Self {
            stats: None,
            plan,
            steady: false,
            failures: Failures::default(),
            printer,
        }
    }

    fn count(&mut self, acked: &Acked, offered: Nanos) {
        let Some(stats) = &mut self.stats else {
            return;
        };
        if acked.steady && self.plan.warmup_records > 0 && !self.steady {
            self.steady = true;
            stats.begin_steady(offered);
        }
        // A printer that is gone leaves nobody to tell.
        stats.acked(acked, |event| {
            let line = match event {
                Event::InSteadyState => IN_STEADY_STATE.to_owned(),
                Event::Window(window) => window_line(&window),
            };
            self.printer.send(Said::Out(line)).ok();
        });
    }

    fn tell_failures(&mut self, now: Nanos) {
        self.failures.told_at = Some(now);
        for (name, records) in self.failures.untold.drain(..) {
            let line = failed_line(records, name);
            self.printer.send(Said::Err(line)).ok();
        }
    }
}

impl Witness for Reporter {
    fn begin(&mut self, now: Nanos) {
        let plan = StatsPlan {
            start: now,
            ..self.plan
        };
        self.stats = Some(Box::new(Stats::new(plan)));
    }

    fn acked(&mut self, done: &Done<'_, Stamps>) {
        let value_bytes = done.payload_bytes - done.key_bytes;
        let mut before = 0;
        for run in done.trace.runs() {
            let share = |records: u64| value_bytes * records / u64::from(done.records);
            let after = before + u64::from(run.count);
            let acked = Acked {
                records: u64::from(run.count),
                latency: done.done.saturating_sub(run.pass.offered),
                bytes: share(after) - share(before),
                now: done.done,
                steady: run.pass.phase == Phase::Measured,
            };
            before = after;
            self.count(&acked, run.pass.offered);
        }
    }

    fn ended(&mut self, records: u64, name: &'static str, now: Nanos) {
        let mut untold = self.failures.untold.iter_mut();
        match untold.find(|(known, _)| *known == name) {
            Some((_, count)) => *count += records,
            None => self.failures.untold.push((name, records)),
        }
        let interval = self.plan.interval;
        let told = self.failures.told_at;
        if told.is_none_or(|told| now.saturating_sub(told) >= interval) {
            self.tell_failures(now);
        }
    }

    fn finish(&mut self, now: Nanos) {
        self.tell_failures(now);
        if let Some(stats) = self.stats.take() {
            self.printer.send(Said::Ended(stats, now)).ok();
        }
    }
}

/// What the statistics have to know of a run whose start is yet to come.
pub fn stats_plan(
    num_records: u64,
    warmup_records: u64,
    interval: Nanos,
    fidelity: Fidelity,
) -> StatsPlan {
    StatsPlan {
        num_records,
        warmup_records,
        interval,
        fidelity,
        start: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{MILLISECOND, SECOND};
    use std::sync::mpsc::channel;

    #[test]
    fn failures_are_told_once_a_name_and_window() {
        let (printer, said) = channel();
        let plan = stats_plan(10, 0, SECOND, Fidelity::Exact);
        let mut reporter = Reporter::new(plan, printer);
        reporter.begin(SECOND);
        reporter.ended(3, "REQUEST_TIMED_OUT", SECOND + MILLISECOND);
        reporter.ended(2, "REQUEST_TIMED_OUT", SECOND + 2 * MILLISECOND);
        reporter.ended(1, "CORRUPT_MESSAGE", SECOND + 3 * MILLISECOND);
        reporter.ended(4, "REQUEST_TIMED_OUT", 3 * SECOND);
        reporter.finish(4 * SECOND);
        let lines = said.try_iter().filter_map(|said| match said {
            Said::Err(line) => Some(line),
            _ => None,
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                "3 records failed: REQUEST_TIMED_OUT",
                "6 records failed: REQUEST_TIMED_OUT",
                "1 records failed: CORRUPT_MESSAGE",
            ]
        );
    }
}
