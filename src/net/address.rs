//! `host:port` as users and brokers write it, IPv6 in brackets.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

/// A host, by name or by number, and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// A name, an IPv4 or an IPv6 address, the last without brackets.
    pub host: Arc<str>,
    /// From 1 to 65535.
    pub port: u16,
}

/// An entry that is no address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// There is no port, or it is no number from 1 to 65535.
    #[error("{0:?}: HOST:PORT is wanted, the port from 1 to 65535")]
    Port(String),
    /// An IPv6 address without brackets: where it ends cannot be told.
    #[error("{0:?}: an IPv6 address is wanted in brackets, such as [::1]:9092")]
    Brackets(String),
    /// There is no host, or one with letters that no host has.
    #[error("{0:?}: the host is missing or malformed")]
    Host(String),
    /// There is no entry at all.
    #[error("no HOST:PORT is given")]
    Empty,
}

impl Address {
    /// Reads a list with commas. Empty entries are passed over; an entry given twice stands once.
    ///
    /// # Errors
    /// Names the first entry that is no address; or when there is none.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, AddressError> {
        let mut addresses = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            let address = entry.parse()?;
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(AddressError::Empty);
        }
        Ok(addresses)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let port_missing = || AddressError::Port(text.to_owned());
        let host_malformed = || AddressError::Host(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(port_missing)?;
        let host = match host.strip_prefix('[') {
            Some(inside) => {
                let inside = inside.strip_suffix(']').ok_or_else(port_missing)?;
                // A zone such as %eth0 may follow.
                let number = inside.split('%').next().unwrap_or_default();
                number
                    .parse::<std::net::Ipv6Addr>()
                    .map_err(|_| host_malformed())?;
                inside
            }
            None if host.contains(':') && !host.contains("://") => {
                return Err(AddressError::Brackets(text.to_owned()));
            }
            None => host,
        };
        let fits = |c: char| !c.is_whitespace() && !matches!(c, '/' | '[' | ']' | '@' | ',');
        if host.is_empty() || !host.chars().all(fits) {
            return Err(host_malformed());
        }
        // from_str of numbers takes a plus sign, which no port has.
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|&port| digits && port > 0);
        Ok(Self {
            host: host.into(),
            port: port.ok_or_else(port_missing)?,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ipv4_and_bracketed_ipv6_come_back_as_written() {
        for text in [
            "kafka-1.example:9092",
            "10.0.0.1:1",
            "[::1]:9092",
            "[fe80::1%eth0]:65535",
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        let address: Address = "[::1]:9092".parse().unwrap();
        assert_eq!((&*address.host, address.port), ("::1", 9092));
    }

    #[test]
    fn a_malformed_entry_is_refused_by_name() {
        let bad = [
            "",
            "kafka",
            "kafka:",
            ":9092",
            "kafka:0",
            "kafka:65536",
            "kafka:+9",
            "kafka:x",
            "[::1]",
            "[::1]9092",
            "[::1:9092",
            "[]:9092",
            "[kafka]:9092",
            "SSL://kafka:9092",
            "a b:9092",
        ];
        for text in bad {
            let error = text.parse::<Address>().expect_err(text);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
        let error = "::1:9092".parse::<Address>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"::1:9092\": an IPv6 address is wanted in brackets, such as [::1]:9092"
        );
    }

    #[test]
    fn a_list_keeps_its_order_and_names_its_bad_entry() {
        let list = Address::parse_list("b:2, a:1,,b:2").unwrap();
        let texts: Vec<_> = list.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["b:2", "a:1"]);
        assert_eq!(
            Address::parse_list("a:1,b"),
            Err(AddressError::Port("b".into()))
        );
        assert_eq!(Address::parse_list(" , "), Err(AddressError::Empty));
    }
}
