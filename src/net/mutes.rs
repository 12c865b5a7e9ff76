//! When a connection was muted by a broker's throttle, and how much of a span of time that took.

use std::collections::VecDeque;

use crate::base::clock::Nanos;

/// How many mutes are kept; [`Mutes::within`] counts no older ones.
const WINDOWS_MAX: usize = 64;

/// The mutes of one connection: windows of time, ascending, that do not touch.
#[derive(Debug, Default, Clone)]
pub struct Mutes {
    windows: VecDeque<Window>,
    replies: u64,
    total: Nanos,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    from: Nanos,
    until: Nanos,
}

impl Mutes {
    /// Mutes from `now` until `until`. A time that has passed mutes nothing and counts as no reply.
    pub fn mute(&mut self, now: Nanos, until: Nanos) {
        if until <= now {
            return;
        }
        self.replies += 1;
        match self.windows.back_mut() {
            Some(last) if now <= last.until => {
                self.total += until.saturating_sub(last.until);
                last.until = last.until.max(until);
            }
            _ => {
                self.total += until - now;
                if self.windows.len() == WINDOWS_MAX {
                    self.windows.pop_front();
                }
                self.windows.push_back(Window { from: now, until });
            }
        }
    }

    /// When the last mute ends or ended; 0 when there was none.
    #[inline]
    pub fn until(&self) -> Nanos {
        self.windows.back().map_or(0, |last| last.until)
    }

    /// Whether a mute holds at `now`.
    #[inline]
    pub fn active(&self, now: Nanos) -> bool {
        now < self.until()
    }

    /// How much of `from..to` was muted, by the last 64 mutes.
    pub fn within(&self, from: Nanos, to: Nanos) -> Nanos {
        let overlap = |w: &Window| w.until.min(to).saturating_sub(w.from.max(from));
        let newest_first = self.windows.iter().rev();
        newest_first
            .take_while(|w| w.until > from)
            .map(overlap)
            .sum()
    }

    /// How many replies muted the connection.
    pub fn replies(&self) -> u64 {
        self.replies
    }

    /// How long it was, or is still to be, muted in all; overlaps count once.
    pub fn total(&self) -> Nanos {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_throttles_count_their_time_once() {
        let mut mutes = Mutes::default();
        mutes.mute(10, 20);
        mutes.mute(15, 30);
        mutes.mute(18, 25);
        mutes.mute(50, 60);
        mutes.mute(70, 70);
        assert_eq!((mutes.replies(), mutes.total()), (4, 30));
        assert_eq!((mutes.within(0, 100), mutes.within(25, 55)), (30, 10));
        assert!(mutes.active(59) && !mutes.active(60));
    }

    #[test]
    fn the_memory_of_mutes_is_bounded() {
        let mut mutes = Mutes::default();
        for start in 0..1000 {
            mutes.mute(start * 10, start * 10 + 1);
        }
        assert_eq!(mutes.windows.len(), WINDOWS_MAX);
        assert_eq!(mutes.total(), 1000);
    }
}
