//! One connection: bytes in, frames to handlers, answers out, in order.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

use mio::Token;
use mio::net::TcpStream;
use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, recv};

use super::handle::{self, Answer, Caller};
use super::holds::Holds;
use super::skim::{SKIM_BYTES_MIN, Skim, Step};
use super::state::State;
use crate::base::clock::{self, Nanos};
use crate::wire::api::ApiKey;
use crate::wire::cursor::Cursor;
use crate::wire::frame::{self, LENGTH_BYTES};

/// Bytes read at a time.
const READ_BYTES: usize = 256 * 1024;
/// Bytes read at a time where a large batch is expected: little more than what is before it.
const HEAD_BYTES: usize = 512;
/// Bytes that are taken from one connection before others have their turn.
const TURN_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of answers that may wait; a client that leaves more unread is not read from.
const OUTBOUND_BYTES_MAX: usize = 1024 * 1024;

/// How a turn of a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// There is nothing more to read or no room for answers; the poll tells when that changes.
    Idle,
    /// There may be more to read: it wants another turn.
    More,
    /// The connection is over.
    Over,
}

/// A client's connection.
#[derive(Debug)]
pub struct Session {
    /// Its socket.
    pub stream: TcpStream,
    /// What the poll calls it.
    token: Token,
    /// The virtual broker it was made to, from 1.
    node_id: i32,
    inbound: Vec<u8>,
    outbound: Vec<u8>,
    written: usize,
    /// What of `outbound` may be written.
    released: usize,
    /// Answers behind that, which are held back, the oldest first.
    held: VecDeque<Held>,
    /// The alarm that was set for it.
    alarm: Option<Nanos>,
    /// The large Produce request that is coming in.
    skim: Option<Skim>,
    /// Whether the last Produce request was a large one, so that the next may be.
    large: bool,
    /// Whether `inbound` holds frames that were left because too many answers waited.
    behind: bool,
    /// The first frame of `inbound` can't be answered yet; those behind it wait for their turn.
    waiting: Option<Waiting>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    since: Nanos,
    until: Nanos,
}

/// An answer that may not be written yet.
#[derive(Debug, Clone, Copy)]
struct Held {
    since: Nanos,
    until: Nanos,
    /// Where it ends in `outbound`.
    end: usize,
}

impl Session {
    /// A connection to broker `node_id`.
    pub fn new(stream: TcpStream, token: Token, node_id: i32) -> Self {
        Self {
            stream,
            token,
            node_id,
            inbound: Vec::new(),
            outbound: Vec::new(),
            written: 0,
            released: 0,
            held: VecDeque::new(),
            alarm: None,
            skim: None,
            large: false,
            behind: false,
            waiting: None,
        }
    }

    /// Whether a request waits.
    pub fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// The time of an alarm that is to be set for it: when an answer that is held goes out, or a
    /// request that waits is handled again. It is told once.
    pub fn alarm(&mut self) -> Option<Nanos> {
        let wait = self.waiting.map(|waiting| waiting.until);
        let hold = self.held.front().map(|held| held.until);
        let next = wait.into_iter().chain(hold).min();
        let news = next.filter(|_| next != self.alarm);
        self.alarm = next;
        news
    }

    /// Handles the request that waits once more, if one does, and goes on where that is possible.
    pub fn resume(&mut self, state: &mut State, discard: &mut [u8]) -> Turn {
        if self.waiting.is_some() && self.handle(state).is_none() {
            self.flush(&mut state.holds);
            return Turn::Over;
        }
        self.serve(state, discard)
    }

    /// Reads, handles and answers what there is, within one turn. What is discarded unread goes to
    /// `discard`, of which nothing is looked at.
    pub fn serve(&mut self, state: &mut State, discard: &mut [u8]) -> Turn {
        let mut taken = 0;
        while taken < TURN_BYTES {
            if !self.flush(&mut state.holds) {
                return Turn::Over;
            }
            if self.waiting.is_some() || self.is_full() {
                return Turn::Idle;
            }
            if !self.behind {
                match self.read(discard) {
                    Ok(0) => return Turn::Over,
                    Ok(bytes) => taken += bytes,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Turn::Idle,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return Turn::Over,
                }
            }
            if self.handle(state).is_none() {
                // What was asked before is still answered, if the socket takes it.
                self.flush(&mut state.holds);
                return Turn::Over;
            }
        }
        match self.flush(&mut state.holds) {
            true => Turn::More,
            false => Turn::Over,
        }
    }

    /// Whether more answers wait than may.
    fn is_full(&self) -> bool {
        self.outbound.len() - self.written > OUTBOUND_BYTES_MAX
    }

    /// Reads once, or discards what the request coming in does not need.
    fn read(&mut self, discard: &mut [u8]) -> io::Result<usize> {
        if let Some(skim) = &mut self.skim
            && skim.skip() > 0
        {
            let bytes = skim.skip().min(discard.len());
            // On TCP this flag drops the bytes within the system.
            let (_, dropped) = recv(&self.stream, &mut discard[..bytes], RecvFlags::TRUNC)?;
            skim.skipped(dropped);
            return Ok(dropped);
        }
        if self.large {
            let mut head = [0; HEAD_BYTES];
            let (bytes, _) = recv(&self.stream, &mut head, RecvFlags::empty())?;
            self.inbound.extend_from_slice(&head[..bytes]);
            return Ok(bytes);
        }
        self.inbound.reserve(READ_BYTES);
        let room = spare_capacity(&mut self.inbound);
        Ok(recv(&self.stream, room, RecvFlags::empty())?.1)
    }

    /// Handles what has come in; `None` when the connection is to be closed.
    fn handle(&mut self, state: &mut State) -> Option<()> {
        let mut taken = 0;
        let now = clock::now();
        let mut waited = self.waiting.take().map(|waiting| waiting.since);
        loop {
            self.hold(state.holds.answers);
            self.behind = self.is_full();
            if self.behind {
                break;
            }
            let bytes = &self.inbound[taken..];
            if let Some(skim) = &mut self.skim {
                match skim.step(bytes).ok()? {
                    Step::More(more) => {
                        taken += more;
                        break;
                    }
                    Step::Done(more) => taken += more,
                }
                let answer = handle::skimmed(skim, self.node_id, state, &mut self.outbound);
                self.skim = None;
                if answer == Answer::Close {
                    return None;
                }
            } else if !state.topics.keeps()
                && let Some(frame_bytes) = large_produce(bytes)?
            {
                self.skim = Some(Skim::new(frame_bytes));
                self.large = true;
            } else if let Some((frame, bytes)) = frame::split(bytes).ok()? {
                let since = waited.unwrap_or(now);
                let caller = Caller {
                    node_id: self.node_id,
                    connection: self.token,
                    again: waited.take().is_some(),
                    since,
                    now,
                };
                match handle::request(frame, caller, state, &mut self.outbound) {
                    Answer::Close => return None,
                    Answer::Wait(until) => {
                        self.waiting = Some(Waiting { since, until });
                        break;
                    }
                    Answer::Done => {}
                }
                taken += bytes;
                self.large = false;
            } else {
                break;
            }
        }
        self.inbound.drain(..taken);
        // A long frame that is read whole is not read in small pieces.
        self.large &= self.skim.is_some() || self.inbound.len() < HEAD_BYTES;
        Some(())
    }

    /// Holds what was answered last for `hold`.
    fn hold(&mut self, hold: Nanos) {
        let end = self.outbound.len();
        let last = self.held.back().map_or(self.released, |held| held.end);
        if hold > 0 && end > last {
            let since = clock::now();
            let until = since.saturating_add(hold);
            self.held.push_back(Held { since, until, end });
        }
    }

    /// Writes what may be answered; `false` when the connection is over.
    fn flush(&mut self, holds: &mut Holds) -> bool {
        if self.held.is_empty() {
            self.released = self.outbound.len();
        } else {
            self.release(clock::now(), holds);
        }
        while self.written < self.released {
            match self
                .stream
                .write(&self.outbound[self.written..self.released])
            {
                Ok(0) => return false,
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.forget_written();
        true
    }

    /// Lets go what was held long enough.
    fn release(&mut self, now: Nanos, holds: &mut Holds) {
        while let Some(held) = self.held.front().filter(|held| held.until <= now) {
            holds.answered(now - held.since);
            self.released = held.end;
            self.held.pop_front();
        }
    }

    /// Gives the room of what was written back.
    fn forget_written(&mut self) {
        if self.held.is_empty() || self.written > OUTBOUND_BYTES_MAX {
            self.outbound.drain(..self.written);
            for held in &mut self.held {
                held.end -= self.written;
            }
            self.released -= self.written;
            self.written = 0;
        }
    }
}

/// The length of the frame that `bytes` begin with, where it is a Produce request to be skimmed;
/// `None` outside when the bytes are no frame.
fn large_produce(bytes: &[u8]) -> Option<Option<usize>> {
    let Some(length) = frame::length(bytes).ok()? else {
        return Some(None);
    };
    let mut cursor = Cursor::new(&bytes[LENGTH_BYTES..]);
    let (Ok(api), Ok(version)) = (cursor.i16(), cursor.i16()) else {
        return Some(None);
    };
    let skimmed = ApiKey(api) == ApiKey::PRODUCE && handle::serves_produce(version);
    Some((skimmed && length >= SKIM_BYTES_MIN).then_some(length))
}
