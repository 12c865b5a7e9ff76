//! One partition for about a batch of records, then another (KIP-480, KIP-794).

use crate::base::rng::Rng;

/// The partition that records without a key go to just now.
#[derive(Debug)]
pub struct Sticky {
    current: Option<u32>,
    produced_bytes: usize,
    rng: Rng,
    /// Cumulative weights, kept for the next change.
    weights: Vec<(u64, u32)>,
}

/// A partition that may be chosen.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Its index.
    pub partition: u32,
    /// Batches that wait for it.
    pub queued: u64,
}

impl Sticky {
    /// Chooses by the numbers of `rng`.
    pub fn new(rng: Rng) -> Self {
        Self {
            current: None,
            produced_bytes: 0,
            rng,
            weights: Vec::new(),
        }
    }

    /// The partition now, if one has been chosen.
    #[inline]
    pub fn current(&self) -> Option<u32> {
        self.current
    }

    /// Notes that `bytes` went to the current partition. It is time for another one after
    /// `batch_bytes`, but not while its last batch is being filled; after twice that in any case.
    #[inline]
    pub fn produced(&mut self, bytes: usize, batch_bytes: usize, last_batch_full: bool) {
        self.produced_bytes += bytes;
        let enough = self.produced_bytes >= batch_bytes && last_batch_full;
        if enough || self.produced_bytes >= 2 * batch_bytes.max(1) {
            self.current = None;
        }
    }

    /// Chooses among `candidates`: by their queues when `adaptive` and these differ, else evenly.
    /// Without candidates, among `0..partition_count`.
    pub fn choose(
        &mut self,
        candidates: impl Iterator<Item = Candidate>,
        partition_count: u32,
        adaptive: bool,
    ) -> u32 {
        self.weights.clear();
        self.weights
            .extend(candidates.map(|candidate| (candidate.queued, candidate.partition)));
        let queues = self.weights.iter().map(|(queued, _)| *queued);
        let longest = queues.clone().max().unwrap_or(0);
        let equal = queues.min().unwrap_or(0) == longest;
        let chosen = if self.weights.is_empty() {
            self.rng.below(u64::from(partition_count)) as u32
        } else if equal || !adaptive {
            let index = self.rng.below(self.weights.len() as u64) as usize;
            self.weights[index].1
        } else {
            self.by_weight(longest)
        };
        self.current = Some(chosen);
        self.produced_bytes = 0;
        chosen
    }

    /// A queue's weight is what it lacks to the longest, and one.
    fn by_weight(&mut self, longest: u64) -> u32 {
        let mut sum = 0;
        for (weight, _) in &mut self.weights {
            sum += longest + 1 - *weight;
            *weight = sum;
        }
        let point = self.rng.below(sum);
        let index = self.weights.partition_point(|(sum, _)| *sum <= point);
        self.weights[index].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(queues: &[u64]) -> impl Iterator<Item = Candidate> + '_ {
        (0..).zip(queues).map(|(partition, queued)| Candidate {
            partition,
            queued: *queued,
        })
    }

    #[test]
    fn it_stays_until_a_batch_is_full_and_leaves_after_two_in_any_case() {
        let mut sticky = Sticky::new(Rng::new(1, 0));
        sticky.choose(candidates(&[0, 0]), 2, true);
        sticky.produced(1000, 1000, false);
        assert!(sticky.current().is_some());
        sticky.produced(1, 1000, true);
        assert!(sticky.current().is_none());
        sticky.choose(candidates(&[0, 0]), 2, true);
        sticky.produced(2000, 1000, false);
        assert!(sticky.current().is_none());
    }

    #[test]
    fn shorter_queues_are_chosen_in_proportion_to_what_they_lack() {
        let mut sticky = Sticky::new(Rng::new(1, 0));
        let mut counts = [0u32; 3];
        for _ in 0..80_000 {
            counts[sticky.choose(candidates(&[0, 3, 1]), 3, true) as usize] += 1;
        }
        for (count, weight) in counts.iter().zip([4, 1, 3]) {
            let expected = weight * 10_000;
            assert!(count.abs_diff(expected) < 600, "{counts:?}");
        }
    }

    #[test]
    fn without_adaptation_or_with_equal_queues_all_are_alike() {
        for (queues, adaptive) in [([0, 9], false), ([4, 4], true)] {
            let mut sticky = Sticky::new(Rng::new(7, 0));
            let first = (0..10_000)
                .filter(|_| sticky.choose(candidates(&queues), 2, adaptive) == 0)
                .count();
            assert!(first.abs_diff(5_000) < 300, "{first}");
        }
    }
}
