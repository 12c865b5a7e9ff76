//! The plan: what the user asked for, what will happen, what came out.

pub mod figures;
pub mod judge;
pub mod outcome;
