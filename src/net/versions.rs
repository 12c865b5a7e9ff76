//! The versions that a connection speaks, agreed upon with its broker.

use std::sync::Arc;

use thiserror::Error;

use crate::wire::api::{ApiKey, Range, VersionError};

/// Versions that the user asked for, whatever is the highest in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins(Vec<(ApiKey, i16)>);

/// A pin that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PinError {
    /// It is not `API=VERSION`.
    #[error("{0:?} is no pin: API=VERSION is wanted, such as produce=9")]
    Form(String),
    /// No API of that name.
    #[error("no API is called {0:?}")]
    Name(String),
    /// kdyno does not speak the version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// An API is pinned twice.
    #[error("{0} is pinned twice")]
    Twice(ApiKey),
}

impl Pins {
    /// Pins from texts such as `produce=9`, the API's name in any case.
    ///
    /// # Errors
    /// When one cannot be read, names a version that kdyno does not speak, or repeats an API.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, PinError> {
        let mut pins = Self::default();
        for text in texts {
            let form = || PinError::Form(text.to_owned());
            let (name, version) = text.split_once('=').ok_or_else(form)?;
            let version = version.trim().parse().map_err(|_| form())?;
            let name = name.trim();
            let api = ApiKey::from_name(name).ok_or_else(|| PinError::Name(name.to_owned()))?;
            api.pin(version, Some(api.client_range()?))?;
            if pins.of(api).is_some() {
                return Err(PinError::Twice(api));
            }
            pins.0.push((api, version));
        }
        Ok(pins)
    }

    /// The version that an API is pinned to.
    pub fn of(&self, api: ApiKey) -> Option<i16> {
        let mut pins = self.0.iter();
        pins.find(|pin| pin.0 == api).map(|pin| pin.1)
    }
}

/// What a broker offers, and what the user pinned. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Versions {
    /// Ascending by key; keys that kdyno does not know are kept.
    ranges: Arc<[(ApiKey, Range)]>,
    pins: Arc<Pins>,
}

impl Versions {
    /// The versions of a broker that offers `ranges`.
    pub fn new(mut ranges: Vec<(ApiKey, Range)>, pins: Arc<Pins>) -> Self {
        ranges.sort_by_key(|offer| offer.0);
        Self {
            ranges: ranges.into(),
            pins,
        }
    }

    /// The version to speak: the pinned one, else the highest in common.
    ///
    /// # Errors
    /// When there is none; the text names both ranges.
    #[inline]
    pub fn agree(&self, api: ApiKey) -> Result<i16, VersionError> {
        match self.pins.of(api) {
            Some(version) => api.pin(version, self.offered(api)),
            None => api.agree(self.offered(api)),
        }
    }

    /// The broker's range of an API.
    pub fn offered(&self, api: ApiKey) -> Option<Range> {
        let at = self.ranges.binary_search_by_key(&api, |offer| offer.0);
        at.ok().map(|at| self.ranges[at].1)
    }

    /// All that the broker offers, ascending by key.
    pub fn ranges(&self) -> &[(ApiKey, Range)] {
        &self.ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(pins: &[&str], max: i16) -> Versions {
        let pins = Pins::parse(pins.iter().copied()).unwrap();
        let offer = (ApiKey::PRODUCE, Range { min: 0, max });
        Versions::new(vec![offer], Arc::new(pins))
    }

    #[test]
    fn a_pin_beats_the_highest_version_in_common() {
        assert_eq!(versions(&[], 11).agree(ApiKey::PRODUCE), Ok(11));
        assert_eq!(versions(&["produce=9"], 11).agree(ApiKey::PRODUCE), Ok(9));
    }

    #[test]
    fn a_pin_that_the_broker_does_not_speak_is_refused_with_its_range() {
        let error = versions(&["Produce=12"], 11).agree(ApiKey::PRODUCE);
        let text = "Produce version 12 was asked for; the broker speaks versions 0–11";
        assert_eq!(error.unwrap_err().to_string(), text);
    }

    #[test]
    fn a_pin_that_cannot_be_kept_is_refused_before_anything_is_dialled() {
        let text = |pin| Pins::parse([pin]).unwrap_err().to_string();
        assert_eq!(
            text("produce"),
            "\"produce\" is no pin: API=VERSION is wanted, such as produce=9"
        );
        assert_eq!(text("porduce=9"), "no API is called \"porduce\"");
        assert_eq!(
            text("produce=2"),
            "Produce version 2 was asked for; kdyno speaks versions 3–13"
        );
        assert!(Pins::parse(["produce=9", "PRODUCE=9"]).is_err());
    }
}
