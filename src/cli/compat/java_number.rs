//! Numbers as Java writes and reads them, because scripts parse Kafka's lines to the last digit.

/// `value` with `decimals` digits behind the point, as Java's `%.{decimals}f`: the shortest decimal
/// form of the double, rounded half up. Not-a-number and infinities are `NaN` and `Infinity`.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, point) = shortest(value.abs());
    let (mut digits, mut point) = (digits, point);
    let keep = point + decimals as i32;
    if keep < digits.len() as i32 {
        let up = keep >= 0 && digits[keep as usize] >= b'5';
        digits.truncate(keep.max(0) as usize);
        if up && !carry(&mut digits) {
            digits.insert(0, b'1');
            point += 1;
        }
    }
    // Digit `i` behind the point is digit `point + i` of all, zeros on both sides of them.
    let digit = |at: i32| {
        let digit = usize::try_from(at).ok().and_then(|at| digits.get(at));
        char::from(digit.copied().unwrap_or(b'0'))
    };
    let mut out = sign.to_owned();
    out.extend((0..point.max(1)).map(|at| digit(if point < 1 { -1 } else { at })));
    if decimals > 0 {
        out.push('.');
        out.extend((0..decimals as i32).map(|at| digit(point + at)));
    }
    out
}

/// A number as `Double.parseDouble` reads it, but for hexadecimal ones.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "NaN" || unsigned == "Infinity" {
        return text.parse().ok();
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    // Rust reads words for infinities that Java doesn't.
    let plain = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    (number.chars().all(plain) && number.contains(|c: char| c.is_ascii_digit()))
        .then(|| number.parse().ok())
        .flatten()
}

/// The fewest digits that name `value`, and how many of them stand before the point.
fn shortest(value: f64) -> (Vec<u8>, i32) {
    let written = format!("{value:e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    (digits, exponent.parse::<i32>().unwrap_or(0) + 1)
}

/// Adds one to the last digit; false when there is no digit left to carry into.
fn carry(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return true;
        }
        *digit = b'0';
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Java 17 prints for `%.1f %.2f %.3f %.4f %f`.
    const JAVA: &str = "\
1.005 1.0 1.01 1.005 1.0050 1.005000
0.125 0.1 0.13 0.125 0.1250 0.125000
2.675 2.7 2.68 2.675 2.6750 2.675000
0.5 0.5 0.50 0.500 0.5000 0.500000
2.5 2.5 2.50 2.500 2.5000 2.500000
0.05 0.1 0.05 0.050 0.0500 0.050000
0.25 0.3 0.25 0.250 0.2500 0.250000
0.35 0.4 0.35 0.350 0.3500 0.350000
0 0.0 0.00 0.000 0.0000 0.000000
1.0E7 10000000.0 10000000.00 10000000.000 10000000.0000 10000000.000000
1.0E-5 0.0 0.00 0.000 0.0000 0.000010
1.0E20 100000000000000000000.0 100000000000000000000.00 100000000000000000000.000 \
100000000000000000000.0000 100000000000000000000.000000
5.0E-4 0.0 0.00 0.001 0.0005 0.000500
4050.222762251 4050.2 4050.22 4050.223 4050.2228 4050.222762
9.995 10.0 10.00 9.995 9.9950 9.995000
999.95 1000.0 999.95 999.950 999.9500 999.950000
1.0E-10 0.0 0.00 0.000 0.0000 0.000000
5.0E-7 0.0 0.00 0.000 0.0000 0.000001
-0.05 -0.1 -0.05 -0.050 -0.0500 -0.050000
0.9999999 1.0 1.00 1.000 1.0000 1.000000";

    #[test]
    fn doubles_are_rounded_half_up_on_their_shortest_decimal_form() {
        for line in JAVA.lines() {
            let mut words = line.split(' ');
            let value = parse_double(words.next().unwrap()).unwrap();
            let ours = [1, 2, 3, 4, 6].map(|decimals| fixed(value, decimals));
            assert_eq!(
                ours.join(" "),
                words.collect::<Vec<_>>().join(" "),
                "{value}"
            );
        }
        assert_eq!(fixed(1e20, 0), "100000000000000000000");
        assert_eq!(fixed(9.5, 0), "10");
    }

    #[test]
    fn what_is_no_number_has_javas_names() {
        assert_eq!(fixed(f64::NAN, 2), "NaN");
        assert_eq!(fixed(f64::INFINITY, 2), "Infinity");
        assert_eq!(fixed(f64::NEG_INFINITY, 2), "-Infinity");
    }

    #[test]
    fn doubles_are_read_as_java_reads_them() {
        for (text, value) in [("-1", -1.0), ("1e3", 1e3), (" 10d ", 10.0), ("+.5F", 0.5)] {
            assert_eq!(parse_double(text), Some(value), "{text}");
        }
        assert!(parse_double("NaN").unwrap().is_nan());
        assert_eq!(parse_double("-Infinity"), Some(f64::NEG_INFINITY));
        for text in ["", "abc", "inf", "nan", "0x10", "1_000", "-", "d", "10dd"] {
            assert_eq!(parse_double(text), None, "{text}");
        }
    }
}
