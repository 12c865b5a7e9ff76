//! The engines: state machines that take `now` and bytes.
