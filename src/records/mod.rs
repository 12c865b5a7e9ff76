//! Record batches: written, re-stamped, read, compressed. Pure.

pub mod compress;
pub mod layout;
pub mod reader;
pub mod split;
pub mod stamp;
pub mod writer;
