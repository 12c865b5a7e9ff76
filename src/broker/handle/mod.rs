//! Requests to answers: one file an API, and the table of what is served.

mod api_versions;
mod init_producer_id;
mod metadata;
mod produce;

use super::skim::Skim;
use super::state::State;
use crate::wire::api::{ApiKey, Range};
use crate::wire::cursor::Cursor;
use crate::wire::header::RequestHeader;

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It was answered, or needs no answer.
    Done,
    /// The connection is to be closed, as Kafka does with what it does not understand.
    Close,
}

/// The APIs served, with their versions.
const SERVED: &[(ApiKey, Range)] = &[
    (ApiKey::PRODUCE, Range { min: 3, max: 13 }),
    (ApiKey::METADATA, Range { min: 1, max: 13 }),
    (ApiKey::API_VERSIONS, Range { min: 0, max: 4 }),
    (ApiKey::INIT_PRODUCER_ID, Range { min: 0, max: 5 }),
];

/// Whether `version` of `api` is served.
pub fn served(api: ApiKey, version: i16) -> bool {
    let mut served = SERVED.iter();
    served.any(|(key, range)| *key == api && range.contains(version))
}

/// Handles a Produce request of which only the batch headers were read.
pub fn skimmed(skim: &Skim, node_id: i32, state: &mut State, out: &mut Vec<u8>) -> Answer {
    produce::skimmed(skim, node_id, state, out)
}

/// Handles one frame that came to broker `node_id`; its answer is appended to `out`.
pub fn request(frame: &[u8], node_id: i32, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let mut cursor = Cursor::new(frame);
    let Ok(header) = RequestHeader::read(&mut cursor) else {
        return Answer::Close;
    };
    let body = cursor.rest();
    let version_fits = served(header.api, header.version);
    match header.api {
        ApiKey::API_VERSIONS => api_versions::handle(&header, version_fits, body, out),
        _ if !version_fits => Answer::Close,
        ApiKey::METADATA => metadata::handle(&header, body, state, out),
        ApiKey::INIT_PRODUCER_ID => init_producer_id::handle(&header, body, state, out),
        ApiKey::PRODUCE => produce::handle(&header, body, node_id, state, out),
        _ => Answer::Close,
    }
}

/// Appends a typed answer.
fn answer<R: kafka_protocol::protocol::Request>(
    header: &RequestHeader<'_>,
    version: i16,
    response: &R::Response,
    out: &mut Vec<u8>,
) -> Answer {
    let encoded =
        crate::wire::control::encode_response::<R>(response, version, header.correlation_id);
    match encoded {
        Ok(bytes) => {
            out.extend_from_slice(&bytes);
            Answer::Done
        }
        Err(_) => Answer::Close,
    }
}
