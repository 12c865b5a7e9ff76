//! The broker's loop: listeners and connections on one poll, on one thread.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use socket2::SockRef;

use super::BrokerOptions;
use super::session::Session;
use super::state::State;

const WAKE: Token = Token(usize::MAX);

/// Everything the loop owns.
pub struct Server {
    poll: Poll,
    listeners: Vec<TcpListener>,
    sessions: HashMap<Token, Session>,
    next_token: usize,
    state: State,
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
        };
        Ok((server, addresses, waker))
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
