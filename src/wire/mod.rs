//! Bytes ⇄ messages. Pure: no socket, no clock.

pub mod api;
pub mod broker_error;
pub mod control;
pub mod cursor;
pub mod fetch;
pub mod frame;
pub mod guard;
pub mod header;
pub mod produce;
pub mod schema;
pub mod sink;
