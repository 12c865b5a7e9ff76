//! Values of properties, read as Java reads them: plain numbers, blanks around them dropped.

use std::time::Duration;

use crate::base::clock::{MILLISECOND, Nanos};
use crate::base::size::parse_bytes;

/// The longest span that is told from a longer one: a hundred years.
const MS_MAX: i64 = 100 * 365 * 86_400_000;

/// A whole number within `least..=most`.
pub fn number(value: &str, least: i64, most: i64) -> Result<i64, String> {
    let value = value.trim();
    let Ok(number) = value.parse::<i64>() else {
        return Err(match (parse_bytes(value), with_unit(value)) {
            (Ok(bytes), _) => format!("Java reads plain numbers only: write {bytes}"),
            (_, Some(ms)) => format!("Java reads plain numbers of milliseconds only: write {ms}"),
            _ => "a whole number is wanted".to_owned(),
        });
    };
    if !(least..=most).contains(&number) {
        return Err(format!("a number from {least} to {most} is wanted"));
    }
    Ok(number)
}

/// A Java `int` of at least `least`.
pub fn int(value: &str, least: i64) -> Result<i64, String> {
    number(value, least, i64::from(i32::MAX))
}

/// Milliseconds, a Java `int`.
pub fn int_ms(value: &str) -> Result<Nanos, String> {
    Ok(int(value, 0)? as u64 * MILLISECOND)
}

/// Milliseconds, a Java `long`; more than a hundred years are a hundred years.
pub fn long_ms(value: &str) -> Result<Nanos, String> {
    Ok(number(value, 0, i64::MAX)?.min(MS_MAX) as u64 * MILLISECOND)
}

/// A socket buffer; `None` for −1, which leaves it to the system.
pub fn buffer(value: &str) -> Result<Option<usize>, String> {
    Ok(usize::try_from(int(value, -1)?).ok())
}

/// True or false in any case.
pub fn truth(value: &str) -> Result<bool, String> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("true or false is wanted".to_owned()),
    }
}

/// One value only, since kdyno can't do otherwise; `why` says what.
pub fn only(value: &str, allowed: &str, why: &str) -> Result<(), String> {
    match value.trim().eq_ignore_ascii_case(allowed) {
        true => Ok(()),
        false => Err(format!("{allowed} is the only value kdyno has: {why}")),
    }
}

fn with_unit(value: &str) -> Option<u128> {
    let nanos = crate::base::span::parse(value).ok()?;
    Some(Duration::from_nanos(nanos).as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_and_within_javas_ranges() {
        assert_eq!(int(" 65536 ", 0), Ok(65_536));
        assert_eq!(int("+1", 0), Ok(1));
        assert!(int("2147483648", 0).is_err());
        assert!(int("-1", 0).is_err());
        assert_eq!(buffer("-1"), Ok(None));
        assert!(buffer("-2").is_err());
        let units = int("64KiB", 0).unwrap_err();
        assert_eq!(units, "Java reads plain numbers only: write 65536");
        let units = long_ms("5s").unwrap_err();
        assert!(units.ends_with("write 5000"), "{units}");
    }

    #[test]
    fn a_span_beyond_all_bounds_stays_a_long_span() {
        let century = long_ms("9223372036854775807").unwrap();
        assert!(century.checked_mul(4).is_some());
    }

    #[test]
    fn truth_has_two_words() {
        assert_eq!(truth(" TRUE"), Ok(true));
        assert!(truth("yes").is_err());
    }
}
