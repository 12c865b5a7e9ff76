//! Requests to answers: one file an API, and the table of what is served.

mod api_versions;
mod create_partitions;
mod create_topics;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod describe_log_dirs;
mod describe_topic_partitions;
mod fetch;
mod find_coordinator;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod join_group;
mod leave_group;
mod list_offsets;
mod metadata;
mod offset_commit;
mod offset_fetch;
mod produce;
mod sync_group;

use kafka_protocol::protocol::{Request, StrBytes};
use mio::Token;

use super::skim::Skim;
use super::state::State;
use crate::base::clock::Nanos;
use crate::wire::api::{ApiKey, Range};
use crate::wire::control::{decode_request, encode_response};
use crate::wire::cursor::Cursor;
use crate::wire::header::RequestHeader;

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It was answered, or needs no answer.
    Done,
    /// It is to be handled again at this time, or when its connection is woken before.
    Wait(Nanos),
    /// The connection is to be closed, as Kafka does with what it does not understand.
    Close,
}

/// Whose request it is, and when.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// The virtual broker that was asked.
    pub node_id: i32,
    /// The connection it came over.
    pub connection: Token,
    /// Whether it was handled before and had to wait.
    pub again: bool,
    /// When it was handled first.
    pub since: Nanos,
    /// When it is handled now.
    pub now: Nanos,
}

/// A request on its way to its handler.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Whose it is.
    pub caller: Caller,
    /// Its header.
    pub header: RequestHeader<'a>,
    /// What is behind the header.
    pub body: &'a [u8],
}

/// An API that is served.
struct Served {
    api: ApiKey,
    versions: Range,
    /// Whether it reads what was written, which a sink does not keep.
    reads: bool,
    handle: Handle,
}

const SERVED: &[Served] = &[
    serve(ApiKey::PRODUCE, 3, 13, produce::handle),
    reads(ApiKey::FETCH, 4, 18, fetch::handle),
    reads(ApiKey::LIST_OFFSETS, 1, 10, list_offsets::handle),
    serve(ApiKey::METADATA, 0, 13, metadata::handle),
    reads(ApiKey::OFFSET_COMMIT, 2, 9, offset_commit::handle),
    reads(ApiKey::OFFSET_FETCH, 1, 9, offset_fetch::handle),
    reads(ApiKey::FIND_COORDINATOR, 0, 6, find_coordinator::handle),
    reads(ApiKey::JOIN_GROUP, 0, 9, join_group::handle),
    reads(ApiKey::HEARTBEAT, 0, 4, heartbeat::handle),
    reads(ApiKey::LEAVE_GROUP, 0, 5, leave_group::handle),
    reads(ApiKey::SYNC_GROUP, 0, 5, sync_group::handle),
    serve(ApiKey::API_VERSIONS, 0, 4, api_versions::handle),
    serve(ApiKey::CREATE_TOPICS, 2, 7, create_topics::handle),
    serve(ApiKey::DELETE_TOPICS, 1, 6, delete_topics::handle),
    serve(ApiKey::INIT_PRODUCER_ID, 0, 5, init_producer_id::handle),
    serve(ApiKey::DESCRIBE_CONFIGS, 1, 4, describe_configs::handle),
    serve(ApiKey::DESCRIBE_LOG_DIRS, 1, 4, describe_log_dirs::handle),
    serve(ApiKey::CREATE_PARTITIONS, 0, 3, create_partitions::handle),
    serve(
        ApiKey::INCREMENTAL_ALTER_CONFIGS,
        0,
        1,
        incremental_alter_configs::handle,
    ),
    serve(ApiKey::DESCRIBE_CLUSTER, 0, 2, describe_cluster::handle),
    serve(
        ApiKey::DESCRIBE_TOPIC_PARTITIONS,
        0,
        0,
        describe_topic_partitions::handle,
    ),
];

type Handle = fn(&Call<'_>, &mut State, &mut Vec<u8>) -> Answer;

const fn serve(api: ApiKey, min: i16, max: i16, handle: Handle) -> Served {
    Served {
        api,
        versions: Range { min, max },
        reads: false,
        handle,
    }
}

const fn reads(api: ApiKey, min: i16, max: i16, handle: Handle) -> Served {
    Served {
        reads: true,
        ..serve(api, min, max, handle)
    }
}

/// What is served when records are kept, or aren't.
fn offered(keeps: bool) -> impl Iterator<Item = &'static Served> {
    SERVED.iter().filter(move |served| keeps || !served.reads)
}

/// Whether `version` of Produce is served.
pub fn serves_produce(version: i16) -> bool {
    SERVED[0].versions.contains(version)
}

/// Handles a Produce request of which only the batch headers were read.
pub fn skimmed(skim: &Skim, node_id: i32, state: &mut State, out: &mut Vec<u8>) -> Answer {
    produce::skimmed(skim, node_id, state, out)
}

/// Handles one frame; its answer is appended to `out`.
pub fn request(frame: &[u8], caller: Caller, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let mut cursor = Cursor::new(frame);
    let Ok(header) = RequestHeader::read(&mut cursor) else {
        return Answer::Close;
    };
    let call = Call {
        caller,
        header,
        body: cursor.rest(),
    };
    let mut offered = offered(state.topics.keeps());
    match offered.find(|served| served.api == header.api) {
        Some(served) if served.versions.contains(header.version) => {
            (served.handle)(&call, state, out)
        }
        Some(served) if served.api == ApiKey::API_VERSIONS => api_versions::refuse(&call, out),
        _ => Answer::Close,
    }
}

/// What settings belong to, as requests number it: topics.
const TOPIC: i8 = 2;
/// And brokers.
const BROKER: i8 = 4;
const CLUSTER_ID: &str = "kdyno-embedded";

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn shown(text: &StrBytes) -> String {
    text.to_string()
}

impl Call<'_> {
    /// The typed request; `None` when the bytes are none.
    fn decode<R: Request>(&self) -> Option<R> {
        decode_request::<R>(self.body, self.header.version).ok()
    }

    /// Appends a typed answer.
    fn answer<R: Request>(&self, response: &R::Response, out: &mut Vec<u8>) -> Answer {
        self.answer_as::<R>(self.header.version, response, out)
    }

    /// Appends a typed answer of another version than the request's.
    fn answer_as<R: Request>(
        &self,
        version: i16,
        response: &R::Response,
        out: &mut Vec<u8>,
    ) -> Answer {
        match encode_response::<R>(response, version, self.header.correlation_id) {
            Ok(bytes) => {
                out.extend_from_slice(&bytes);
                Answer::Done
            }
            Err(_) => Answer::Close,
        }
    }
}
