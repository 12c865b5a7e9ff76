//! Codecs as Kafka frames them, each with a ceiling on what it inflates to.

mod gzip;
mod lz4;
mod snappy;
mod zstd;

use std::fmt;

use thiserror::Error;

/// A codec's number in the attributes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CodecId {
    /// No codec.
    None = 0,
    /// RFC 1952.
    Gzip = 1,
    /// Snappy blocks in xerial framing.
    Snappy = 2,
    /// LZ4 frames.
    Lz4 = 3,
    /// RFC 8878.
    Zstd = 4,
}

/// `compression.type` with its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Records go as they are.
    None,
    /// `compression.gzip.level`: −1 (zlib's own choice, 6) or 1 to 9.
    Gzip {
        /// The level.
        level: i32,
    },
    /// No levels.
    Snappy,
    /// Java's level 9, which is the fast compressor.
    Lz4,
    /// `compression.zstd.level`.
    Zstd {
        /// The level, −7 to 22.
        level: i32,
    },
}

/// What a codec could not do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompressError {
    /// The compressed bytes are wrong.
    #[error("{codec}: {why}")]
    Malformed {
        /// Which codec.
        codec: CodecId,
        /// Its words.
        why: String,
    },
    /// They would inflate to more than the ceiling.
    #[error("{codec}: inflates to more than {limit} bytes")]
    TooLarge {
        /// Which codec.
        codec: CodecId,
        /// The ceiling.
        limit: usize,
    },
}

impl CodecId {
    /// The codec whose number is in the low bits of a batch's attributes.
    pub fn from_attributes(attributes: i16) -> Option<Self> {
        Some(match attributes & super::layout::CODEC_MASK {
            0 => Self::None,
            1 => Self::Gzip,
            2 => Self::Snappy,
            3 => Self::Lz4,
            4 => Self::Zstd,
            _ => return None,
        })
    }

    /// Kafka's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    fn malformed(self, why: impl ToString) -> CompressError {
        CompressError::Malformed {
            codec: self,
            why: why.to_string(),
        }
    }
}

impl Compression {
    /// Its codec.
    pub fn id(self) -> CodecId {
        match self {
            Self::None => CodecId::None,
            Self::Gzip { .. } => CodecId::Gzip,
            Self::Snappy => CodecId::Snappy,
            Self::Lz4 => CodecId::Lz4,
            Self::Zstd { .. } => CodecId::Zstd,
        }
    }
}

/// A compressor with its working memory, used for one batch after another.
#[derive(Debug)]
pub struct Codec {
    compression: Compression,
    state: State,
}

enum State {
    None,
    Gzip(gzip::Compressor),
    Snappy(Box<snappy::Compressor>),
    Lz4(lz4::Compressor),
    Zstd,
}

impl Codec {
    /// A compressor for `compression`.
    pub fn new(compression: Compression) -> Self {
        let state = match compression {
            Compression::None => State::None,
            Compression::Gzip { level } => State::Gzip(gzip::Compressor::new(level)),
            Compression::Snappy => State::Snappy(Box::default()),
            Compression::Lz4 => State::Lz4(lz4::Compressor::default()),
            Compression::Zstd { .. } => State::Zstd,
        };
        Self { compression, state }
    }

    /// What it was made for.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Its codec.
    pub fn id(&self) -> CodecId {
        self.compression.id()
    }

    /// Appends `from`, compressed, to `into`.
    ///
    /// # Errors
    /// When the codec fails, which none does for lack of anything but memory.
    pub fn compress(&mut self, from: &[u8], into: &mut Vec<u8>) -> Result<(), CompressError> {
        match (&mut self.state, self.compression) {
            (State::Gzip(gzip), _) => gzip.compress(from, into),
            (State::Snappy(snappy), _) => snappy.compress(from, into),
            (State::Lz4(lz4), _) => lz4.compress(from, into),
            (State::Zstd, Compression::Zstd { level }) => zstd::compress(from, level, into),
            _ => {
                into.extend_from_slice(from);
                Ok(())
            }
        }
    }
}

/// Appends `from`, inflated by `codec`, to `into`.
///
/// # Errors
/// When the bytes are wrong, or would inflate to more than `limit`; `into` may then hold a part.
pub fn decompress(
    codec: CodecId,
    from: &[u8],
    into: &mut Vec<u8>,
    limit: usize,
) -> Result<(), CompressError> {
    match codec {
        CodecId::None => {
            check_limit(codec, from.len(), limit)?;
            into.extend_from_slice(from);
            Ok(())
        }
        CodecId::Gzip => gzip::decompress(from, into, limit),
        CodecId::Snappy => snappy::decompress(from, into, limit),
        CodecId::Lz4 => lz4::decompress(from, into, limit),
        CodecId::Zstd => zstd::decompress(from, into, limit),
    }
}

fn check_limit(codec: CodecId, bytes: usize, limit: usize) -> Result<(), CompressError> {
    if bytes > limit {
        return Err(CompressError::TooLarge { codec, limit });
    }
    Ok(())
}

/// Reads `reader` to its end into `into`, at most `limit` bytes.
fn read_within(
    codec: CodecId,
    mut reader: impl std::io::Read,
    into: &mut Vec<u8>,
    limit: usize,
) -> Result<(), CompressError> {
    let start = into.len();
    let mut within = std::io::Read::take(&mut reader, limit as u64 + 1);
    std::io::Read::read_to_end(&mut within, into).map_err(|e| codec.malformed(e))?;
    check_limit(codec, into.len() - start, limit)
}

impl fmt::Display for CodecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Gzip(_) => "Gzip",
            Self::Snappy(_) => "Snappy",
            Self::Lz4(_) => "Lz4",
            Self::Zstd => "Zstd",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    const ALL: [Compression; 5] = [
        Compression::None,
        Compression::Gzip { level: -1 },
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd { level: 3 },
    ];

    fn data(bytes: usize, random: bool) -> Vec<u8> {
        let mut data = vec![0; bytes];
        Rng::new(1, 0).fill(&mut data);
        if !random {
            for (i, byte) in data.iter_mut().enumerate() {
                *byte = b'a' + (*byte & 3) * ((i % 7 == 0) as u8);
            }
        }
        data
    }

    #[test]
    fn every_codec_gives_back_what_it_was_given() {
        for compression in ALL {
            let mut codec = Codec::new(compression);
            for bytes in [0, 1, 100, 65_535, 65_536, 200_000] {
                for random in [true, false] {
                    let data = data(bytes, random);
                    let mut packed = b"kept".to_vec();
                    codec.compress(&data, &mut packed).unwrap();
                    assert!(packed.starts_with(b"kept"));
                    let mut back = Vec::new();
                    decompress(codec.id(), &packed[4..], &mut back, bytes).unwrap();
                    assert!(back == data, "{compression:?} {bytes}");
                }
            }
        }
    }

    #[test]
    fn no_codec_inflates_beyond_the_ceiling() {
        for compression in ALL {
            let mut codec = Codec::new(compression);
            let mut packed = Vec::new();
            codec.compress(&vec![0; 1 << 20], &mut packed).unwrap();
            let mut back = Vec::new();
            let result = decompress(codec.id(), &packed, &mut back, 1000);
            assert!(
                matches!(result, Err(CompressError::TooLarge { limit: 1000, .. })),
                "{compression:?}: {result:?}"
            );
            assert!(back.capacity() < 1 << 18, "{compression:?}");
        }
    }

    #[test]
    fn cut_and_edited_bytes_are_errors_or_other_data_but_never_a_panic() {
        let mut rng = Rng::new(2, 0);
        for compression in ALL {
            let mut codec = Codec::new(compression);
            let mut packed = Vec::new();
            codec.compress(&data(5_000, false), &mut packed).unwrap();
            for cut in 0..packed.len().min(300) {
                decompress(codec.id(), &packed[..cut], &mut Vec::new(), 100_000).ok();
            }
            for _ in 0..500 {
                let mut edited = packed.clone();
                for _ in 0..=rng.below(4) {
                    let at = rng.below(edited.len() as u64) as usize;
                    edited[at] = rng.next_u64() as u8;
                }
                decompress(codec.id(), &edited, &mut Vec::new(), 100_000).ok();
            }
        }
    }
}
