//! The workload: what is sent when, and the loop that sends it.

pub mod alarm;
pub mod blocks;
pub mod wakes;
