//! Answers, and connections that were lost: what becomes of each batch.

use super::batch::Batch;
use super::options::Acks;
use super::producer::{Done, Ended, Ending, Outcomes, Producer, TopicIndex, Trace};
use super::request::Request;
use crate::base::clock::{MILLISECOND, Nanos};
use crate::cluster::merge::Hint;
use crate::cluster::snapshot::Broker;
use crate::net::mutes::Mutes;
use crate::net::pipeline::{Progress, Sent};
use crate::records::reader::Batch as ClosedBatch;
use crate::records::split::{SplitTo, split};
use crate::wire::broker_error::BrokerError;
use crate::wire::cursor::DecodeError;
use crate::wire::produce::{PARTITION_HEAD_BYTES, PartitionReply, Reply, TopicRef};

/// What a broker said of one partition, kept while the whole answer is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartitionOutcome {
    at: usize,
    error: BrokerError,
    base_offset: i64,
    leader: Option<(i32, i32)>,
}

/// What an answer asks of its connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Replied {
    /// How long the broker wants silence.
    pub throttle: Nanos,
    /// Whether the answer says that metadata is old.
    pub refresh_metadata: bool,
}

impl<T: Trace> Producer<T> {
    /// Takes the answer to a request: `body` is what stands behind its header.
    ///
    /// # Errors
    /// When it is malformed; the request comes back for [`Self::on_lost`].
    #[allow(clippy::result_large_err)]
    pub fn on_reply(
        &mut self,
        sent: Sent<Request<T>>,
        body: &[u8],
        mutes: &Mutes,
        outcomes: &mut impl Outcomes<T>,
    ) -> Result<Replied, (DecodeError, Request<T>)> {
        let mut replied = Replied::default();
        let mut replies = std::mem::take(&mut self.replies);
        let mut endpoints = Vec::new();
        let read = self.read_reply(&sent.entry, body, &mut replies, &mut endpoints);
        match read {
            Ok(throttle_ms) => replied.throttle = throttle_ms.max(0) as Nanos * MILLISECOND,
            Err(error) => {
                self.replies = replies;
                return Err((error, sent.entry));
            }
        }
        let Sent {
            entry: mut request,
            first_byte_written,
            last_byte_written,
            first_byte_read,
            last_byte_read,
            ..
        } = sent;
        let marks = AttemptMarks {
            node_wire: (first_byte_written, last_byte_written),
            first_byte_read,
            done: last_byte_read,
        };
        replies.sort_by_key(|reply| reply.at);
        let mut told = replies.iter().peekable();
        let batches = std::mem::take(&mut request.batches);
        let mut emptied = batches;
        for (at, batch) in emptied.drain(..).enumerate() {
            let outcome = told.next_if(|reply| reply.at == at).copied();
            while told.next_if(|reply| reply.at == at).is_some() {}
            self.settle(
                batch,
                outcome,
                &marks,
                mutes,
                &endpoints,
                &mut replied,
                outcomes,
            );
        }
        request.batches = emptied;
        replies.clear();
        self.replies = replies;
        self.requests.push(request);
        Ok(replied)
    }

    /// A request of acks=0 was written whole.
    pub fn on_written(
        &mut self,
        sent: Sent<Request<T>>,
        mutes: &Mutes,
        outcomes: &mut impl Outcomes<T>,
    ) {
        let marks = AttemptMarks {
            node_wire: (sent.first_byte_written, sent.last_byte_written),
            first_byte_read: sent.last_byte_written,
            done: sent.last_byte_written,
        };
        let mut request = sent.entry;
        let mut batches = std::mem::take(&mut request.batches);
        for batch in batches.drain(..) {
            self.off_wire(&batch);
            self.acked(batch, -1, false, &marks, mutes, outcomes);
        }
        request.batches = batches;
        self.requests.push(request);
    }

    /// The connection of a request was lost, or its answer could not be read.
    pub fn on_lost(
        &mut self,
        now: Nanos,
        mut request: Request<T>,
        progress: Progress,
        outcomes: &mut impl Outcomes<T>,
    ) {
        let mut batches = std::mem::take(&mut request.batches);
        for mut batch in batches.drain(..) {
            self.off_wire(&batch);
            // A request that is not out whole can't have been acted on.
            batch.perhaps_appended |= progress == Progress::Written;
            self.retry_or_fail(now, batch, BrokerError::NETWORK_EXCEPTION, outcomes);
        }
        request.batches = batches;
        self.requests.push(request);
    }

    fn read_reply(
        &self,
        request: &Request<T>,
        body: &[u8],
        replies: &mut Vec<PartitionOutcome>,
        endpoints: &mut Vec<Broker>,
    ) -> Result<i32, DecodeError> {
        replies.clear();
        let mut next = 0;
        Reply::new(body, request.version).walk(
            |reply| {
                // Brokers answer in the order of the request, so the next batch is nearly always it.
                if let Some(at) = self.find(request, reply, next) {
                    next = at + 1;
                    replies.push(PartitionOutcome {
                        at,
                        error: reply.error,
                        base_offset: reply.base_offset,
                        leader: reply.current_leader,
                    });
                }
            },
            |endpoint| {
                if let Ok(port) = u16::try_from(endpoint.port) {
                    endpoints.push(Broker {
                        id: endpoint.node_id,
                        host: endpoint.host.into(),
                        port,
                        rack: endpoint.rack.map(Into::into),
                    });
                }
            },
        )
    }

    /// Which batch of `request` a partition's answer is about.
    fn find(&self, request: &Request<T>, reply: &PartitionReply<'_>, next: usize) -> Option<usize> {
        let is_it = |batch: &Batch<T>| {
            let topic = &self.topics[batch.topic as usize];
            batch.partition as i32 == reply.partition
                && match reply.topic {
                    TopicRef::Name(name) => topic.name == name,
                    TopicRef::Id(id) => topic.id == id,
                }
        };
        let count = request.batches.len();
        (0..count)
            .map(|step| (next + step) % count)
            .find(|at| is_it(&request.batches[*at]))
    }

    #[allow(clippy::too_many_arguments)]
    fn settle(
        &mut self,
        mut batch: Box<Batch<T>>,
        outcome: Option<PartitionOutcome>,
        marks: &AttemptMarks,
        mutes: &Mutes,
        endpoints: &[Broker],
        replied: &mut Replied,
        outcomes: &mut impl Outcomes<T>,
    ) {
        self.off_wire(&batch);
        let now = marks.done;
        let Some(outcome) = outcome else {
            // The broker forgot it: nobody knows what became of it.
            batch.perhaps_appended = true;
            self.retry_or_fail(now, batch, BrokerError::UNKNOWN_SERVER_ERROR, outcomes);
            return;
        };
        let error = outcome.error;
        replied.refresh_metadata |= error.refresh_metadata();
        if let Some(leader) = outcome.leader {
            self.believe(&batch, leader, endpoints, outcomes);
        }
        match error {
            BrokerError::NONE => {
                self.acked(batch, outcome.base_offset, false, marks, mutes, outcomes)
            }
            BrokerError::DUPLICATE_SEQUENCE_NUMBER => {
                self.acked(batch, -1, true, marks, mutes, outcomes);
            }
            BrokerError::MESSAGE_TOO_LARGE if batch.records > 1 && batch.template.is_none() => {
                self.split(now, batch, outcomes);
            }
            _ => {
                batch.perhaps_appended |= !surely_not_appended(error);
                self.retry_or_fail(now, batch, error, outcomes);
            }
        }
    }

    /// Takes a broker's word for a newer leader, and passes it on.
    fn believe(
        &mut self,
        batch: &Batch<T>,
        (leader, leader_epoch): (i32, i32),
        endpoints: &[Broker],
        outcomes: &mut impl Outcomes<T>,
    ) {
        let topic = &mut self.topics[batch.topic as usize];
        let partition = &mut topic.partitions[batch.partition as usize];
        if leader_epoch <= partition.leader_epoch {
            return;
        }
        partition.leader = Some(leader);
        partition.leader_epoch = leader_epoch;
        let hint = Hint {
            topic: topic.name.as_str().into(),
            partition: batch.partition as i32,
            leader,
            leader_epoch,
            endpoint: endpoints.iter().find(|node| node.id == leader).cloned(),
        };
        self.reroute();
        outcomes.hint(hint);
    }

    fn acked(
        &mut self,
        batch: Box<Batch<T>>,
        base_offset: i64,
        duplicate: bool,
        marks: &AttemptMarks,
        mutes: &Mutes,
        outcomes: &mut impl Outcomes<T>,
    ) {
        let (first_byte_written, last_byte_written) = marks.node_wire;
        let eligible = batch.ready.max(batch.retry_at);
        let earlier_attempts = match batch.attempts {
            0 => 0,
            _ => eligible.saturating_sub(batch.first_drained.max(batch.ready)),
        };
        outcomes.acked(&Done {
            trace: &batch.trace,
            records: batch.records,
            payload_bytes: batch.payload_bytes,
            key_bytes: batch.key_bytes,
            raw_bytes: batch.raw_bytes,
            wire_bytes: batch.closed_bytes() as u64,
            topic: TopicIndex(batch.topic),
            partition: batch.partition,
            base_offset,
            duplicate,
            answered: self.options.acks != Acks::None,
            ready: batch.ready,
            first_byte_written,
            last_byte_written,
            first_byte_read: marks.first_byte_read,
            done: marks.done,
            throttled: mutes.within(eligible, first_byte_written),
            earlier_attempts,
        });
        self.number_acked(&batch);
        self.release(batch);
    }

    fn retry_or_fail(
        &mut self,
        now: Nanos,
        mut batch: Box<Batch<T>>,
        error: BrokerError,
        outcomes: &mut impl Outcomes<T>,
    ) {
        batch.last_error = error.name();
        let expired = now >= batch.created.saturating_add(self.options.delivery_timeout);
        let tries_left = batch.attempts < self.options.retries && self.options.acks != Acks::None;
        if !expired && tries_left && self.retriable(&batch, error) {
            self.retry(now, batch, outcomes);
            return;
        }
        let ending = if batch.perhaps_appended {
            Ending::Unknown
        } else {
            Ending::Failed
        };
        let name = batch.last_error;
        self.end(batch, ending, name, outcomes);
    }

    /// Whether sending the batch again may help; an idempotent producer mends its numbering here.
    fn retriable(&mut self, batch: &Batch<T>, error: BrokerError) -> bool {
        if !self.options.idempotent {
            return error.retriable();
        }
        match error {
            BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER => {
                // Behind a batch that is itself sent again this is expected; else there is a gap.
                if self.is_next_expected(batch) {
                    self.number_lost(batch.topic, batch.partition);
                }
                true
            }
            BrokerError::UNKNOWN_PRODUCER_ID | BrokerError::INVALID_PRODUCER_EPOCH => {
                self.number_lost(batch.topic, batch.partition);
                true
            }
            _ => error.retriable(),
        }
    }

    fn retry(&mut self, now: Nanos, mut batch: Box<Batch<T>>, outcomes: &mut impl Outcomes<T>) {
        batch.attempts += 1;
        let unit = self.rng.unit();
        let partition = &self.topics[batch.topic as usize].partitions[batch.partition as usize];
        let moved = batch.leader_epoch >= 0 && partition.leader_epoch > batch.leader_epoch;
        batch.retry_at = match moved {
            true => now,
            false => now + self.options.retry_backoff.wait(batch.attempts, unit),
        };
        outcomes.retried(batch.records);
        let (topic, index) = (batch.topic, batch.partition);
        self.topics[topic as usize].partitions[index as usize].requeue(batch);
        self.activate(topic, index);
    }

    /// Takes a batch apart that was too large. It uses up no attempt; the parts keep its place.
    fn split(&mut self, now: Nanos, mut batch: Box<Batch<T>>, outcomes: &mut impl Outcomes<T>) {
        let state = &mut self.topics[batch.topic as usize];
        let small = batch.is_part || batch.raw_bytes as usize <= state.batch_bytes;
        let to = match small {
            true => SplitTo::Halves,
            false => SplitTo::Bytes(state.batch_bytes),
        };
        let closed = &batch.buffer[batch.closed.clone()];
        let limit = batch.raw_bytes as usize;
        let parts = match ClosedBatch::only(closed) {
            Ok(Some(closed)) => split(&closed, to, &mut self.codec, limit),
            _ => Ok(Vec::new()),
        };
        let parts = parts.unwrap_or_default();
        if parts.len() < 2 {
            batch.last_error = BrokerError::MESSAGE_TOO_LARGE.name();
            self.end(
                batch,
                Ending::Failed,
                BrokerError::MESSAGE_TOO_LARGE.name(),
                outcomes,
            );
            return;
        }
        let largest = parts.iter().map(|part| part.raw_bytes).max().unwrap_or(0);
        state.batch_bytes = state.batch_bytes.min(largest.max(1) as usize);
        outcomes.split(parts.len() as u32);
        let mut trace = std::mem::take(&mut batch.trace);
        let last = parts.len() - 1;
        // The parts share the serials of the whole, and so keep its place.
        let span = (batch.serial_span / (last as u64 + 1)).max(1);
        for (index, part) in parts.into_iter().enumerate() {
            let rest = trace.split_off(part.records);
            let mut own = self.pool.take();
            own.trace = std::mem::replace(&mut trace, rest);
            own.closed = PARTITION_HEAD_BYTES..PARTITION_HEAD_BYTES + part.batch.len();
            own.buffer.extend_from_slice(&part.batch);
            own.identity = batch.identity.map(|_| identity_of(&part.batch));
            own.topic = batch.topic;
            own.partition = batch.partition;
            own.serial = batch.serial + index as u64 * span;
            own.serial_span = span;
            own.charge = if index == last { batch.charge } else { 0 };
            own.records = part.records;
            own.payload_bytes = part.payload_bytes;
            own.key_bytes = part.key_bytes;
            own.raw_bytes = part.raw_bytes;
            own.created = batch.created;
            own.ready = batch.ready;
            own.first_drained = batch.first_drained;
            own.retry_at = now;
            own.attempts = batch.attempts;
            own.perhaps_appended = batch.perhaps_appended;
            own.is_part = true;
            let partition = &mut self.topics[own.topic as usize].partitions[own.partition as usize];
            partition.requeue(own);
        }
        let (topic, index) = (batch.topic, batch.partition);
        batch.charge = 0;
        batch.records = 0;
        self.release(batch);
        self.activate(topic, index);
    }

    /// Ends a batch that was not acknowledged.
    pub(super) fn end(
        &mut self,
        batch: Box<Batch<T>>,
        ending: Ending,
        name: &'static str,
        outcomes: &mut impl Outcomes<T>,
    ) {
        outcomes.ended(&Ended {
            ending,
            name,
            trace: &batch.trace,
            records: batch.records,
            topic: TopicIndex(batch.topic),
            partition: batch.partition,
        });
        let numbered = batch.identity.is_some_and(|own| own.base_sequence >= 0);
        if numbered && batch.perhaps_appended {
            self.number_unresolved(batch.topic, batch.partition);
        } else if numbered {
            self.number_lost(batch.topic, batch.partition);
        }
        self.release(batch);
    }

    fn off_wire(&mut self, batch: &Batch<T>) {
        let partition = &mut self.topics[batch.topic as usize].partitions[batch.partition as usize];
        partition.off_wire(batch.serial);
    }
}

/// The times of the attempt that was answered.
struct AttemptMarks {
    node_wire: (Nanos, Nanos),
    first_byte_read: Nanos,
    done: Nanos,
}

/// The identity a part was closed with.
fn identity_of(batch: &[u8]) -> crate::records::writer::Identity {
    match ClosedBatch::only(batch) {
        Ok(Some(batch)) => crate::records::writer::Identity {
            producer_id: batch.producer_id(),
            epoch: batch.producer_epoch(),
            base_sequence: batch.base_sequence(),
            transactional: batch.transactional(),
        },
        _ => crate::records::writer::Identity::NONE,
    }
}

/// Whether an answer with this error guarantees that the broker appended nothing of the batch.
///
/// Kafka checks a batch before it appends; these errors come from the checks. Errors that may come
/// after the append (replication in time, a disk that failed) and those nobody can place are not here.
pub fn surely_not_appended(error: BrokerError) -> bool {
    !matches!(
        error,
        BrokerError::UNKNOWN_SERVER_ERROR
            | BrokerError::REQUEST_TIMED_OUT
            | BrokerError::NETWORK_EXCEPTION
            | BrokerError::NOT_ENOUGH_REPLICAS_AFTER_APPEND
            | BrokerError::KAFKA_STORAGE_ERROR
    ) && error.name() != "UNKNOWN_ERROR_CODE"
}
