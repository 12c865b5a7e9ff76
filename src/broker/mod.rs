//! The embedded broker: a test and calibration device, not a store.
