//! One Produce request: what is written between the batches, and the batches where they lie.

use std::ops::Range;

use super::batch::Batch;
use super::topic::Topic;
use crate::base::clock::Nanos;
use crate::net::pipeline::Outgoing;
use crate::wire::api::ApiKey;
use crate::wire::produce::{self, RequestHead, wrap_partition};

/// A request that owns its batches until it is answered.
#[derive(Debug)]
pub struct Request<T> {
    pub(super) version: i16,
    pub(super) acks: i16,
    /// Everything that is not in a batch.
    glue: Vec<u8>,
    parts: Vec<Part>,
    bytes: usize,
    /// By topic, as they stand in the request.
    #[allow(clippy::vec_box)]
    pub(super) batches: Vec<Box<Batch<T>>>,
    /// Which route it went.
    pub(super) route: u32,
    /// When it was made.
    pub(super) drained: Nanos,
}

/// A stretch of a request's bytes.
#[derive(Debug, Clone)]
enum Part {
    Glue(Range<usize>),
    /// What of a batch's buffer goes out.
    Buffer(usize),
    /// The body that stamped batches share.
    Body(usize),
}

impl<T> Request<T> {
    pub(super) fn new() -> Self {
        Self {
            version: 0,
            acks: 0,
            glue: Vec::new(),
            parts: Vec::new(),
            bytes: 0,
            batches: Vec::new(),
            route: 0,
            drained: 0,
        }
    }

    /// Records in it.
    pub fn records(&self) -> u64 {
        let batches = self.batches.iter();
        batches.map(|batch| u64::from(batch.records)).sum()
    }

    /// Lays its batches, which are sorted by topic and closed, out behind `head`.
    pub(super) fn lay_out(&mut self, head: &RequestHead<'_>, topics: &[Topic<T>]) {
        self.version = head.version;
        self.acks = head.acks;
        self.glue.clear();
        self.parts.clear();
        let mut topic_count = 0;
        let mut last = None;
        for batch in &self.batches {
            if last != Some(batch.topic) {
                topic_count += 1;
                last = Some(batch.topic);
            }
        }
        produce::begin(&mut self.glue, head, topic_count);
        let mut glued = 0;
        let mut first = 0;
        while first < self.batches.len() {
            let topic = self.batches[first].topic;
            let same = self.batches[first..]
                .iter()
                .take_while(|b| b.topic == topic);
            let end = first + same.count();
            let Topic { name, id, .. } = &topics[topic as usize];
            produce::topic(&mut self.glue, head.version, name, *id, end - first);
            for index in first..end {
                glued = self.cut_glue(glued);
                self.add_batch(index);
            }
            produce::end(&mut self.glue, head.version);
            first = end;
        }
        produce::end(&mut self.glue, head.version);
        self.cut_glue(glued);
        self.bytes = (0..self.parts.len())
            .map(|index| self.segment(index).len())
            .sum();
        produce::patch_length(&mut self.glue, self.bytes);
    }

    /// Makes a part of the glue written since `from`; gives where the next part begins.
    fn cut_glue(&mut self, from: usize) -> usize {
        let end = self.glue.len();
        if from < end {
            self.parts.push(Part::Glue(from..end));
        }
        end
    }

    fn add_batch(&mut self, index: usize) {
        let version = self.version;
        let batch = &mut self.batches[index];
        let partition = batch.partition as i32;
        let closed = batch.closed.clone();
        if let Some(template) = &batch.template {
            let bytes = template.batch_bytes();
            let room = &mut batch.buffer[..closed.start];
            let start = produce::partition_head(version, partition, bytes, room);
            batch.wire = start..closed.end;
            self.parts.extend([Part::Buffer(index), Part::Body(index)]);
            produce::end(&mut self.glue, version);
        } else {
            batch.buffer.resize(closed.end + 1, 0);
            batch.wire = wrap_partition(version, partition, &mut batch.buffer, closed);
            self.parts.push(Part::Buffer(index));
        }
    }
}

impl<T> Outgoing for Request<T> {
    fn segments(&self) -> usize {
        self.parts.len()
    }

    #[inline]
    fn segment(&self, index: usize) -> &[u8] {
        match &self.parts[index] {
            Part::Glue(range) => &self.glue[range.clone()],
            Part::Buffer(batch) => {
                let batch = &self.batches[*batch];
                &batch.buffer[batch.wire.clone()]
            }
            Part::Body(batch) => {
                let template = self.batches[*batch].template.as_ref();
                template.map_or(&[], |template| template.body())
            }
        }
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn expects_reply(&self) -> bool {
        self.acks != 0
    }

    fn api(&self) -> (ApiKey, i16) {
        (ApiKey::PRODUCE, self.version)
    }
}
