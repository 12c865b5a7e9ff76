//! One connection: bytes in, frames to handlers, answers out, in order.

use std::io::{ErrorKind, Read, Write};

use mio::net::TcpStream;

use super::handle::{self, Answer};
use super::state::State;
use crate::wire::frame;

/// Bytes read at a time.
const READ_BYTES: usize = 256 * 1024;

/// A client's connection.
#[derive(Debug)]
pub struct Session {
    /// Its socket.
    pub stream: TcpStream,
    /// The virtual broker it was made to, from 1.
    node_id: i32,
    inbound: Vec<u8>,
    outbound: Vec<u8>,
    written: usize,
}

impl Session {
    /// A connection to broker `node_id`.
    pub fn new(stream: TcpStream, node_id: i32) -> Self {
        Self {
            stream,
            node_id,
            inbound: Vec::new(),
            outbound: Vec::new(),
            written: 0,
        }
    }

    /// Reads, handles and answers what there is; `false` when the connection is over.
    pub fn serve(&mut self, state: &mut State) -> bool {
        loop {
            let kept = self.inbound.len();
            self.inbound.resize(kept + READ_BYTES, 0);
            let read = self.stream.read(&mut self.inbound[kept..]);
            let bytes = *read.as_ref().unwrap_or(&0);
            self.inbound.truncate(kept + bytes);
            match read {
                Ok(0) => return false,
                Ok(_) => {
                    if !self.handle_frames(state) || !self.flush() {
                        return false;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.flush(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    fn handle_frames(&mut self, state: &mut State) -> bool {
        let mut taken = 0;
        let alive = loop {
            match frame::split(&self.inbound[taken..]) {
                Ok(Some((frame, bytes))) => {
                    let answer = handle::request(frame, self.node_id, state, &mut self.outbound);
                    taken += bytes;
                    if answer == Answer::Close {
                        break false;
                    }
                }
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        self.inbound.drain(..taken);
        alive
    }

    /// Writes what is to be answered; `false` when the connection is over.
    pub fn flush(&mut self) -> bool {
        while self.written < self.outbound.len() {
            match self.stream.write(&self.outbound[self.written..]) {
                Ok(0) => return false,
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.outbound.clear();
        self.written = 0;
        true
    }
}
