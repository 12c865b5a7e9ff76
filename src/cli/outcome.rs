//! A load's own account made into a result: with what was asked, of whom, and on which machine.

use std::collections::BTreeMap;

use crate::cli::drive::Driven;
use crate::cli::plan::Plan;
use crate::client::partition::Partitioner;
use crate::client::properties::Listed;
use crate::client::properties::classes::Class;
use crate::cluster::snapshot::Snapshot;
use crate::host::cpu;
use crate::host::machine::Machine;
use crate::measure::recorder::Arrivals;
use crate::measure::recording::Recording;
use crate::net::address::Address;
use crate::scenario::outcome::{
    Broker, Client, Environment, Event, Kind, Load, Outcome, PartitionName, Property,
    PropertyClass, Target, Timeline, Tool, Topic, Verification,
};

/// What a plan came to; nothing is judged yet.
pub fn outcome(plan: &Plan, driven: Driven) -> Outcome {
    let Driven {
        mut ran,
        snapshot,
        made,
        min_insync,
        bootstrap,
        interrupted_by,
    } = driven;
    let topics = topics(plan, &snapshot, &made, &min_insync);
    let span = plan.workload.phases.measure.span;
    let partitions = partitions(plan, &snapshot, &mut ran.recording);
    Outcome {
        kind: Kind::Produce,
        command: std::env::args().collect(),
        seed: plan.workload.seed,
        target: target(&snapshot, &bootstrap, plan.bootstrap.is_none()),
        load: load(plan, topics),
        client: client(plan),
        environment: environment(),
        timeline: Timeline {
            started_utc_ms: ran.started_utc_ms,
            started: ran.started,
            window_start: ran.window_start,
            window_end: ran.window_end,
            schedule_end: span
                .filter(|_| !plan.workload.arrival.is_flat_out())
                .map(|span| ran.window_start + span),
            ended: ran.ended,
            interrupted_by,
        },
        recording: ran.recording,
        partitions,
        tool: Tool {
            process_cpu_ns: cpu::process(),
            thread_cpu_ns: ran.thread_cpu_ns,
            buffer_bytes_max: ran.buffer_bytes_max,
            ..Tool::default()
        },
        network: Vec::new(),
        events: ran.events.into_iter().map(event).collect(),
        events_dropped: 0,
        verification: Verification::NotChecked,
        arrived: None,
        promises: Vec::new(),
        limit: Default::default(),
        exit_reasons: Vec::new(),
        warnings: plan.properties.warnings.clone(),
    }
}

fn environment() -> Environment {
    let machine = Machine::read();
    Environment {
        kdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: machine.kernel,
        cpu: machine.cpu,
        cores: machine.cores as u32,
        congestion_control: machine.congestion_control.unwrap_or_default(),
    }
}

fn topics(
    plan: &Plan,
    snapshot: &Snapshot,
    made: &[String],
    min_insync: &BTreeMap<String, u32>,
) -> Vec<Topic> {
    let topics = plan.workload.topics.iter().map(|name| {
        let known = snapshot.topic(name);
        let first = known.and_then(|topic| topic.partitions.first());
        Topic {
            name: name.clone(),
            partitions: known.map_or(0, |topic| topic.partitions.len() as u32),
            replication_factor: first.map(|partition| partition.replicas.len() as u32),
            min_insync_replicas: min_insync.get(name).copied(),
            made: plan.bootstrap.is_none() || made.contains(name),
        }
    });
    topics.collect()
}

fn load(plan: &Plan, topics: Vec<Topic>) -> Load {
    let workload = &plan.workload;
    let flat_out = workload.arrival.is_flat_out();
    Load {
        topics,
        values: plan.words.values.clone(),
        prepared_batches: workload
            .stock
            .as_ref()
            .map(|stock| stock.templates().len() as u32),
        keys: plan.words.keys.clone(),
        headers: plan.words.headers,
        arrivals: match flat_out {
            true => Arrivals::FlatOut,
            false => Arrivals::Scheduled,
        },
        arrival: match flat_out {
            true => "flat out".to_owned(),
            false => plan.words.arrival.clone(),
        },
        rate_text: plan.words.rate.clone(),
        rate_records_per_s: workload.arrival.records_per_s(),
        records_asked: workload.phases.measure.records,
        duration_asked_ns: workload.phases.measure.span,
        compressibility_asked: plan.words.compressibility,
    }
}

fn client(plan: &Plan) -> Client {
    let workload = &plan.workload;
    Client {
        clients: workload.clients,
        clients_raised: plan.words.clients_raised,
        connections_per_broker: workload.producer.connections,
        threads: workload.threads,
        pinned: false,
        profile: plan.profile.name().to_owned(),
        profile_text: plan.profile.title().to_owned(),
        tick_ns: workload.tick,
        properties: plan
            .properties
            .properties
            .iter()
            .filter_map(property)
            .collect(),
    }
}

/// A property as a result keeps it. Where the brokers are is told elsewhere, and names nobody knows
/// are among the warnings.
fn property(listed: &Listed) -> Option<Property> {
    let class = match listed.class {
        Class::Honoured => PropertyClass::Honoured,
        Class::Mapped => PropertyClass::Mapped,
        Class::Ignored => PropertyClass::Ignored,
        Class::Refused(_) => PropertyClass::Refused,
        Class::Unknown(_) => return None,
    };
    Some(Property {
        name: listed.name.clone(),
        value: listed.value.clone(),
        class,
        deviates: listed.deviates,
    })
    .filter(|property| property.name != "bootstrap.servers")
}

fn target(snapshot: &Snapshot, bootstrap: &[Address], embedded: bool) -> Target {
    let brokers = snapshot.brokers().iter().map(|broker| Broker {
        node_id: broker.id,
        host: broker.host.to_string(),
        port: broker.port,
        rack: broker.rack.as_ref().map(|rack| rack.to_string()),
    });
    Target {
        embedded,
        bootstrap: bootstrap.iter().map(Address::to_string).collect(),
        version: None,
        cluster_id: snapshot.cluster_id.clone(),
        brokers: brokers.collect(),
        security_protocol: "PLAINTEXT".to_owned(),
    }
}

/// The partitions that are written to, in the order of the recording's slots; the slots of others,
/// where some were chosen, are dropped.
fn partitions(plan: &Plan, snapshot: &Snapshot, recording: &mut Recording) -> Vec<PartitionName> {
    let topics = plan.workload.topics.iter();
    let known = topics.filter_map(|name| snapshot.topic(name));
    let names = known.flat_map(|topic| {
        topic.partitions.iter().map(|partition| PartitionName {
            topic: topic.name.to_string(),
            partition: partition.index,
        })
    });
    let Partitioner::Fixed(chosen) = &plan.workload.producer.partitioner else {
        return names.collect();
    };
    let mut tallies = std::mem::take(&mut recording.partitions).into_iter();
    let mut kept = Vec::new();
    for name in names {
        let tally = tallies.next().unwrap_or_default();
        if chosen.iter().any(|index| *index as i32 == name.partition) {
            recording.partitions.push(tally);
            kept.push(name);
        }
    }
    kept
}

fn event(text: String) -> Event {
    Event {
        at: 0,
        kind: "connection",
        node_id: None,
        partition: None,
        text,
    }
}
