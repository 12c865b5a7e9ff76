//! The workload: arrivals, payloads, lanes, and the loop that runs them.
