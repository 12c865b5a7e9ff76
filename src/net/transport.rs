//! What a connection's bytes go through: a plain socket. TLS will be a second variant.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

/// A non-blocking stream of plaintext bytes.
#[derive(Debug)]
pub enum Transport {
    /// TCP as it is.
    Plain(TcpStream),
}

impl Transport {
    /// A plain transport over a connected, non-blocking socket.
    pub fn plain(stream: std::net::TcpStream) -> Self {
        Self::Plain(TcpStream::from_std(stream))
    }

    /// Asks `registry`'s poll to tell when it can be read or written, edge by edge.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let Self::Plain(stream) = self;
        registry.register(stream, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Takes it out of `registry`'s poll.
    ///
    /// # Errors
    /// When it wasn't registered.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        let Self::Plain(stream) = self;
        registry.deregister(stream)
    }

    /// Writes from `slices` in order and says how many plaintext bytes were taken.
    ///
    /// # Errors
    /// Of the socket; `WouldBlock` when it is full.
    #[inline]
    pub fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let Self::Plain(stream) = self;
        retry_interrupted(|| stream.write_vectored(slices))
    }

    /// Reads what has come, 0 at the end of the stream.
    ///
    /// # Errors
    /// Of the socket; `WouldBlock` when nothing has come.
    #[inline]
    pub fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Self::Plain(stream) = self;
        retry_interrupted(|| stream.read(bytes))
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let Self::Plain(stream) = self;
        stream.as_fd()
    }
}

#[inline]
fn retry_interrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
