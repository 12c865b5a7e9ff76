//! A plain client: one blocking connection, one typed request after the other.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use kafka_protocol::protocol::Request;
use kdyno::wire::control::{RequestMeta, decode_response, encode_request};

/// A connection that asks and waits for the answer.
pub struct Asker {
    stream: TcpStream,
    next: i32,
}

impl Asker {
    /// Connects to `address`.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a time-out that is not zero");
        Self { stream, next: 0 }
    }

    /// The answer to `request` in `version`.
    pub fn ask<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        let correlation_id = self.send(version, request);
        self.answer::<R>(version, correlation_id)
    }

    /// Sends `request` and gives the number its answer will carry.
    pub fn send<R: Request>(&mut self, version: i16, request: &R) -> i32 {
        self.next += 1;
        let meta = RequestMeta {
            version,
            correlation_id: self.next,
            client_id: "asker",
        };
        let frame = encode_request(request, &meta).expect("the version has these fields");
        self.send_bytes(&frame);
        self.next
    }

    /// Sends `bytes` as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("it reads");
    }

    /// The next answer, which has to be that of `correlation_id`.
    pub fn answer<R: Request>(&mut self, version: i16, correlation_id: i32) -> R::Response {
        let frame = self.frame().expect("it answers");
        let (id, response) = decode_response::<R>(&frame, version).expect("an answer");
        assert_eq!(id, correlation_id);
        response
    }

    /// The next frame without its length; `None` when the connection was closed.
    pub fn frame(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).ok()?;
        let mut frame = vec![0; i32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut frame).ok()?;
        Some(frame)
    }
}
