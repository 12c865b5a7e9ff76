//! Where a client's records come from: value, key and headers of each, by its number.

use super::key::{Key, Keys};
use super::payload::Values;
use crate::records::writer::EncodedHeaders;

/// All that a client's records hold.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its values.
    pub values: Values,
    /// Its keys.
    pub keys: Keys,
    /// What every record carries.
    pub headers: EncodedHeaders,
}

/// What one record holds.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// Its value; `None` is null.
    pub value: Option<&'a [u8]>,
    /// Its key.
    pub key: Option<Key<'a>>,
    /// Its headers.
    pub headers: &'a EncodedHeaders,
}

impl Source {
    /// The client's record `index`, the same whenever it is asked for.
    #[inline]
    pub fn record(&mut self, index: u64) -> Drawn<'_> {
        Drawn {
            value: self.values.value(index),
            key: self.keys.key(index),
            headers: &self.headers,
        }
    }
}

impl Drawn<'_> {
    /// Bytes of key, value and headers.
    #[inline]
    pub fn payload_bytes(&self) -> usize {
        self.value.map_or(0, <[u8]>::len)
            + self.key.map_or(0, |key| key.bytes.len())
            + self.headers.payload_bytes()
    }
}
