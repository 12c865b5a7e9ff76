//! Waiting batches into requests: which are ready, which may go, closed and numbered.

use super::batch::Batch;
use super::producer::{Producer, RouteIndex, Trace};
use super::request::Request;
use super::topic::{OnWire, Partition};
use crate::base::clock::Nanos;
use crate::records::compress::Compression;
use crate::wire::produce::{PARTITION_HEAD_BYTES, RequestHead, wrapped_bytes};

/// What a request says that its connection decides.
#[derive(Debug, Clone, Copy)]
pub struct WireContext<'a> {
    /// The version of Produce agreed on.
    pub version: i16,
    /// The number the pipeline gave.
    pub correlation_id: i32,
    /// `client.id`.
    pub client_id: &'a str,
}

/// What a request takes beside its batches, at most, for one topic of the longest name.
const REQUEST_OVERHEAD_BYTES: usize = 512;

impl<T: Trace> Producer<T> {
    /// Lists the routes that something can be sent over now, each once.
    pub fn ready_routes(&mut self, now: Nanos, ready: &mut Vec<RouteIndex>) {
        ready.clear();
        if self.identity_needed() {
            return;
        }
        for at in 0..self.active.len() {
            let (topic, index) = self.active[at];
            let partition = &self.topics[topic as usize].partitions[index as usize];
            let Some(route) = partition.route else {
                self.needs_metadata = true;
                continue;
            };
            if !self.routes[route as usize].listed && self.is_ready(partition, now) {
                self.routes[route as usize].listed = true;
                ready.push(RouteIndex(route));
            }
        }
        for route in ready {
            self.routes[route.0 as usize].listed = false;
        }
    }

    /// When something will be ready or over its time that isn't now, if nothing else happens.
    pub fn next_deadline(&self) -> Option<Nanos> {
        let fronts = self.active.iter().filter_map(|(topic, index)| {
            let partition = &self.topics[*topic as usize].partitions[*index as usize];
            let front = partition.queue.front()?;
            let expires = front.created.saturating_add(self.options.delivery_timeout);
            Some(self.ready_at(partition, front).min(expires))
        });
        fronts.min()
    }

    /// The next request over `route`, if anything can be sent there. With each ready batch go the
    /// others of the same broker, one of each partition, up to `max.request.size`.
    pub fn drain(
        &mut self,
        now: Nanos,
        route: RouteIndex,
        context: &WireContext<'_>,
    ) -> Option<Request<T>> {
        if self.identity_needed() || !self.any_ready(now, route) {
            return None;
        }
        let mut request = self.requests.pop().unwrap_or_else(Request::new);
        self.collect(now, route, context.version, &mut request);
        if request.batches.is_empty() {
            self.requests.push(request);
            return None;
        }
        // Stable, so that each topic's partitions keep their order.
        request.batches.sort_by_key(|batch| batch.topic);
        request.route = route.0;
        request.drained = now;
        let head = RequestHead {
            version: context.version,
            correlation_id: context.correlation_id,
            client_id: context.client_id,
            transactional_id: None,
            acks: self.options.acks.code(),
            timeout_ms: (self.options.request_timeout / 1_000_000) as i32,
        };
        request.lay_out(&head, &self.topics);
        Some(request)
    }

    fn any_ready(&self, now: Nanos, route: RouteIndex) -> bool {
        let partitions = self.routes[route.0 as usize].partitions.iter();
        let mut partitions = partitions
            .map(|(topic, index)| &self.topics[*topic as usize].partitions[*index as usize]);
        partitions.any(|partition| self.is_ready(partition, now))
    }

    /// Takes at most one batch of each partition of the route, beginning where the last drain ended.
    fn collect(&mut self, now: Nanos, route: RouteIndex, version: i16, request: &mut Request<T>) {
        let count = self.routes[route.0 as usize].partitions.len();
        let start = self.routes[route.0 as usize].cursor;
        let mut bytes = REQUEST_OVERHEAD_BYTES;
        for step in 0..count {
            let at = (start + step) % count;
            let (topic, index) = self.routes[route.0 as usize].partitions[at];
            let partition = &self.topics[topic as usize].partitions[index as usize];
            if !self.may_go(partition, now) {
                continue;
            }
            self.close_front(now, topic, index);
            let partition = &mut self.topics[topic as usize].partitions[index as usize];
            let Some(front) = partition.queue.front() else {
                continue;
            };
            bytes += wrapped_bytes(version, front.closed_bytes());
            if bytes > self.options.request_bytes_max && !request.batches.is_empty() {
                // It stays closed, and goes first next time.
                self.routes[route.0 as usize].cursor = at;
                return;
            }
            if let Some(mut batch) = partition.queue.pop_front() {
                batch.leader_epoch = partition.leader_epoch;
                partition.on_wire.push_back(OnWire {
                    serial: batch.serial,
                    numbering: partition.numbering,
                });
                request.batches.push(batch);
            }
            self.deactivate(topic, index);
        }
    }

    /// Whether the partition's first batch is ready and may go.
    fn is_ready(&self, partition: &Partition<T>, now: Nanos) -> bool {
        let Some(front) = partition.queue.front() else {
            return false;
        };
        self.ready_at(partition, front) <= now && self.may_go(partition, now)
    }

    /// Whether the partition's first batch may go, though it might still linger.
    fn may_go(&self, partition: &Partition<T>, now: Nanos) -> bool {
        let Some(front) = partition.queue.front() else {
            return false;
        };
        if partition.leader.is_none() || now < front.retry_at {
            return false;
        }
        if self.options.in_flight_max == 1 && !partition.on_wire.is_empty() {
            return false;
        }
        !self.options.idempotent || self.number_allows(partition, front)
    }

    /// When the partition's first batch is ready: it is full, has lingered, or need not.
    fn ready_at(&self, partition: &Partition<T>, front: &Batch<T>) -> Nanos {
        let lingered = front.created.saturating_add(self.options.linger);
        let mut ready = lingered;
        if front.ready != 0 {
            ready = ready.min(front.ready);
        }
        if let Some(since) = self.flushing {
            ready = ready.min(since);
        }
        if let Some(since) = self.starved {
            ready = ready.min(since);
        }
        if partition.queue.len() > 1 {
            ready = ready.min(front.created);
        }
        ready.max(front.retry_at)
    }

    /// Closes the partition's first batch: sequence, compression, CRC, once.
    fn close_front(&mut self, now: Nanos, topic: u32, index: u32) {
        let state = &self.topics[topic as usize].partitions[index as usize];
        let Some(front) = state.queue.front() else {
            return;
        };
        let ready = if front.ready == 0 {
            self.ready_at(state, front).clamp(front.created, now)
        } else {
            front.ready
        };
        let identity = self.take_number(topic, index);
        let state = &mut self.topics[topic as usize];
        let Some(batch) = state.partitions[index as usize].queue.front_mut() else {
            return;
        };
        batch.ready = ready;
        if batch.first_drained == 0 {
            batch.first_drained = now;
        }
        let Some(writer) = batch.writer.take() else {
            batch.identify(identity);
            return;
        };
        batch.identity = Some(identity);
        batch.payload_bytes = writer.payload_bytes();
        batch.key_bytes = writer.key_bytes();
        batch.raw_bytes = (batch.buffer.len() - PARTITION_HEAD_BYTES) as u64;
        if self.options.compression == Compression::None {
            batch.closed = writer.close(&mut batch.buffer, identity);
            return;
        }
        let mut packed = self.pool.take_buffer();
        let codec = &mut self.codec;
        let mut ratio = None;
        match writer.close_compressed(&batch.buffer, &mut packed, codec, identity) {
            Ok(range) => {
                ratio = Some(range.len() as f64 / batch.raw_bytes as f64);
                batch.closed = range;
                std::mem::swap(&mut batch.buffer, &mut packed);
            }
            // A codec that fails leaves the records as they are, which every broker takes.
            Err(_) => batch.closed = writer.close(&mut batch.buffer, identity),
        }
        self.pool.give_buffer(packed);
        if let Some(ratio) = ratio {
            state.observe_ratio(ratio);
        }
    }
}
