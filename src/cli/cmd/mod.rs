//! One file a subcommand.

pub mod broker;
pub mod calibrate;
pub mod completions;
pub mod produce;
pub mod topic;
