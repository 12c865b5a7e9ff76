//! Many connections: who leads what, and how that is kept fresh.

pub mod retry;
pub mod snapshot;
