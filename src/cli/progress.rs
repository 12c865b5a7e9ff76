//! What a run says while it goes on, on standard error: a bar on a terminal, else a line an interval.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::base::clock::{MILLISECOND, Nanos};
use crate::load::ledger::Witness;
use crate::load::phase::{Phases, Warmup};
use crate::load::run::Workload;
use crate::measure::interval::Interval;
use crate::report::progress::line;

/// Shows how a run goes on.
pub struct Progress {
    sender: Option<Sender<Heard>>,
    printing: JoinHandle<()>,
}

/// Intervals that one load thread closed.
struct Heard {
    thread: usize,
    rows: Vec<Interval>,
    length: Nanos,
}

impl Progress {
    /// Begins to show `workload`.
    pub fn start(workload: &Workload) -> Self {
        let (sender, heard) = channel();
        let shown = Shown {
            rows: Vec::new(),
            heard: vec![0; workload.threads as usize],
            told: 0,
            at: 0,
            goal: Goal::of(&workload.phases),
            acked: 0,
            bar: std::io::stderr().is_terminal().then(bar),
        };
        Self {
            sender: Some(sender),
            printing: thread::spawn(move || shown.show(&heard)),
        }
    }

    /// Who hears of the intervals of load thread `thread`.
    pub fn witness(&self, thread: u32) -> Option<Box<dyn Witness>> {
        Some(Box::new(Listener {
            thread: thread as usize,
            sender: self.sender.clone()?,
        }))
    }

    /// Ends it; what was heard is shown before this returns.
    pub fn end(mut self) {
        self.sender = None;
        // A printer that panicked has shown what it could.
        self.printing.join().ok();
    }
}

struct Listener {
    thread: usize,
    sender: Sender<Heard>,
}

impl Witness for Listener {
    fn intervals(&mut self, rows: &[Interval], length: Nanos) {
        let heard = Heard {
            thread: self.thread,
            rows: rows.to_vec(),
            length,
        };
        // A printer that is gone leaves nobody to tell.
        self.sender.send(heard).ok();
    }
}

/// What a run goes towards.
#[derive(Clone, Copy)]
enum Goal {
    Time(Nanos),
    Records(u64),
    /// Warm-up by one measure, the window by the other.
    Unknown,
}

impl Goal {
    fn of(phases: &Phases) -> Self {
        match (phases.warmup, phases.measure.span, phases.measure.records) {
            (Warmup::For(warmup), Some(span), _) => Self::Time(warmup + span),
            (Warmup::For(0), None, Some(records)) => Self::Records(records),
            (Warmup::Records(warmup), None, Some(records)) => Self::Records(warmup + records),
            _ => Self::Unknown,
        }
    }
}

/// Intervals put together over all threads, and shown as they are complete.
struct Shown {
    rows: Vec<Interval>,
    /// How many intervals each thread closed.
    heard: Vec<usize>,
    told: usize,
    /// When the last interval told was over, from the start.
    at: Nanos,
    goal: Goal,
    acked: u64,
    bar: Option<ProgressBar>,
}

impl Shown {
    fn show(mut self, heard: &Receiver<Heard>) {
        for heard in heard {
            let length = heard.length;
            self.take(heard);
            let complete = self.heard.iter().copied().min().unwrap_or(0);
            while self.told < complete {
                self.tell(length);
            }
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn take(&mut self, heard: Heard) {
        let from = self.heard[heard.thread];
        let upto = from + heard.rows.len();
        self.heard[heard.thread] = upto;
        // Nobody looks at what was told: rows are kept from `told` on.
        let needed = upto.saturating_sub(self.told);
        if self.rows.len() < needed {
            self.rows.resize(needed, Interval::default());
        }
        for (at, row) in (from..).zip(&heard.rows) {
            self.rows[at - self.told].add(row);
        }
    }

    fn tell(&mut self, length: Nanos) {
        let row = self.rows.remove(0);
        self.told += 1;
        self.acked += row.acked;
        self.at += length;
        let at = self.at;
        let line = line(at, &row, length);
        let Some(bar) = &self.bar else {
            // A closed standard error leaves nobody to tell.
            writeln!(std::io::stderr(), "{line}").ok();
            return;
        };
        let (done, whole) = match self.goal {
            Goal::Time(whole) => (at / MILLISECOND, Some(whole / MILLISECOND)),
            Goal::Records(whole) => (self.acked, Some(whole)),
            Goal::Unknown => (self.acked, None),
        };
        if let Some(whole) = whole {
            bar.set_length(whole.max(done));
        }
        bar.set_position(done);
        bar.set_message(line);
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg}   {wide_bar} {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::SECOND;

    fn row(acked: u64) -> Interval {
        Interval {
            acked,
            ..Interval::default()
        }
    }

    #[test]
    fn an_interval_is_told_once_all_threads_closed_it() {
        let mut shown = Shown {
            rows: Vec::new(),
            heard: vec![0; 2],
            told: 0,
            at: 0,
            goal: Goal::Unknown,
            acked: 0,
            bar: Some(ProgressBar::hidden()),
        };
        let mut hear = |thread, rows: &[u64]| {
            let rows = rows.iter().map(|acked| row(*acked)).collect();
            let length = SECOND;
            shown.take(Heard {
                thread,
                rows,
                length,
            });
            while shown.told < shown.heard.iter().copied().min().unwrap() {
                shown.tell(length);
            }
            (shown.at / SECOND, shown.acked)
        };
        assert_eq!(hear(0, &[5, 6]), (0, 0));
        assert_eq!(hear(1, &[1]), (1, 6));
        assert_eq!(hear(1, &[2, 3]), (2, 14));
        assert_eq!(hear(0, &[7]), (3, 24));
    }
}
