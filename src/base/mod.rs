//! Small words everything speaks: time, sizes, rates, random streams, secrets.

pub mod clock;
pub mod rng;
