//! Bytes ⇄ messages. Pure: no socket, no clock.
