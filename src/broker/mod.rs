//! The embedded broker: a sink that acknowledges record batches and keeps none.
//!
//! It answers what a producer asks: ApiVersions, Metadata, InitProducerId and Produce. Nothing that
//! is written can be read back, so it advertises no API that would read. A batch is judged by its
//! header alone; the records of large requests are discarded unread.

mod handle;
mod server;
mod session;
mod skim;
mod state;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use mio::Waker;

/// How the broker is set up.
#[derive(Debug, Clone)]
pub struct BrokerOptions {
    /// Where it listens; one virtual broker each.
    pub listen: Vec<SocketAddr>,
    /// Partitions of a topic that is made because somebody asks for it.
    pub partitions: u32,
}

impl BrokerOptions {
    /// One broker on a free port of loopback that keeps nothing.
    pub fn sink(partitions: u32) -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            partitions,
        }
    }
}

/// A running broker. Dropping it ends its thread.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<SocketAddr>,
    waker: Waker,
    cpu_ns: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a broker on a thread of its own.
///
/// # Errors
/// When it can't listen where it is to.
pub fn start(options: &BrokerOptions) -> io::Result<Running> {
    let (server, addresses, waker) = server::Server::bind(options)?;
    let cpu_ns = server.cpu_ns();
    let thread = std::thread::Builder::new()
        .name("broker".into())
        .spawn(move || server.run())?;
    Ok(Running {
        addresses,
        waker,
        cpu_ns,
        thread: Some(thread),
    })
}

impl Running {
    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// CPU time that its thread has used up to the last time it went to sleep, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Ordering::Relaxed)
    }

    /// Waits until it ends by itself, which only a failure of the system brings about.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // A broker that panicked has said so already.
            thread.join().ok();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        if self.waker.wake().is_ok() {
            thread.join().ok();
        }
    }
}
