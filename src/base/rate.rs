//! Rates as people write them: `60k` records a second, `50MB/s` of payload, `50MB/s:wire`.

use std::fmt;

use super::decimal::Decimal;
use super::size;

/// The slowest rate, per second: one in about eleven days.
pub const PER_S_MIN: f64 = 1e-6;
/// The fastest rate, per second: beyond what a nanosecond clock can order.
pub const PER_S_MAX: f64 = 1e12;

/// How much a second, over all clients together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    Unlimited,
    /// Records per second.
    Records(f64),
    /// Bytes per second of key, value and headers, uncompressed.
    Bytes(f64),
    /// Bytes per second as they go over the wire, as quotas count them.
    WireBytes(f64),
}

/// Why a text is not a rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateError {
    found: String,
    problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    NotANumber,
    Zero,
    UnknownUnit,
    /// `50MB` without `/s`.
    NotPerSecond,
    /// `60k:wire`.
    WireOfRecords,
    OutOfRange,
}

/// Reads a rate: `60000`, `60k`, `2.5M`, `0.5/s` are records; `50MB/s`, `50MiB/s`, `400Mbit/s`
/// bytes of payload, and bytes on the wire with `:wire` behind; `unlimited` or `-1` is no limit.
///
/// # Errors
/// When it is none of these, nothing (0), or outside [`PER_S_MIN`]`..=`[`PER_S_MAX`].
pub fn parse(text: &str) -> Result<Rate, RateError> {
    let error = |problem| RateError {
        found: text.to_owned(),
        problem,
    };
    let written = text.trim();
    if written == "-1" || written.eq_ignore_ascii_case("unlimited") {
        return Ok(Rate::Unlimited);
    }
    let (amount, wire) = match written.strip_suffix(":wire") {
        Some(amount) => (amount, true),
        None => (written, false),
    };
    let (per_second, divided) = match amount.strip_suffix("/s") {
        Some(amount) => (amount, true),
        None => (amount, false),
    };
    let (number, unit) = Decimal::split(per_second).ok_or(error(Problem::NotANumber))?;
    let unit = unit.trim();
    let rate = match (records_of(unit), bytes_of(unit)) {
        (Some(_), _) if wire => return Err(error(Problem::WireOfRecords)),
        (Some(records), _) => Rate::Records(number.scaled(records)),
        (None, Some(_)) if !divided => return Err(error(Problem::NotPerSecond)),
        (None, Some(bytes)) if wire => Rate::WireBytes(number.scaled(bytes)),
        (None, Some(bytes)) => Rate::Bytes(number.scaled(bytes)),
        (None, None) => return Err(error(Problem::UnknownUnit)),
    };
    match rate.per_s() {
        Some(0.0) => Err(error(Problem::Zero)),
        Some(per_s) if !(PER_S_MIN..=PER_S_MAX).contains(&per_s) => Err(error(Problem::OutOfRange)),
        _ => Ok(rate),
    }
}

impl Rate {
    /// The number, whatever it counts; `None` without a limit.
    pub fn per_s(self) -> Option<f64> {
        match self {
            Self::Unlimited => None,
            Self::Records(per_s) | Self::Bytes(per_s) | Self::WireBytes(per_s) => Some(per_s),
        }
    }
}

/// How many records a suffix stands for.
fn records_of(unit: &str) -> Option<f64> {
    match unit {
        "" => Some(1.0),
        "k" | "K" => Some(1e3),
        "M" | "m" => Some(1e6),
        "G" | "g" => Some(1e9),
        _ => None,
    }
}

/// How many bytes a unit stands for; an eighth for each bit.
fn bytes_of(unit: &str) -> Option<f64> {
    let bits = match unit {
        "bit" => 1.0,
        "kbit" | "Kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        _ => return size::unit_bytes_of(unit).map(|bytes| bytes as f64),
    };
    Some(bits / 8.0)
}

impl fmt::Display for Rate {
    /// Reads back by [`parse`] as the same rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |per_s: f64| {
            if per_s.fract() == 0.0 {
                size::show(per_s as u64)
            } else {
                format!("{per_s}B")
            }
        };
        match *self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Records(per_s) => write!(f, "{per_s}/s"),
            Self::Bytes(per_s) => write!(f, "{}/s", bytes(per_s)),
            Self::WireBytes(per_s) => write!(f, "{}/s:wire", bytes(per_s)),
        }
    }
}

impl std::error::Error for RateError {}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        match self.problem {
            Problem::NotANumber => write!(
                f,
                "`{found}` is not a rate: write 60k (records a second), 50MB/s, 50MB/s:wire or \
                 unlimited"
            ),
            Problem::Zero => write!(
                f,
                "`{found}` would send nothing: write a rate above 0, or unlimited"
            ),
            Problem::UnknownUnit => write!(
                f,
                "`{found}` has an unknown unit: records take k, M or G, bytes take B, kB, MB, GB, \
                 KiB, MiB, GiB, or kbit, Mbit, Gbit, with /s behind"
            ),
            Problem::NotPerSecond => write!(f, "`{found}` is a size: write {found}/s for a rate"),
            Problem::WireOfRecords => write!(
                f,
                "`{found}`: only bytes can be counted on the wire, as 50MB/s:wire"
            ),
            Problem::OutOfRange => write!(
                f,
                "`{found}` is outside of what can be paced, {PER_S_MIN} to {PER_S_MAX:e} a second"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_bytes_and_wire_bytes_are_told_apart() {
        for (text, rate) in [
            ("60k", Rate::Records(60_000.0)),
            ("60000", Rate::Records(60_000.0)),
            ("60k/s", Rate::Records(60_000.0)),
            ("2.5M", Rate::Records(2_500_000.0)),
            ("0.5", Rate::Records(0.5)),
            ("0.3k", Rate::Records(300.0)),
            ("50MB/s", Rate::Bytes(50e6)),
            ("1.5MiB/s", Rate::Bytes(1_572_864.0)),
            ("400Mbit/s", Rate::Bytes(50e6)),
            ("50MB/s:wire", Rate::WireBytes(50e6)),
            ("-1", Rate::Unlimited),
            ("unlimited", Rate::Unlimited),
        ] {
            assert_eq!(parse(text), Ok(rate), "{text}");
        }
    }

    #[test]
    fn refusals_say_what_to_write() {
        for (text, word) in [
            ("fast", "60k"),
            ("0", "above 0"),
            ("-5", "unlimited"),
            ("50MB", "50MB/s"),
            ("60k:wire", "50MB/s:wire"),
            ("60 furlongs/s", "unknown unit"),
            ("9999999G", "outside"),
            ("0.0000001", "outside"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(word), "{text}: {said}");
        }
    }

    #[test]
    fn what_is_shown_reads_back_as_the_same_rate() {
        for (rate, shown) in [
            (Rate::Unlimited, "unlimited"),
            (Rate::Records(60_000.0), "60000/s"),
            (Rate::Records(0.5), "0.5/s"),
            (Rate::Bytes(50e6), "50MB/s"),
            (Rate::WireBytes(1_048_576.0), "1MiB/s:wire"),
            (Rate::Bytes(12.5), "12.5B/s"),
        ] {
            assert_eq!(rate.to_string(), shown);
            assert_eq!(parse(shown), Ok(rate));
        }
    }
}
