//! Bytes ⇄ messages. Pure: no socket, no clock.

pub mod api;
pub mod broker_error;
pub mod cursor;
pub mod frame;
pub mod header;
pub mod sink;
