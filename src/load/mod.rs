//! The workload: what is sent when, and the loop that sends it.

pub mod arrival;
pub mod blocks;
pub mod headers;
pub mod key;
pub mod lane;
pub mod ledger;
pub mod pacer;
pub mod payload;
pub mod phase;
pub mod run;
pub mod source;
pub mod stock;
pub mod wakes;
pub mod worker;
