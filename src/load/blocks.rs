//! When a lane was blocked, so that the wait of a record that was due meanwhile is *buffer*, not *lag*.

use std::collections::VecDeque;

use crate::base::clock::Nanos;
use crate::measure::stamps::{Pass, Phase};

/// Blocks kept apart. Beyond it neighbours are joined: their lengths stay exact, only which
/// of two neighbouring blocks a record lay in is then not told apart.
pub const BLOCKS_MAX: usize = 4096;

/// The stretches in which a lane could not append, newest last.
#[derive(Debug, Default)]
pub struct Blocks {
    blocks: VecDeque<Block>,
    /// Blocked time of all blocks so far, forgotten ones included.
    total: Nanos,
    open_since: Option<Nanos>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    start: Nanos,
    end: Nanos,
    /// Blocked time of all blocks before this one.
    before: Nanos,
}

impl Blocks {
    /// The lane can't append from `now` on.
    pub fn block(&mut self, now: Nanos) {
        self.open_since.get_or_insert(now);
    }

    /// Since when the lane has been blocked.
    pub fn blocked_since(&self) -> Option<Nanos> {
        self.open_since
    }

    /// The lane can append again.
    pub fn unblock(&mut self, now: Nanos) {
        let Some(start) = self.open_since.take() else {
            return;
        };
        if self.blocks.len() == BLOCKS_MAX {
            self.join_neighbours();
        }
        self.blocks.push_back(Block {
            start,
            end: now,
            before: self.total,
        });
        self.total += now - start;
    }

    /// Takes the last [`Blocks::unblock`] back: there was no room after all.
    pub fn reopen(&mut self) {
        if let Some(last) = self.blocks.pop_back() {
            self.total = last.before;
            self.open_since = Some(last.start);
        }
    }

    /// All time blocked, up to the last [`Blocks::unblock`].
    pub fn total(&self) -> Nanos {
        self.total
    }

    /// Forgets the blocks that ended before `due`; due times only grow.
    #[inline]
    pub fn forget_before(&mut self, due: Nanos) {
        while self.blocks.front().is_some_and(|block| block.end <= due) {
            self.blocks.pop_front();
        }
    }

    /// What a record due at `due` and appended at `appended` has to know, and up to which due time
    /// (exclusive) the same holds. Blocks before `due` must have been forgotten.
    #[inline]
    pub fn pass(&self, phase: Phase, appended: Nanos) -> (Pass, Nanos) {
        let (blocked, block_from, until) = match self.blocks.front() {
            Some(block) => (self.total - block.before, block.start, block.end),
            None => (0, 0, Nanos::MAX),
        };
        let pass = Pass {
            phase,
            offered: appended,
            appended,
            blocked,
            block_from,
        };
        (pass, until)
    }

    fn join_neighbours(&mut self) {
        let old = std::mem::take(&mut self.blocks);
        let mut blocks = old.into_iter();
        while let Some(first) = blocks.next() {
            let end = blocks.next().map_or(first.end, |second| second.end);
            self.blocks.push_back(Block { end, ..first });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::stamps::Stamps;

    /// Blocked time of a record due at `due`, appended at `appended`.
    fn blocked(blocks: &mut Blocks, due: Nanos, appended: Nanos) -> Nanos {
        blocks.forget_before(due);
        let (pass, _) = blocks.pass(Phase::Measured, appended);
        let mut stamps = Stamps::default();
        stamps.push_even(due, 0, &pass);
        stamps.runs()[0].blocked_for(due)
    }

    #[test]
    fn a_record_due_before_a_block_waited_all_of_it_and_one_due_inside_the_rest() {
        let mut blocks = Blocks::default();
        blocks.block(100);
        blocks.unblock(150);
        blocks.block(160);
        blocks.unblock(200);
        assert_eq!(blocked(&mut blocks, 90, 210), 90);
        assert_eq!(blocked(&mut blocks, 100, 210), 90);
        assert_eq!(blocked(&mut blocks, 120, 210), 70);
        assert_eq!(blocked(&mut blocks, 155, 210), 40);
        assert_eq!(blocked(&mut blocks, 190, 210), 10);
        assert_eq!(blocked(&mut blocks, 205, 210), 0);
    }

    #[test]
    fn a_day_of_overload_keeps_a_bounded_list_and_the_exact_sum() {
        let mut blocks = Blocks::default();
        for i in 0..1_000_000u64 {
            blocks.block(1_000 + i * 100);
            blocks.unblock(1_000 + i * 100 + 90);
        }
        assert!(blocks.blocks.len() <= BLOCKS_MAX);
        assert_eq!(blocked(&mut blocks, 500, 200_000_000), 90_000_000);
    }
}
