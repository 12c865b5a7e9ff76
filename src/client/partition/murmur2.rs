//! The hash by which Java's producer places keys.

const SEED: u32 = 0x9747_b28c;
const M: u32 = 0x5bd1_e995;
const R: u32 = 24;

/// The 32-bit hash of `key`.
pub fn murmur2(key: &[u8]) -> u32 {
    let mut hash = SEED ^ key.len() as u32;
    let mut words = key.chunks_exact(4);
    for word in &mut words {
        let mut k = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        k = k.wrapping_mul(M);
        k ^= k >> R;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    let tail = words.remainder();
    if !tail.is_empty() {
        for (index, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

/// The hash without its sign: modulo the number of partitions it is the partition.
pub fn positive(key: &[u8]) -> u32 {
    murmur2(key) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_where_java_puts_them() {
        let over_ten = [
            (&b"wu"[..], 0),
            (b"a", 4),
            (b"abc", 7),
            (b"foobar", 6),
            (b"", 1),
            (b"\xff\xfe", 1),
        ];
        for (key, partition) in over_ten {
            assert_eq!(positive(key) % 10, partition, "{key:?}");
        }
        assert_eq!(murmur2(b"a"), 0xa2d0_b27c);
        assert_eq!(murmur2(b"foobar"), 0xd0e4_7bbe);
    }
}
