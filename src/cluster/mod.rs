//! Many connections: who leads what, and how that is kept fresh.

pub mod control;
mod dials;
pub mod merge;
pub mod persist;
mod plane;
mod pool;
mod producer_id;
mod reach;
pub mod refresh;
pub mod retry;
pub mod snapshot;
