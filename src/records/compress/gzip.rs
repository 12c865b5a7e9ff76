//! gzip: RFC 1952 members, over zlib-rs.

use std::io::Write;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{CodecId, CompressError, read_within};

/// Compresses at one level.
pub struct Compressor {
    level: flate2::Compression,
}

impl Compressor {
    /// A compressor for Java's level: −1 is zlib's own choice.
    pub fn new(level: i32) -> Self {
        let level = match u32::try_from(level) {
            Ok(level) => flate2::Compression::new(level.min(9)),
            Err(_) => flate2::Compression::default(),
        };
        Self { level }
    }

    /// Appends one member.
    pub fn compress(&mut self, from: &[u8], into: &mut Vec<u8>) -> Result<(), CompressError> {
        let mut encoder = GzEncoder::new(into, self.level);
        let written = encoder.write_all(from).and_then(|()| encoder.finish());
        written.map(|_| ()).map_err(|e| CodecId::Gzip.malformed(e))
    }
}

/// Appends what all members inflate to.
pub fn decompress(from: &[u8], into: &mut Vec<u8>, limit: usize) -> Result<(), CompressError> {
    read_within(CodecId::Gzip, MultiGzDecoder::new(from), into, limit)
}
