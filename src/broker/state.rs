//! What the virtual brokers share: topics, end offsets, producers' sequences.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use crate::records::layout::{
    ATTRIBUTES, BASE_OFFSET, BASE_SEQUENCE, BATCH_HEADER_BYTES, CONTROL, LAST_OFFSET_DELTA, LENGTH,
    LENGTH_END, MAGIC, MAGIC_V2, PRODUCER_EPOCH, PRODUCER_ID, RECORD_COUNT, get,
};
use crate::records::writer::sequence_after;
use crate::wire::broker_error::BrokerError;

/// Batches of a producer that are remembered per partition, as Kafka does.
const BATCHES_REMEMBERED: usize = 5;

/// All there is to know.
#[derive(Debug)]
pub struct State {
    /// Where the virtual brokers listen; their ids count from 1.
    pub brokers: Vec<SocketAddr>,
    /// Partitions of a topic made by being asked for.
    pub partitions: u32,
    /// Topics by name.
    pub topics: HashMap<String, Topic>,
    names: HashMap<[u8; 16], String>,
    next_producer_id: i64,
}

/// One topic.
#[derive(Debug)]
pub struct Topic {
    /// Its id.
    pub id: [u8; 16],
    /// Its partitions.
    pub partitions: Vec<Partition>,
}

/// One partition, without its records.
#[derive(Debug, Default)]
pub struct Partition {
    /// The offset of the next record.
    pub end_offset: i64,
    producers: HashMap<i64, Producer>,
}

#[derive(Debug, Default)]
struct Producer {
    epoch: i16,
    /// First sequence, last sequence, base offset; newest last.
    batches: VecDeque<(i32, i32, i64)>,
}

impl State {
    /// A state without topics.
    pub fn new(brokers: Vec<SocketAddr>, partitions: u32) -> Self {
        Self {
            brokers,
            partitions,
            topics: HashMap::new(),
            names: HashMap::new(),
            next_producer_id: 1,
        }
    }

    /// The topic called `name`, made where there is none.
    pub fn topic_or_made(&mut self, name: &str) -> &mut Topic {
        if !self.topics.contains_key(name) {
            let mut id = [0; 16];
            for byte in &mut id {
                *byte = fastrand::u8(1..);
            }
            self.names.insert(id, name.to_owned());
            let partitions = (0..self.partitions).map(|_| Partition::default()).collect();
            self.topics
                .insert(name.to_owned(), Topic { id, partitions });
        }
        self.topics.entry(name.to_owned()).or_insert_with(|| Topic {
            id: [0; 16],
            partitions: Vec::new(),
        })
    }

    /// The name of the topic with `id`.
    pub fn name_of(&self, id: &[u8; 16]) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// The broker that leads a partition.
    pub fn leader_of(&self, partition: usize) -> i32 {
        (partition % self.brokers.len()) as i32 + 1
    }

    /// A producer id that nobody has.
    pub fn producer_id(&mut self) -> i64 {
        self.next_producer_id += 1;
        self.next_producer_id - 1
    }
}

impl Partition {
    /// Takes one batch of `records_bytes`, of which `head` are the first bytes, by what its header
    /// says, and gives the offset of its first record. Its CRC is not computed.
    ///
    /// # Errors
    /// The error a broker answers.
    pub fn append(&mut self, head: &[u8], records_bytes: usize) -> Result<i64, BrokerError> {
        let batch = Head::read(head, records_bytes).ok_or(BrokerError::INVALID_RECORD)?;
        let count = batch.record_count;
        let consistent = count > 0 && batch.last_offset_delta.checked_add(1) == Some(count);
        if batch.base_offset != 0 || batch.attributes & CONTROL != 0 || !consistent {
            return Err(BrokerError::INVALID_RECORD);
        }
        if batch.producer_id >= 0 {
            if batch.base_sequence < 0 {
                return Err(BrokerError::INVALID_RECORD);
            }
            if let Some(offset) = self.check_sequence(&batch)? {
                return Ok(offset);
            }
        }
        let offset = self.end_offset;
        self.end_offset += i64::from(count);
        if let Some(producer) = self.producers.get_mut(&batch.producer_id) {
            if producer.batches.len() == BATCHES_REMEMBERED {
                producer.batches.pop_front();
            }
            let sequences = (batch.base_sequence, batch.last_sequence);
            producer
                .batches
                .push_back((sequences.0, sequences.1, offset));
        }
        Ok(offset)
    }

    /// The original offset of a batch that is there already; an error where a sequence is missing.
    fn check_sequence(&mut self, batch: &Head) -> Result<Option<i64>, BrokerError> {
        let known = self.producers.contains_key(&batch.producer_id);
        let producer = self.producers.entry(batch.producer_id).or_default();
        let (first, epoch) = (batch.base_sequence, batch.producer_epoch);
        if !known || epoch > producer.epoch {
            if known && first != 0 {
                return Err(BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER);
            }
            producer.epoch = epoch;
            producer.batches.clear();
            return Ok(None);
        }
        if epoch < producer.epoch {
            return Err(BrokerError::INVALID_PRODUCER_EPOCH);
        }
        let same = |known: &&(i32, i32, i64)| known.0 == first && known.1 == batch.last_sequence;
        if let Some((_, _, offset)) = producer.batches.iter().find(same) {
            return Ok(Some(*offset));
        }
        let expected = producer
            .batches
            .back()
            .map_or(0, |last| sequence_after(last.1, 1));
        if first == expected {
            return Ok(None);
        }
        Err(BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER)
    }
}

/// What a batch's header says that a broker looks at.
#[derive(Debug)]
struct Head {
    base_offset: i64,
    attributes: i16,
    last_offset_delta: i32,
    producer_id: i64,
    producer_epoch: i16,
    base_sequence: i32,
    last_sequence: i32,
    record_count: i32,
}

impl Head {
    /// The header that `bytes` begin with; `None` when they are not the one batch of
    /// `records_bytes` that they are to be.
    fn read(bytes: &[u8], records_bytes: usize) -> Option<Self> {
        let bytes = bytes.get(..BATCH_HEADER_BYTES)?;
        let length = usize::try_from(i32::from_be_bytes(get(bytes, LENGTH))).ok()?;
        if bytes[MAGIC] != MAGIC_V2 || length + LENGTH_END != records_bytes {
            return None;
        }
        let last_offset_delta = i32::from_be_bytes(get(bytes, LAST_OFFSET_DELTA));
        let base_sequence = i32::from_be_bytes(get(bytes, BASE_SEQUENCE));
        Some(Self {
            base_offset: i64::from_be_bytes(get(bytes, BASE_OFFSET)),
            attributes: i16::from_be_bytes(get(bytes, ATTRIBUTES)),
            last_offset_delta,
            producer_id: i64::from_be_bytes(get(bytes, PRODUCER_ID)),
            producer_epoch: i16::from_be_bytes(get(bytes, PRODUCER_EPOCH)),
            base_sequence,
            last_sequence: match base_sequence {
                -1 => -1,
                base => sequence_after(base, last_offset_delta as u32),
            },
            record_count: i32::from_be_bytes(get(bytes, RECORD_COUNT)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::writer::{BatchWriter, EncodedHeaders, Identity, Record};

    fn batch(identity: Identity, records: u32) -> Vec<u8> {
        let headers = EncodedHeaders::none();
        let mut buffer = Vec::new();
        let mut writer = BatchWriter::begin(&mut buffer);
        for _ in 0..records {
            let record = Record {
                timestamp_ms: 1,
                key: None,
                value: Some(b"v"),
                headers: &headers,
            };
            writer.append(&mut buffer, &record);
        }
        writer.close(&mut buffer, identity);
        buffer
    }

    fn numbered(base_sequence: i32, epoch: i16) -> Identity {
        Identity {
            producer_id: 9,
            epoch,
            base_sequence,
            transactional: false,
        }
    }

    fn put(partition: &mut Partition, records: &[u8]) -> Result<i64, BrokerError> {
        partition.append(records, records.len())
    }

    #[test]
    fn a_repeated_batch_gets_its_first_offset_and_a_gap_is_refused() {
        let mut partition = Partition::default();
        assert_eq!(put(&mut partition, &batch(Identity::NONE, 4)), Ok(0));
        assert_eq!(put(&mut partition, &batch(numbered(0, 0), 3)), Ok(4));
        assert_eq!(put(&mut partition, &batch(numbered(3, 0), 2)), Ok(7));
        assert_eq!(put(&mut partition, &batch(numbered(0, 0), 3)), Ok(4));
        let gap = Err(BrokerError::OUT_OF_ORDER_SEQUENCE_NUMBER);
        assert_eq!(put(&mut partition, &batch(numbered(9, 0), 1)), gap);
        assert_eq!(put(&mut partition, &batch(numbered(0, 1), 1)), Ok(9));
        let old = Err(BrokerError::INVALID_PRODUCER_EPOCH);
        assert_eq!(put(&mut partition, &batch(numbered(5, 0), 1)), old);
    }

    #[test]
    fn batches_whose_header_is_wrong_are_refused() {
        let mut partition = Partition::default();
        let good = batch(Identity::NONE, 1);
        let invalid = Err(BrokerError::INVALID_RECORD);
        assert_eq!(put(&mut partition, &good[..65]), invalid);
        assert_eq!(put(&mut partition, &good[..20]), invalid);
        for at in [BASE_OFFSET, MAGIC, LAST_OFFSET_DELTA, RECORD_COUNT] {
            let mut damaged = good.clone();
            damaged[at] ^= 1;
            assert_eq!(put(&mut partition, &damaged), invalid, "{at}");
        }
        let twice = [batch(Identity::NONE, 1), batch(Identity::NONE, 1)].concat();
        assert_eq!(
            put(&mut partition, &twice),
            Err(BrokerError::INVALID_RECORD)
        );
        assert_eq!(partition.end_offset, 0);
    }
}
