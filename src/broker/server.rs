//! The broker's loop: listeners and connections on one poll, on one thread.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use rustix::time::{ClockId, clock_gettime};
use socket2::SockRef;

use super::holds::Holds;
use super::options::BrokerOptions;
use super::session::{Session, Turn};
use super::state::State;
use crate::base::alarm::Alarm;
use crate::base::clock::{self, Nanos, SECOND};

const WAKE: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
/// Spinning begins this long before a time that has to be met.
const SPIN: Nanos = 60_000;
/// Bytes that one call discards at most.
const DISCARD_BYTES: usize = 1024 * 1024;

/// Everything the loop owns.
pub struct Server {
    poll: Poll,
    listeners: Vec<TcpListener>,
    sessions: HashMap<Token, Session>,
    next_token: usize,
    state: State,
    /// Connections that want another turn without being told by the poll.
    again: Vec<Token>,
    /// What ends a sleep in time.
    alarm: Alarm,
    /// When connections are to be resumed; some of it is out of date.
    alarms: BinaryHeap<Reverse<(Nanos, Token)>>,
    /// Where discarded bytes would go; the system never writes there.
    discard: Vec<u8>,
    cpu_ns: Arc<AtomicU64>,
}

impl Server {
    /// Listens; gives the addresses, and what ends the loop.
    pub fn bind(options: &BrokerOptions) -> io::Result<(Self, Vec<SocketAddr>, Waker)> {
        let poll = Poll::new()?;
        let mut listeners = Vec::new();
        for (index, address) in options.listen.iter().enumerate() {
            let mut listener = TcpListener::bind(*address)
                .map_err(|e| told(&e, &format!("can't listen on {address}")))?;
            // On loopback a paced congestion control would measure itself.
            SockRef::from(&listener).set_tcp_congestion(b"cubic").ok();
            poll.registry()
                .register(&mut listener, Token(index), Interest::READABLE)?;
            listeners.push(listener);
        }
        let addresses: io::Result<Vec<SocketAddr>> =
            listeners.iter().map(TcpListener::local_addr).collect();
        let addresses = addresses?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let holds = Holds::open(&options.holds).map_err(|e| told(&e, "the log of what is held"))?;
        let server = Self {
            poll,
            next_token: listeners.len(),
            listeners,
            sessions: HashMap::new(),
            state: State::new(addresses.clone(), options, holds),
            alarm,
            again: Vec::new(),
            alarms: BinaryHeap::new(),
            discard: vec![0; DISCARD_BYTES],
            cpu_ns: Arc::default(),
        };
        Ok((server, addresses, waker))
    }

    /// Where the loop keeps its thread's CPU time, ns.
    pub fn cpu_ns(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.cpu_ns)
    }

    /// Serves until it is woken to end.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        loop {
            let wait = self.wait();
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
                Ok(()) => {}
            }
            let again = std::mem::take(&mut self.again);
            for event in &events {
                match event.token() {
                    WAKE => return,
                    ALARM => self.alarm.rang(),
                    Token(index) if index < self.listeners.len() => self.accept(index),
                    // It would not be read from, and so not be found to be over.
                    token if event.is_read_closed() && self.waits(token) => self.close(token),
                    token if !again.contains(&token) => self.turn(token, Session::serve),
                    _ => {}
                }
            }
            for token in again {
                self.turn(token, Session::serve);
            }
            self.resume();
            self.state.holds.flush();
            self.cpu_ns.store(thread_cpu_ns(), Ordering::Relaxed);
        }
    }

    /// How long to sleep for events: not at all where there is something to do, or will be so soon
    /// that a sleep would end too late; else until an event, of which the alarm is one.
    fn wait(&mut self) -> Option<Duration> {
        if !self.again.is_empty() || !self.state.woken.is_empty() {
            return Some(Duration::ZERO);
        }
        let next = self.alarms.peek().map_or(Nanos::MAX, |alarm| alarm.0.0);
        let at = next.min(self.state.next());
        let now = clock::now();
        let sleep_until = at.saturating_sub(SPIN);
        if sleep_until <= now {
            return Some(Duration::ZERO);
        }
        let set = self
            .alarm
            .set(now, (at < Nanos::MAX).then_some(sleep_until));
        // Without its alarm it would sleep too long.
        set.is_err().then_some(Duration::ZERO)
    }

    /// Resumes the connections for which something has happened, or whose time has come.
    fn resume(&mut self) {
        let now = clock::now();
        self.state.tick(now);
        let woken: Vec<Token> = self.state.woken.drain().collect();
        for token in woken {
            if self.waits(token) {
                self.turn(token, Session::resume);
            }
        }
        while let Some(Reverse((at, token))) = self.alarms.peek().copied()
            && at <= now
        {
            self.alarms.pop();
            self.turn(token, Session::resume);
        }
    }

    fn accept(&mut self, index: usize) {
        while let Ok((mut stream, _)) = self.listeners[index].accept() {
            let token = Token(self.next_token);
            self.next_token += 1;
            stream.set_nodelay(true).ok();
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registered = self.poll.registry().register(&mut stream, token, interest);
            if registered.is_ok() {
                let session = Session::new(stream, token, index as i32 + 1);
                self.sessions.insert(token, session);
            }
        }
    }

    fn waits(&self, token: Token) -> bool {
        let session = self.sessions.get(&token);
        session.is_some_and(Session::waits)
    }

    fn turn(&mut self, token: Token, turn: fn(&mut Session, &mut State, &mut [u8]) -> Turn) {
        let Some(session) = self.sessions.get_mut(&token) else {
            return;
        };
        match turn(session, &mut self.state, &mut self.discard) {
            Turn::Idle => {}
            Turn::More => self.again.push(token),
            Turn::Over => return self.close(token),
        }
        if let Some(at) = session.alarm() {
            self.alarms.push(Reverse((at, token)));
        }
    }

    fn close(&mut self, token: Token) {
        if let Some(mut session) = self.sessions.remove(&token) {
            // The socket closes either way.
            self.poll.registry().deregister(&mut session.stream).ok();
        }
    }
}

/// `error`, with what could not be done.
fn told(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// CPU time of the calling thread, ns.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
