//! Numbers: histograms, parts of latency, intervals, summaries. Pure, and knows nothing of Kafka.

pub mod stamps;
