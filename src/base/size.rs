//! Byte sizes as people write them: `16384`, `64KiB`, `1MB`.

use std::fmt;

use super::decimal::Decimal;

/// The units, largest first, each with its bytes.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// Why a text is not a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeError {
    found: String,
    problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    NotANumber,
    UnknownUnit,
    /// `64K`: 64,000 or 65,536?
    BarePrefix(char),
    /// `64Kb`: bits?
    Bits(char),
    Fraction,
    TooLarge,
}

/// Reads a size in bytes: a number, with `B`, `kB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB`,
/// `MiB`, `GiB`, `TiB` (powers of 1024) behind it or nothing; `1.5KiB` is 1536.
///
/// # Errors
/// When it is no number, the unit is unknown or could mean two things, the size is no whole number
/// of bytes, or does not fit in 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, SizeError> {
    let error = |problem| SizeError {
        found: text.to_owned(),
        problem,
    };
    let (number, unit) = Decimal::split(text.trim()).ok_or(error(Problem::NotANumber))?;
    let unit_bytes = unit_bytes(unit.trim()).map_err(error)?;
    number.times(unit_bytes).ok_or_else(|| {
        error(if number.overflows(unit_bytes) {
            Problem::TooLarge
        } else {
            Problem::Fraction
        })
    })
}

/// Writes a size with the largest unit that leaves a whole number; [`parse_bytes`] reads it back.
pub fn show(bytes: u64) -> String {
    let (unit, unit_bytes) = UNITS
        .into_iter()
        .find(|&(_, unit_bytes)| bytes >= unit_bytes && bytes.is_multiple_of(unit_bytes))
        .unwrap_or(("B", 1));
    format!("{}{unit}", bytes / unit_bytes)
}

/// Splits `1.5MB` into its number and the bytes of its unit, for rates in bytes.
pub(super) fn unit_bytes_of(unit: &str) -> Option<u64> {
    (!unit.is_empty()).then(|| unit_bytes(unit).ok()).flatten()
}

fn unit_bytes(unit: &str) -> Result<u64, Problem> {
    if unit.is_empty() {
        return Ok(1);
    }
    let mut letters = unit.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some(prefix), None, _) if "kKmMgGtT".contains(prefix) => {
            return Err(Problem::BarePrefix(prefix));
        }
        // `mb` is what hurried hands type for MB; `Mb` is how megabits are written.
        (Some(prefix), Some('b'), None) if "KMGT".contains(prefix) => {
            return Err(Problem::Bits(prefix));
        }
        _ => {}
    }
    UNITS
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        .map(|(_, unit_bytes)| unit_bytes)
        .ok_or(Problem::UnknownUnit)
}

impl std::error::Error for SizeError {}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, problem } = self;
        let number: &str = found
            .trim()
            .trim_end_matches(|c: char| c.is_ascii_alphabetic());
        match problem {
            Problem::NotANumber => write!(
                f,
                "`{found}` is not a size: a number of bytes is expected, as 16384, 64KiB or 1MB"
            ),
            Problem::UnknownUnit => write!(
                f,
                "`{found}` is not a size: its unit is none of B, kB, MB, GB, TB (powers of 1000), \
                 KiB, MiB, GiB, TiB (powers of 1024)"
            ),
            Problem::BarePrefix(prefix) => {
                let upper = prefix.to_ascii_uppercase();
                let kilo = if upper == 'K' { 'k' } else { upper };
                write!(
                    f,
                    "`{found}` can mean two sizes: write {number}{upper}iB (powers of 1024) \
                     or {number}{kilo}B (powers of 1000)"
                )
            }
            Problem::Bits(prefix) => write!(
                f,
                "`{found}` reads as bits: write {number}{prefix}iB or {number}{prefix}B for bytes"
            ),
            Problem::Fraction => write!(f, "`{found}` is not a whole number of bytes"),
            Problem::TooLarge => write!(f, "`{found}` is more bytes than 64 bits can count"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1000_or_of_1024_as_their_names_say() {
        for (text, bytes) in [
            ("0", 0),
            ("16384", 16_384),
            ("16_384", 16_384),
            ("100B", 100),
            ("1kB", 1_000),
            ("1KB", 1_000),
            ("64KiB", 65_536),
            ("1.5KiB", 1_536),
            ("1 MB", 1_000_000),
            ("1mb", 1_000_000),
            ("2MiB", 2_097_152),
            ("3GiB", 3 << 30),
            ("1TB", 1_000_000_000_000),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn a_size_that_could_mean_two_things_names_both() {
        let said = parse_bytes("64K").unwrap_err().to_string();
        assert!(said.contains("64KiB") && said.contains("64kB"), "{said}");
        let said = parse_bytes("10Mb").unwrap_err().to_string();
        assert!(said.contains("bits") && said.contains("10MiB"), "{said}");
    }

    #[test]
    fn refusals_name_what_was_found_and_what_is_allowed() {
        for (text, word) in [
            ("", "16384"),
            ("-5", "`-5`"),
            ("big", "`big`"),
            ("5 pebbles", "KiB"),
            ("0.5B", "whole number"),
            ("99999999999TiB", "64 bits"),
        ] {
            let said = parse_bytes(text).unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_shown_reads_back_as_the_same_size() {
        for (bytes, shown) in [
            (0, "0B"),
            (100, "100B"),
            (1_000, "1kB"),
            (1_024, "1KiB"),
            (65_536, "64KiB"),
            (1_500_000, "1500kB"),
            (u64::MAX, "18446744073709551615B"),
        ] {
            assert_eq!(show(bytes), shown);
            assert_eq!(parse_bytes(shown), Ok(bytes));
        }
    }
}
