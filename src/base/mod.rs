//! Small words everything speaks: time and its alarms, sizes, rates, random streams, secrets.

pub mod alarm;
pub mod clock;
mod decimal;
pub mod rate;
pub mod rng;
pub mod secret;
pub mod size;
pub mod span;
