//! How other threads reach a load thread: a queue, and a waker that ends its poll.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::{Registry, Token, Waker};

/// The sending end; clones reach the same inbox.
#[derive(Debug)]
pub struct Post<T> {
    shared: Arc<Shared<T>>,
}

/// The receiving end, owned by the thread whose poll is woken.
#[derive(Debug)]
pub struct Inbox<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<VecDeque<T>>,
    waker: Waker,
}

/// A mailbox whose posts make the poll of `registry` return with `token`. A poll can have one.
///
/// # Errors
/// When the system gives no waker.
pub fn channel<T>(registry: &Registry, token: Token) -> io::Result<(Post<T>, Inbox<T>)> {
    let shared = Arc::new(Shared {
        queue: Mutex::new(VecDeque::new()),
        waker: Waker::new(registry, token)?,
    });
    let post = Post {
        shared: Arc::clone(&shared),
    };
    Ok((post, Inbox { shared }))
}

impl<T> Post<T> {
    /// Queues `item` and wakes the inbox's poll, if it isn't about to wake anyway.
    ///
    /// # Errors
    /// When the waker fails; the item is queued all the same.
    pub fn send(&self, item: T) -> io::Result<()> {
        let mut queue = self.shared.lock();
        queue.push_back(item);
        let first = queue.len() == 1;
        drop(queue);
        // Whoever made the queue non-empty has woken the poll, which takes the whole queue.
        if first {
            self.shared.waker.wake()
        } else {
            Ok(())
        }
    }
}

impl<T> Clone for Post<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> Inbox<T> {
    /// Moves everything queued into `out`, which must be empty; its room goes to the queue, so that
    /// neither allocates in the long run.
    pub fn take(&mut self, out: &mut VecDeque<T>) {
        debug_assert!(out.is_empty());
        std::mem::swap(&mut *self.shared.lock(), out);
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // A push or a swap cannot leave the queue half done.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_post_from_another_thread_wakes_the_poll_and_keeps_its_order() {
        let mut poll = mio::Poll::new().unwrap();
        let (post, mut inbox) = channel(poll.registry(), Token(7)).unwrap();
        let sender = std::thread::spawn(move || (0..100).for_each(|n| post.send(n).unwrap()));
        let mut seen = Vec::new();
        let mut taken = VecDeque::new();
        let mut events = mio::Events::with_capacity(4);
        while seen.len() < 100 {
            poll.poll(&mut events, Some(Duration::from_secs(10)))
                .unwrap();
            assert!(events.iter().any(|event| event.token() == Token(7)));
            inbox.take(&mut taken);
            seen.extend(taken.drain(..));
        }
        sender.join().unwrap();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }
}
