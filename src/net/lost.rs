//! Why a connection is gone.

use std::io;

use thiserror::Error;

use super::pipeline::PipelineError;
use crate::base::clock::{MILLISECOND, Nanos};
use crate::wire::cursor::DecodeError;
use crate::wire::frame::FrameError;

/// Why a connection is gone. What was in flight on it is of unknown or no effect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Lost {
    /// The peer ended the stream.
    #[error("the peer closed the connection")]
    Closed,
    /// The peer ended the stream within a reply.
    #[error("the peer closed the connection within a reply")]
    ClosedWithinReply,
    /// The peer reset the connection.
    #[error("the peer reset the connection")]
    Reset,
    /// A request was not answered in time.
    #[error("no answer within {} ms", .after / MILLISECOND)]
    TimedOut {
        /// The time it had.
        after: Nanos,
    },
    /// The peer's bytes are no frames.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A reply answers nothing that was asked.
    #[error(transparent)]
    Order(#[from] PipelineError),
    /// A reply's header is malformed.
    #[error("a reply's header is malformed: {0}")]
    Header(#[from] DecodeError),
    /// The system's own reason.
    #[error("{0}")]
    System(String),
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        match error.kind() {
            ConnectionReset | ConnectionAborted | BrokenPipe => Self::Reset,
            UnexpectedEof => Self::Closed,
            _ => Self::System(error.to_string()),
        }
    }
}
