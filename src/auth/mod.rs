//! Where SASL mechanisms and TLS configuration plug in.

pub mod security;
