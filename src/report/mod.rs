//! Outcomes → text, JSON, CSV and histogram files.

pub mod csv;
pub mod file;
pub mod hdr;
pub mod json;
pub mod progress;
pub mod schema;
mod table;
pub mod text;
mod words;
