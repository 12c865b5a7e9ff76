//! ApiVersions, the first words on a connection, and what to do when its version is refused.

use std::sync::Arc;

use kafka_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use kafka_protocol::protocol::StrBytes;
use thiserror::Error;
use tokio::time::Instant;

use super::control_stream::{AskError, ControlStream, RawReply};
use super::versions::{Pins, Versions};
use crate::wire::api::{ApiKey, Range, VersionError};
use crate::wire::broker_error::BrokerError;
use crate::wire::control::{self, RequestMeta};
use crate::wire::cursor::{Cursor, DecodeError};

/// Why a broker and kdyno do not understand each other.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HandshakeError {
    /// ApiVersions itself has no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The broker answers ApiVersions with an error.
    #[error("ApiVersions was answered with {0}")]
    Broker(BrokerError),
    /// The broker does not speak a version that is needed.
    #[error(transparent)]
    Version(#[from] VersionError),
}

/// What a handshake needs to know.
#[derive(Debug, Clone)]
pub struct HandshakeOptions {
    /// Versions that the user asked for.
    pub pins: Arc<Pins>,
    /// APIs without which the connection is of no use.
    pub required: Arc<[ApiKey]>,
}

/// Asks what the broker offers, until `deadline`, and gives the stream its versions.
///
/// A version that the broker does not know is asked once more, in the highest one that it names in
/// its refusal, or in version 0 where it names none that can be read.
pub(crate) async fn handshake(
    stream: &mut ControlStream,
    options: &HandshakeOptions,
    deadline: Instant,
) -> Result<(), HandshakeError> {
    let pinned = options.pins.of(ApiKey::API_VERSIONS);
    let highest = match pinned {
        Some(version) => version,
        None => ApiKey::API_VERSIONS.client_range()?.max,
    };
    let mut reply = ask(stream, highest, deadline).await?;
    if error_of(&reply)? == BrokerError::UNSUPPORTED_VERSION && pinned.is_none() && highest > 0 {
        let lower = version_named(&reply.frame).filter(|version| (0..highest).contains(version));
        reply = ask(stream, lower.unwrap_or(0), deadline).await?;
    }
    let error = error_of(&reply)?;
    if error.is_error() {
        return Err(HandshakeError::Broker(error));
    }
    let decoded = control::decode_response::<ApiVersionsRequest>(&reply.frame, reply.version);
    let (_, response) = decoded.map_err(AskError::from)?;
    let versions = Versions::new(ranges(&response), Arc::clone(&options.pins));
    for &api in &*options.required {
        versions.agree(api)?;
    }
    stream.set_versions(versions);
    Ok(())
}

async fn ask(
    stream: &mut ControlStream,
    version: i16,
    deadline: Instant,
) -> Result<RawReply, AskError> {
    let mut request = ApiVersionsRequest::default();
    if version >= 3 {
        request.client_software_name = StrBytes::from_static_str(env!("CARGO_PKG_NAME"));
        request.client_software_version = StrBytes::from_static_str(env!("CARGO_PKG_VERSION"));
    }
    let encode = |meta: &RequestMeta<'_>| control::encode_request(&request, meta);
    let api = ApiKey::API_VERSIONS;
    let timeout = deadline.saturating_duration_since(Instant::now());
    stream.ask_version(api, version, encode, timeout).await
}

/// The error code, which stands first in every version: it says how the rest is to be read.
fn error_of(reply: &RawReply) -> Result<BrokerError, AskError> {
    let read = || {
        let mut cursor = Cursor::new(&reply.frame);
        cursor.i32()?;
        cursor.i16()
    };
    let code: Result<i16, DecodeError> = read();
    let code = code.map_err(|error| AskError::Message(error.into()))?;
    Ok(BrokerError(code))
}

/// The highest version of ApiVersions in a refusal, which is in the form of version 0 whatever was
/// asked. Some brokers name none, or write the list in another form.
fn version_named(frame: &[u8]) -> Option<i16> {
    let mut cursor = Cursor::new(frame);
    cursor.i32().ok()?;
    cursor.i16().ok()?;
    let count = cursor.i32().ok()?;
    let mut named = None;
    for _ in 0..count {
        let key = ApiKey(cursor.i16().ok()?);
        let (_min, max) = (cursor.i16().ok()?, cursor.i16().ok()?);
        if key == ApiKey::API_VERSIONS {
            named = Some(max);
        }
    }
    cursor.end().ok()?;
    named
}

fn ranges(response: &ApiVersionsResponse) -> Vec<(ApiKey, Range)> {
    let offers = response.api_keys.iter();
    let offer = offers.map(|offer| {
        let range = Range {
            min: offer.min_version,
            max: offer.max_version,
        };
        (ApiKey(offer.api_key), range)
    });
    offer.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_version_to_ask_next_if_it_can_be_read() {
        let named = [0, 0, 0, 1, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 3];
        assert_eq!(version_named(&named), Some(3));
        let empty = [0, 0, 0, 1, 0, 35, 0, 0, 0, 0];
        assert_eq!(version_named(&empty), None);
        let bare = [0, 0, 0, 1, 0, 35];
        assert_eq!(version_named(&bare), None);
        // As librdkafka's mock cluster answers: a count that is no count of version 0.
        let odd = [0, 0, 0, 1, 0, 35, 1, 0, 18, 0, 0, 0, 2, 0];
        assert_eq!(version_named(&odd), None);
    }
}
