//! The embedded broker: a sink that acknowledges record batches and keeps none.
//!
//! It answers what a producer asks: ApiVersions, Metadata, InitProducerId and Produce. Nothing that
//! is written can be read back, so it advertises no API that would read.

mod handle;
mod server;
mod session;
mod state;

use std::io;
use std::net::SocketAddr;
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

/// A running broker. Dropping it ends its thread.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<SocketAddr>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

/// Starts a broker on a thread of its own.
///
/// # Errors
/// When it can't listen where it is to.
pub fn start(options: &BrokerOptions) -> io::Result<Running> {
    let (server, addresses, waker) = server::Server::bind(options)?;
    let thread = std::thread::Builder::new()
        .name("broker".into())
        .spawn(move || server.run())?;
    Ok(Running {
        addresses,
        waker,
        thread: Some(thread),
    })
}

impl Running {
    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
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
