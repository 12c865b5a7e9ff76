//! Ways to some broker: idle connections, then addresses to dial; the first that works wins.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kafka_protocol::protocol::Request;

use crate::net::connect::{ConnectError, ConnectOptions, Target, connect};
use crate::net::control_stream::{AskError, ControlStream};
use crate::net::race::race;
use crate::wire::api::{ApiKey, VersionError};

/// One way to a broker.
#[derive(Debug)]
pub(super) enum Way {
    /// A connection that is there.
    Idle(Box<ControlStream>),
    /// One to be made.
    Dial(Target),
}

/// A connection, and the address by which users know its other end.
#[derive(Debug)]
pub(super) struct Reached {
    pub stream: ControlStream,
    pub address: String,
}

/// Why a way led nowhere.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// No connection.
    Connect(ConnectError),
    /// No answer.
    Ask { address: String, error: AskError },
}

/// How to try ways.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    pub connect: Arc<ConnectOptions>,
    /// How long one answer may take.
    pub request_timeout: Duration,
    /// How long a way may be silent before the next one is tried beside it.
    pub stagger: Duration,
}

/// A connection by whichever way works first.
pub(super) async fn reach(ways: Vec<Way>, manner: &Manner) -> Result<Reached, Vec<ConnectError>> {
    let attempt = |way| go(way, Arc::clone(&manner.connect));
    race(ways.into_iter().map(attempt), manner.stagger).await
}

/// An answer to `request`, made for the version spoken, by whichever way brings one first.
pub(super) async fn ask_any<R, F>(
    ways: Vec<Way>,
    manner: &Manner,
    request: F,
) -> Result<(Reached, R::Response), Vec<Failure>>
where
    R: Request + Send + Sync + 'static,
    R::Response: Send,
    F: Fn(i16) -> R + Clone + Send + Sync + 'static,
{
    let attempt = |way| {
        let connect = Arc::clone(&manner.connect);
        let request = request.clone();
        let timeout = manner.request_timeout;
        async move {
            let mut reached = go(way, connect).await.map_err(Failure::Connect)?;
            match ask(&mut reached.stream, &request, timeout).await {
                Ok(response) => Ok((reached, response)),
                Err(error) => Err(Failure::Ask {
                    address: reached.address,
                    error,
                }),
            }
        }
    };
    race(ways.into_iter().map(attempt), manner.stagger).await
}

impl Failure {
    /// Whether the broker says that this is another cluster now.
    pub fn rebootstrap(&self) -> bool {
        matches!(self, Self::Connect(error) if error.rebootstrap())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(f),
            Self::Ask { address, error } => write!(f, "{address}: {error}"),
        }
    }
}

async fn go(way: Way, options: Arc<ConnectOptions>) -> Result<Reached, ConnectError> {
    match way {
        Way::Idle(stream) => Ok(Reached {
            address: stream.peer().to_string(),
            stream: *stream,
        }),
        Way::Dial(target) => {
            let address = target.address.to_string();
            let stream = connect(target, options).await?;
            Ok(Reached { stream, address })
        }
    }
}

async fn ask<R: Request>(
    stream: &mut ControlStream,
    request: &impl Fn(i16) -> R,
    timeout: Duration,
) -> Result<R::Response, AskError> {
    let version: Result<i16, VersionError> = stream.versions().agree(ApiKey(R::KEY));
    stream.ask(&request(version?), timeout).await
}
