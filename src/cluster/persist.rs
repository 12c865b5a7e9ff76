//! Requests asked again until their answer settles something.

use std::thread;
use std::time::{Duration, Instant};

use kafka_protocol::protocol::Request;

use crate::net::control_stream::AskError;

use super::control::{CallError, Command, ControlPlane, Node};

/// An answer, and how often it was asked for.
#[derive(Debug, Clone)]
pub struct Persisted<R> {
    /// The last answer.
    pub response: R,
    /// Times it was asked, at least 1. With more than one, an earlier asking may have had its effect.
    pub attempts: u32,
}

impl ControlPlane {
    /// Asks `request` of `node` until `unsettled` is false of the answer, with back-off, for
    /// `default.api.timeout.ms` at most; then the last answer is as good as any. Lost connections
    /// are asked over too.
    ///
    /// # Errors
    /// When the last asking brought no answer.
    pub fn persist<R>(
        &self,
        node: Node,
        request: &R,
        unsettled: impl Fn(&R::Response) -> bool,
    ) -> Result<Persisted<R::Response>, CallError>
    where
        R: Request + Clone + Send + 'static,
    {
        let deadline = Instant::now() + self.api_timeout();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let answer = self.call(node, request.clone());
            let settled = match &answer {
                Ok(response) => !unsettled(response),
                Err(CallError::Ask { error, .. }) => !matches!(error, AskError::Lost(_)),
                Err(CallError::Connect(_) | CallError::NoSuchNode(_)) => false,
                Err(CallError::TimedOut(_) | CallError::Ended) => true,
            };
            let wait = Duration::from_nanos(self.retry().wait(attempts, fastrand::f64()));
            if settled || Instant::now() + wait >= deadline {
                return answer.map(|response| Persisted { response, attempts });
            }
            // The one to ask may be another by now.
            self.commands()
                .send(Command::Refresh { topics: Vec::new() });
            thread::sleep(wait);
        }
    }
}
