//! Producer ids for lanes, one after another over one connection.

use std::sync::Arc;
use std::time::Duration;

use kafka_protocol::messages::{InitProducerIdRequest, ProducerId};
use tokio::time::Instant;

use super::control::{Event, LaneRef};
use super::reach::{Manner, Reached, Way, reach};
use super::retry::Backoff;
use crate::net::connect::Target;
use crate::net::control_stream::AskError;
use crate::net::mailbox::Post;
use crate::wire::broker_error::BrokerError;

/// Who waits for a producer id.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdWanted {
    pub lane: LaneRef,
    pub ticket: u64,
}

/// What asking for producer ids needs.
#[derive(Debug)]
pub(super) struct IdTask {
    /// An idle connection.
    pub idle: Option<Reached>,
    /// Where to dial without one.
    pub targets: Vec<Target>,
    pub manner: Manner,
    pub retry: Backoff,
    /// For one id with all its retries.
    pub timeout: Duration,
    pub posts: Arc<[Post<Event>]>,
}

/// Why there is none.
struct Refused {
    error: Arc<str>,
    code: Option<BrokerError>,
}

impl IdTask {
    /// Gets an id for each of `wanted` and posts it; gives back the connection if it still works.
    pub async fn run(mut self, wanted: Vec<IdWanted>) -> Option<Reached> {
        for IdWanted { lane, ticket } in wanted {
            let event = match self.one().await {
                Ok((producer_id, epoch)) => Event::ProducerId {
                    lane: lane.lane,
                    ticket,
                    producer_id,
                    epoch,
                },
                Err(Refused { error, code }) => Event::ProducerIdFailed {
                    lane: lane.lane,
                    ticket,
                    error,
                    code,
                },
            };
            post(&self.posts, lane.worker, event);
        }
        self.idle
    }

    async fn one(&mut self) -> Result<(i64, i16), Refused> {
        let deadline = Instant::now() + self.timeout;
        let mut failures = 0;
        loop {
            let refused = match self.attempt().await {
                Ok(id) => return Ok(id),
                Err((refused, Again::No)) => return Err(refused),
                Err((refused, Again::Yes)) => refused,
            };
            failures += 1;
            let wait = Duration::from_nanos(self.retry.wait(failures, fastrand::f64()));
            if Instant::now() + wait >= deadline {
                return Err(refused);
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&mut self) -> Result<(i64, i16), (Refused, Again)> {
        let mut reached = match self.idle.take() {
            Some(reached) => reached,
            None => {
                let ways = self.targets.iter().cloned().map(Way::Dial).collect();
                let reached = reach(ways, &self.manner).await;
                reached.map_err(|errors| {
                    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
                    (refused(&texts.join("; "), None), Again::Yes)
                })?
            }
        };
        let request = request();
        let timeout = self.manner.request_timeout;
        let answer = reached.stream.ask(&request, timeout).await;
        let answer = answer.map_err(|error| {
            let again = Again::when(matches!(error, AskError::Lost(_)));
            let text = format!("{}: {error}", reached.address);
            (refused(&text, None), again)
        })?;
        let text = |code: BrokerError| format!("{}: InitProducerId: {code}", reached.address);
        let code = BrokerError(answer.error_code);
        if code.is_error() {
            let again = code.retriable() || code == BrokerError::CONCURRENT_TRANSACTIONS;
            let refused = refused(&text(code), Some(code));
            self.idle = Some(reached);
            return Err((refused, Again::when(again)));
        }
        self.idle = Some(reached);
        Ok((answer.producer_id.0, answer.producer_epoch))
    }
}

/// Whether another try can help.
enum Again {
    Yes,
    No,
}

impl Again {
    fn when(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Puts an event into the mailbox of a worker.
pub(super) fn post(posts: &[Post<Event>], worker: u32, event: Event) {
    if let Some(post) = posts.get(worker as usize) {
        // A worker that has ended has no use for it.
        let _ = post.send(event);
    }
}

fn request() -> InitProducerIdRequest {
    InitProducerIdRequest::default()
        .with_transactional_id(None)
        // As Java sends for a producer without transactions.
        .with_transaction_timeout_ms(i32::MAX)
        .with_producer_id(ProducerId(-1))
        .with_producer_epoch(-1)
}

fn refused(error: &str, code: Option<BrokerError>) -> Refused {
    Refused {
        error: error.into(),
        code,
    }
}
