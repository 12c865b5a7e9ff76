//! Batches prepared and compressed before the clock starts, to be sent again and again.

use std::sync::Arc;

use super::source::Source;
use crate::client::produce::uncompressed_limit;
use crate::records::compress::{Codec, CompressError, Compression};
use crate::records::stamp::{Template, Volume};
use crate::records::writer::{BatchWriter, Identity, Record};

/// What all bodies of a stock take at most, so that they stay in a processor's cache: 2 MiB.
pub const STOCK_BYTES_MAX: usize = 2 << 20;
/// Batches in a stock at most.
const TEMPLATES_MAX: usize = 64;

/// How batches of a stock are made.
#[derive(Debug, Clone, Copy)]
pub struct StockPlan {
    /// `batch.size`: what a batch takes on the wire at most, unless one record takes more.
    pub batch_bytes: usize,
    /// Their codec.
    pub compression: Compression,
}

/// Prepared batches, each of different records; a lane takes them in turn.
#[derive(Debug, Clone)]
pub struct Stock {
    plan: StockPlan,
    source: Source,
    templates: Vec<Arc<Template>>,
}

impl Stock {
    /// Fills batches from `source`, at least one and as many as [`STOCK_BYTES_MAX`] has room for.
    ///
    /// # Errors
    /// When the codec fails.
    pub fn prepare(plan: StockPlan, source: Source) -> Result<Self, CompressError> {
        let mut stock = Self {
            plan,
            source,
            templates: Vec::new(),
        };
        let limit = stock.raw_limit()?;
        let (mut next, mut bytes) = (0, 0);
        while stock.templates.len() < TEMPLATES_MAX {
            let template = stock.close(&stock.fill(next, u32::MAX, limit))?;
            bytes += template.batch_bytes();
            if bytes > STOCK_BYTES_MAX && !stock.templates.is_empty() {
                break;
            }
            next += u64::from(template.record_count());
            stock.templates.push(Arc::new(template));
        }
        Ok(stock)
    }

    /// The batches.
    pub fn templates(&self) -> &[Arc<Template>] {
        &self.templates
    }

    /// The batch for turn `turn`, or one of just `records` records where that has more.
    #[inline]
    pub fn at_most(&self, turn: usize, records: u64) -> Arc<Template> {
        let template = &self.templates[turn % self.templates.len()];
        if u64::from(template.record_count()) <= records {
            return Arc::clone(template);
        }
        self.rest(records as u32)
    }

    /// The largest batch, in bytes as sent.
    pub fn batch_bytes_max(&self) -> usize {
        let bytes = self.templates.iter().map(|each| each.batch_bytes());
        bytes.max().unwrap_or(0)
    }

    #[cold]
    fn rest(&self, records: u32) -> Arc<Template> {
        let batch = self.fill(0, records, usize::MAX);
        // A codec fails for lack of memory alone; what is not compressed is as good a batch.
        let closed = self.close(&batch).unwrap_or_else(|_| batch.uncompressed());
        Arc::new(closed)
    }

    /// Uncompressed bytes that make a batch of `batch.size`, by the ratio of the first one.
    fn raw_limit(&self) -> Result<usize, CompressError> {
        let limit = self.plan.batch_bytes;
        if self.plan.compression == Compression::None {
            return Ok(limit);
        }
        let first = self.close(&self.fill(0, u32::MAX, limit))?;
        let ratio = first.batch_bytes() as f64 / first.raw_bytes() as f64;
        Ok(uncompressed_limit(limit, ratio))
    }

    /// The records from `first` on: `records` at most, within `raw_limit` bytes, but at least one.
    fn fill(&self, first: u64, records: u32, raw_limit: usize) -> Filled {
        let mut source = self.source.clone();
        let mut buffer = Vec::with_capacity(raw_limit.min(STOCK_BYTES_MAX));
        let mut writer = BatchWriter::begin(&mut buffer);
        while writer.count() < records {
            let drawn = source.record(first + u64::from(writer.count()));
            let record = Record {
                timestamp_ms: 0,
                key: drawn.key.map(|key| key.bytes),
                value: drawn.value,
                headers: drawn.headers,
            };
            let full = buffer.len() + writer.record_bytes(&record) > raw_limit;
            if full && writer.count() > 0 {
                break;
            }
            writer.append(&mut buffer, &record);
        }
        Filled { writer, buffer }
    }

    fn close(&self, batch: &Filled) -> Result<Template, CompressError> {
        if self.plan.compression == Compression::None {
            return Ok(batch.uncompressed());
        }
        let mut closed = Vec::new();
        let mut codec = Codec::new(self.plan.compression);
        let (writer, buffer) = (&batch.writer, &batch.buffer);
        writer.close_compressed(buffer, &mut closed, &mut codec, Identity::NONE)?;
        Ok(Template::new(closed, batch.volume()))
    }
}

/// A batch that is not closed yet.
struct Filled {
    writer: BatchWriter,
    buffer: Vec<u8>,
}

impl Filled {
    fn volume(&self) -> Volume {
        Volume {
            payload_bytes: self.writer.payload_bytes(),
            raw_bytes: self.buffer.len() as u64,
        }
    }

    fn uncompressed(&self) -> Template {
        let mut buffer = self.buffer.clone();
        self.writer.close(&mut buffer, Identity::NONE);
        Template::new(buffer, self.volume())
    }
}
