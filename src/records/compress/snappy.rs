//! Snappy: raw blocks inside xerial's framing, as Java writes it; read bare too, as librdkafka does.

use super::{CodecId, CompressError, check_limit};

/// xerial's magic, version 1, compatible with version 1.
const XERIAL_HEADER: [u8; 16] = [
    0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1,
];
const MAGIC_BYTES: usize = 8;
/// Uncompressed bytes a block.
const CHUNK_BYTES: usize = 32 * 1024;

/// Compresses with one reused table.
pub struct Compressor {
    encoder: snap::raw::Encoder,
}

impl Default for Compressor {
    fn default() -> Self {
        Self {
            encoder: snap::raw::Encoder::new(),
        }
    }
}

impl Compressor {
    /// Appends the header and one block for each chunk.
    pub fn compress(&mut self, from: &[u8], into: &mut Vec<u8>) -> Result<(), CompressError> {
        into.extend_from_slice(&XERIAL_HEADER);
        for chunk in from.chunks(CHUNK_BYTES) {
            let length_at = into.len();
            let block_at = length_at + 4;
            into.resize(block_at + snap::raw::max_compress_len(chunk.len()), 0);
            let encoded = self.encoder.compress(chunk, &mut into[block_at..]);
            let length = encoded.map_err(|e| CodecId::Snappy.malformed(e))?;
            into[length_at..block_at].copy_from_slice(&(length as u32).to_be_bytes());
            into.truncate(block_at + length);
        }
        Ok(())
    }
}

/// Appends what the blocks inflate to; the framing is found by its magic.
pub fn decompress(from: &[u8], into: &mut Vec<u8>, limit: usize) -> Result<(), CompressError> {
    if !from.starts_with(&XERIAL_HEADER[..MAGIC_BYTES]) {
        return block(from, into, limit);
    }
    let cut = || CodecId::Snappy.malformed("the framing is cut");
    let mut rest = from.get(XERIAL_HEADER.len()..).ok_or_else(cut)?;
    let mut left = limit;
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let length = u32::from_be_bytes(*length) as usize;
        let chunk = behind.get(..length).ok_or_else(cut)?;
        let before = into.len();
        block(chunk, into, left).map_err(|error| match error {
            CompressError::TooLarge { codec, .. } => CompressError::TooLarge { codec, limit },
            malformed => malformed,
        })?;
        left -= into.len() - before;
        rest = &behind[length..];
    }
    Ok(())
}

fn block(from: &[u8], into: &mut Vec<u8>, limit: usize) -> Result<(), CompressError> {
    let malformed = |e| CodecId::Snappy.malformed(e);
    let length = snap::raw::decompress_len(from).map_err(malformed)?;
    check_limit(CodecId::Snappy, length, limit)?;
    let start = into.len();
    into.resize(start + length, 0);
    let inflated = snap::raw::Decoder::new().decompress(from, &mut into[start..]);
    inflated.map(|_| ()).map_err(malformed)
}
