//! The pieces of a payload file, cut as Java's `Scanner` cuts them.

use std::fmt;

use regex::Regex;

/// Why a file holds no payloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadFileError {
    /// It isn't there, or nothing is in it.
    MissingOrEmpty,
    /// The delimiter is no regular expression, or one beyond what kdyno reads.
    Delimiter {
        /// As given.
        delimiter: String,
        /// What is wrong with it.
        why: String,
    },
}

/// What is said before a payload file is read, whether it is there or not.
pub fn reading_line(absolute_path: &str) -> String {
    format!("Reading payloads from: {absolute_path}")
}

/// What is said once a payload file has been read.
pub fn records_read_line(pieces: usize) -> String {
    format!("Number of records read: {pieces}")
}

/// The pieces of `text` between matches of `delimiter`. One match at the very beginning is passed
/// over, and nothing follows a match at the very end; pieces between two matches may be empty.
///
/// # Errors
/// When the text is empty, or the delimiter is no regular expression kdyno reads.
pub fn split<'a>(text: &'a str, delimiter: &str) -> Result<Vec<&'a str>, PayloadFileError> {
    if text.is_empty() {
        return Err(PayloadFileError::MissingOrEmpty);
    }
    let regex = Regex::new(delimiter).map_err(|error| PayloadFileError::Delimiter {
        delimiter: delimiter.to_owned(),
        why: last_line(&error.to_string()),
    })?;
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(found) = regex.find_at(text, at).filter(|found| found.start() == at) {
            at = found.end();
            if at == text.len() {
                break;
            }
        }
        let end = next_delimiter(&regex, text, at);
        pieces.push(&text[at..end]);
        at = end;
    }
    Ok(pieces)
}

/// Where the piece from `at` ends: at the next match, but an empty match at its start doesn't end it.
fn next_delimiter(regex: &Regex, text: &str, at: usize) -> usize {
    let Some(found) = regex.find_at(text, at) else {
        return text.len();
    };
    if found.end() > at {
        return found.start();
    }
    let next = at + text[at..].chars().next().map_or(1, char::len_utf8);
    if next >= text.len() {
        return text.len();
    }
    regex
        .find_at(text, next)
        .map_or(text.len(), |found| found.start())
}

fn last_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

impl std::error::Error for PayloadFileError {}

impl fmt::Display for PayloadFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingOrEmpty => f.write_str("File does not exist or empty file provided."),
            Self::Delimiter { delimiter, why } => write!(
                f,
                "--payload-delimiter `{delimiter}` is no regular expression kdyno reads: {why}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_javas_scanner() {
        let cases: [(&str, &str, &[&str]); 18] = [
            ("a\nb", "\n", &["a", "b"]),
            ("a\nb\n", "\n", &["a", "b"]),
            ("\na\nb", "\n", &["a", "b"]),
            ("\n\na", "\n", &["", "a"]),
            ("a\n\nb", "\n", &["a", "", "b"]),
            ("a\n\n", "\n", &["a", ""]),
            ("\n", "\n", &[]),
            ("\n\n", "\n", &[""]),
            ("a\r\nb\r\n", "\n", &["a\r", "b\r"]),
            ("a,b;;c", "[,;]", &["a", "b", "", "c"]),
            ("a,b;;c", "[,;]+", &["a", "b", "c"]),
            (",,a", "[,;]+", &["a"]),
            ("abc", "x*", &["a", "b", "c"]),
            ("aXXb", "X*", &["a", "b"]),
            ("a", "\n", &["a"]),
            ("a--b--", "--", &["a", "b"]),
            ("a|b", "|", &["a", "|", "b"]),
            ("a|b", "\\|", &["a", "b"]),
        ];
        for (text, delimiter, pieces) in cases {
            assert_eq!(
                split(text, delimiter).unwrap(),
                pieces,
                "{text:?} {delimiter:?}"
            );
        }
        assert_eq!(split("äöü", "").unwrap(), ["ä", "ö", "ü"]);
    }

    #[test]
    fn an_empty_text_and_a_bad_delimiter_are_refused() {
        let said = split("", "\n").unwrap_err().to_string();
        assert_eq!(said, "File does not exist or empty file provided.");
        let said = split("a", "[").unwrap_err().to_string();
        assert!(said.contains("`[`") && said.contains("unclosed"), "{said}");
        let said = split("a", "(?=x)").unwrap_err().to_string();
        assert!(said.contains("look-around"), "{said}");
    }
}
