//! The one test binary: what kdyno does, seen from outside and at its borders.

#![allow(clippy::print_stderr)] // A skipped test says so.

mod broker;
mod calibrate;
mod cluster;
mod drop_in;
mod kafka;
mod measure;
mod payload;
mod perf_tool;
mod pipeline;
mod produce;
mod records;
mod report;
mod schedule;
mod support;
mod tidy;
mod transport;
mod wire;
