//! A plan carried out: connected, its topics awaited, its load run.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::base::clock::Nanos;
use crate::broker::{self, BrokerOptions, Running};
use crate::cli::Failure;
use crate::cli::plan::Plan;
use crate::cli::signal;
use crate::cli::topic_life::Topics;
use crate::cluster::control::ControlPlane;
use crate::cluster::snapshot::Snapshot;
use crate::load::ledger::Witness;
use crate::load::run::{Ran, Team, run as run_load};
use crate::load::worker::Stop;
use crate::net::address::Address;

/// What came of a plan.
pub struct Driven {
    /// The load's own account.
    pub ran: Ran,
    /// The cluster as it was at the start.
    pub snapshot: Arc<Snapshot>,
    /// The topics that were made for it.
    pub made: Vec<String>,
    /// `min.insync.replicas` by topic, where brokers tell.
    pub min_insync: BTreeMap<String, u32>,
    /// The brokers it began with.
    pub bootstrap: Vec<Address>,
    /// The signal that ended it early.
    pub interrupted_by: Option<i32>,
}

/// Connects and runs the load to its end, or to the first signal. `witness` gives each load thread
/// who hears of its batches.
pub fn drive(
    plan: &Plan,
    witness: impl FnMut(u32) -> Option<Box<dyn Witness>>,
) -> Result<Driven, Failure> {
    let embedded = match &plan.bootstrap {
        Some(_) => None,
        None => Some(embed(plan.embedded_partitions)?),
    };
    let bootstrap = match (&plan.bootstrap, &embedded) {
        (Some(addresses), _) => addresses.clone(),
        (None, Some(broker)) => {
            let address = broker.addresses()[0].to_string();
            Address::parse_list(&address).map_err(failed)?
        }
        (None, None) => Vec::new(),
    };
    let team = Team::new(plan.workload.threads).map_err(failed)?;
    let options = plan.control(&bootstrap);
    let control = ControlPlane::start(options, team.posts()).map_err(failed)?;
    control.bootstrap().map_err(failed)?;
    // From here on there may be topics to delete.
    let stop = Arc::new(Stop::default());
    let signalled = signal::watch(&stop);
    let rules = plan.topic_rules.as_ref().map(|rules| match embedded {
        Some(_) => rules.of_embedded(plan.embedded_partitions),
        None => rules.clone(),
    });
    let topics = rules.as_ref().map(|rules| {
        Topics::prepare(&control, &plan.workload.topics, rules, |line| {
            // A closed standard error leaves nobody to tell.
            writeln!(std::io::stderr(), "kdyno: {line}").ok();
        })
    });
    let topics = topics.transpose()?;
    let limit = match plan.auto_create {
        // What Java's `send()` waits for a topic that it makes by asking for it.
        true => plan.settings().producer.max_block,
        false => plan.settings().connect_timeout,
    };
    let snapshot = await_topics(&control, &plan.workload.topics, limit)?;
    check_partitions(plan, &snapshot)?;
    let ran = run_load(&plan.workload, team, &control, &stop, witness).map_err(Failure::Run)?;
    // What was made of a broker that ends now is nothing to speak of.
    let told = topics.as_ref().filter(|_| embedded.is_none());
    let made = told.map_or(&[][..], Topics::made).to_vec();
    let told = told.map(|topics| topics.min_insync().clone());
    Ok(Driven {
        ran,
        snapshot,
        made,
        min_insync: told.unwrap_or_default(),
        bootstrap,
        interrupted_by: match signalled.load(Ordering::SeqCst) {
            0 => None,
            number => Some(number),
        },
    })
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Run(error.to_string())
}

fn embed(partitions: u32) -> Result<Running, Failure> {
    let options = BrokerOptions::sink(partitions);
    broker::start(&options).map_err(|e| Failure::Run(format!("the embedded broker: {e}")))
}

fn await_topics(
    control: &ControlPlane,
    topics: &[String],
    limit: Nanos,
) -> Result<Arc<Snapshot>, Failure> {
    let ready = |snapshot: &Snapshot| {
        let mut topics = topics.iter();
        topics.all(|name| snapshot.topic(name).is_some_and(|topic| topic.ready()))
    };
    let waited = control.wait_for(Duration::from_nanos(limit), ready);
    waited.map_err(|snapshot| {
        let missing = topics.iter().map(|name| match snapshot.topic(name) {
            Some(topic) if topic.error.is_error() => format!("{name}: {}", topic.error),
            Some(_) => format!("{name}: a partition has no leader"),
            None => format!("{name}: no answer"),
        });
        let missing: Vec<String> = missing.collect();
        Failure::Run(format!(
            "a topic can't be written to: {}",
            missing.join("; ")
        ))
    })
}

/// Partitions that were chosen by number have to be there.
fn check_partitions(plan: &Plan, snapshot: &Snapshot) -> Result<(), Failure> {
    use crate::client::partition::Partitioner;
    let Partitioner::Fixed(chosen) = &plan.workload.producer.partitioner else {
        return Ok(());
    };
    for name in &plan.workload.topics {
        let count = snapshot
            .topic(name)
            .map_or(0, |topic| topic.partitions.len());
        if let Some(beyond) = chosen.iter().find(|index| **index as usize >= count) {
            return Err(Failure::Usage(format!(
                "--partition {beyond}: topic {name} has the partitions 0 to {}",
                count.saturating_sub(1)
            )));
        }
    }
    Ok(())
}
