//! LZ4: frames of independent 64 KiB blocks without checksums, which every reader takes.

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use lz4_flex::frame::FrameDecoder;

use super::{CodecId, CompressError, read_within};

/// Magic, version 1 with independent blocks, 64 KiB blocks, and the checksum of these two bytes.
const FRAME_HEADER: [u8; 7] = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
const BLOCK_BYTES: usize = 64 * 1024;
/// Set in a block's length when it is stored as it is.
const STORED: u32 = 1 << 31;
/// Set in the third byte of the frame when blocks are independent.
const INDEPENDENT: u8 = 0x20;

/// Compresses with one reused table.
pub struct Compressor {
    table: CompressTable,
}

impl Default for Compressor {
    fn default() -> Self {
        Self {
            table: CompressTable::large(),
        }
    }
}

impl Compressor {
    /// Appends one frame.
    pub fn compress(&mut self, from: &[u8], into: &mut Vec<u8>) -> Result<(), CompressError> {
        into.extend_from_slice(&FRAME_HEADER);
        for block in from.chunks(BLOCK_BYTES) {
            let length_at = into.len();
            let block_at = length_at + 4;
            into.resize(block_at + get_maximum_output_size(block.len()), 0);
            let packed = compress_into_with_table(block, &mut into[block_at..], &mut self.table)
                .map_err(|e| CodecId::Lz4.malformed(e))?;
            into.truncate(block_at + packed);
            let mut length = packed as u32;
            if packed >= block.len() {
                into.truncate(block_at);
                into.extend_from_slice(block);
                length = block.len() as u32 | STORED;
            }
            into[length_at..block_at].copy_from_slice(&length.to_le_bytes());
        }
        into.extend_from_slice(&[0; 4]);
        Ok(())
    }
}

/// Appends what the frame inflates to. Dependent blocks are refused, as Java refuses them.
pub fn decompress(from: &[u8], into: &mut Vec<u8>, limit: usize) -> Result<(), CompressError> {
    if from.get(4).is_some_and(|flags| flags & INDEPENDENT == 0) {
        return Err(CodecId::Lz4.malformed("its blocks depend on one another"));
    }
    if from.is_empty() {
        return Err(CodecId::Lz4.malformed("there is no frame"));
    }
    read_within(CodecId::Lz4, FrameDecoder::new(from), into, limit)
}
