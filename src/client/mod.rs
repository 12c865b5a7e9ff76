//! The producer as a state machine: it takes `now`, bytes and snapshots, and touches nothing else.

pub mod admin;
pub mod partition;
pub mod produce;
pub mod profile;
pub mod properties;
pub mod settings;
