//! The producer: records in, requests out, answers in, outcomes out. Java's rules.

mod accumulate;
mod batch;
mod drain;
mod expire;
pub mod options;
mod producer;
mod reply;
pub mod request;
mod sequence;
mod topic;

pub use accumulate::uncompressed_limit;
pub use drain::WireContext;
pub use expire::DELIVERY_TIMEOUT;
pub use producer::{
    Append, Done, Ended, Ending, Outcomes, Producer, Refused, RouteIndex, TopicIndex, Trace,
};
pub use reply::{Replied, surely_not_appended};
