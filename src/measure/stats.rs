//! Statistics over a handful of numbers.

/// How evenly records went to places that should get alike.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Places.
    pub count: usize,
    /// Places that got nothing.
    pub empty: usize,
    /// The least of any.
    pub min: u64,
    /// The median; the mean of the middle two when there is no middle one.
    pub median: f64,
    /// The most of any.
    pub max: u64,
    /// The sum.
    pub total: u64,
}

impl Spread {
    /// max ÷ min; none when a place got nothing.
    pub fn max_over_min(&self) -> Option<f64> {
        (self.min > 0).then(|| self.max as f64 / self.min as f64)
    }

    /// The share of the fullest place, 0 to 1; 0 when nothing came.
    pub fn max_share(&self) -> f64 {
        self.max as f64 / self.total.max(1) as f64
    }

    /// Whether the reader must be told: more than twice as much in one place as in another, or
    /// nothing at all in one.
    pub fn is_uneven(&self) -> bool {
        self.total > 0 && self.max_over_min().is_none_or(|ratio| ratio > 2.0)
    }
}

/// The spread of `values`.
pub fn spread(values: &[u64]) -> Spread {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
        return Spread::default();
    };
    let middle = &sorted[(sorted.len() - 1) / 2..=sorted.len() / 2];
    Spread {
        count: sorted.len(),
        empty: sorted.partition_point(|value| *value == 0),
        min,
        median: middle.iter().sum::<u64>() as f64 / middle.len() as f64,
        max,
        total: sorted.iter().sum(),
    }
}

/// Rounds `parts` to multiples of 1 ÷ `scale` so that the rounded ones add up to their rounded
/// sum: what is left over goes to those that lost most by rounding. Gives whole multiples.
pub fn round_to_sum(parts: &[f64], scale: f64) -> (Vec<u64>, u64) {
    let scaled = || parts.iter().map(|part| (part * scale).max(0.0));
    let total = scaled().sum::<f64>().round() as u64;
    let mut rounded: Vec<u64> = scaled().map(|part| part.floor() as u64).collect();
    let mut by_loss: Vec<usize> = (0..parts.len()).collect();
    let losses: Vec<f64> = scaled().map(f64::fract).collect();
    by_loss.sort_by(|a, b| losses[*b].total_cmp(&losses[*a]));
    let missing = total.saturating_sub(rounded.iter().sum());
    for index in by_loss.into_iter().take(missing as usize) {
        rounded[index] += 1;
    }
    (rounded, total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_lies_between_the_middle_two() {
        assert_eq!(spread(&[4, 1, 3]).median, 3.0);
        assert_eq!(spread(&[4, 1, 3, 2]).median, 2.5);
        assert_eq!(spread(&[]), Spread::default());
    }

    #[test]
    fn uneven_is_twice_as_much_or_nothing() {
        assert!(!spread(&[10, 20]).is_uneven());
        assert!(spread(&[10, 21]).is_uneven());
        assert!(spread(&[0, 21]).is_uneven());
        assert!(!spread(&[0, 0]).is_uneven());
        assert_eq!(spread(&[0, 21]).max_over_min(), None);
    }

    proptest! {
        #[test]
        fn rounded_parts_add_up_to_the_rounded_total(
            parts in proptest::collection::vec(0.0f64..50.0, 0..10)
        ) {
            let (rounded, total) = round_to_sum(&parts, 100.0);
            prop_assert_eq!(rounded.iter().sum::<u64>(), total);
            for (part, rounded) in parts.iter().zip(rounded) {
                prop_assert!((part * 100.0 - rounded as f64).abs() <= 1.0 + 1e-9);
            }
        }
    }
}
