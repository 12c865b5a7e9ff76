//! The hash by which librdkafka's producer places keys.

/// The CRC-32 of IEEE 802.3 of `key`; modulo the number of partitions it is the partition.
pub fn crc32(key: &[u8]) -> u32 {
    crc32fast::hash(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_crc_of_zip_and_ethernet() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
