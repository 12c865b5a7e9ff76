//! Bytes that values are slices of, made once before the clock starts.

use super::Content;
use crate::base::rng::Rng;

/// What random letters are drawn from: the same 26 as Kafka's own tool, so that codecs do with them
/// what they do there (zstd leaves about 0.6).
pub const LETTERS: &[u8; 26] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Compressible bytes come in cells of this many: random bytes first, then filler. Large enough
/// that a codec's tokens weigh little, small enough that a batch holds many.
const CELL_BYTES: usize = 256;

/// Random bytes that each cell keeps when all of it should compress: records still differ.
const CELL_RANDOM_MIN: f64 = 4.0;

/// What stands where bytes should cost nothing once compressed.
const FILLER: &[u8; 16] = b"kdyno dynamometr";

/// The stream of random numbers that pools take; clients have streams of their own.
const POOL_STREAM: u64 = u64::MAX;

/// Makes `bytes` bytes of `content`, the same for equal seeds. Lines and record numbers need none.
pub(super) fn fill(content: &Content, bytes: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed, POOL_STREAM);
    let mut pool = vec![0; bytes];
    match content {
        Content::Letters => letters(&mut rng, &mut pool),
        Content::Bytes => rng.fill(&mut pool),
        Content::Compressible(share) => compressible(&mut rng, *share, &mut pool),
        Content::Zeros | Content::Lines(_) | Content::Index => {}
    }
    pool
}

fn letters(rng: &mut Rng, pool: &mut [u8]) {
    for chunk in pool.chunks_mut(4) {
        let mut bits = rng.next_u64();
        for byte in chunk {
            // 16 bits a letter: no letter is more likely than another by more than 1 in 2,500.
            *byte = LETTERS[(((bits & 0xffff) * 26) >> 16) as usize];
            bits >>= 16;
        }
    }
}

fn compressible(rng: &mut Rng, share: f64, pool: &mut [u8]) {
    let random = (CELL_BYTES as f64 * (1.0 - share)).max(CELL_RANDOM_MIN);
    let mut owed = 0.0;
    for cell in pool.chunks_mut(CELL_BYTES) {
        owed += random;
        let random_bytes = (owed as usize).min(cell.len());
        owed -= random_bytes as f64;
        let (random, filler) = cell.split_at_mut(random_bytes);
        rng.fill(random);
        for (byte, fill) in filler.iter_mut().zip(FILLER.iter().cycle()) {
            *byte = *fill;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_upper_case_and_equally_likely() {
        let pool = fill(&Content::Letters, 1 << 20, 7);
        for letter in LETTERS {
            let count = pool.iter().filter(|&byte| byte == letter).count() as f64;
            assert!((count / (pool.len() as f64 / 26.0) - 1.0).abs() < 0.03);
        }
    }

    #[test]
    fn a_seed_makes_the_same_pool_and_another_makes_another() {
        for content in [Content::Letters, Content::Bytes, Content::Compressible(0.5)] {
            assert_eq!(fill(&content, 5_000, 1), fill(&content, 5_000, 1));
            assert_ne!(fill(&content, 5_000, 1), fill(&content, 5_000, 2));
        }
    }
}
