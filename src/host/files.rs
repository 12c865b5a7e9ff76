//! How many files may be open, raised as far as a run needs, or refused with the arithmetic.

use std::fmt;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files of a load thread beside its connections: poll set, timer, waker, spare.
const PER_THREAD: u64 = 4;

/// Open files of everything else: standard streams, control plane, result files, embedded broker.
const OTHERS: u64 = 64;

/// What a run will hold open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Clients.
    pub clients: u64,
    /// Connections of each client to each broker.
    pub connections_per_broker: u64,
    /// Brokers.
    pub brokers: u64,
    /// Load threads.
    pub threads: u64,
    /// Whether the broker is in this process: each connection then is two files.
    pub embedded: bool,
}

/// Why a run can't hold open what it needs.
#[derive(Debug)]
pub enum FilesError {
    /// The hard limit is too low.
    TooFew {
        /// What is needed.
        needs: Needs,
        /// What is allowed at most.
        hard: u64,
    },
    /// The soft limit could not be raised.
    NotRaised {
        /// To what.
        to: u64,
        /// Why.
        error: io::Error,
    },
}

/// Raises the soft limit on open files to what `needs` come to, when it is lower.
///
/// # Errors
/// When the hard limit is lower still, or the system refuses.
pub fn raise(needs: Needs) -> Result<(), FilesError> {
    let limit = getrlimit(Resource::Nofile);
    let Some(to) = plan(needs, limit.current, limit.maximum)? else {
        return Ok(());
    };
    let raised = Rlimit {
        current: Some(to),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|error| FilesError::NotRaised {
        to,
        error: error.into(),
    })
}

impl Needs {
    /// Connections, in all.
    pub fn connections(self) -> u64 {
        self.clients
            .saturating_mul(self.connections_per_broker)
            .saturating_mul(self.brokers)
    }

    /// Open files, in all.
    pub fn files(self) -> u64 {
        let ends = 1 + u64::from(self.embedded);
        self.connections()
            .saturating_mul(ends)
            .saturating_add(self.threads.saturating_mul(PER_THREAD))
            .saturating_add(OTHERS)
    }
}

/// What to raise the soft limit to, if at all; a limit of `None` is none.
fn plan(needs: Needs, soft: Option<u64>, hard: Option<u64>) -> Result<Option<u64>, FilesError> {
    let files = needs.files();
    if soft.is_none_or(|soft| soft >= files) {
        return Ok(None);
    }
    match hard {
        Some(hard) if hard < files => Err(FilesError::TooFew { needs, hard }),
        _ => Ok(Some(files)),
    }
}

impl std::error::Error for FilesError {}

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { needs, hard } => {
                let Needs {
                    clients,
                    connections_per_broker,
                    brokers,
                    threads,
                    embedded,
                } = needs;
                let ends = if *embedded { " × 2 ends" } else { "" };
                write!(
                    f,
                    "{clients} clients × {connections_per_broker} connections × {brokers} \
                     brokers{ends} + {threads} threads × {PER_THREAD} + {OTHERS} = {} open files \
                     are needed, but at most {hard} are allowed: raise the hard limit \
                     (ulimit -Hn), or use fewer clients or connections",
                    needs.files()
                )
            }
            Self::NotRaised { to, error } => {
                write!(
                    f,
                    "the limit on open files could not be raised to {to}: {error}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs {
        clients: 1_000,
        connections_per_broker: 2,
        brokers: 3,
        threads: 4,
        embedded: false,
    };

    #[test]
    fn the_soft_limit_is_raised_to_what_is_needed_and_never_lowered() {
        assert_eq!(NEEDS.files(), 6_080);
        assert_eq!(plan(NEEDS, Some(1_024), Some(20_000)).unwrap(), Some(6_080));
        assert_eq!(plan(NEEDS, Some(1_024), None).unwrap(), Some(6_080));
        assert_eq!(plan(NEEDS, Some(6_080), Some(20_000)).unwrap(), None);
        assert_eq!(plan(NEEDS, None, None).unwrap(), None);
    }

    #[test]
    fn a_hard_limit_too_low_is_told_with_the_arithmetic() {
        let embedded = Needs {
            embedded: true,
            ..NEEDS
        };
        let said = plan(embedded, Some(1_024), Some(4_096))
            .unwrap_err()
            .to_string();
        let sum = "1000 clients × 2 connections × 3 brokers × 2 ends + 4 threads × 4 + 64 = 12080";
        assert!(said.contains(sum) && said.contains("4096"), "{said}");
    }

    #[test]
    fn a_small_run_fits_here() {
        let small = Needs {
            clients: 1,
            connections_per_broker: 1,
            brokers: 3,
            threads: 1,
            embedded: true,
        };
        raise(small).unwrap();
    }
}
