//! A non-blocking socket and its pipeline: requests out by vectored writes, replies in by order.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use mio::{Registry, Token};

use super::connect::Established;
use super::deframe::Deframer;
use super::lost::Lost;
use super::pipeline::{Arrival, Limits, Outgoing, Pipeline, Sent, Write};
use super::tap::{Exchange, Tap};
use super::transport::Transport;
use super::versions::Versions;
use crate::base::clock::{self, Nanos};
use crate::wire::cursor::Cursor;
use crate::wire::header;

/// The most bytes that one write offers; more gains nothing and delays reads.
const WRITE_BYTES_MAX: usize = 1024 * 1024;
/// The most slices that one write offers; from there on they cost more than they save.
const SLICES_MAX: usize = 64;
/// Room of a thread's read buffer, in bytes.
const READ_BYTES: usize = 256 * 1024;

/// What a thread reads into, one for all of its connections.
#[derive(Debug)]
pub struct ReadBuffer(Box<[u8]>);

impl ReadBuffer {
    /// 256 KiB.
    pub fn new() -> Self {
        Self(vec![0; READ_BYTES].into_boxed_slice())
    }
}

impl Default for ReadBuffer {
    fn default() -> Self {
        Self::new()
    }
}

/// One connection to one broker. Dropping it closes the socket.
#[derive(Debug)]
pub struct Connection<E> {
    transport: Transport,
    pipeline: Pipeline<E>,
    deframer: Deframer,
    /// The socket took less than it was offered; the poll tells when it has room.
    full: bool,
    node_id: i32,
    peer: SocketAddr,
    versions: Versions,
    tap: Option<Arc<dyn Tap>>,
}

impl<E: Outgoing> Connection<E> {
    /// A connection over what `connect` established.
    pub fn new(established: Established, limits: Limits, tap: Option<Arc<dyn Tap>>) -> Self {
        Self {
            transport: Transport::plain(established.stream),
            pipeline: Pipeline::new(limits),
            deframer: Deframer::default(),
            full: false,
            node_id: established.node_id,
            peer: established.peer,
            versions: established.versions,
            tap,
        }
    }

    /// Asks `registry`'s poll to tell when it can be read or written, edge by edge: call
    /// [`Self::read`] on each readable event and [`Self::writable`] on each writable one.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.transport.register(registry, token)
    }

    /// Takes it out of `registry`'s poll.
    ///
    /// # Errors
    /// When it wasn't registered.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.transport.deregister(registry)
    }

    /// Queues a request whose header carries `correlation_id`, which the pipeline gave as the next.
    #[inline]
    pub fn push(&mut self, now: Nanos, correlation_id: i32, request: E) {
        if let Some(tap) = &self.tap {
            tap.request(self.exchange(&request), &request);
        }
        self.pipeline.push(now, correlation_id, request);
    }

    /// Notes that the poll said the socket has room.
    #[inline]
    pub fn writable(&mut self) {
        self.full = false;
    }

    /// Writes what is queued, as far as the socket takes it: nearly always with one call.
    ///
    /// # Errors
    /// When the connection is lost. Replies that came before can still be read.
    pub fn write(&mut self, now: Nanos) -> Result<(), Lost> {
        while !self.full && self.pipeline.has_unwritten(now) {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = self.pipeline.slices(now, WRITE_BYTES_MAX, &mut slices);
            let slices = &slices[..count];
            let offered: usize = slices.iter().map(|slice| slice.len()).sum();
            let began = clock::now();
            let bytes = match self.transport.write_vectored(slices) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error.into()),
            };
            self.full = bytes < offered;
            self.pipeline.wrote(Write {
                began,
                ended: clock::now(),
                bytes,
            });
        }
        Ok(())
    }

    /// Reads until nothing is left and hands out each reply's body, without its header, with the
    /// request that it answers.
    ///
    /// # Errors
    /// When the connection is lost; replies before that were handed out.
    pub fn read(
        &mut self,
        buffer: &mut ReadBuffer,
        mut each: impl FnMut(&[u8], Sent<E>),
    ) -> Result<(), Lost> {
        loop {
            let bytes = match self.transport.read(&mut buffer.0) {
                Ok(0) if self.deframer.unfinished() => return Err(Lost::ClosedWithinReply),
                Ok(0) => return Err(Lost::Closed),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            self.feed(&buffer.0[..bytes], &mut each)?;
        }
    }

    /// # Errors
    /// [`Lost::TimedOut`] when a request is over its time at `now`.
    pub fn check_deadline(&self, now: Nanos) -> Result<(), Lost> {
        if self.pipeline.timed_out(now) {
            let after = self.pipeline.request_timeout();
            return Err(Lost::TimedOut { after });
        }
        Ok(())
    }

    /// What is in flight.
    #[inline]
    pub fn pipeline(&self) -> &Pipeline<E> {
        &self.pipeline
    }

    /// What is in flight, to mute it, or to take it out once the connection is lost.
    #[inline]
    pub fn pipeline_mut(&mut self) -> &mut Pipeline<E> {
        &mut self.pipeline
    }

    /// The broker's id.
    #[inline]
    pub fn node_id(&self) -> i32 {
        self.node_id
    }

    /// The broker's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The versions agreed upon.
    #[inline]
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    fn feed(&mut self, bytes: &[u8], each: &mut impl FnMut(&[u8], Sent<E>)) -> Result<(), Lost> {
        let Self {
            deframer,
            pipeline,
            tap,
            node_id,
            peer,
            ..
        } = self;
        deframer.feed(clock::now(), bytes, |frame, arrival: Arrival| {
            let correlation_id = Cursor::new(frame).i32()?;
            let sent = pipeline.received(arrival, correlation_id)?;
            let (api, version) = sent.entry.api();
            if let Some(tap) = tap {
                let of = Exchange {
                    node_id: *node_id,
                    peer: *peer,
                    api,
                    version,
                };
                tap.reply(of, frame);
            }
            let mut cursor = Cursor::new(frame);
            header::read_response_header(&mut cursor, api, version)?;
            each(cursor.rest(), sent);
            Ok::<_, Lost>(())
        })
    }

    fn exchange(&self, request: &E) -> Exchange {
        let (api, version) = request.api();
        Exchange {
            node_id: self.node_id,
            peer: self.peer,
            api,
            version,
        }
    }
}

impl<E> AsFd for Connection<E> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.transport.as_fd()
    }
}
