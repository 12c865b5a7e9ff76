//! A hook per request and reply, which a capture of the traffic implements and `cli` injects.

use std::fmt::Debug;
use std::net::SocketAddr;

use super::pipeline::Outgoing;
use crate::wire::api::ApiKey;

/// What is told of a request and of its reply.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// The broker's id; negative while it is known by its bootstrap address alone.
    pub node_id: i32,
    /// Its address.
    pub peer: SocketAddr,
    /// The API.
    pub api: ApiKey,
    /// Its version.
    pub version: i16,
}

/// Sees whole messages pass, from several threads. It is called once per message, never per record,
/// and must not block.
pub trait Tap: Debug + Send + Sync {
    /// A request was handed to a connection; its correlation id is in its header.
    fn request(&self, of: Exchange, request: &dyn Outgoing);
    /// A reply came: `frame` is all of it but the length.
    fn reply(&self, of: Exchange, frame: &[u8]);
}
