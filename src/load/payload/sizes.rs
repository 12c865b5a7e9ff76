//! How large values are: one size for all, or a distribution drawn from a table of its quantiles.

use std::fmt;
use std::str::FromStr;

use crate::base::size::{self, SizeError};

/// The largest value, in bytes. No broker takes a batch of more than 2 GiB.
pub const VALUE_BYTES_MAX: u64 = 1 << 30;

/// Entries of a table of sizes; the rarest size of a distribution is one of so many.
pub(super) const TABLE_LEN: usize = 1 << 14;

/// The largest sigma of a log-normal: beyond it the mean is made by records that a table of
/// [`TABLE_LEN`] quantiles doesn't hold.
const SIGMA_MAX: f64 = 3.0;

/// How large values are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizes {
    /// All of this many bytes.
    Fixed(u32),
    /// All sizes from `min` to `max` equally often, both included.
    Uniform {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// Half are smaller than the median; the logarithm is normal with this sigma.
    LogNormal {
        /// The median, in bytes.
        median: u32,
        /// Standard deviation of the natural logarithm, 0 to 3.
        sigma: f64,
    },
}

/// Why a text is not a size or a distribution of sizes.
#[derive(Debug, Clone, PartialEq)]
pub enum SizesError {
    /// A part is no size.
    Size(SizeError),
    /// A size is above [`VALUE_BYTES_MAX`].
    TooLarge(String),
    /// The distribution is not written as it should be.
    Shape(String),
    /// A word before the colon that names no distribution.
    Unknown(String),
}

impl Sizes {
    /// The size itself, when all are alike.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Fixed(bytes) => Some(bytes),
            Self::Uniform { min, max } if min == max => Some(min),
            Self::LogNormal { median, sigma: 0.0 } => Some(median),
            _ => None,
        }
    }

    /// Sizes at evenly spaced quantiles: a uniform draw from the table is a draw from the
    /// distribution. One entry when all are alike.
    pub(super) fn table(self) -> Vec<u32> {
        if let Some(bytes) = self.fixed() {
            return vec![bytes];
        }
        let quantile = |index: usize| (index as f64 + 0.5) / TABLE_LEN as f64;
        (0..TABLE_LEN)
            .map(|index| match self {
                Self::Fixed(bytes) => bytes,
                Self::Uniform { min, max } => {
                    let span = f64::from(max - min) + 1.0;
                    min + (span * quantile(index)) as u32
                }
                Self::LogNormal { median, sigma } => {
                    let size = f64::from(median) * (sigma * normal_quantile(quantile(index))).exp();
                    size.round().min(VALUE_BYTES_MAX as f64) as u32
                }
            })
            .collect()
    }
}

impl FromStr for Sizes {
    type Err = SizesError;

    /// Reads `1KiB`, `uniform:100..2000` or `lognormal:1KiB,0.5`.
    fn from_str(text: &str) -> Result<Self, SizesError> {
        let shape = || SizesError::Shape(text.to_owned());
        let Some((name, arguments)) = text.split_once(':') else {
            return Ok(Self::Fixed(value_bytes(text)?));
        };
        match name {
            "uniform" => {
                let (min, max) = arguments.split_once("..").ok_or_else(shape)?;
                let (min, max) = (value_bytes(min)?, value_bytes(max)?);
                if min > max {
                    return Err(shape());
                }
                Ok(Self::Uniform { min, max })
            }
            "lognormal" => {
                let (median, sigma) = arguments.split_once(',').ok_or_else(shape)?;
                let median = value_bytes(median)?;
                let sigma: f64 = sigma.trim().parse().map_err(|_| shape())?;
                if !(0.0..=SIGMA_MAX).contains(&sigma) || median == 0 {
                    return Err(shape());
                }
                Ok(Self::LogNormal { median, sigma })
            }
            _ => Err(SizesError::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |bytes: u32| size::show(u64::from(bytes));
        match *self {
            Self::Fixed(bytes) => f.write_str(&show(bytes)),
            Self::Uniform { min, max } => write!(f, "uniform:{}..{}", show(min), show(max)),
            Self::LogNormal { median, sigma } => write!(f, "lognormal:{},{sigma}", show(median)),
        }
    }
}

impl std::error::Error for SizesError {}

impl fmt::Display for SizesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(error) => error.fmt(f),
            Self::TooLarge(found) => {
                write!(f, "`{found}` is larger than a value may be (1GiB)")
            }
            Self::Shape(found) => write!(
                f,
                "`{found}` is not a distribution of sizes: write uniform:SMALLEST..LARGEST or \
                 lognormal:MEDIAN,SIGMA with a median above 0 and a sigma of 0 to {SIGMA_MAX}"
            ),
            Self::Unknown(found) => write!(
                f,
                "`{found}` names no distribution: a size, uniform:100..2000 and \
                 lognormal:1KiB,0.5 are known"
            ),
        }
    }
}

impl From<SizeError> for SizesError {
    fn from(error: SizeError) -> Self {
        Self::Size(error)
    }
}

fn value_bytes(text: &str) -> Result<u32, SizesError> {
    match size::parse_bytes(text)? {
        bytes if bytes <= VALUE_BYTES_MAX => Ok(bytes as u32),
        _ => Err(SizesError::TooLarge(text.to_owned())),
    }
}

/// Where the standard normal distribution reaches `p`, to about nine digits (Acklam's rational
/// approximation).
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 5] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 4] = [
        7.784695709041462e-3,
        3.224671290700398e-1,
        2.445134137142996,
        3.754408661907416,
    ];
    /// From here outwards the tails have a formula of their own.
    const TAIL: f64 = 0.02425;
    let poly = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p < TAIL {
        let q = (-2.0 * p.ln()).sqrt();
        return poly(&C, q) / (poly(&D, q) * q + 1.0);
    }
    if p > 1.0 - TAIL {
        return -normal_quantile(1.0 - p);
    }
    let q = p - 0.5;
    let r = q * q;
    q * poly(&A, r) / (poly(&B, r) * r + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_distributions_are_read_and_shown_alike() {
        for (text, sizes) in [
            ("100B", Sizes::Fixed(100)),
            ("1KiB", Sizes::Fixed(1_024)),
            (
                "uniform:100B..2kB",
                Sizes::Uniform {
                    min: 100,
                    max: 2_000,
                },
            ),
            (
                "lognormal:1KiB,0.5",
                Sizes::LogNormal {
                    median: 1_024,
                    sigma: 0.5,
                },
            ),
        ] {
            assert_eq!(text.parse(), Ok(sizes));
            assert_eq!(sizes.to_string(), text);
        }
        assert_eq!("100".parse(), Ok(Sizes::Fixed(100)));
    }

    #[test]
    fn refusals_say_what_to_write() {
        for (text, word) in [
            ("uniform:100", "SMALLEST..LARGEST"),
            ("uniform:2000..100", "SMALLEST..LARGEST"),
            ("lognormal:1KiB", "MEDIAN,SIGMA"),
            ("lognormal:1KiB,9", "0 to 3"),
            ("lognormal:0,1", "above 0"),
            ("gauss:1,2", "lognormal:1KiB,0.5"),
            ("64K", "64KiB"),
            ("2GiB", "1GiB"),
        ] {
            let said = text.parse::<Sizes>().unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }

    #[test]
    fn a_uniform_table_holds_each_size_equally_often() {
        let table = Sizes::Uniform { min: 10, max: 13 }.table();
        for size in 10..=13 {
            let count = table.iter().filter(|&&s| s == size).count();
            assert_eq!(count, TABLE_LEN / 4);
        }
        assert_eq!(Sizes::Uniform { min: 7, max: 7 }.table(), [7]);
    }

    #[test]
    fn a_log_normal_table_has_its_median_its_mean_and_its_quantiles() {
        let mut table = Sizes::LogNormal {
            median: 100_000,
            sigma: 0.5,
        }
        .table();
        table.sort_unstable();
        let at = |p: f64| f64::from(table[(p * TABLE_LEN as f64) as usize]);
        // exp(σ z) with z = 1.2816 and 2.3263, the 90th and 99th of the normal distribution.
        for (p, expected) in [(0.5, 100_000.0), (0.9, 189_800.0), (0.99, 320_000.0)] {
            assert!((at(p) / expected - 1.0).abs() < 0.005, "{p}: {}", at(p));
        }
        let mean = table.iter().map(|&size| f64::from(size)).sum::<f64>() / TABLE_LEN as f64;
        assert!((mean / 113_315.0 - 1.0).abs() < 0.002, "{mean}");
    }
}
