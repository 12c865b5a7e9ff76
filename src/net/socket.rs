//! Options of a TCP socket.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use socket2::SockRef;

/// How sockets are set up. Nagle's delay is always off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// `send.buffer.bytes`; `None`, Kafka's −1, leaves it to the system.
    pub send_buffer_bytes: Option<usize>,
    /// `receive.buffer.bytes`; `None`, Kafka's −1, leaves it to the system.
    pub receive_buffer_bytes: Option<usize>,
    /// Which congestion control to use.
    pub congestion: Congestion,
}

/// Which congestion control a socket uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Congestion {
    /// Cubic on loopback, where a paced one such as bbr halves throughput and measures itself; as
    /// the system says elsewhere.
    #[default]
    CubicOnLoopback,
    /// As the system says.
    System,
    /// The one of this name.
    Named(String),
}

impl SocketOptions {
    /// Sets up a socket that will be, or is, connected to `peer`. Buffers must be set before.
    ///
    /// # Errors
    /// When the system refuses an option that was asked for by name or number.
    pub fn apply(&self, socket: &impl AsFd, peer: SocketAddr) -> io::Result<()> {
        let socket = SockRef::from(socket);
        socket.set_tcp_nodelay(true)?;
        if let Some(bytes) = self.send_buffer_bytes {
            socket.set_send_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        match &self.congestion {
            Congestion::System => Ok(()),
            Congestion::Named(name) => socket.set_tcp_congestion(name.as_bytes()),
            Congestion::CubicOnLoopback => {
                if is_loopback(peer.ip()) {
                    // A kernel without cubic has no bbr default to be saved from.
                    let _ = socket.set_tcp_congestion(b"cubic");
                }
                Ok(())
            }
        }
    }
}

/// The name of the congestion control that a socket uses.
///
/// # Errors
/// When the system does not tell.
pub fn congestion_of(socket: &impl AsFd) -> io::Result<String> {
    let name = SockRef::from(socket).tcp_congestion()?;
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn connected() -> (TcpStream, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = listener.local_addr().unwrap();
        (TcpStream::connect(peer).unwrap(), peer)
    }

    #[test]
    fn loopback_connections_use_cubic_without_delay() {
        let (stream, peer) = connected();
        SocketOptions::default().apply(&stream, peer).unwrap();
        assert!(stream.nodelay().unwrap());
        assert_eq!(congestion_of(&stream).unwrap(), "cubic");
    }

    #[test]
    fn a_congestion_control_that_is_not_there_is_an_error() {
        let (stream, peer) = connected();
        let options = SocketOptions {
            congestion: Congestion::Named("no-such".into()),
            ..SocketOptions::default()
        };
        assert!(options.apply(&stream, peer).is_err());
    }

    #[test]
    fn buffer_sizes_are_those_asked_for() {
        let (stream, peer) = connected();
        let options = SocketOptions {
            receive_buffer_bytes: Some(32 * 1024),
            ..SocketOptions::default()
        };
        options.apply(&stream, peer).unwrap();
        // The kernel books twice the room for its own use.
        let bytes = SockRef::from(&stream).recv_buffer_size().unwrap();
        assert_eq!(bytes, 64 * 1024);
    }
}
