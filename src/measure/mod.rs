//! Numbers: histograms, parts of latency, intervals, summaries. Pure, and knows nothing of Kafka.

pub mod histogram;
pub mod interval;
pub mod limit;
pub mod parts;
pub mod promise;
pub mod recorder;
pub mod recording;
pub mod stamps;
pub mod stats;
pub mod summary;
pub mod verdict;
