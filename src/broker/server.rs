//! The broker's loop: listeners and connections on one poll, on one thread.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use rustix::time::{ClockId, clock_gettime};
use socket2::SockRef;

use super::BrokerOptions;
use super::session::Session;
use super::state::State;
use crate::base::clock::SECOND;

const WAKE: Token = Token(usize::MAX);

/// Everything the loop owns.
pub struct Server {
    poll: Poll,
    listeners: Vec<TcpListener>,
    sessions: HashMap<Token, Session>,
    next_token: usize,
    state: State,
    cpu_ns: Arc<AtomicU64>,
}

impl Server {
    /// Listens; gives the addresses, and what ends the loop.
    pub fn bind(options: &BrokerOptions) -> io::Result<(Self, Vec<SocketAddr>, Waker)> {
        let poll = Poll::new()?;
        let mut listeners = Vec::new();
        for (index, address) in options.listen.iter().enumerate() {
            let mut listener = TcpListener::bind(*address)?;
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
        let server = Self {
            poll,
            next_token: listeners.len(),
            listeners,
            sessions: HashMap::new(),
            state: State::new(addresses.clone(), options.partitions),
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
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
                Ok(()) => {}
            }
            for event in &events {
                match event.token() {
                    WAKE => return,
                    Token(index) if index < self.listeners.len() => self.accept(index),
                    token => self.serve(token, event.is_writable()),
                }
            }
            self.cpu_ns.store(thread_cpu_ns(), Ordering::Relaxed);
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
                let session = Session::new(stream, index as i32 + 1);
                self.sessions.insert(token, session);
            }
        }
    }

    fn serve(&mut self, token: Token, writable: bool) {
        let Some(session) = self.sessions.get_mut(&token) else {
            return;
        };
        let alive = (!writable || session.flush()) && session.serve(&mut self.state);
        if !alive && let Some(mut session) = self.sessions.remove(&token) {
            // The socket closes either way.
            self.poll.registry().deregister(&mut session.stream).ok();
        }
    }
}

/// CPU time of the calling thread, ns.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
