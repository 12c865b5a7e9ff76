//! Which lane wants to be woken when: a heap, so that no wake costs more for lanes that sleep.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::clock::Nanos;

/// The wake times of a thread's lanes.
#[derive(Debug)]
pub struct Wakes {
    heap: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// The time that counts, per lane; older entries of the heap are stale.
    armed: Vec<Nanos>,
}

impl Wakes {
    /// For lanes `0..lane_count`, none of which wants to be woken.
    pub fn new(lane_count: usize) -> Self {
        Self {
            heap: BinaryHeap::with_capacity(lane_count),
            armed: vec![Nanos::MAX; lane_count],
        }
    }

    /// Wakes `lane` at `at` instead of whenever it was to be woken; `None`: not at all.
    pub fn set(&mut self, lane: u32, at: Option<Nanos>) {
        let at = at.unwrap_or(Nanos::MAX);
        let armed = &mut self.armed[lane as usize];
        if *armed != at {
            *armed = at;
            if at != Nanos::MAX {
                self.heap.push(Reverse((at, lane)));
            }
        }
    }

    /// The next lane whose time has come by `now`.
    pub fn pop_due(&mut self, now: Nanos) -> Option<u32> {
        self.drop_stale();
        let Reverse((at, lane)) = *self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        self.armed[lane as usize] = Nanos::MAX;
        Some(lane)
    }

    /// When the next lane wants to be woken.
    pub fn earliest(&mut self) -> Option<Nanos> {
        self.drop_stale();
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    fn drop_stale(&mut self) {
        while let Some(Reverse((at, lane))) = self.heap.peek() {
            if self.armed[*lane as usize] == *at {
                return;
            }
            self.heap.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_woken_once_at_its_latest_wish() {
        let mut wakes = Wakes::new(2);
        wakes.set(0, Some(10));
        wakes.set(1, Some(20));
        wakes.set(0, Some(30));
        assert_eq!(wakes.earliest(), Some(20));
        assert_eq!(wakes.pop_due(25), Some(1));
        assert_eq!(wakes.pop_due(25), None);
        assert_eq!(wakes.pop_due(30), Some(0));
        assert_eq!(wakes.earliest(), None);
    }

    #[test]
    fn a_lane_without_a_wish_sleeps() {
        let mut wakes = Wakes::new(1);
        wakes.set(0, Some(10));
        wakes.set(0, None);
        assert_eq!(wakes.pop_due(100), None);
    }
}
