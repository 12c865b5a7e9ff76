//! How a load thread sleeps until something is due: by ticks, or precisely.

use std::io;
use std::time::Duration;

use mio::{Events, Poll, Registry, Token};

use crate::base::alarm::Alarm;
use crate::base::clock::Nanos;

/// Spinning begins this long before a time that has to be met.
const SPIN: Nanos = 60_000;
/// The longest sleep, for a stop that nobody posted.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// Wakes a poll for what is due.
#[derive(Debug)]
pub struct Pacer {
    alarm: Alarm,
    pace: Pace,
    last_wake: Nanos,
}

/// How due times are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Two wakes are at least this far apart: what is due in between goes out at the next.
    Tick(Nanos),
    /// To microseconds, spinning at the end, at the price of a core.
    Precise,
}

impl Pacer {
    /// A pacer that wakes `registry`'s poll, with events of `token`.
    ///
    /// # Errors
    /// When the system gives no timer.
    pub fn new(registry: &Registry, token: Token, pace: Pace) -> io::Result<Self> {
        Ok(Self {
            alarm: Alarm::new(registry, token)?,
            pace,
            last_wake: 0,
        })
    }

    /// Polls until an event, or until the wake for what is due at `due`; without it, just looks.
    ///
    /// # Errors
    /// When the system fails.
    pub fn wait(
        &mut self,
        poll: &mut Poll,
        events: &mut Events,
        now: Nanos,
        due: Option<Nanos>,
    ) -> io::Result<()> {
        let at = due.map(|due| match self.pace {
            Pace::Precise => due.saturating_sub(SPIN),
            Pace::Tick(tick) => due.max(self.last_wake.saturating_add(tick)),
        });
        let mut wait = Duration::ZERO;
        if let Some(at) = at.filter(|at| *at > now) {
            self.last_wake = at;
            self.alarm.set(now, (at != Nanos::MAX).then_some(at))?;
            wait = SLEEP_MAX;
        }
        match poll.poll(events, Some(wait)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            result => result,
        }
    }

    /// An event of its token came.
    pub fn rang(&mut self) {
        self.alarm.rang();
    }
}
