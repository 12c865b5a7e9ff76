//! The embedded broker: one or several virtual brokers on one thread, without replication.
//!
//! As a sink it acknowledges batches and keeps none: a batch is judged by its header alone, the
//! records of large requests are discarded unread, and no API that would read them is advertised.
//! With a memory log every batch is checked to its last record, kept as it came, and can be read.

mod config;
mod group;
mod handle;
mod holds;
mod log;
mod options;
mod partition;
mod server;
mod session;
mod skim;
mod state;
mod topics;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use mio::Waker;

pub use options::{BrokerOptions, Holding, LogKind};

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
