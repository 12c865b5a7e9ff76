//! kdyno: a dynamometer for Kafka.
//!
//! This file is the code map. The rooms stand in reading order; each may import only the rooms
//! that its line names, and `protocol-tests/tidy.rs` fails the build's tests when one imports
//! another.
//!
//! | room | imports | what it is |
//! |---|---|---|
//! | [`base`] | – | sizes, rates, durations, the clock and its alarms, random streams, secrets |
//! | [`wire`] | base | bytes ⇄ messages: cursor, frames, headers, layouts as data, the guard |
//! | [`records`] | base, wire | record batches v2: write, re-stamp, read, compress |
//! | [`measure`] | base | histograms, parts of latency, intervals, verdicts |
//! | [`auth`] | base, wire | where SASL and TLS plug in |
//! | [`fault`] | base, wire | the fault language (a later issue) |
//! | [`host`] | base | the only door to the operating system's figures |
//! | [`net`] | base, wire, auth, host | one connection: pipeline, socket, handshake, mailbox |
//! | [`cluster`] | base, wire, net | many connections: who leads what, refresh, retry |
//! | [`client`] | base, wire, records, auth, net, cluster | the producer as a state machine |
//! | [`load`] | base, wire, records, measure, host, net, cluster, client | the workload and its loop |
//! | [`scenario`] | base, measure, cluster, client, load | what the user asked, what will happen, what came out |
//! | [`report`] | base, measure, scenario | outcomes → text, JSON, CSV, histogram files |
//! | [`broker`] | base, wire, records, auth, fault | the embedded broker |
//! | [`calibrate`] | base, host, wire, records, measure, net, cluster, client, load, broker | the client against raw sockets and the sink |
//! | [`cli`] | everything above | the only part that prints, exits or reads the environment |
//!
//! Invariants that hold across rooms:
//!
//! * A load thread never resolves a name, handshakes, prints, locks, or allocates per record.
//! * A batch owns its pooled buffer from its first record to its acknowledgement.
//! * Every frame from outside is hostile until the guard or a bounded reader has walked it.
//! * Time enters as an argument; only `load`, `net`'s sockets, `broker` and `cli` read a clock.

pub mod auth;
pub mod base;
pub mod broker;
pub mod calibrate;
pub mod cli;
pub mod client;
pub mod cluster;
pub mod fault;
pub mod host;
pub mod load;
pub mod measure;
pub mod net;
pub mod records;
pub mod report;
pub mod scenario;
pub mod wire;
