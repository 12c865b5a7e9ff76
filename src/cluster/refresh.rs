//! When to ask for metadata: by need, by age, never in a hurry. Pure.

use super::retry::Backoff;
use crate::base::clock::Nanos;

/// When metadata is asked for.
#[derive(Debug, Clone)]
pub struct Refresh {
    /// `metadata.max.age.ms`.
    max_age: Nanos,
    /// Between one answer and the next question, growing while answers leave something open.
    backoff: Backoff,
    needed: bool,
    running: bool,
    last_success: Option<Nanos>,
    not_before: Nanos,
    /// Answers in a row that failed or left something open.
    unsatisfying: u32,
    failing_since: Option<Nanos>,
}

impl Refresh {
    /// Nothing is known and nothing is asked, until [`Self::need`].
    pub fn new(max_age: Nanos, backoff: Backoff) -> Self {
        Self {
            max_age,
            backoff,
            needed: false,
            running: false,
            last_success: None,
            not_before: 0,
            unsatisfying: 0,
            failing_since: None,
        }
    }

    /// What is known may be wrong. A question that is under way does not settle it: the broker may
    /// have answered before.
    pub fn need(&mut self) {
        self.needed = true;
    }

    /// When to ask next; `None` while a question is under way or nothing is known and needed.
    pub fn due(&self) -> Option<Nanos> {
        if self.running {
            return None;
        }
        let by_age = self.last_success.map(|at| at.saturating_add(self.max_age));
        let by_need = self.needed.then_some(self.not_before);
        match (by_need, by_age) {
            (Some(need), Some(age)) => Some(need.min(age.max(self.not_before))),
            (need, age) => need.or(age.map(|age| age.max(self.not_before))),
        }
    }

    /// A question goes out.
    pub fn started(&mut self) {
        self.running = true;
        self.needed = false;
    }

    /// An answer came. `complete` is whether all that was asked for is known; if not, it is asked
    /// again. `unit` is a random number in `[0, 1)`.
    pub fn succeeded(&mut self, now: Nanos, complete: bool, unit: f64) {
        self.last_success = Some(now);
        self.failing_since = None;
        self.ended(now, complete, unit);
    }

    /// Nobody answered.
    pub fn failed(&mut self, now: Nanos, unit: f64) {
        self.failing_since.get_or_insert(now);
        self.ended(now, false, unit);
    }

    /// Since when nobody answers.
    pub fn failing_since(&self) -> Option<Nanos> {
        self.failing_since
    }

    fn ended(&mut self, now: Nanos, satisfied: bool, unit: f64) {
        self.running = false;
        self.needed |= !satisfied;
        self.unsatisfying = if satisfied { 0 } else { self.unsatisfying + 1 };
        let wait = self.backoff.wait(self.unsatisfying.max(1), unit);
        self.not_before = now.saturating_add(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{MILLISECOND, SECOND};

    fn refresh() -> Refresh {
        let backoff = Backoff {
            base: 100 * MILLISECOND,
            max: 1000 * MILLISECOND,
        };
        Refresh::new(300 * SECOND, backoff)
    }

    #[test]
    fn metadata_is_asked_by_need_at_once_and_then_by_age() {
        let mut refresh = refresh();
        assert_eq!(refresh.due(), None);
        refresh.need();
        assert_eq!(refresh.due(), Some(0));
        refresh.started();
        assert_eq!(refresh.due(), None);
        refresh.succeeded(SECOND, true, 0.5);
        assert_eq!(refresh.due(), Some(301 * SECOND));
    }

    #[test]
    fn a_need_that_arises_while_a_question_is_under_way_is_asked_again_after_a_pause() {
        let mut refresh = refresh();
        refresh.need();
        refresh.started();
        refresh.need();
        refresh.succeeded(SECOND, true, 0.5);
        assert_eq!(refresh.due(), Some(SECOND + 100 * MILLISECOND));
    }

    #[test]
    fn answers_that_leave_something_open_are_asked_again_ever_later() {
        let mut refresh = refresh();
        let mut waits = Vec::new();
        for _ in 0..6 {
            refresh.need();
            refresh.started();
            refresh.succeeded(SECOND, false, 0.5);
            waits.push((refresh.due().unwrap() - SECOND) / MILLISECOND);
        }
        assert_eq!(waits, [100, 200, 400, 800, 1000, 1000]);
        refresh.started();
        refresh.succeeded(SECOND, true, 0.5);
        refresh.need();
        assert_eq!(refresh.due(), Some(SECOND + 100 * MILLISECOND));
    }

    #[test]
    fn it_is_known_since_when_nobody_answers() {
        let mut refresh = refresh();
        refresh.failed(SECOND, 0.5);
        refresh.failed(2 * SECOND, 0.5);
        assert_eq!(refresh.failing_since(), Some(SECOND));
        refresh.succeeded(3 * SECOND, true, 0.5);
        assert_eq!(refresh.failing_since(), None);
    }
}
