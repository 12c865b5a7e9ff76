//! Monotonic nanoseconds since the process first asked, and wall-clock milliseconds for stamps.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds on the monotonic clock, counted from the process's first reading.
pub type Nanos = u64;

/// One millisecond in [`Nanos`].
pub const MILLISECOND: Nanos = 1_000_000;
/// One second in [`Nanos`].
pub const SECOND: Nanos = 1_000_000_000;

/// Reads the monotonic clock: about 30 ns a call, so once per chunk of records, never per record.
#[inline]
pub fn now() -> Nanos {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    // One second of head start, so that `now - something` stays positive early in a process.
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as Nanos + SECOND
}

/// Wall-clock milliseconds since 1970, for record timestamps and reports.
pub fn wall_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_millis() as i64,
        Err(before) => -(before.duration().as_millis() as i64),
    }
}

/// A clock that moves only when told to, for tests of state machines.
#[derive(Debug, Default, Clone)]
pub struct HandClock {
    now: Nanos,
}

impl HandClock {
    /// A clock that stands at `now`.
    pub fn at(now: Nanos) -> Self {
        Self { now }
    }

    /// The time it shows.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Moves it forward and returns the new time.
    pub fn advance(&mut self, by: Nanos) -> Nanos {
        self.now += by;
        self.now
    }
}
