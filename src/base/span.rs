//! Lengths of time as people write them: `5s`, `2ms`, `1m30s`. A bare number is refused.

use std::fmt;

use super::clock::Nanos;
use super::decimal::Decimal;

/// The units, largest first, each with its nanoseconds; the first spelling is the one shown.
const UNITS: [(&[&str], Nanos); 7] = [
    (&["d"], 86_400_000_000_000),
    (&["h"], 3_600_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["ms"], 1_000_000),
    (&["us", "µs", "μs"], 1_000),
    (&["ns"], 1),
];

/// Why a text is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanError {
    found: String,
    problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    NotANumber,
    NoUnit,
    UnknownUnit,
    /// `30s1m`, `1s1s`.
    Order,
    Fraction,
    TooLong,
}

/// Reads a length of time: numbers with `d`, `h`, `m`, `s`, `ms`, `us` or `ns` behind each, largest
/// first; `1.5s` and `1m30s` both work. `0s` is a length of nothing.
///
/// # Errors
/// When a unit is missing, unknown or out of order, or the whole is no number of nanoseconds that
/// fits in 64 bits (584 years).
pub fn parse(text: &str) -> Result<Nanos, SpanError> {
    let error = |problem| SpanError {
        found: text.to_owned(),
        problem,
    };
    let mut rest = text.trim();
    let mut total: Nanos = 0;
    let mut last_unit = Nanos::MAX;
    loop {
        let (number, after) = Decimal::split(rest).ok_or(error(Problem::NotANumber))?;
        let after = after.trim_start();
        let end = after
            .find(|c: char| c.is_ascii_digit() || c.is_whitespace())
            .unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        let unit = unit(name).map_err(error)?;
        if unit >= last_unit {
            return Err(error(Problem::Order));
        }
        last_unit = unit;
        let part = number.times(unit).ok_or_else(|| {
            error(if number.overflows(unit) {
                Problem::TooLong
            } else {
                Problem::Fraction
            })
        })?;
        total = total.checked_add(part).ok_or(error(Problem::TooLong))?;
        rest = tail.trim_start();
        if rest.is_empty() {
            return Ok(total);
        }
    }
}

/// Writes a length of time without rounding; [`parse`] reads it back.
pub fn show(span: Nanos) -> String {
    if span == 0 {
        return "0s".to_owned();
    }
    let mut out = String::new();
    let mut left = span;
    for (names, unit) in UNITS
        .into_iter()
        .filter(|&(_, unit)| unit >= 60_000_000_000)
    {
        if left >= unit {
            out += &format!("{}{}", left / unit, names[0]);
            left %= unit;
        }
    }
    if left == 0 {
        return out;
    }
    // Behind larger parts, always seconds (`1m0.25s`); alone, the largest unit that leaves at least 1.
    let (name, unit) = UNITS
        .into_iter()
        .skip(3)
        .find(|&(_, unit)| !out.is_empty() || left >= unit)
        .map_or(("ns", 1), |(names, unit)| (names[0], unit));
    out += &(left / unit).to_string();
    if !left.is_multiple_of(unit) {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", left % unit);
        out += &format!(".{}", fraction.trim_end_matches('0'));
    }
    out + name
}

fn unit(name: &str) -> Result<Nanos, Problem> {
    if name.is_empty() {
        return Err(Problem::NoUnit);
    }
    UNITS
        .into_iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, unit)| unit)
        .ok_or(Problem::UnknownUnit)
}

impl std::error::Error for SpanError {}

impl fmt::Display for SpanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        match self.problem {
            Problem::NotANumber => write!(
                f,
                "`{found}` is not a length of time: write it as 5s, 200ms or 1m30s"
            ),
            Problem::NoUnit => {
                let number = found.trim();
                write!(
                    f,
                    "`{found}` has no unit: write {number}s, {number}ms or {number}m"
                )
            }
            Problem::UnknownUnit => write!(
                f,
                "`{found}` has an unknown unit: d, h, m, s, ms, us and ns are known"
            ),
            Problem::Order => write!(
                f,
                "`{found}` is out of order: each unit once, the largest first, as 1m30s"
            ),
            Problem::Fraction => write!(f, "`{found}` is not a whole number of nanoseconds"),
            Problem::TooLong => write!(f, "`{found}` is longer than 584 years"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{MILLISECOND, SECOND};

    #[test]
    fn one_unit_or_several_and_fractions_are_read() {
        for (text, span) in [
            ("5s", 5 * SECOND),
            ("2ms", 2 * MILLISECOND),
            ("1m30s", 90 * SECOND),
            ("1m 30s", 90 * SECOND),
            ("1.5s", 1_500 * MILLISECOND),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("0s", 0),
            ("6h", 21_600 * SECOND),
            ("1d2h3m4s5ms6us7ns", 93_784 * SECOND + 5_006_007),
        ] {
            assert_eq!(parse(text), Ok(span), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_what_to_write() {
        let said = parse("30").unwrap_err().to_string();
        assert!(said.contains("30s") && said.contains("30ms"), "{said}");
        assert!(parse("1m30").unwrap_err().to_string().contains("no unit"));
    }

    #[test]
    fn refusals_name_what_was_found() {
        for (text, word) in [
            ("", "1m30s"),
            ("-5s", "`-5s`"),
            ("soon", "`soon`"),
            ("5 parsecs", "unknown unit"),
            ("30s1m", "largest first"),
            ("1s1s", "each unit once"),
            ("0.5ns", "whole number"),
            ("99999999d", "584 years"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_shown_reads_back_as_the_same_time() {
        for (span, shown) in [
            (0, "0s"),
            (7, "7ns"),
            (1_500, "1.5us"),
            (2 * MILLISECOND, "2ms"),
            (1_500 * MILLISECOND, "1.5s"),
            (90 * SECOND, "1m30s"),
            (60 * SECOND + 250 * MILLISECOND, "1m0.25s"),
            (21_600 * SECOND, "6h"),
            (86_400 * SECOND + 1, "1d0.000000001s"),
        ] {
            assert_eq!(show(span), shown);
            assert_eq!(parse(shown), Ok(span), "{shown}");
        }
    }
}
