//! Draws from a Zipf distribution in constant time, by Vose's alias method.

/// Ranks `0..n`, rank `k` with a weight of `1 / (k + 1)^s`.
#[derive(Debug)]
pub(super) struct Zipf {
    cells: Vec<Cell>,
}

/// A cell gives its own rank for draws below `keep`, else `alias`.
#[derive(Debug, Clone, Copy)]
struct Cell {
    keep: u32,
    alias: u32,
}

impl Zipf {
    /// Prepares `n` ranks with exponent `s`, in time and room proportional to `n`.
    pub(super) fn new(n: u32, s: f64) -> Self {
        let weights: Vec<f64> = (0..n).map(|k| (f64::from(k) + 1.0).powf(-s)).collect();
        let sum: f64 = weights.iter().sum();
        let mut mass: Vec<f64> = weights.iter().map(|w| w * f64::from(n) / sum).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..n).partition(|&k| mass[k as usize] < 1.0);
        let whole = |k: u32| Cell {
            keep: u32::MAX,
            alias: k,
        };
        let mut cells: Vec<Cell> = (0..n).map(whole).collect();
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            let kept = mass[poor as usize];
            cells[poor as usize] = Cell {
                keep: (kept * 4_294_967_296.0) as u32,
                alias: rich,
            };
            mass[rich as usize] -= 1.0 - kept;
            if mass[rich as usize] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Self { cells }
    }

    /// The rank that 64 random bits stand for.
    #[inline]
    pub(super) fn rank(&self, draw: u64) -> u32 {
        // The cell comes from the high half, the coin from the low one.
        let index = ((draw >> 32) * self.cells.len() as u64) >> 32;
        let cell = self.cells[index as usize];
        if (draw as u32) < cell.keep {
            index as u32
        } else {
            cell.alias
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn ranks_come_as_often_as_their_weights_say() {
        for (n, s) in [(1u32, 1.0), (10, 0.0), (100, 0.99), (1_000, 1.5)] {
            let zipf = Zipf::new(n, s);
            let mut counts = vec![0u32; n as usize];
            let mut rng = Rng::new(9, 0);
            let draws = 400_000;
            for _ in 0..draws {
                counts[zipf.rank(rng.next_u64()) as usize] += 1;
            }
            let sum: f64 = (1..=n).map(|k| f64::from(k).powf(-s)).sum();
            for k in [0, n / 2, n - 1] {
                let expected = f64::from(draws) * (f64::from(k) + 1.0).powf(-s) / sum;
                let off = (f64::from(counts[k as usize]) - expected).abs();
                assert!(off <= 5.0 * expected.sqrt().max(1.0), "{n} {s} {k}: {off}");
            }
        }
    }
}
