//! A `.properties` file as `java.util.Properties` reads it from bytes: Latin-1, one property per
//! logical line.

use thiserror::Error;

/// A property as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The line it begins on, the first being 1.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What is wrong with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("line {line}: \\u is followed by four hexadecimal digits")]
pub struct FileError {
    /// The line it begins on.
    pub line: usize,
}

/// Reads all properties in their order; of one given twice both are there.
///
/// # Errors
/// When a `\u` is not followed by four hexadecimal digits.
pub fn parse(bytes: &[u8]) -> Result<Vec<Entry>, FileError> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let mut entries = Vec::new();
    for (line, text) in logical_lines(&text) {
        let (name, value) = split(&text);
        entries.push(Entry {
            line,
            name: unescape(name).ok_or(FileError { line })?,
            value: unescape(value).ok_or(FileError { line })?,
        });
    }
    Ok(entries)
}

/// Lines without blanks before them, comments and empty ones left out, continuations joined.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continued = false;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim_start_matches(BLANKS);
        if !continued && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        let slashes = line.len() - line.trim_end_matches('\\').len();
        let goes_on = slashes % 2 == 1;
        let line = if goes_on {
            &line[..line.len() - 1]
        } else {
            line
        };
        match lines.last_mut().filter(|_| continued) {
            Some((_, begun)) => begun.push_str(line),
            None => lines.push((index + 1, line.to_owned())),
        }
        continued = goes_on;
    }
    lines
}

/// The name ends at the first `=`, `:` or blank that isn't escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|char: char| {
        let ends = !escaped && (char == '=' || char == ':' || BLANKS.contains(&char));
        escaped = char == '\\' && !escaped;
        ends
    });
    let Some(end) = end else {
        return (line, "");
    };
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(BLANKS);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (name, rest.trim_start_matches(BLANKS))
}

fn unescape(text: &str) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let char = match (char, char == '\\') {
            (char, false) => char,
            (_, true) => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let plain = digits.len() == 4 && !digits.starts_with('+');
                    units.push(u16::from_str_radix(&digits, 16).ok().filter(|_| plain)?);
                    continue;
                }
                Some(other) => other,
                None => continue,
            },
        };
        units.extend_from_slice(char.encode_utf16(&mut [0; 2]));
    }
    Some(String::from_utf16_lossy(&units))
}

const BLANKS: [char; 3] = [' ', '\t', '\u{c}'];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, String)> {
        let entries = parse(text.as_bytes()).unwrap().into_iter();
        entries.map(|e| (e.name, e.value)).collect()
    }

    fn one(text: &str) -> (String, String) {
        of(text).pop().unwrap()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_name_ends_at_equals_colon_or_blank() {
        for text in ["a=b", "a:b", "a b", "  a \t= b", "a =b", "a\t:  b"] {
            assert_eq!(one(text), pair("a", "b"), "{text:?}");
        }
        assert_eq!(one("a==b"), pair("a", "=b"));
        assert_eq!(one("a"), pair("a", ""));
        assert_eq!(one("a\\=b\\ c=d"), pair("a=b c", "d"));
        assert_eq!(one("a = b  "), pair("a", "b  "));
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over_but_not_inside_a_continuation() {
        assert_eq!(of("# a=b\n\n  ! c=d\r\ne=f"), [pair("e", "f")]);
        assert_eq!(one("a=b,\\\n   # c"), pair("a", "b,# c"));
        assert_eq!(one("a=b\\\\\nc=d"), pair("c", "d"));
        assert_eq!(one("a=b\\"), pair("a", "b"));
    }

    #[test]
    fn escapes_and_latin_1_are_javas() {
        assert_eq!(one("a=\\u0041\\t\\x"), pair("a", "A\tx"));
        assert_eq!(one("a=\\uD83D\\uDE00"), pair("a", "😀"));
        assert_eq!(parse(b"a=\xe9").unwrap()[0].value, "é");
        assert_eq!(parse(b"x=y\na=\\u12"), Err(FileError { line: 2 }));
        assert_eq!(parse(b"a=\\u+123"), Err(FileError { line: 1 }));
    }

    #[test]
    fn an_entry_knows_the_line_it_begins_on() {
        let entries = parse(b"# x\na=1\\\n2\n\nb=3").unwrap();
        let lines: Vec<_> = entries.iter().map(|e| (e.line, e.value.as_str())).collect();
        assert_eq!(lines, [(2, "12"), (5, "3")]);
    }
}
