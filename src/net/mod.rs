//! One connection: pipeline, socket, handshake, mailbox.

pub mod mailbox;
pub mod mutes;
pub mod pipeline;
