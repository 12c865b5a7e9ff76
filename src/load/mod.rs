//! The workload: what is sent when, and the loop that sends it.

pub mod alarm;
pub mod arrival;
pub mod blocks;
pub mod phase;
pub mod wakes;
