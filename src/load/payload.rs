//! What values hold: slices of a pool made before the clock starts, chosen by record number alone.

mod lines;
mod pool;
mod sizes;

use std::sync::Arc;

use thiserror::Error;

use super::arrival::Share;
use crate::base::rng::mix;
use crate::records::compress::{Codec, CompressError, Compression};

pub use lines::{LINES_BYTES_MAX, Lines};
pub use pool::LETTERS;
pub use sizes::{Sizes, SizesError, VALUE_BYTES_MAX};

/// Bytes of a pool while no codec is on; it stays in the cache of a core.
pub const POOL_BYTES: usize = 1 << 20;

/// The largest pool, whatever the batches: 1 GiB.
pub const POOL_BYTES_MAX: usize = 1 << 30;

/// Room that values of the largest size have to begin in, so that records differ.
const STARTS_MIN: usize = 64 << 10;

/// What values are made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Random upper-case letters, [`LETTERS`].
    Letters,
    /// Random bytes; no codec makes them smaller.
    Bytes,
    /// Zero bytes.
    Zeros,
    /// Bytes of which a codec removes this share, 0 to 1.
    Compressible(f64),
    /// Lines of a file, each record any of them; they bring their sizes.
    Lines(Lines),
    /// The number of the record in the run, in decimal digits.
    Index,
}

/// What values are to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What they are made of.
    pub content: Content,
    /// How large they are; lines and record numbers have their own sizes.
    pub sizes: Sizes,
    /// The share of records that have no value at all, 0 to 1.
    pub null_ratio: f64,
    /// Bytes of the pool, see [`pool_bytes`]; raised to hold the largest value in many places.
    pub pool_bytes: usize,
    /// Equal seeds give equal records.
    pub seed: u64,
}

/// Why no values can be made.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PayloadError {
    /// A ratio outside 0 to 1.
    #[error("{what} is {found}, and has to lie between 0 and 1")]
    Ratio {
        /// Which one.
        what: &'static str,
        /// What it is.
        found: f64,
    },
    /// A file without a line.
    #[error("there is no line to send: the payload is empty")]
    NoLines,
    /// A pool beyond [`POOL_BYTES_MAX`].
    #[error("a payload pool of {bytes} bytes is larger than the {POOL_BYTES_MAX} allowed")]
    PoolTooLarge {
        /// How large it would be.
        bytes: usize,
    },
}

/// How large a pool has to be for batches of `batch_bytes` to compress as fresh data would: 16 times
/// as large (or as 1 MiB), [`POOL_BYTES`] while `compressed` is false.
pub fn pool_bytes(batch_bytes: usize, compressed: bool) -> usize {
    if compressed {
        batch_bytes.max(1 << 20).saturating_mul(16)
    } else {
        POOL_BYTES
    }
}

/// The values of a run, shared by all its clients.
#[derive(Debug)]
pub struct Pool {
    bytes: Vec<u8>,
    /// Sizes to draw from: one, or a power of two.
    sizes: Vec<u32>,
    source: Source,
    /// Records whose 24-bit draw is below this have no value.
    null_below: u64,
    seed: u64,
}

#[derive(Debug)]
enum Source {
    /// All of one size: where they may begin.
    Fixed {
        starts: u64,
    },
    /// A size drawn for each, in a pool large enough for the largest.
    Drawn,
    Lines(Lines),
    Index,
}

/// The values of one client.
#[derive(Debug, Clone)]
pub struct Values {
    pool: Arc<Pool>,
    stream: u64,
    share: Share,
    digits: Digits,
}

impl Pool {
    /// Makes what `plan` says. Takes about 1 ms a MiB.
    ///
    /// # Errors
    /// When a ratio lies outside 0 to 1, there are no lines, or the pool would be too large.
    pub fn prepare(plan: Plan) -> Result<Self, PayloadError> {
        check_ratio("the share of null values", plan.null_ratio)?;
        if let Content::Compressible(share) = plan.content {
            check_ratio("compressibility", share)?;
        }
        let sizes = plan.sizes.table();
        let largest = sizes.iter().copied().max().unwrap_or(0) as usize;
        let bytes = match &plan.content {
            Content::Lines(lines) if lines.is_empty() => return Err(PayloadError::NoLines),
            Content::Lines(_) | Content::Index => 0,
            // One zero is like another.
            Content::Zeros => largest,
            _ => plan.pool_bytes.max(largest + largest.max(STARTS_MIN)),
        };
        if bytes > POOL_BYTES_MAX + largest {
            return Err(PayloadError::PoolTooLarge { bytes });
        }
        let pool = pool::fill(&plan.content, bytes, plan.seed);
        let source = match plan.content {
            Content::Lines(lines) => Source::Lines(lines),
            Content::Index => Source::Index,
            _ if sizes.len() == 1 => Source::Fixed {
                starts: (bytes - largest) as u64 + 1,
            },
            _ => Source::Drawn,
        };
        Ok(Self {
            bytes: pool,
            sizes,
            source,
            null_below: (plan.null_ratio * f64::from(1 << 24)).round() as u64,
            seed: plan.seed,
        })
    }

    /// The size of every value, when all are alike and none is null.
    pub fn value_bytes_each(&self) -> Option<u64> {
        match self.source {
            Source::Fixed { .. } if self.null_below == 0 => Some(u64::from(self.sizes[0])),
            _ => None,
        }
    }

    /// The mean size of values, nulls counted as nothing; digits as those of a million.
    pub fn value_bytes_mean(&self) -> f64 {
        let mean = match &self.source {
            Source::Fixed { .. } | Source::Drawn => {
                let sum: u64 = self.sizes.iter().map(|&size| u64::from(size)).sum();
                sum as f64 / self.sizes.len() as f64
            }
            Source::Lines(lines) => lines.bytes() as f64 / lines.len() as f64,
            Source::Index => 6.0,
        };
        mean * (1.0 - self.null_below as f64 / f64::from(1 << 24))
    }

    /// The largest value there may be.
    pub fn value_bytes_max(&self) -> usize {
        match &self.source {
            Source::Fixed { .. } | Source::Drawn => {
                self.sizes.iter().copied().max().unwrap_or(0) as usize
            }
            Source::Lines(lines) => lines.longest(),
            Source::Index => DIGITS_MAX,
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match &self.source {
            Source::Lines(lines) => lines.bytes(),
            _ => self.bytes.len(),
        }
    }

    /// What `compression` makes of values, laid one behind the other up to `batch_bytes`:
    /// compressed ÷ raw. Batches come a little apart from it, by what stands between values.
    ///
    /// # Errors
    /// When the codec fails.
    pub fn achieved_ratio(
        self: &Arc<Self>,
        compression: Compression,
        batch_bytes: usize,
    ) -> Result<f64, CompressError> {
        let mut values = Values::new(Arc::clone(self), Share::ALL);
        let mut raw = Vec::with_capacity(batch_bytes);
        for index in 0..batch_bytes as u64 {
            raw.extend_from_slice(values.value(index).unwrap_or_default());
            if raw.len() >= batch_bytes {
                break;
            }
        }
        if raw.is_empty() {
            return Ok(1.0);
        }
        let mut compressed = Vec::new();
        Codec::new(compression).compress(&raw, &mut compressed)?;
        Ok(compressed.len() as f64 / raw.len() as f64)
    }
}

impl Values {
    /// The values of client `share` of `pool`'s run.
    pub fn new(pool: Arc<Pool>, share: Share) -> Self {
        let stream = mix(pool.seed ^ mix(VALUE_STREAMS + u64::from(share.lane)));
        Self {
            pool,
            stream,
            share,
            digits: Digits::default(),
        }
    }

    /// The value of the client's record `index`; `None` is null. A function of seed, client and
    /// index alone, 1–3 ns.
    #[inline]
    pub fn value(&mut self, index: u64) -> Option<&[u8]> {
        let pool = &*self.pool;
        let draw = mix(self.stream.wrapping_add(index));
        if (draw >> 14) & 0xff_ffff < pool.null_below {
            return None;
        }
        Some(match &pool.source {
            Source::Fixed { starts } => {
                let start = scaled(draw, *starts) as usize;
                &pool.bytes[start..start + pool.sizes[0] as usize]
            }
            Source::Drawn => {
                // The size takes the low bits, the place the high ones.
                let size = pool.sizes[draw as usize & (sizes::TABLE_LEN - 1)] as usize;
                let start = scaled(draw, (pool.bytes.len() - size) as u64 + 1) as usize;
                &pool.bytes[start..start + size]
            }
            Source::Lines(lines) => lines.get(scaled(draw, lines.len() as u64) as usize),
            Source::Index => self.digits.of(self.share.global(index)),
        })
    }
}

/// A number in `0..n` from a 64-bit draw, by its high bits.
#[inline]
pub(in crate::load) fn scaled(draw: u64, n: u64) -> u64 {
    ((u128::from(draw) * u128::from(n)) >> 64) as u64
}

/// Room for a number in decimal digits, filled from its end.
#[derive(Debug, Clone, Default)]
pub(in crate::load) struct Digits([u8; DIGITS_MAX]);

/// Digits of the largest 64-bit number.
const DIGITS_MAX: usize = 20;

impl Digits {
    /// `number` in decimal digits.
    #[inline]
    pub(in crate::load) fn of(&mut self, mut number: u64) -> &[u8] {
        let mut at = DIGITS_MAX;
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.0[at..];
            }
        }
    }
}

fn check_ratio(what: &'static str, found: f64) -> Result<(), PayloadError> {
    if (0.0..=1.0).contains(&found) {
        Ok(())
    } else {
        Err(PayloadError::Ratio { what, found })
    }
}

/// Where the streams of clients' values begin; keys have theirs elsewhere.
const VALUE_STREAMS: u64 = 1 << 40;

#[cfg(test)]
mod tests;
