//! Request and response headers.

use super::api::ApiKey;
use super::cursor::{Cursor, DecodeError};
use super::sink::{put_i16, put_i32, put_no_tagged_fields, put_nullable_string};

/// What stands in front of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    /// The API.
    pub api: ApiKey,
    /// Its version.
    pub version: i16,
    /// The number the answer will carry.
    pub correlation_id: i32,
    /// Who asks.
    pub client_id: Option<&'a str>,
}

impl<'a> RequestHeader<'a> {
    /// Appends it.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_i16(out, self.api.0);
        put_i16(out, self.version);
        put_i32(out, self.correlation_id);
        // The client id keeps its classic form in flexible versions too.
        put_nullable_string(out, self.client_id, false);
        put_no_tagged_fields(out, self.api.flexible(self.version));
    }

    /// Reads it from the front of a request.
    ///
    /// # Errors
    /// When the bytes are no header.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self, DecodeError> {
        let header = Self {
            api: ApiKey(cursor.i16()?),
            version: cursor.i16()?,
            correlation_id: cursor.i32()?,
            client_id: cursor.nullable_string(false)?,
        };
        cursor.skip_tagged_fields(header.api.flexible(header.version))?;
        Ok(header)
    }
}

/// Whether answers of this version have tagged fields behind the correlation id. Those of
/// ApiVersions never do: a client that guessed the version must be able to read the refusal.
pub fn response_header_flexible(api: ApiKey, version: i16) -> bool {
    api != ApiKey::API_VERSIONS && api.flexible(version)
}

/// Appends a response header.
pub fn write_response_header(out: &mut Vec<u8>, api: ApiKey, version: i16, correlation_id: i32) {
    put_i32(out, correlation_id);
    put_no_tagged_fields(out, response_header_flexible(api, version));
}

/// Reads a response header and gives its correlation id.
///
/// # Errors
/// When the bytes are no header.
pub fn read_response_header(
    cursor: &mut Cursor<'_>,
    api: ApiKey,
    version: i16,
) -> Result<i32, DecodeError> {
    let correlation_id = cursor.i32()?;
    cursor.skip_tagged_fields(response_header_flexible(api, version))?;
    Ok(correlation_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_both_forms_come_back() {
        for version in [3, 9] {
            let header = RequestHeader {
                api: ApiKey::PRODUCE,
                version,
                correlation_id: 7,
                client_id: Some("kdyno"),
            };
            let mut out = Vec::new();
            header.write(&mut out);
            let mut cursor = Cursor::new(&out);
            assert_eq!(RequestHeader::read(&mut cursor), Ok(header));
            assert_eq!(cursor.end(), Ok(()));
        }
    }

    #[test]
    fn answers_of_api_versions_have_no_tagged_fields_in_their_header() {
        let mut out = Vec::new();
        write_response_header(&mut out, ApiKey::API_VERSIONS, 4, 1);
        assert_eq!(out, [0, 0, 0, 1]);
        write_response_header(&mut out, ApiKey::METADATA, 9, 1);
        assert_eq!(out[4..], [0, 0, 0, 1, 0]);
    }
}
