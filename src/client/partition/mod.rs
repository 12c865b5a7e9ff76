//! Which partition a record goes to.

pub mod crc32;
pub mod murmur2;
pub mod sticky;

/// How records without a partition of their own are spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partitioner {
    /// Java's own: records with a key by its hash, the others stay with one partition for about a
    /// batch and then change over (KIP-794).
    Default {
        /// Partitions with shorter queues are chosen more often.
        adaptive: bool,
        /// Keys are ignored.
        ignore_keys: bool,
    },
    /// One after the other.
    RoundRobin,
    /// The ones given, one after the other.
    Fixed(Vec<u32>),
}

/// The hash that places keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHash {
    /// Java's.
    Murmur2,
    /// librdkafka's.
    Crc32,
}

impl KeyHash {
    /// It as a function: modulo the number of partitions its value is the partition.
    pub fn function(self) -> fn(&[u8]) -> u32 {
        match self {
            Self::Murmur2 => murmur2::positive,
            Self::Crc32 => crc32::crc32,
        }
    }
}

/// What decides over the partition of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The partitioner alone.
    Free,
    /// A key, by its hash (see [`KeyHash::function`]).
    Keyed(u32),
    /// The caller.
    Exact(u32),
}
