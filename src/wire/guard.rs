//! Refuses a message that a typed decoder must not see: it would allocate from untrusted counts.

use thiserror::Error;

use super::api::ApiKey;
use super::schema::{self, Direction, Field, Limits, Scalar, Visitor, WalkError};

/// Why a message is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GuardError {
    /// No layout is known for it.
    #[error("{0} version {1} is not known")]
    Unknown(ApiKey, i16),
    /// It is not what its layout says.
    #[error("{api} version {version}: {error}")]
    Malformed {
        /// The API.
        api: ApiKey,
        /// Its version.
        version: i16,
        /// Where it differs.
        error: WalkError,
    },
}

/// Checks that `body` is `version` of one side of `api`, to the last byte.
///
/// # Errors
/// When it isn't.
pub fn check(
    api: ApiKey,
    version: i16,
    direction: Direction,
    body: &[u8],
) -> Result<(), GuardError> {
    let layout = schema::message(api, direction)
        .filter(|layout| layout.versions.contains(version))
        .ok_or(GuardError::Unknown(api, version))?;
    schema::walk(layout, version, body, Limits::DEFAULT, &mut Ignore).map_err(|error| {
        GuardError::Malformed {
            api,
            version,
            error,
        }
    })
}

/// Looks at nothing: the walk itself is the check.
struct Ignore;

impl<'a> Visitor<'a> for Ignore {
    fn scalar(&mut self, _: &'static Field, _: usize, _: Scalar<'a>) {}
    fn begin_array(&mut self, _: &'static Field, _: usize) {}
    fn end_array(&mut self, _: &'static Field) {}
    fn begin_struct(&mut self, _: &'static Field) {}
    fn end_struct(&mut self, _: &'static Field) {}
    fn unknown_tag(&mut self, _: u32, _: &'a [u8]) {}
}
