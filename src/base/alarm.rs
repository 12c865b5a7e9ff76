//! A loop's alarm: a timerfd in its poll set, because poll's own time-out rounds up to 1–2 ms.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::clock::{Nanos, SECOND};

/// An alarm that makes the poll it is registered with return at a given time.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    armed_at: Option<Nanos>,
}

impl Alarm {
    /// An alarm that rings `registry`'s poll with `token`.
    ///
    /// # Errors
    /// When the system gives no timer.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self {
            timer,
            armed_at: None,
        })
    }

    /// Sets it to ring at `at`, at once when that has passed. `None` silences it.
    ///
    /// # Errors
    /// When the system refuses the time.
    pub fn set(&mut self, now: Nanos, at: Option<Nanos>) -> io::Result<()> {
        if self.armed_at == at {
            return Ok(());
        }
        // A value of zero would disarm it; one nanosecond rings at once.
        let wait = at.map_or(0, |at| at.saturating_sub(now).max(1));
        let value = Timespec {
            tv_sec: (wait / SECOND) as i64,
            tv_nsec: (wait % SECOND) as i64,
        };
        let once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        timerfd_settime(
            &self.timer,
            TimerfdTimerFlags::empty(),
            &Itimerspec {
                it_interval: once,
                it_value: value,
            },
        )?;
        self.armed_at = at;
        Ok(())
    }

    /// Takes note that it rang.
    pub fn rang(&mut self) {
        let mut expirations = [0u8; 8];
        // Nothing to read only means that it was set anew since.
        if rustix::io::read(&self.timer, &mut expirations).is_ok() {
            self.armed_at = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{MILLISECOND, now};

    #[test]
    fn it_rings_at_its_time_and_once() {
        let mut poll = mio::Poll::new().unwrap();
        let mut alarm = Alarm::new(poll.registry(), Token(7)).unwrap();
        let mut events = mio::Events::with_capacity(4);
        let start = now();
        alarm.set(start, Some(start + 3 * MILLISECOND)).unwrap();
        // The wait is what is tested: a timer of the system rings by itself.
        poll.poll(&mut events, None).unwrap();
        assert!(now() - start >= 3 * MILLISECOND);
        assert_eq!(events.iter().next().unwrap().token(), Token(7));
        alarm.rang();
        poll.poll(&mut events, Some(std::time::Duration::ZERO))
            .unwrap();
        assert!(events.is_empty());
    }
}
