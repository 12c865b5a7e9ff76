//! What tests of several rooms share: builders and checks.

pub mod outcomes;
