//! A connection of the control plane: one request, then its reply.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kafka_protocol::protocol::Request;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::connect::Established;
use super::lost::Lost;
use super::pipeline::{Outgoing, PipelineError};
use super::tap::{Exchange, Tap};
use super::throttle::throttle_ms;
use super::versions::Versions;
use crate::base::clock::Nanos;
use crate::wire::api::{ApiKey, VersionError};
use crate::wire::control::{self, ControlError, RequestMeta};
use crate::wire::cursor::Cursor;
use crate::wire::frame::{self, LENGTH_BYTES};

/// Room that is made for a reply before its bytes come.
const READ_BYTES: usize = 64 * 1024;

/// Why a request of the control plane has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AskError {
    /// The connection is gone.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The broker speaks no version of it that kdyno does.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The request cannot be written, or the reply cannot be read.
    #[error(transparent)]
    Message(#[from] ControlError),
}

/// A reply as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawReply {
    /// All of it but the length.
    pub frame: Vec<u8>,
    /// The version that was asked.
    pub version: i16,
}

/// Who is at the other end, and who asks.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The broker's id; negative while it is known by its bootstrap address alone.
    pub node_id: i32,
    /// `client.id`.
    pub client_id: Arc<str>,
    /// Sees requests and replies.
    pub tap: Option<Arc<dyn Tap>>,
}

/// A connection that has one request in flight at most. After an error of kind
/// [`AskError::Lost`] it is of no more use.
#[derive(Debug)]
pub struct ControlStream {
    stream: TcpStream,
    peer: SocketAddr,
    identity: Identity,
    versions: Versions,
    next_correlation_id: i32,
    muted_until: Option<Instant>,
}

/// One request: its API, its version, and the whole frame.
#[derive(Debug)]
struct Frame {
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    bytes: Vec<u8>,
}

impl ControlStream {
    /// A stream over a connected socket, which speaks `versions`.
    pub(crate) fn new(
        stream: TcpStream,
        peer: SocketAddr,
        identity: Identity,
        versions: Versions,
    ) -> Self {
        Self {
            stream,
            peer,
            identity,
            versions,
            next_correlation_id: 1,
            muted_until: None,
        }
    }

    /// Asks `request` in the version agreed upon and waits for the answer, `timeout` at most. Waits
    /// before that as long as an earlier answer said so.
    ///
    /// # Errors
    /// When there is no common version, the connection is lost, or the reply is malformed.
    pub async fn ask<R: Request>(
        &mut self,
        request: &R,
        timeout: Duration,
    ) -> Result<R::Response, AskError> {
        let api = control::api_of::<R>();
        let encode = |meta: &RequestMeta<'_>| control::encode_request(request, meta);
        let reply = self.ask_raw(api, encode, timeout).await?;
        let decoded = control::decode_response::<R>(&reply.frame, reply.version);
        // The correlation id was checked with the frame.
        Ok(decoded?.1)
    }

    /// As [`Self::ask`], with a request that `encode` makes and a reply that the caller decodes.
    ///
    /// # Errors
    /// When there is no common version, the request cannot be made, or the connection is lost.
    pub async fn ask_raw(
        &mut self,
        api: ApiKey,
        encode: impl FnOnce(&RequestMeta<'_>) -> Result<Vec<u8>, ControlError>,
        timeout: Duration,
    ) -> Result<RawReply, AskError> {
        let version = self.versions.agree(api)?;
        self.ask_version(api, version, encode, timeout).await
    }

    /// As [`Self::ask_raw`], in a version that was not agreed upon.
    pub(crate) async fn ask_version(
        &mut self,
        api: ApiKey,
        version: i16,
        encode: impl FnOnce(&RequestMeta<'_>) -> Result<Vec<u8>, ControlError>,
        timeout: Duration,
    ) -> Result<RawReply, AskError> {
        let correlation_id = self.next_correlation_id;
        self.next_correlation_id = correlation_id.checked_add(1).unwrap_or(0);
        let bytes = encode(&RequestMeta {
            version,
            correlation_id,
            client_id: &self.identity.client_id,
        })?;
        let request = Frame {
            api,
            version,
            correlation_id,
            bytes,
        };
        if let Some(until) = self.muted_until.take() {
            tokio::time::sleep_until(until).await;
        }
        let exchange = self.exchange(&request);
        let after = timeout.as_nanos() as Nanos;
        let frame = match tokio::time::timeout(timeout, exchange).await {
            Ok(frame) => frame?,
            Err(_) => return Err(Lost::TimedOut { after }.into()),
        };
        let reply = RawReply { frame, version };
        if let Ok(ms @ 1..) = u64::try_from(throttle_ms(api, &reply)) {
            self.muted_until = Some(Instant::now() + Duration::from_millis(ms));
        }
        Ok(reply)
    }

    /// Whether the peer has, as far as is known, not ended the stream.
    pub fn is_open(&self) -> bool {
        // Bytes that nobody asked for would be taken for the next reply: that is no use either.
        let read = self.stream.try_read(&mut [0]);
        matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// The broker's id.
    pub fn node_id(&self) -> i32 {
        self.identity.node_id
    }

    /// The broker's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The versions agreed upon.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    pub(crate) fn set_versions(&mut self, versions: Versions) {
        self.versions = versions;
    }

    /// The socket, for a load thread.
    ///
    /// # Errors
    /// When the socket cannot be taken out of this thread's poll.
    pub fn into_established(self) -> io::Result<Established> {
        Ok(Established {
            stream: self.stream.into_std()?,
            peer: self.peer,
            node_id: self.identity.node_id,
            versions: self.versions,
        })
    }

    async fn exchange(&mut self, request: &Frame) -> Result<Vec<u8>, Lost> {
        let of = Exchange {
            node_id: self.identity.node_id,
            peer: self.peer,
            api: request.api,
            version: request.version,
        };
        if let Some(tap) = &self.identity.tap {
            tap.request(of, request);
        }
        // A peer that refuses what it sees may answer, then reset: its answer says more.
        let written = self.stream.write_all(&request.bytes).await;
        let frame = match (read_frame(&mut self.stream).await, written) {
            (Ok(frame), _) => frame,
            (Err(Lost::Closed), Err(error)) => return Err(error.into()),
            (Err(lost), _) => return Err(lost),
        };
        if let Some(tap) = &self.identity.tap {
            tap.reply(of, &frame);
        }
        let received = Cursor::new(&frame).i32()?;
        if received != request.correlation_id {
            let expected = request.correlation_id;
            return Err(PipelineError::CorrelationId { expected, received }.into());
        }
        Ok(frame)
    }
}

impl Outgoing for Frame {
    fn segments(&self) -> usize {
        1
    }
    fn segment(&self, _: usize) -> &[u8] {
        &self.bytes
    }
    fn bytes(&self) -> usize {
        self.bytes.len()
    }
    fn expects_reply(&self) -> bool {
        true
    }
    fn api(&self) -> (ApiKey, i16) {
        (self.api, self.version)
    }
}

/// Reads one frame, to its last byte and no further. Memory grows with the bytes that come.
async fn read_frame(stream: &mut TcpStream) -> Result<Vec<u8>, Lost> {
    let mut length = [0; LENGTH_BYTES];
    let mut have = 0;
    while have < LENGTH_BYTES {
        match stream.read(&mut length[have..]).await? {
            0 if have == 0 => return Err(Lost::Closed),
            0 => return Err(Lost::ClosedWithinReply),
            bytes => have += bytes,
        }
    }
    let bytes = frame::length(&length)?.unwrap_or(0);
    let mut frame = Vec::with_capacity(bytes.min(READ_BYTES));
    let mut rest = stream.take(bytes as u64);
    while frame.len() < bytes {
        if rest.read_buf(&mut frame).await? == 0 {
            return Err(Lost::ClosedWithinReply);
        }
    }
    Ok(frame)
}
