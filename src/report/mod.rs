//! Outcomes → text, JSON, CSV and histogram files.
