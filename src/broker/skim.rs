//! Reads a large Produce request without its records: envelope and batch headers are kept, the rest
//! of each batch is only counted, so that a session can discard it unread.

use crate::records::layout::BATCH_HEADER_BYTES;
use crate::wire::cursor::{Cursor, DecodeError, Fault};
use crate::wire::frame::LENGTH_BYTES;
use crate::wire::header::RequestHeader;
use crate::wire::produce::{FLEXIBLE_FROM, TOPIC_IDS_FROM, TopicRef};

/// Frames of fewer bytes are read whole.
pub const SKIM_BYTES_MIN: usize = 16 * 1024;

/// Bytes that hold every field between two batches: three strings of at most 32 KiB and numbers.
const FIELDS_BYTES_MAX: usize = 128 * 1024;

/// A Produce request on its way in.
#[derive(Debug)]
pub struct Skim {
    /// Its version.
    pub version: i16,
    /// The number its answer carries.
    pub correlation_id: i32,
    /// Its acks.
    pub acks: i16,
    /// Its topics, in order.
    pub topics: Vec<SkimmedTopic>,
    /// Bytes of the current batch that nobody needs.
    skip: usize,
    /// Bytes of the frame not taken yet.
    left: usize,
    stage: Stage,
    topics_left: usize,
    partitions_left: usize,
}

/// One topic of it.
#[derive(Debug)]
pub struct SkimmedTopic {
    name: String,
    id: [u8; 16],
    /// Its batches, in order.
    pub parts: Vec<Part>,
}

/// One batch: where it goes, how long it is, and how it begins.
#[derive(Debug)]
pub struct Part {
    /// The partition.
    pub partition: i32,
    /// Bytes of the whole batch.
    pub records_bytes: usize,
    /// Its first bytes, up to a batch header.
    pub head: Vec<u8>,
}

/// What has come of the bytes given.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// So many were taken, and more are needed.
    More(usize),
    /// So many were taken, and they end the request.
    Done(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Topic,
    Partition,
    PartitionEnd,
    TopicEnd,
    End,
    Done,
}

impl Skim {
    /// A request whose frame, behind its length, has `frame_bytes`.
    pub fn new(frame_bytes: usize) -> Self {
        Self {
            version: 0,
            correlation_id: 0,
            acks: 0,
            topics: Vec::new(),
            skip: LENGTH_BYTES,
            left: LENGTH_BYTES + frame_bytes,
            stage: Stage::Begin,
            topics_left: 0,
            partitions_left: 0,
        }
    }

    /// How many of the next bytes nobody needs.
    pub fn skip(&self) -> usize {
        self.skip
    }

    /// Takes note that `bytes`, at most [`Skim::skip`], were discarded.
    pub fn skipped(&mut self, bytes: usize) {
        self.skip -= bytes;
        self.left -= bytes;
    }

    /// Takes what it can of `bytes`, which follow those taken before.
    ///
    /// # Errors
    /// When they are no Produce request.
    pub fn step(&mut self, bytes: &[u8]) -> Result<Step, DecodeError> {
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            let rest = &rest[..rest.len().min(self.left)];
            let skip = self.skip.min(rest.len());
            if skip > 0 {
                self.skipped(skip);
                taken += skip;
                continue;
            }
            if self.stage == Stage::Done {
                return match self.left {
                    0 => Ok(Step::Done(taken)),
                    _ => Err(Cursor::new(rest).error("the end", Fault::Trailing)),
                };
            }
            if self.skip > 0 {
                return Ok(Step::More(taken));
            }
            let mut cursor = Cursor::new(rest);
            match self.fields(&mut cursor) {
                Ok(()) => {
                    taken += cursor.offset();
                    self.left -= cursor.offset();
                }
                Err(error) if self.may_come(error, rest.len()) => return Ok(Step::More(taken)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether more bytes can mend `error`, which `bytes` bytes gave.
    fn may_come(&self, error: DecodeError, bytes: usize) -> bool {
        let cut = matches!(error.fault, Fault::Short | Fault::Length);
        cut && bytes < self.left && bytes < FIELDS_BYTES_MAX
    }

    /// Reads what the stage is about; nothing of it is kept when that fails.
    fn fields(&mut self, cursor: &mut Cursor<'_>) -> Result<(), DecodeError> {
        let flexible = self.version >= FLEXIBLE_FROM;
        self.stage = match self.stage {
            Stage::Begin => self.begin(cursor)?,
            Stage::Topic => self.topic(cursor, flexible)?,
            Stage::Partition => self.partition(cursor, flexible)?,
            Stage::PartitionEnd => {
                cursor.skip_tagged_fields(flexible)?;
                self.partitions_left -= 1;
                next(self.partitions_left, Stage::Partition, Stage::TopicEnd)
            }
            Stage::TopicEnd => {
                cursor.skip_tagged_fields(flexible)?;
                self.topics_left -= 1;
                next(self.topics_left, Stage::Topic, Stage::End)
            }
            Stage::End | Stage::Done => {
                cursor.skip_tagged_fields(flexible)?;
                Stage::Done
            }
        };
        Ok(())
    }

    fn begin(&mut self, cursor: &mut Cursor<'_>) -> Result<Stage, DecodeError> {
        let header = RequestHeader::read(cursor)?;
        let flexible = header.version >= FLEXIBLE_FROM;
        cursor.nullable_string(flexible)?;
        let acks = cursor.i16()?;
        cursor.i32()?;
        self.topics_left = cursor.array_count(flexible)?;
        self.version = header.version;
        self.correlation_id = header.correlation_id;
        self.acks = acks;
        Ok(next(self.topics_left, Stage::Topic, Stage::End))
    }

    fn topic(&mut self, cursor: &mut Cursor<'_>, flexible: bool) -> Result<Stage, DecodeError> {
        let (name, id) = if self.version >= TOPIC_IDS_FROM {
            (String::new(), cursor.uuid()?)
        } else {
            (cursor.string(flexible)?.to_owned(), [0; 16])
        };
        self.partitions_left = cursor.array_count(flexible)?;
        let parts = Vec::new();
        self.topics.push(SkimmedTopic { name, id, parts });
        Ok(next(
            self.partitions_left,
            Stage::Partition,
            Stage::TopicEnd,
        ))
    }

    fn partition(&mut self, cursor: &mut Cursor<'_>, flexible: bool) -> Result<Stage, DecodeError> {
        let partition = cursor.i32()?;
        let start = *cursor;
        // Null and empty records are alike: no batch.
        let length = match flexible {
            true => i64::from(cursor.unsigned_varint()?).saturating_sub(1),
            false => i64::from(cursor.i32()?),
        };
        let records_bytes = usize::try_from(length.max(0)).unwrap_or(usize::MAX);
        if records_bytes > self.left - cursor.offset() {
            return Err(start.error("records", Fault::Value));
        }
        let head = cursor.take(records_bytes.min(BATCH_HEADER_BYTES), "batch header")?;
        self.skip = records_bytes - head.len();
        let part = Part {
            partition,
            records_bytes,
            head: head.to_vec(),
        };
        if let Some(topic) = self.topics.last_mut() {
            topic.parts.push(part);
        }
        Ok(Stage::PartitionEnd)
    }
}

impl SkimmedTopic {
    /// How `version` names it.
    pub fn topic(&self, version: i16) -> TopicRef<'_> {
        match version >= TOPIC_IDS_FROM {
            true => TopicRef::Id(self.id),
            false => TopicRef::Name(&self.name),
        }
    }
}

fn next(left: usize, more: Stage, none: Stage) -> Stage {
    if left > 0 { more } else { none }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::produce::{
        PARTITION_HEAD_BYTES, RequestHead, begin, end, patch_length, topic, wrap_partition,
    };

    fn request(version: i16, batches: &[usize]) -> Vec<u8> {
        let mut out = Vec::new();
        let head = RequestHead {
            version,
            correlation_id: 5,
            client_id: "kdyno",
            transactional_id: None,
            acks: -1,
            timeout_ms: 1,
        };
        begin(&mut out, &head, 1);
        topic(&mut out, version, "t1", [7; 16], batches.len());
        for (index, bytes) in (0..).zip(batches) {
            let mut buffer = vec![index as u8; PARTITION_HEAD_BYTES + bytes + 1];
            let batch = PARTITION_HEAD_BYTES..PARTITION_HEAD_BYTES + bytes;
            let range = wrap_partition(version, index, &mut buffer, batch);
            out.extend_from_slice(&buffer[range]);
        }
        end(&mut out, version);
        end(&mut out, version);
        let total = out.len();
        patch_length(&mut out, total);
        out
    }

    #[test]
    fn batches_of_every_version_are_found_however_the_bytes_arrive() {
        for version in 3..=13 {
            for piece in [1, 7, 70, 100_000] {
                let bytes = request(version, &[20_000, 61, 30, 0, 17_000]);
                let mut skim = Skim::new(bytes.len() - LENGTH_BYTES);
                let (mut start, mut end, mut step) = (0, 0, Step::More(0));
                while end < bytes.len() {
                    end = bytes.len().min(end + piece);
                    step = skim.step(&bytes[start..end]).unwrap();
                    let (Step::More(taken) | Step::Done(taken)) = step;
                    start += taken;
                }
                assert!(matches!(step, Step::Done(_)), "{version} {piece}");
                assert_eq!(start, bytes.len());
                let parts = &skim.topics[0].parts;
                let seen: Vec<_> = parts
                    .iter()
                    .map(|p| (p.records_bytes, p.head.len()))
                    .collect();
                assert_eq!(
                    seen,
                    [(20_000, 61), (61, 61), (30, 30), (0, 0), (17_000, 61)]
                );
                assert!(parts[4].head.iter().all(|byte| *byte == 4));
            }
        }
    }

    #[test]
    fn records_longer_than_the_frame_and_bytes_left_over_are_refused() {
        let mut bytes = request(3, &[100]);
        let mut skim = Skim::new(bytes.len() - LENGTH_BYTES - 1);
        assert!(skim.step(&bytes).is_err());
        bytes.push(0);
        let mut skim = Skim::new(bytes.len() - LENGTH_BYTES);
        assert!(skim.step(&bytes).is_err());
    }
}
