//! Zstandard, over a codec that needs no C compiler.

use rusty_zstd::{CompressOptions, DecompressOptions, Error, decompress_into_with_limit};

use super::{CodecId, CompressError};

/// Appends one frame, without a checksum, as Java writes it.
pub fn compress(from: &[u8], level: i32, into: &mut Vec<u8>) -> Result<(), CompressError> {
    let options = CompressOptions {
        level,
        checksum: false,
    };
    let packed =
        rusty_zstd::compress_with(from, options).map_err(|e| CodecId::Zstd.malformed(e))?;
    into.extend_from_slice(&packed);
    Ok(())
}

/// Appends what all frames inflate to.
pub fn decompress(from: &[u8], into: &mut Vec<u8>, limit: usize) -> Result<(), CompressError> {
    let inflated = decompress_into_with_limit(into, from, DecompressOptions::default(), limit);
    inflated.map(|_| ()).map_err(|error| match error {
        Error::ContentSizeTooLarge => CompressError::TooLarge {
            codec: CodecId::Zstd,
            limit,
        },
        other => CodecId::Zstd.malformed(other),
    })
}
