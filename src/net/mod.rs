//! One connection: pipeline, socket, handshake, mailbox.

pub mod address;
pub mod connect;
pub mod connection;
pub mod control_stream;
pub mod deframe;
pub mod handshake;
pub mod lost;
pub mod mailbox;
pub mod mutes;
pub mod pipeline;
pub(crate) mod race;
pub mod socket;
pub mod tap;
pub(crate) mod throttle;
pub mod transport;
pub mod versions;
