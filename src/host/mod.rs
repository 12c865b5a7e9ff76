//! The only door to the operating system's figures: what the machine is, and what it does to us.
//!
//! Everything here is read from `/proc`, `/sys` or a plain system call, some microseconds each: once
//! per interval, never per request. What a system doesn't tell is `None`, never 0.

pub mod cgroup;
pub mod cpu;
pub mod files;
pub mod machine;
pub mod memory;
pub mod run_queue;
pub mod steal;
pub mod tcp;
