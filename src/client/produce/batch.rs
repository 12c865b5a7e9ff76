//! One batch from its first record to its end, and the pool its buffer comes from.

use std::ops::Range;
use std::sync::Arc;

use crate::base::clock::Nanos;
use crate::records::layout::BATCH_HEADER_BYTES;
use crate::records::stamp::{Stamp, Template};
use crate::records::writer::{BatchWriter, Identity, rewrite_identity};
use crate::wire::produce::PARTITION_HEAD_BYTES;

/// The state of one batch. It owns its buffer until it ends.
#[derive(Debug)]
pub struct Batch<T> {
    /// Free bytes for the wire, the batch, a free byte behind it once it is closed. A stamped batch
    /// has only its header here.
    pub buffer: Vec<u8>,
    /// Where the batch's records go while it is open.
    pub writer: Option<BatchWriter>,
    /// Where the closed batch lies in `buffer`.
    pub closed: Range<usize>,
    /// What of `buffer` goes out in the attempt being made.
    pub wire: Range<usize>,
    /// The body of a stamped batch.
    pub template: Option<Arc<Template>>,
    /// What the caller notes of its records.
    pub trace: T,
    /// Order among the batches of its partition.
    pub serial: u64,
    /// Serials from `serial` on that are its own, for the parts it may be taken apart into.
    pub serial_span: u64,
    /// Which topic and partition it is for.
    pub topic: u32,
    /// See `topic`.
    pub partition: u32,
    /// Uncompressed bytes it may grow to.
    pub limit: usize,
    /// Bytes of `buffer.memory` it is charged with.
    pub charge: u64,
    /// Its records.
    pub records: u32,
    /// Keys, values and headers in it.
    pub payload_bytes: u64,
    /// Keys in it; 0 for a prepared batch.
    pub key_bytes: u64,
    /// Its bytes before compression, header included.
    pub raw_bytes: u64,
    /// When it was made.
    pub created: Nanos,
    /// When it could first be sent; 0 while it can't.
    pub ready: Nanos,
    /// When it was first put into a request; 0 while it wasn't.
    pub first_drained: Nanos,
    /// From when on it may be sent again, after a failed attempt.
    pub retry_at: Nanos,
    /// Attempts that failed.
    pub attempts: u32,
    /// The identity it was closed with, if it was.
    pub identity: Option<Identity>,
    /// An attempt ended in such a way that the broker may have appended it.
    pub perhaps_appended: bool,
    /// It is a part of a batch that was too large.
    pub is_part: bool,
    /// The name of the last error an attempt ended with.
    pub last_error: &'static str,
    /// The epoch of the leader that the last attempt went to.
    pub leader_epoch: i32,
}

/// Serials between one batch and the next: enough for parts of parts of parts.
pub const SERIAL_SPAN: u64 = 1 << 30;

impl<T: Default> Batch<T> {
    fn new() -> Self {
        Self {
            buffer: Vec::new(),
            writer: None,
            closed: 0..0,
            wire: 0..0,
            template: None,
            trace: T::default(),
            serial: 0,
            serial_span: SERIAL_SPAN,
            topic: 0,
            partition: 0,
            limit: 0,
            charge: 0,
            records: 0,
            payload_bytes: 0,
            key_bytes: 0,
            raw_bytes: 0,
            created: 0,
            ready: 0,
            first_drained: 0,
            retry_at: 0,
            attempts: 0,
            identity: None,
            perhaps_appended: false,
            is_part: false,
            last_error: "",
            leader_epoch: -1,
        }
    }
}

impl<T> Batch<T> {
    /// Whether it still takes records.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.writer.is_some() && self.ready == 0
    }

    /// Bytes of the closed batch, its shared body included.
    pub fn closed_bytes(&self) -> usize {
        match &self.template {
            Some(template) => template.batch_bytes(),
            None => self.closed.len(),
        }
    }

    /// Gives a closed batch another identity.
    pub fn identify(&mut self, identity: Identity) {
        if self.identity == Some(identity) {
            return;
        }
        self.identity = Some(identity);
        let header = &mut self.buffer[self.closed.clone()];
        match &self.template {
            None => rewrite_identity(header, identity),
            Some(template) => {
                if let Some(header) = header.first_chunk_mut::<BATCH_HEADER_BYTES>() {
                    template.identify(header, identity);
                }
            }
        }
    }

    /// Dates a prepared batch; it is closed at once.
    pub fn stamp(&mut self, template: &Arc<Template>, timestamp_ms: i64) {
        let mut header = [0; BATCH_HEADER_BYTES];
        let stamp = Stamp {
            timestamp_ms,
            identity: Identity::NONE,
        };
        template.stamp(&mut header, &stamp);
        self.buffer.extend_from_slice(&header);
        self.closed = PARTITION_HEAD_BYTES..self.buffer.len();
        self.identity = Some(Identity::NONE);
        self.template = Some(Arc::clone(template));
    }
}

/// Batches that ended, with their buffers, for the next ones.
#[derive(Debug)]
pub struct Pool<T> {
    // Boxes, so that batches move between queues and requests as one word.
    #[allow(clippy::vec_box)]
    free: Vec<Box<Batch<T>>>,
    /// Buffers without a batch: what compression takes turns with.
    buffers: Vec<Vec<u8>>,
}

/// Batches a pool keeps at most; what is beyond goes back to the system.
const FREE_MAX: usize = 4096;

impl<T: Default> Pool<T> {
    /// An empty pool.
    pub fn new() -> Self {
        Self {
            free: Vec::new(),
            buffers: Vec::new(),
        }
    }

    /// A batch whose buffer holds nothing but the free bytes for the wire.
    pub fn take(&mut self) -> Box<Batch<T>> {
        let mut batch = self.free.pop().unwrap_or_else(|| Box::new(Batch::new()));
        batch.buffer.resize(PARTITION_HEAD_BYTES, 0);
        batch
    }

    /// Takes a batch back that ended; its trace must have been cleared.
    pub fn give(&mut self, mut batch: Box<Batch<T>>) {
        if self.free.len() >= FREE_MAX {
            return;
        }
        let mut buffer = std::mem::take(&mut batch.buffer);
        buffer.clear();
        let trace = std::mem::take(&mut batch.trace);
        *batch = Batch {
            buffer,
            trace,
            ..Batch::new()
        };
        self.free.push(batch);
    }

    /// An empty buffer with the free bytes for the wire.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.resize(PARTITION_HEAD_BYTES, 0);
        buffer
    }

    /// Takes a buffer back.
    pub fn give_buffer(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.buffers.push(buffer);
    }
}
