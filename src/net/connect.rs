//! From a host and a port to a connection that has agreed upon its versions.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

use super::address::Address;
use super::control_stream::{AskError, ControlStream, Identity};
use super::handshake::{HandshakeError, HandshakeOptions, handshake};
use super::lost::Lost;
use super::race::race;
use super::socket::SocketOptions;
use super::tap::Tap;
use super::versions::Versions;
use crate::auth::security::Security;
use crate::wire::broker_error::BrokerError;

/// How long an address may be silent before the next one is tried beside it.
pub(crate) const STAGGER: Duration = Duration::from_millis(250);
/// How long a name may take to resolve.
const RESOLVE_MAX: Duration = Duration::from_secs(5);

/// A broker to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its id; negative while it is known by its bootstrap address alone.
    pub node_id: i32,
    /// Where it listens.
    pub address: Address,
}

/// How to connect.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// `client.id`.
    pub client_id: Arc<str>,
    /// The time for all of it: resolving, connecting, the handshake.
    pub timeout: Duration,
    /// Options of the socket.
    pub socket: SocketOptions,
    /// How the connection is secured.
    pub security: Security,
    /// Versions.
    pub handshake: HandshakeOptions,
    /// Sees requests and replies.
    pub tap: Option<Arc<dyn Tap>>,
}

/// A connection that is ready for requests.
#[derive(Debug)]
pub struct Established {
    /// Connected and non-blocking.
    pub stream: std::net::TcpStream,
    /// The broker's address.
    pub peer: SocketAddr,
    /// The broker's id.
    pub node_id: i32,
    /// The versions agreed upon.
    pub versions: Versions,
}

/// Why a host could not be connected to: each address that was tried, and why it failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ConnectError {
    /// The host that was asked for.
    pub address: Address,
    /// What was tried, in the order in which it failed; at least one entry.
    pub attempts: Vec<Attempt>,
}

/// One attempt at one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The address; `None` when the host has none.
    pub peer: Option<SocketAddr>,
    /// Why it failed.
    pub reason: Reason,
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    /// The host has no address.
    #[error("does not resolve: {0}")]
    Unresolved(String),
    /// Nobody listens.
    #[error("connection refused")]
    Refused,
    /// Nobody answers.
    #[error("timed out after {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The system's own reason.
    #[error("{0}")]
    System(String),
    /// Somebody listens, but not in a way that Kafka does.
    #[error("connected, then {}", describe(.0))]
    Handshake(HandshakeError),
}

/// Connects to one of the target's addresses, the first that answers, and agrees upon versions.
///
/// Addresses are tried in the order in which the system gives them, the next one when an earlier
/// one fails or is silent for 250 ms.
///
/// # Errors
/// Each address tried, and why it failed, after `options.timeout` at the latest.
pub async fn connect(
    target: Target,
    options: Arc<ConnectOptions>,
) -> Result<ControlStream, ConnectError> {
    let deadline = Instant::now() + options.timeout;
    let address = target.address.clone();
    let attempts = match resolve(&target.address, options.timeout).await {
        Err(reason) => Err(vec![Attempt { peer: None, reason }]),
        Ok(peers) => {
            let attempt = |peer| try_peer(peer, deadline, target.node_id, Arc::clone(&options));
            race(peers.into_iter().map(attempt), STAGGER).await
        }
    };
    attempts.map_err(|attempts| ConnectError { address, attempts })
}

impl ConnectError {
    /// Whether trying again is of no use: the broker speaks, but not our versions.
    pub fn permanent(&self) -> bool {
        let mut attempts = self.attempts.iter();
        attempts.any(|attempt| {
            matches!(
                attempt.reason,
                Reason::Handshake(HandshakeError::Version(_))
            )
        })
    }

    /// Whether the broker says that this is another cluster now.
    pub fn rebootstrap(&self) -> bool {
        let required = Reason::Handshake(HandshakeError::Broker(BrokerError::REBOOTSTRAP_REQUIRED));
        self.attempts
            .iter()
            .any(|attempt| attempt.reason == required)
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        let host = &*self.address.host;
        for (index, attempt) in self.attempts.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            match attempt.peer {
                Some(peer) if peer.ip().to_string() != host => write!(f, "{peer} ")?,
                _ => {}
            }
            write!(f, "{}", attempt.reason)?;
        }
        Ok(())
    }
}

async fn resolve(address: &Address, timeout: Duration) -> Result<Vec<SocketAddr>, Reason> {
    let unresolved = |why: String| Reason::Unresolved(why);
    let limit = timeout.min(RESOLVE_MAX);
    let lookup = tokio::net::lookup_host((&*address.host, address.port));
    let found = match tokio::time::timeout(limit, lookup).await {
        Ok(found) => found.map_err(|error| unresolved(error.to_string()))?,
        Err(_) => return Err(unresolved(format!("no answer in {} ms", limit.as_millis()))),
    };
    let mut peers: Vec<SocketAddr> = Vec::new();
    for peer in found {
        if !peers.contains(&peer) {
            peers.push(peer);
        }
    }
    if peers.is_empty() {
        return Err(unresolved("it has no address".to_owned()));
    }
    Ok(peers)
}

async fn try_peer(
    peer: SocketAddr,
    deadline: Instant,
    node_id: i32,
    options: Arc<ConnectOptions>,
) -> Result<ControlStream, Attempt> {
    let attempt = async {
        let opening = open(peer, &options.socket);
        let opened = tokio::time::timeout_at(deadline, opening).await;
        let stream = opened.unwrap_or(Err(Reason::TimedOut(options.timeout)))?;
        let Security::Plaintext = options.security;
        let identity = Identity {
            node_id,
            client_id: Arc::clone(&options.client_id),
            tap: options.tap.clone(),
        };
        let none = Versions::new(Vec::new(), Arc::clone(&options.handshake.pins));
        let mut stream = ControlStream::new(stream, peer, identity, none);
        let agreed = handshake(&mut stream, &options.handshake, deadline).await;
        agreed.map_err(Reason::Handshake)?;
        Ok(stream)
    };
    attempt.await.map_err(|reason| Attempt {
        peer: Some(peer),
        reason,
    })
}

async fn open(peer: SocketAddr, options: &SocketOptions) -> Result<TcpStream, Reason> {
    let open = async {
        let socket = match peer {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        options.apply(&socket, peer)?;
        socket.connect(peer).await
    };
    open.await.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => Reason::Refused,
        _ => Reason::System(error.to_string()),
    })
}

/// What a failed handshake looks like from outside, with the usual cause where there is one.
fn describe(error: &HandshakeError) -> String {
    match error {
        HandshakeError::Ask(AskError::Lost(Lost::Closed | Lost::Reset)) => {
            format!(
                "{error} before it said a word: is it a listener for TLS or SASL, or not Kafka?"
            )
        }
        _ => error.to_string(),
    }
}
