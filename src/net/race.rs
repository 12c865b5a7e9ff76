//! Several ways to one end, tried one after another without waiting long for a silent one.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;

/// Starts the attempts in order: the next one when an earlier one fails, or after `stagger` without
/// news. The first success ends the others.
///
/// # Errors
/// The failure of each attempt, in the order in which they failed, when all did.
pub(crate) async fn race<T, E, F>(
    attempts: impl IntoIterator<Item = F>,
    stagger: Duration,
) -> Result<T, Vec<E>>
where
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    let mut waiting = attempts.into_iter();
    let mut running = JoinSet::new();
    let mut failures = Vec::new();
    let mut more = true;
    loop {
        if more {
            match waiting.next() {
                Some(attempt) => drop(running.spawn(attempt)),
                None => more = false,
            }
        }
        tokio::select! {
            ended = running.join_next() => match ended {
                Some(Ok(Ok(success))) => return Ok(success),
                Some(Ok(Err(failure))) => failures.push(failure),
                // An attempt that panicked has told so already.
                Some(Err(_)) => {}
                None => return Err(failures),
            },
            () = tokio::time::sleep(stagger), if more => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts take (milliseconds, success); time is the runtime's, paused.
    fn run(attempts: &[(u64, bool)]) -> (Result<usize, Vec<usize>>, u128) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let start = tokio::time::Instant::now();
            let attempts: Vec<_> = attempts.to_vec();
            let attempts = attempts.into_iter().enumerate();
            let futures = attempts.map(|(index, (ms, success))| async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                if success { Ok(index) } else { Err(index) }
            });
            let result = race(futures, Duration::from_millis(250)).await;
            (result, start.elapsed().as_millis())
        })
    }

    #[test]
    fn a_failure_starts_the_next_at_once() {
        assert_eq!(run(&[(1, false), (1, false), (1, true)]), (Ok(2), 3));
    }

    #[test]
    fn a_silent_one_does_not_hold_up_the_next_and_may_still_win() {
        assert_eq!(run(&[(60_000, true), (10, true)]), (Ok(1), 260));
        assert_eq!(run(&[(300, true), (60_000, true)]), (Ok(0), 300));
    }

    #[test]
    fn all_failures_are_told() {
        assert_eq!(run(&[(500, false), (10, false)]), (Err(vec![1, 0]), 500));
        assert_eq!(run(&[]).0, Err(vec![]));
    }
}
