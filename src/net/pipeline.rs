//! Requests in flight on one connection: order, correlation ids, deadlines. No socket, no clock.
//!
//! Entries stand in the order in which they were pushed: first those that are out to their last
//! byte and wait for a reply, then at most one that is partly out, then those not begun. The
//! pipeline owns each entry, and so its bytes, until its reply comes or the connection is lost.

use std::collections::VecDeque;
use std::io::IoSlice;

use thiserror::Error;

use super::mutes::Mutes;
use crate::base::clock::Nanos;
use crate::wire::api::ApiKey;

/// A request as the pipeline sees it: segments of bytes to send in order.
pub trait Outgoing {
    /// How many segments it has.
    fn segments(&self) -> usize;
    /// The bytes of segment `index`, the same at each call.
    fn segment(&self, index: usize) -> &[u8];
    /// The bytes of all segments; at least 1.
    fn bytes(&self) -> usize;
    /// Whether the broker answers it. Produce with acks=0 is the only request it doesn't.
    fn expects_reply(&self) -> bool;
    /// Its API and version, which say how the reply's header looks.
    fn api(&self) -> (ApiKey, i16);
}

/// What a connection may have open.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many requests may be queued or unanswered at once; at least 1.
    pub in_flight_max: usize,
    /// How long a request may take from when it was pushed.
    pub request_timeout: Nanos,
}

/// A write that the socket took.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    /// The clock before the call.
    pub began: Nanos,
    /// The clock after it.
    pub ended: Nanos,
    /// How many bytes it took.
    pub bytes: usize,
}

/// When a reply arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// The clock after the read that brought its first byte.
    pub first_byte: Nanos,
    /// The clock after the read that brought its last byte.
    pub last_byte: Nanos,
}

/// A request that is through, and its marks.
#[derive(Debug)]
pub struct Sent<E> {
    /// The request.
    pub entry: E,
    /// When it was pushed.
    pub queued: Nanos,
    /// Before the write that took its first byte.
    pub first_byte_written: Nanos,
    /// After the write that took its last byte.
    pub last_byte_written: Nanos,
    /// After the read of its reply's first byte; `last_byte_written` where no reply is due.
    pub first_byte_read: Nanos,
    /// After the read of its reply's last byte; `last_byte_written` where no reply is due.
    pub last_byte_read: Nanos,
}

/// How far a request was when its connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing of it is out: the broker cannot have seen it.
    Unwritten,
    /// Some bytes are out: the broker cannot have acted on it.
    Partial,
    /// All of it is out: the broker may have acted on it.
    Written,
}

/// A reply that answers nothing that was asked. The connection is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PipelineError {
    /// The reply's correlation id is not that of the oldest unanswered request.
    #[error("a reply has correlation id {received}; {expected} was expected")]
    CorrelationId {
        /// The id of the oldest unanswered request.
        expected: i32,
        /// The id of the reply.
        received: i32,
    },
    /// No request is waiting for a reply.
    #[error("a reply with correlation id {received} came; none was expected")]
    Unasked {
        /// The id of the reply.
        received: i32,
    },
}

/// The requests of one connection.
#[derive(Debug)]
pub struct Pipeline<E> {
    limits: Limits,
    entries: VecDeque<Entry<E>>,
    /// How many entries, at the front, are out to their last byte. Each of them awaits a reply.
    written: usize,
    /// How many bytes of the entry behind them are out; less than all of its bytes.
    partial_bytes: usize,
    /// Written, and no reply is due.
    completed: VecDeque<Sent<E>>,
    next_correlation_id: i32,
    mutes: Mutes,
}

#[derive(Debug)]
struct Entry<E> {
    request: E,
    correlation_id: i32,
    bytes: usize,
    queued: Nanos,
    first_byte_written: Nanos,
    last_byte_written: Nanos,
}

impl<E: Outgoing> Pipeline<E> {
    /// An empty pipeline. Room for a usual window is allocated here, and none in steady state.
    pub fn new(limits: Limits) -> Self {
        let room = limits.in_flight_max.min(ROOM_ENTRIES);
        Self {
            limits,
            entries: VecDeque::with_capacity(room),
            written: 0,
            partial_bytes: 0,
            completed: VecDeque::with_capacity(room),
            next_correlation_id: 1,
            mutes: Mutes::default(),
        }
    }

    /// The correlation id that the next request must carry. Asking for it twice gives it twice.
    #[inline]
    pub fn next_correlation_id(&self) -> i32 {
        self.next_correlation_id
    }

    /// Whether one more request may be pushed: the window has room and no mute holds. Earlier ones
    /// need not be written yet, so that several go out in one write.
    #[inline]
    pub fn can_send(&self, now: Nanos) -> bool {
        self.entries.len() < self.limits.in_flight_max && !self.mutes.active(now)
    }

    /// Queues a request whose header carries `correlation_id`, which
    /// [`Self::next_correlation_id`] gave.
    #[inline]
    pub fn push(&mut self, now: Nanos, correlation_id: i32, request: E) {
        debug_assert_eq!(correlation_id, self.next_correlation_id);
        let bytes = request.bytes();
        debug_assert!(bytes > 0, "a request has a header");
        // After 2147483647 comes 0, as with Java: negative ids would be legal but surprise people.
        self.next_correlation_id = correlation_id.checked_add(1).unwrap_or(0);
        self.entries.push_back(Entry {
            request,
            correlation_id,
            bytes,
            queued: now,
            first_byte_written: 0,
            last_byte_written: 0,
        });
    }

    /// Whether a write has something to do at `now`. A mute holds back what is not begun.
    #[inline]
    pub fn has_unwritten(&self, now: Nanos) -> bool {
        self.partial_bytes > 0 || (self.written < self.entries.len() && !self.mutes.active(now))
    }

    /// Fills `out` with what to write next, at most `max_bytes`, and says how many slices it used.
    pub fn slices<'a>(&'a self, now: Nanos, max_bytes: usize, out: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        let mut room = max_bytes;
        let mut skip = self.partial_bytes;
        let begun = usize::from(self.partial_bytes > 0);
        let unwritten = self.entries.len() - self.written;
        let open = if self.mutes.active(now) {
            begun
        } else {
            unwritten
        };
        for entry in self.entries.iter().skip(self.written).take(open) {
            for index in 0..entry.request.segments() {
                let segment = entry.request.segment(index);
                if skip >= segment.len() {
                    skip -= segment.len();
                    continue;
                }
                if count == out.len() || room == 0 {
                    return count;
                }
                let rest = &segment[skip..];
                let rest = &rest[..rest.len().min(room)];
                skip = 0;
                room -= rest.len();
                out[count] = IoSlice::new(rest);
                count += 1;
            }
        }
        count
    }

    /// Notes that the socket took the first `write.bytes` bytes of what [`Self::slices`] gave.
    pub fn wrote(&mut self, write: Write) {
        let mut left = write.bytes;
        while left > 0 {
            let Some(entry) = self.entries.get_mut(self.written) else {
                debug_assert!(false, "more bytes written than there were");
                return;
            };
            if self.partial_bytes == 0 {
                entry.first_byte_written = write.began;
            }
            let rest = entry.bytes - self.partial_bytes;
            if left < rest {
                self.partial_bytes += left;
                return;
            }
            left -= rest;
            self.partial_bytes = 0;
            entry.last_byte_written = write.ended;
            self.entry_written(write.ended);
        }
    }

    /// Matches a reply with the oldest unanswered request.
    ///
    /// # Errors
    /// When it answers another one, or nothing that was wholly sent.
    #[inline]
    pub fn received(
        &mut self,
        arrival: Arrival,
        correlation_id: i32,
    ) -> Result<Sent<E>, PipelineError> {
        let received = correlation_id;
        if self.written == 0 {
            return Err(PipelineError::Unasked { received });
        }
        let entry = self.entries.pop_front();
        let entry = entry.ok_or(PipelineError::Unasked { received })?;
        if entry.correlation_id != received {
            let expected = entry.correlation_id;
            // It stays, so that whoever drains the pipeline finds it.
            self.entries.push_front(entry);
            return Err(PipelineError::CorrelationId { expected, received });
        }
        self.written -= 1;
        Ok(entry.sent(arrival))
    }

    /// Requests without a reply (acks=0) whose last byte is written, in order.
    #[inline]
    pub fn completed_without_reply(&mut self) -> impl Iterator<Item = Sent<E>> + '_ {
        self.completed.drain(..)
    }

    /// When the oldest request in flight times out. A mute puts that off: the broker reads nothing
    /// from the connection as long as it lasts.
    #[inline]
    pub fn next_deadline(&self) -> Option<Nanos> {
        let oldest = self.entries.front()?;
        let since = oldest.queued.max(self.mutes.until());
        Some(since.saturating_add(self.limits.request_timeout))
    }

    /// Whether a request is over its time. The connection must then be given up: its reply could
    /// still come, and a request that is half written cannot be taken back.
    #[inline]
    pub fn timed_out(&self, now: Nanos) -> bool {
        self.next_deadline().is_some_and(|deadline| deadline <= now)
    }

    /// Takes all requests out, oldest first, when the connection is lost. Those that
    /// [`Self::completed_without_reply`] would give are not among them.
    pub fn drain_entries(&mut self) -> impl Iterator<Item = (E, Progress)> + '_ {
        let written = std::mem::take(&mut self.written);
        let begun = usize::from(std::mem::take(&mut self.partial_bytes) > 0);
        let entries = self.entries.drain(..).enumerate();
        entries.map(move |(index, entry)| {
            let progress = match index {
                _ if index < written => Progress::Written,
                _ if index < written + begun => Progress::Partial,
                _ => Progress::Unwritten,
            };
            (entry.request, progress)
        })
    }

    /// Sends nothing new until `until`, because a reply that came at `now` said so.
    pub fn mute_until(&mut self, now: Nanos, until: Nanos) {
        self.mutes.mute(now, until);
    }

    /// When and how often it was muted.
    pub fn mutes(&self) -> &Mutes {
        &self.mutes
    }

    /// How many requests are queued or unanswered.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is queued or unanswered.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How long a request may take.
    pub fn request_timeout(&self) -> Nanos {
        self.limits.request_timeout
    }

    fn entry_written(&mut self, ended: Nanos) {
        let entry = &self.entries[self.written];
        if entry.request.expects_reply() {
            self.written += 1;
        } else if let Some(entry) = self.entries.remove(self.written) {
            self.completed.push_back(entry.sent(Arrival {
                first_byte: ended,
                last_byte: ended,
            }));
        }
    }
}

impl<E> Entry<E> {
    fn sent(self, arrival: Arrival) -> Sent<E> {
        Sent {
            entry: self.request,
            queued: self.queued,
            first_byte_written: self.first_byte_written,
            last_byte_written: self.last_byte_written,
            first_byte_read: arrival.first_byte,
            last_byte_read: arrival.last_byte,
        }
    }
}

/// Room made at the start; a larger window grows to its size once.
const ROOM_ENTRIES: usize = 64;

#[cfg(test)]
mod tests;
