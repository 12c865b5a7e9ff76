//! Where SASL mechanisms and TLS configuration plug in.
