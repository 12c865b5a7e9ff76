//! The control plane as others see it: how to start it, what it is told, what it tells.

use std::io;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kafka_protocol::protocol::Request;
use thiserror::Error;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::merge::Hint;
use super::plane::{self, Call, Message, Plane};
use super::retry::Backoff;
use super::snapshot::Snapshot;
use crate::net::address::Address;
use crate::net::connect::{ConnectError, ConnectOptions, Established};
use crate::net::control_stream::{AskError, RawReply};
use crate::net::mailbox::Post;
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;
use crate::wire::control;

/// What the control plane needs to know.
#[derive(Debug, Clone)]
pub struct ControlOptions {
    /// `bootstrap.servers`; at least one. They stay a fallback for the whole run.
    pub bootstrap: Vec<Address>,
    /// How to connect; its time-out is for one broker, all its addresses included.
    pub connect: ConnectOptions,
    /// `request.timeout.ms`, for one request on one connection.
    pub request_timeout: Duration,
    /// `default.api.timeout.ms`, for a request with all its retries.
    pub api_timeout: Duration,
    /// `retry.backoff.ms` and `.max.ms`.
    pub retry: Backoff,
    /// `reconnect.backoff.ms` and `.max.ms`, per broker.
    pub reconnect: Backoff,
    /// How many connections for lanes may be under way at once; at least 1.
    pub connect_concurrency: usize,
    /// `metadata.max.age.ms`.
    pub metadata_max_age: Duration,
    /// `metadata.recovery.rebootstrap.trigger.ms`.
    pub rebootstrap_after: Duration,
    /// Topics of interest from the start.
    pub topics: Vec<Arc<str>>,
    /// Whether asking for a topic may make it, where the broker allows that.
    pub allow_auto_topic_creation: bool,
}

/// A lane: its worker's place among the mailboxes, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneRef {
    /// Which mailbox its events go to.
    pub worker: u32,
    /// Its number in that worker.
    pub lane: u32,
}

/// What a lane asks of the control plane.
#[derive(Debug, Clone)]
pub enum Command {
    /// A connection to a broker. It is tried again, with back-off, until [`Event::Connected`] or an
    /// [`Event::ConnectFailed`] that says it is not.
    Connect {
        /// Who asks.
        lane: LaneRef,
        /// Comes back with the answer.
        ticket: u64,
        /// The broker.
        node_id: i32,
    },
    /// New metadata soon, with these topics among those of interest from now on.
    Refresh {
        /// May be empty.
        topics: Vec<Arc<str>>,
    },
    /// A new producer id.
    InitProducerId {
        /// Who asks.
        lane: LaneRef,
        /// Comes back with the answer.
        ticket: u64,
    },
    /// A leader that a broker named.
    Hint(Hint),
}

/// What a worker's mailbox brings.
#[derive(Debug)]
pub enum Event {
    /// The cluster as it is known now; one after each answer, news or none.
    Snapshot(Arc<Snapshot>),
    /// A connection that was asked for.
    Connected {
        /// The lane's number in its worker.
        lane: u32,
        /// As asked.
        ticket: u64,
        /// The connection.
        established: Established,
    },
    /// An attempt to connect failed.
    ConnectFailed {
        /// The lane's number in its worker.
        lane: u32,
        /// As asked.
        ticket: u64,
        /// The broker.
        node_id: i32,
        /// Each address tried and why it failed, and what to look at.
        error: Arc<str>,
        /// Whether it will be tried again without being asked. If not, the versions do not agree, or
        /// the broker is no longer part of the cluster.
        again: bool,
    },
    /// A producer id that was asked for.
    ProducerId {
        /// The lane's number in its worker.
        lane: u32,
        /// As asked.
        ticket: u64,
        /// The id.
        producer_id: i64,
        /// Its epoch.
        epoch: i16,
    },
    /// No producer id is to be had.
    ProducerIdFailed {
        /// The lane's number in its worker.
        lane: u32,
        /// As asked.
        ticket: u64,
        /// Why, in words.
        error: Arc<str>,
        /// The broker's reason, if one answered.
        code: Option<BrokerError>,
    },
}

/// Whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// Whichever broker answers.
    Any,
    /// The broker with this id.
    Id(i32),
    /// The controller, or whichever broker answers while none is known.
    Controller,
}

/// Why no bootstrap server could be used: each one with what was tried.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no bootstrap server can be used: {}", .0.join("; "))]
pub struct BootstrapError(pub Vec<String>);

/// Why a request of the control plane was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// No broker could be connected to.
    #[error("{}", list(.0))]
    Connect(Vec<ConnectError>),
    /// The broker did not answer, or nothing that can be read.
    #[error("{peer}: {error}")]
    Ask {
        /// The broker's address.
        peer: String,
        /// What happened.
        error: AskError,
    },
    /// No broker has this id.
    #[error("broker {0} is not part of the cluster")]
    NoSuchNode(i32),
    /// Connecting and asking took too long together.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The control plane has ended.
    #[error("the control plane has ended")]
    Ended,
}

/// The control plane: one thread with its own connections. Dropping it ends the thread.
#[derive(Debug)]
pub struct ControlPlane {
    messages: UnboundedSender<Message>,
    board: Arc<Board>,
    retry: Backoff,
    api_timeout: Duration,
    thread: Option<JoinHandle<()>>,
}

/// Speaks to the control plane from a load thread. Cheap to clone; never waits.
#[derive(Debug, Clone)]
pub struct Commands(UnboundedSender<Message>);

/// Where the newest snapshot hangs.
#[derive(Debug, Default)]
pub(super) struct Board {
    latest: Mutex<Arc<Snapshot>>,
    changed: Condvar,
}

impl ControlPlane {
    /// Starts the thread. Events go to `posts`, by worker. Nothing is dialled before
    /// [`Self::bootstrap`].
    ///
    /// # Errors
    /// When the system gives no thread or no poll.
    pub fn start(options: ControlOptions, posts: Vec<Post<Event>>) -> io::Result<Self> {
        let (messages, inbox) = unbounded_channel();
        let board = Arc::new(Board::default());
        let (retry, api_timeout) = (options.retry, options.api_timeout);
        let plane = Plane::new(options, posts, Arc::clone(&board));
        let thread = plane::spawn(plane, inbox)?;
        Ok(Self {
            messages,
            board,
            retry,
            api_timeout,
            thread: Some(thread),
        })
    }

    /// Asks the bootstrap servers for metadata, the next one when an earlier one fails or is silent,
    /// and waits for the first answer.
    ///
    /// # Errors
    /// Names each server, each address tried and why it failed.
    pub fn bootstrap(&self) -> Result<Arc<Snapshot>, BootstrapError> {
        let (reply, answer) = mpsc::channel();
        let ended = || BootstrapError(vec![CallError::Ended.to_string()]);
        let sent = self.messages.send(Message::Bootstrap(reply));
        sent.map_err(|_| ended())?;
        answer.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// `retry.backoff.ms` and `.max.ms`.
    pub(super) fn retry(&self) -> Backoff {
        self.retry
    }

    /// `default.api.timeout.ms`.
    pub(super) fn api_timeout(&self) -> Duration {
        self.api_timeout
    }

    /// The newest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.board.lock())
    }

    /// Waits until a snapshot is as `wanted`, for `timeout` at most.
    ///
    /// # Errors
    /// The newest snapshot, when none was as wanted in time.
    pub fn wait_for(
        &self,
        timeout: Duration,
        mut wanted: impl FnMut(&Snapshot) -> bool,
    ) -> Result<Arc<Snapshot>, Arc<Snapshot>> {
        let deadline = Instant::now() + timeout;
        let mut latest = self.board.lock();
        loop {
            if wanted(&latest) {
                return Ok(Arc::clone(&latest));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Arc::clone(&latest));
            }
            let waited = self.board.changed.wait_timeout(latest, left);
            latest = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What lanes send commands by.
    pub fn commands(&self) -> Commands {
        Commands(self.messages.clone())
    }

    /// Asks one request of one broker and waits for the answer: `api_timeout` at most for the
    /// connection and the answer together. Nothing is tried twice; errors in the answer are the
    /// caller's.
    ///
    /// # Errors
    /// When no broker can be connected to, or none answers in a way that can be read.
    pub fn call<R>(&self, node: Node, request: R) -> Result<R::Response, CallError>
    where
        R: Request + Send + 'static,
    {
        let raw = self.call_raw(node, request)?;
        let decoded = control::decode_response::<R>(&raw.reply.frame, raw.reply.version);
        let decoded = decoded.map_err(|error| CallError::Ask {
            peer: raw.peer,
            error: error.into(),
        });
        Ok(decoded?.1)
    }

    fn call_raw<R>(&self, node: Node, request: R) -> Result<Answer, CallError>
    where
        R: Request + Send + 'static,
    {
        let (reply, answer) = mpsc::channel();
        let call = Call {
            node,
            api: ApiKey(R::KEY),
            encode: Box::new(move |meta| control::encode_request(&request, meta)),
            reply,
        };
        let sent = self.messages.send(Message::Call(call));
        sent.map_err(|_| CallError::Ended)?;
        answer.recv().unwrap_or(Err(CallError::Ended))
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // A thread that has ended needs no telling.
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Commands {
    /// Hands a command over. After the control plane has ended, nothing happens.
    pub fn send(&self, command: Command) {
        let _ = self.0.send(Message::Command(command));
    }
}

/// An answer and who gave it.
#[derive(Debug)]
pub(super) struct Answer {
    pub reply: RawReply,
    pub peer: String,
}

impl Board {
    /// Hangs up a newer snapshot.
    pub fn post(&self, snapshot: Arc<Snapshot>) {
        *self.lock() = snapshot;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Snapshot>> {
        // Replacing an Arc cannot leave it half done.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn list(errors: &[ConnectError]) -> String {
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
