//! Headers that every record carries, encoded once.

use std::fmt;

use crate::records::writer::EncodedHeaders;

/// The most bytes of names and values together, 1 MiB: what a broker takes in a batch by default.
pub const HEADER_BYTES_MAX: usize = 1 << 20;

/// Why headers can't be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderError {
    /// No `=` in it, or no name before it.
    Shape(String),
    /// They are more than [`HEADER_BYTES_MAX`].
    TooLarge {
        /// How many bytes they are.
        bytes: usize,
    },
}

/// Encodes headers given as `name=value`, in their order; a name may come twice, a value may be
/// empty or hold `=`.
///
/// # Errors
/// When one has no name or no `=`, or all together are too large.
pub fn encode<T: AsRef<str>>(headers: &[T]) -> Result<EncodedHeaders, HeaderError> {
    let mut pairs = Vec::with_capacity(headers.len());
    for header in headers {
        let header = header.as_ref();
        let (name, value) = header
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| HeaderError::Shape(header.to_owned()))?;
        pairs.push((name, Some(value.as_bytes())));
    }
    let bytes = pairs
        .iter()
        .map(|(name, value)| name.len() + value.map_or(0, <[u8]>::len))
        .sum();
    if bytes > HEADER_BYTES_MAX {
        return Err(HeaderError::TooLarge { bytes });
    }
    Ok(EncodedHeaders::new(&pairs))
}

impl std::error::Error for HeaderError {}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(found) => write!(f, "`{found}` is not a header: write name=value"),
            Self::TooLarge { bytes } => write!(
                f,
                "headers of {bytes} bytes are more than the {HEADER_BYTES_MAX} a record may carry"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_their_order_repeats_and_equals_signs() {
        let encoded = encode(&["a=1", "b=", "a=x=y"]).unwrap();
        let by_hand = EncodedHeaders::new(&[
            ("a", Some(&b"1"[..])),
            ("b", Some(&b""[..])),
            ("a", Some(&b"x=y"[..])),
        ]);
        assert_eq!(encoded, by_hand);
        assert_eq!(encoded.payload_bytes(), 7);
        assert_eq!(encode::<&str>(&[]), Ok(EncodedHeaders::none()));
    }

    #[test]
    fn what_is_no_header_is_refused_by_name() {
        for text in ["trace", "=x", ""] {
            let said = encode(&[text]).unwrap_err().to_string();
            assert!(said.contains(&format!("`{text}`")) && said.contains("name=value"));
        }
        let large = format!("a={}", "x".repeat(HEADER_BYTES_MAX));
        assert!(
            encode(&[large])
                .unwrap_err()
                .to_string()
                .contains("1048576")
        );
    }
}
