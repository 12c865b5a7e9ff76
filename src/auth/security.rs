//! How a connection is secured. PLAINTEXT alone is there; all else is refused by name.

use thiserror::Error;

/// How a connection is secured, Kafka's `security.protocol`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Security {
    /// Neither encrypted nor authenticated.
    #[default]
    Plaintext,
}

/// Why properties ask for a security that is not to be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SecurityError {
    /// Kafka has it, kdyno not yet.
    #[error("security.protocol={0} is not there yet: kdyno speaks PLAINTEXT only so far")]
    NotYet(&'static str),
    /// Kafka does not have it.
    #[error(
        "security.protocol={0:?} is not known: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL is wanted"
    )]
    Unknown(String),
    /// A property of SASL or TLS, which would have no effect.
    #[error("{0} has no effect: kdyno speaks PLAINTEXT only so far")]
    NoEffect(String),
}

impl Security {
    /// What Kafka's properties ask for. Names that do not begin with `security.protocol`, `sasl.`
    /// or `ssl.` are passed over.
    ///
    /// # Errors
    /// When they ask for anything but PLAINTEXT, so that nobody believes in a lock that isn't there.
    pub fn from_properties<'a>(
        properties: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, SecurityError> {
        for (name, value) in properties {
            if name == "security.protocol" {
                Self::parse(value)?;
            } else if name.starts_with("sasl.") || name.starts_with("ssl.") {
                return Err(SecurityError::NoEffect(name.to_owned()));
            }
        }
        Ok(Self::Plaintext)
    }

    /// Reads a `security.protocol`, in any case as Java does.
    ///
    /// # Errors
    /// When it is anything but PLAINTEXT.
    pub fn parse(protocol: &str) -> Result<Self, SecurityError> {
        let known = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"];
        let mut known = known.into_iter();
        match known.find(|name| name.eq_ignore_ascii_case(protocol)) {
            Some("PLAINTEXT") => Ok(Self::Plaintext),
            Some(name) => Err(SecurityError::NotYet(name)),
            None => Err(SecurityError::Unknown(protocol.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_refused_by_name() {
        let ask = |name, value| Security::from_properties([("acks", "all"), (name, value)]);
        assert_eq!(
            ask("security.protocol", "plaintext"),
            Ok(Security::Plaintext)
        );
        assert_eq!(
            ask("security.protocol", "SASL_SSL")
                .unwrap_err()
                .to_string(),
            "security.protocol=SASL_SSL is not there yet: kdyno speaks PLAINTEXT only so far"
        );
        assert!(ask("security.protocol", "TLS").is_err());
        assert_eq!(
            ask("sasl.mechanism", "PLAIN").unwrap_err().to_string(),
            "sasl.mechanism has no effect: kdyno speaks PLAINTEXT only so far"
        );
        assert!(ask("ssl.truststore.location", "x").is_err());
    }
}
