//! Outcomes → text, JSON, CSV and histogram files.

pub mod text;
mod words;
