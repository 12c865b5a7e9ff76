//! How long to wait before trying again: twice as long each time, up to a ceiling, with jitter.

use crate::base::clock::Nanos;

/// A back-off that doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure, before jitter.
    pub base: Nanos,
    /// The longest wait, after jitter.
    pub max: Nanos,
}

/// How much longer or shorter than the plain value a wait may be, as Java does.
const JITTER: f64 = 0.2;

impl Backoff {
    /// The wait after failure number `failures`, the first being 1; none after 0 failures.
    /// `unit` is a random number in `[0, 1)`, which spreads clients that failed together.
    pub fn wait(&self, failures: u32, unit: f64) -> Nanos {
        if failures == 0 {
            return 0;
        }
        let doublings = (failures - 1).min(62);
        let plain = self.base.saturating_mul(1 << doublings).min(self.max);
        let jitter = 1.0 + JITTER * (2.0 * unit - 1.0);
        ((plain as f64 * jitter) as Nanos).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MILLISECOND;

    #[test]
    fn waits_double_from_base_to_max_within_a_fifth() {
        let backoff = Backoff {
            base: 100 * MILLISECOND,
            max: 1000 * MILLISECOND,
        };
        let ms = |failures, unit| backoff.wait(failures, unit) / MILLISECOND;
        let plain: Vec<_> = (0..7).map(|failures| ms(failures, 0.5)).collect();
        assert_eq!(plain, [0, 100, 200, 400, 800, 1000, 1000]);
        assert_eq!((ms(1, 0.0), ms(1, 0.999_999)), (80, 119));
        assert_eq!((ms(4, 0.999_999), ms(u32::MAX, 0.0)), (959, 800));
    }
}
