//! Control-plane messages: `kafka-protocol`'s types, never decoded before the guard has walked them.

use bytes::{Bytes, BytesMut};
use kafka_protocol::protocol::{Decodable, Encodable, Request};
use thiserror::Error;

use super::api::ApiKey;
use super::cursor::{Cursor, DecodeError};
use super::frame::LENGTH_BYTES;
use super::guard::{self, GuardError};
use super::header::{RequestHeader, read_response_header, write_response_header};
use super::schema::Direction;
use super::sink::{patch_i32, put_i32};

/// Why a message could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ControlError {
    /// Its header is malformed.
    #[error("header: {0}")]
    Header(#[from] DecodeError),
    /// The guard refuses it.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The typed codec refuses it.
    #[error("{api} version {version}: {why}")]
    Codec {
        /// The API.
        api: ApiKey,
        /// Its version.
        version: i16,
        /// The codec's words.
        why: String,
    },
}

/// What a request says beside its body.
#[derive(Debug, Clone, Copy)]
pub struct RequestMeta<'a> {
    /// The version spoken.
    pub version: i16,
    /// The number the answer will carry.
    pub correlation_id: i32,
    /// Who asks.
    pub client_id: &'a str,
}

/// The API of a typed request.
pub fn api_of<R: Request>() -> ApiKey {
    ApiKey(R::KEY)
}

/// A whole request, length included.
///
/// # Errors
/// When a field does not exist in the version and is not at its default.
pub fn encode_request<R: Request>(
    request: &R,
    meta: &RequestMeta<'_>,
) -> Result<Vec<u8>, ControlError> {
    let api = api_of::<R>();
    frame(api, meta.version, request, |out| {
        let header = RequestHeader {
            api,
            version: meta.version,
            correlation_id: meta.correlation_id,
            client_id: Some(meta.client_id),
        };
        header.write(out);
    })
}

/// A whole answer, length included.
///
/// # Errors
/// When a field does not exist in the version and is not at its default.
pub fn encode_response<R: Request>(
    response: &R::Response,
    version: i16,
    correlation_id: i32,
) -> Result<Vec<u8>, ControlError> {
    let api = api_of::<R>();
    frame(api, version, response, |out| {
        write_response_header(out, api, version, correlation_id);
    })
}

/// The answer to an `R` of `version` in `frame`, its length left out, and its correlation id.
///
/// # Errors
/// When the bytes are no such answer, to the last one.
pub fn decode_response<R: Request>(
    frame: &[u8],
    version: i16,
) -> Result<(i32, R::Response), ControlError> {
    let api = api_of::<R>();
    let mut cursor = Cursor::new(frame);
    let correlation_id = read_response_header(&mut cursor, api, version)?;
    let body = cursor.rest();
    guard::check(api, version, Direction::Response, body)?;
    Ok((correlation_id, decode(api, version, body)?))
}

/// The request whose body, behind its header, is `body`.
///
/// # Errors
/// When the bytes are no such request, to the last one.
pub fn decode_request<R: Request>(body: &[u8], version: i16) -> Result<R, ControlError> {
    let api = api_of::<R>();
    guard::check(api, version, Direction::Request, body)?;
    decode(api, version, body)
}

fn decode<T: Decodable>(api: ApiKey, version: i16, body: &[u8]) -> Result<T, ControlError> {
    let mut bytes = Bytes::copy_from_slice(body);
    let message = T::decode(&mut bytes, version).map_err(|e| codec_error(api, version, &e))?;
    // The guard and the typed decoder then read different messages in the same bytes.
    if !bytes.is_empty() {
        let why = format!("{} bytes are left over", bytes.len());
        return Err(codec_error(api, version, &why));
    }
    Ok(message)
}

fn frame<T: Encodable>(
    api: ApiKey,
    version: i16,
    message: &T,
    header: impl FnOnce(&mut Vec<u8>),
) -> Result<Vec<u8>, ControlError> {
    let mut out = Vec::with_capacity(256);
    // A length that was forgotten is refused by whoever reads it.
    put_i32(&mut out, -1);
    header(&mut out);
    let mut body = BytesMut::new();
    message
        .encode(&mut body, version)
        .map_err(|e| codec_error(api, version, &e))?;
    out.extend_from_slice(&body);
    let length =
        i32::try_from(out.len() - LENGTH_BYTES).map_err(|e| codec_error(api, version, &e))?;
    patch_i32(&mut out, 0, length);
    Ok(out)
}

fn codec_error(api: ApiKey, version: i16, why: &impl ToString) -> ControlError {
    ControlError::Codec {
        api,
        version,
        why: why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka_protocol::messages::api_versions_response::ApiVersion;
    use kafka_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, MetadataRequest};

    #[test]
    fn a_typed_answer_comes_back_with_its_correlation_id() {
        let entry = ApiVersion::default().with_api_key(18).with_max_version(4);
        let response = ApiVersionsResponse::default().with_api_keys(vec![entry]);
        let frame = encode_response::<ApiVersionsRequest>(&response, 4, 7).unwrap();
        let back = decode_response::<ApiVersionsRequest>(&frame[4..], 4).unwrap();
        assert_eq!(back, (7, response));
    }

    #[test]
    fn bytes_that_would_make_the_typed_decoder_allocate_never_reach_it() {
        let count_of_gigabytes = [0, 0, 0, 1, 0, 0x9d, 0x37, 0xc2, 0x0e, 0x01];
        let result = decode_response::<ApiVersionsRequest>(&count_of_gigabytes, 1);
        assert!(matches!(result, Err(ControlError::Guard(_))), "{result:?}");
    }

    #[test]
    fn trailing_bytes_are_an_error() {
        let request = MetadataRequest::default();
        let meta = RequestMeta {
            version: 12,
            correlation_id: 1,
            client_id: "kdyno",
        };
        let mut frame = encode_request(&request, &meta).unwrap();
        let mut cursor = Cursor::new(&frame[4..]);
        RequestHeader::read(&mut cursor).unwrap();
        assert_eq!(
            decode_request::<MetadataRequest>(cursor.rest(), 12).as_ref(),
            Ok(&request)
        );
        let body = frame.len() - cursor.remaining();
        frame.push(0);
        assert!(decode_request::<MetadataRequest>(&frame[body..], 12).is_err());
    }
}
