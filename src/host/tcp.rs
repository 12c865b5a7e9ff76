//! What the kernel knows of a TCP connection: round trip and retransmits.
//!
//! `getsockopt(TCP_INFO)` needs `unsafe`; the kernel gives the same structure over a netlink socket
//! (`sock_diag`), which reads like any other bytes.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

use crate::base::clock::Nanos;

/// What the kernel tells of one connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The smoothed round trip, as of the last acknowledged segments.
    pub rtt: Nanos,
    /// Segments sent since it was opened, those sent again included. 0 before Linux 4.2.
    pub segments_sent: u64,
    /// Segments sent again.
    pub segments_retransmitted: u64,
}

/// A question line to the kernel; one serves all connections of a thread.
#[derive(Debug)]
pub struct TcpDiag {
    socket: OwnedFd,
    sequence: u32,
    reply: Vec<u8>,
}

impl TcpDiag {
    /// Opens it.
    ///
    /// # Errors
    /// When the system has no `sock_diag`, or a sandbox forbids it.
    pub fn open() -> io::Result<Self> {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        Ok(Self {
            socket,
            sequence: 0,
            reply: vec![0; REPLY_BYTES_MAX],
        })
    }

    /// Asks about the connection from `local` to `peer`, some microseconds; `None` when there is none.
    ///
    /// # Errors
    /// When the kernel refuses to answer.
    pub fn ask(&mut self, local: SocketAddr, peer: SocketAddr) -> io::Result<Option<TcpInfo>> {
        self.sequence = self.sequence.wrapping_add(1);
        let question = question(local, peer, self.sequence);
        rustix::net::send(&self.socket, &question, SendFlags::empty())?;
        loop {
            // The kernel answers within the send, so there is no need to wait for it.
            let read = rustix::net::recv(&self.socket, &mut self.reply[..], RecvFlags::DONTWAIT)?;
            let reply = &self.reply[..read.0];
            // An answer to an earlier question, left behind by an error, is passed over.
            if u32_at(reply, 8) == Some(self.sequence) {
                return answer(reply);
            }
        }
    }
}

/// `nlmsghdr` and `inet_diag_req_v2` for exactly one connection.
fn question(local: SocketAddr, peer: SocketAddr, sequence: u32) -> [u8; QUESTION_BYTES] {
    let mut bytes = [0; QUESTION_BYTES];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &(QUESTION_BYTES as u32).to_ne_bytes());
    put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(6, &NLM_F_REQUEST.to_ne_bytes());
    put(8, &sequence.to_ne_bytes());
    let (family, local_ip, peer_ip) = match (local.ip(), peer.ip()) {
        (IpAddr::V4(local), IpAddr::V4(peer)) => {
            let wide = |ip: std::net::Ipv4Addr| {
                let mut wide = [0; 16];
                wide[..4].copy_from_slice(&ip.octets());
                wide
            };
            (AF_INET, wide(local), wide(peer))
        }
        (local, peer) => {
            let octets = |ip: IpAddr| match ip {
                IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
                IpAddr::V6(ip) => ip.octets(),
            };
            (AF_INET6, octets(local), octets(peer))
        }
    };
    put(16, &[family, IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1)]);
    put(20, &u32::MAX.to_ne_bytes()); // Any state.
    put(24, &local.port().to_be_bytes());
    put(26, &peer.port().to_be_bytes());
    put(28, &local_ip);
    put(44, &peer_ip);
    put(64, &[0xff; 8]); // No cookie: the addresses name it.
    bytes
}

/// Reads the kernel's answer.
fn answer(reply: &[u8]) -> io::Result<Option<TcpInfo>> {
    let short = || io::Error::new(io::ErrorKind::InvalidData, "a short answer of sock_diag");
    let kind = u16_at(reply, 4).ok_or_else(short)?;
    if kind == NLMSG_ERROR {
        let code = u32_at(reply, NETLINK_HEADER_BYTES).ok_or_else(short)? as i32;
        return match io::Error::from_raw_os_error(-code) {
            gone if gone.kind() == io::ErrorKind::NotFound => Ok(None),
            error => Err(error),
        };
    }
    let mut at = NETLINK_HEADER_BYTES + INET_DIAG_MSG_BYTES;
    while let (Some(length), Some(kind)) = (u16_at(reply, at), u16_at(reply, at + 2)) {
        let length = usize::from(length);
        if length < 4 || at + length > reply.len() {
            return Err(short());
        }
        if kind == u16::from(INET_DIAG_INFO) {
            return parse(&reply[at + 4..at + length])
                .ok_or_else(short)
                .map(Some);
        }
        at += length.next_multiple_of(4);
    }
    Err(short())
}

/// Reads `struct tcp_info`; older kernels give a shorter one.
fn parse(info: &[u8]) -> Option<TcpInfo> {
    Some(TcpInfo {
        rtt: Nanos::from(u32_at(info, 68)?) * 1_000,
        segments_retransmitted: u64::from(u32_at(info, 100)?),
        segments_sent: u64::from(u32_at(info, 136).unwrap_or(0)),
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

const NETLINK_HEADER_BYTES: usize = 16;
const QUESTION_BYTES: usize = NETLINK_HEADER_BYTES + 56;
const INET_DIAG_MSG_BYTES: usize = 72;
/// `tcp_info` and a dozen small attributes are 400 bytes today.
const REPLY_BYTES_MAX: usize = 8_192;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const INET_DIAG_INFO: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_on_loopback_has_a_round_trip_and_lost_nothing() {
        let Ok(mut diag) = TcpDiag::open() else {
            return; // A sandbox forbids it, as the docs say.
        };
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                continue; // A machine without IPv6.
            };
            let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            stream.write_all(&[7; 1_000]).unwrap();
            peer.read_exact(&mut [0; 1_000]).unwrap();
            let (local, remote) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
            let info = diag.ask(local, remote).unwrap().unwrap();
            assert!(info.rtt > 0 && info.rtt < 1_000_000_000, "{info:?}");
            assert!(info.segments_sent >= 2);
            assert_eq!(info.segments_retransmitted, 0);
            let nobody = SocketAddr::new(remote.ip(), 1);
            assert_eq!(diag.ask(local, nobody).unwrap(), None);
            // And the line still works after an answer of "none".
            assert!(diag.ask(local, remote).unwrap().is_some());
        }
    }

    #[test]
    fn a_cut_answer_is_an_error_and_no_panic() {
        let mut reply = vec![0u8; 16 + 72];
        reply[4] = 20;
        reply.extend_from_slice(&[144, 0, 2, 0]);
        reply.resize(16 + 72 + 144, 0);
        assert!(answer(&reply).unwrap().is_some());
        for cut in 0..reply.len() {
            assert!(answer(&reply[..cut]).is_err(), "{cut}");
        }
    }
}
