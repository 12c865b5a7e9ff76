//! A string that neither prints nor serialises itself: passwords, tokens, key material.

use std::fmt;

/// What stands in the place of a secret wherever it would be shown.
pub const HIDDEN: &str = "(hidden)";

/// A text that only [`Secret::expose`] gives out. It has no `Serialize` on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_in_no_format_and_is_given_out_by_name_only() {
        let secret = Secret::from("p,w=d \"x\"");
        assert_eq!(
            format!("{secret} {secret:?} {secret:#?}"),
            [HIDDEN; 3].join(" ")
        );
        assert_eq!(secret.expose(), "p,w=d \"x\"");
    }
}
