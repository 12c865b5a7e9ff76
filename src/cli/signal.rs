//! Ctrl-C and SIGTERM: the first keeps what was measured, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use crate::base::clock::{self, SECOND};
use crate::load::worker::Stop;

/// How long a drain may take after a signal.
const DRAIN: u64 = 5 * SECOND;

/// Watches for signals on a thread of its own; the number of the first is kept in what it returns.
pub fn watch(stop: &Arc<Stop>) -> Arc<AtomicI32> {
    let seen = Arc::new(AtomicI32::new(0));
    let (stop, first) = (Arc::clone(stop), Arc::clone(&seen));
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
        else {
            return;
        };
        runtime.block_on(async {
            let kinds = (SignalKind::interrupt(), SignalKind::terminate());
            let (Ok(mut interrupt), Ok(mut terminate)) = (signal(kinds.0), signal(kinds.1)) else {
                return;
            };
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => 2,
                    _ = terminate.recv() => 15,
                };
                if first.swap(number, Ordering::SeqCst) != 0 {
                    stop_at_once(128 + number);
                }
                let now = clock::now();
                stop.drain_until.store(now + DRAIN, Ordering::Relaxed);
                stop.offer_until.store(now, Ordering::Relaxed);
            }
        });
    });
    seen
}

#[expect(clippy::exit, reason = "the second signal asks for nothing else")]
fn stop_at_once(code: i32) {
    std::process::exit(code);
}
