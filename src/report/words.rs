//! How numbers are written for people: grouped digits, durations, bytes, ratios.

use crate::base::clock::Nanos;

/// A whole number; in groups of three on a terminal.
pub(super) fn count(number: u64, grouped: bool) -> String {
    let digits = number.to_string();
    if !grouped {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A rate: whole from 100 on, finer below.
pub(super) fn rate(per_s: f64, grouped: bool) -> String {
    match per_s {
        slow if slow < 10.0 => format!("{slow:.2}"),
        slow if slow < 100.0 => format!("{slow:.1}"),
        fast => count(fast.round() as u64, grouped),
    }
}

/// A latency with three significant digits, never finer than 1 µs.
pub(super) fn latency(ns: Nanos) -> String {
    let ms = ns as f64 / 1e6;
    match ms {
        short if short < 9.9995 => format!("{short:.3} ms").replace("0.000 ms", "<0.001 ms"),
        short if short < 99.95 => format!("{short:.2} ms"),
        short if short < 999.5 => format!("{short:.1} ms"),
        long if long < 9_999.5 => format!("{long:.0} ms"),
        long => format!("{:.2} s", long / 1e3),
    }
}

/// A span of seconds, as the length of a window.
pub(super) fn seconds(ns: Nanos) -> String {
    let s = ns as f64 / 1e9;
    match ns {
        ns if ns < 100_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        ns if ns < 10_000_000_000 => format!("{s:.2} s"),
        _ => format!("{s:.1} s"),
    }
}

/// An amount that may be a fraction of a unit: one decimal from 1 on, three below.
pub(super) fn amount(value: f64) -> String {
    match value {
        small if small > 0.0 && small < 1.0 => format!("{small:.3}"),
        other => format!("{other:.1}"),
    }
}

/// Bytes in the largest power-of-two unit that leaves at least 1.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes {
        few if few < 1024.0 => format!("{few:.0} B"),
        some if some < MIB => format!("{:.1} KiB", some / 1024.0),
        many if many < 1024.0 * MIB => format!("{:.1} MiB", many / MIB),
        most => format!("{:.1} GiB", most / 1024.0 / MIB),
    }
}

/// `1 client`, `2 clients`.
pub(super) fn many(number: u64, one: &str, grouped: bool) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(number, grouped))
}

/// 2^20.
pub(super) const MIB: f64 = 1_048_576.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_on_terminals_only() {
        assert_eq!(count(6_000_000, true), "6 000 000");
        assert_eq!(count(100, true), "100");
        assert_eq!(count(16_384, true), "16 384");
        assert_eq!(count(6_000_000, false), "6000000");
    }

    #[test]
    fn a_latency_keeps_three_digits_and_its_unit() {
        for (ns, text) in [
            (152_000, "0.152 ms"),
            (1_530_000, "1.530 ms"),
            (14_230_000, "14.23 ms"),
            (152_340_000, "152.3 ms"),
            (4_980_000_000, "4980 ms"),
            (61_000_000_000, "61.00 s"),
            (300, "<0.001 ms"),
        ] {
            assert_eq!(latency(ns), text);
        }
    }

    #[test]
    fn slow_rates_keep_decimals() {
        assert_eq!(rate(0.5, true), "0.50");
        assert_eq!(rate(99.5, true), "99.5");
        assert_eq!(rate(200_000.4, true), "200 000");
    }

    #[test]
    fn bytes_take_the_unit_that_fits() {
        assert_eq!(bytes(39_526.0), "38.6 KiB");
        assert_eq!(bytes(100.0), "100 B");
        assert_eq!(bytes(32.0 * MIB), "32.0 MiB");
    }
}
