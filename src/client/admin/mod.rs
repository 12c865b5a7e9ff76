//! Requests of administrators: topics made, described, widened and deleted.

pub mod configs;
pub mod describe;
pub mod log_dirs;
pub mod offsets;
pub mod topics;

use kafka_protocol::messages::TopicName;
use kafka_protocol::protocol::StrBytes;
use thiserror::Error;

use crate::cluster::control::{CallError, ControlPlane};
use crate::net::control_stream::AskError;
use crate::wire::broker_error::BrokerError;

/// Asks an administrator's requests of a cluster that was bootstrapped.
#[derive(Debug, Clone, Copy)]
pub struct Admin<'a> {
    control: &'a ControlPlane,
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AdminError {
    /// It was not answered.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The cluster refuses.
    #[error("{what}: {error}{}", said(.message))]
    Refused {
        /// What was asked about, as in `topic orders`.
        what: String,
        /// The broker's error.
        error: BrokerError,
        /// Its own words.
        message: Option<String>,
    },
    /// The answer says nothing of what was asked.
    #[error("{0}: the answer does not speak of it")]
    Silent(String),
}

impl<'a> Admin<'a> {
    /// Asks by way of `control`.
    pub fn new(control: &'a ControlPlane) -> Self {
        Self { control }
    }
}

impl AdminError {
    /// Whether no version of the request is spoken on both sides.
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Self::Call(CallError::Ask {
                error: AskError::Version(_),
                ..
            })
        )
    }

    /// The broker's error, if it answered with one.
    pub fn broker_error(&self) -> Option<BrokerError> {
        match self {
            Self::Refused { error, .. } => Some(*error),
            Self::Call(_) | Self::Silent(_) => None,
        }
    }
}

fn said(message: &Option<String>) -> String {
    match message {
        Some(message) => format!(": {message}"),
        None => String::new(),
    }
}

/// `Ok` when `code` is none.
fn check(what: &str, code: i16, message: Option<&StrBytes>) -> Result<(), AdminError> {
    let error = BrokerError(code);
    if !error.is_error() {
        return Ok(());
    }
    Err(AdminError::Refused {
        what: what.to_owned(),
        error,
        message: message.map(ToString::to_string),
    })
}

/// Whether asking again may come to something: the broker says so, or another one is in charge.
fn unsettled(code: i16) -> bool {
    let error = BrokerError(code);
    error.retriable() || error == BrokerError::NOT_CONTROLLER
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn topic_name(name: &str) -> TopicName {
    TopicName(text(name))
}
