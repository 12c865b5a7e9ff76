//! What tests of several rooms share: builders and checks.

pub mod arithmetic;
pub mod asker;
pub mod cluster;
pub mod fake;
pub mod fixtures;
pub mod outcomes;
pub mod played;
pub mod processes;
