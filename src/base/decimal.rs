//! Decimal numbers with a unit behind them, kept exact: `1.5KiB` is 1536, and `0.3B` is refused.

/// Digits that a number may have, before and after its point together.
const DIGITS_MAX: usize = 24;

/// A non-negative decimal number as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    /// Digits behind the point.
    scale: u32,
}

impl Decimal {
    /// Splits `text` into the number it begins with and the rest; `_` may group digits.
    ///
    /// `None` when it doesn't begin with a digit, or with more digits than anything needs.
    pub(super) fn split(text: &str) -> Option<(Self, &str)> {
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let bad = |part: &str| part.contains('.') || part.starts_with('_') || part.ends_with('_');
        if !whole.starts_with(|c: char| c.is_ascii_digit()) || bad(whole) || bad(fraction) {
            return None;
        }
        if number.contains('.') && fraction.is_empty() {
            return None;
        }
        let digits: String = [whole, fraction].concat().replace('_', "");
        if digits.len() > DIGITS_MAX {
            return None;
        }
        let scale = fraction.bytes().filter(u8::is_ascii_digit).count() as u32;
        let digits = digits.parse().ok()?;
        Some((Self { digits, scale }, rest))
    }

    /// The number times `unit`, when that is a whole number below 2^64.
    pub(super) fn times(self, unit: u64) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(unit))?;
        let one = 10u128.pow(self.scale);
        product
            .is_multiple_of(one)
            .then_some(product / one)
            .and_then(|n| u64::try_from(n).ok())
    }

    /// Whether the number times `unit` is 2^64 or more.
    pub(super) fn overflows(self, unit: u64) -> bool {
        let one = 10u128.pow(self.scale);
        self.digits
            .checked_mul(u128::from(unit))
            .is_none_or(|product| product / one > u128::from(u64::MAX))
    }

    /// The number times `unit`, as near as a double comes.
    pub(super) fn scaled(self, unit: f64) -> f64 {
        // Multiplied before it is divided: 0.3 × 1e6 is then 300000, not 299999.99….
        self.digits as f64 * unit / 10f64.powi(self.scale as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_its_unit_begins() {
        let (number, unit) = Decimal::split("1_024.50KiB").unwrap();
        assert_eq!((number.times(2), unit), (Some(2049), "KiB"));
        assert_eq!(number.times(1), None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", "KiB", "-1", ".5", "1.", "1..2", "1.2.3", "_1", "1_", "1_.5",
        ] {
            assert_eq!(Decimal::split(text), None, "{text}");
        }
        assert_eq!(Decimal::split(&"9".repeat(25)), None);
    }

    #[test]
    fn a_product_beyond_64_bits_is_none_and_says_so() {
        let (number, _) = Decimal::split("18446744073709551616").unwrap();
        assert_eq!(number.times(1), None);
        assert!(number.overflows(1));
        assert!(!Decimal::split("0.3").unwrap().0.overflows(1));
    }
}
