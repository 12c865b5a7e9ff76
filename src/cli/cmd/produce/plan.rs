//! What will be run, from what was typed.

use std::fmt::Display;
use std::sync::Arc;

use super::content::{keys, stock, values};
use crate::base::clock::{MILLISECOND, Nanos, SECOND};
use crate::base::rate::{self, Rate};
use crate::base::span;
use crate::cli::Failure;
use crate::cli::args::Produce;
use crate::cli::cmd::topic::configs;
use crate::cli::connect::Target;
use crate::cli::plan::{self, EMBEDDED_PARTITIONS, Plan, Words};
use crate::cli::topic_life::{Making, TopicRules};
use crate::client::partition::Partitioner;
use crate::client::profile::Profile;
use crate::client::settings::Settings;
use crate::load::arrival::{Arrival, Process, RecordBytes};
use crate::load::headers;
use crate::load::payload::Pool;
use crate::load::phase::{Extent, Phases, Warmup};
use crate::load::run::Workload;
use crate::measure::recorder::Detail;
use crate::net::address::Address;

/// The shortest interval: below it there is more telling than work.
const INTERVAL_MIN: Nanos = 10 * MILLISECOND;
/// The topic of the embedded broker.
const EMBEDDED_TOPIC: &str = "kdyno";

/// The plan for `args`.
pub fn plan(args: &Produce) -> Result<Plan, Failure> {
    let profile = profile(&args.profile)?;
    let Target {
        mut properties,
        bootstrap,
        pins,
    } = Target::of(&args.cluster, profile)?;
    properties.settings.producer.connections = args.connections;
    if !args.chosen_partitions.is_empty() {
        let chosen = args.chosen_partitions.clone();
        properties.settings.producer.partitioner = Partitioner::Fixed(chosen);
    }
    let workload = workload(args, &properties.settings, bootstrap.as_deref())?;
    let rules = topic_rules(args, &workload)?;
    Ok(Plan {
        words: words(args, &workload),
        workload,
        bootstrap,
        profile,
        properties,
        pins,
        topic_rules: Some(rules),
        embedded_partitions: args.partitions.unwrap_or(EMBEDDED_PARTITIONS),
        auto_create: false,
    })
}

fn usage(error: impl Display) -> Failure {
    Failure::Usage(error.to_string())
}

fn profile(name: &str) -> Result<Profile, Failure> {
    Profile::named(name).ok_or_else(|| {
        let names = Profile::ALL.map(Profile::name).join(", ");
        Failure::Usage(format!("--profile {name}: one of {names} is wanted"))
    })
}

fn workload(
    args: &Produce,
    settings: &Settings,
    bootstrap: Option<&[Address]>,
) -> Result<Workload, Failure> {
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1 << 53));
    let values = values(args, settings, seed)?;
    let arrival = arrival(args, &values, seed)?;
    let values = Arc::new(values);
    let keys = Arc::new(keys(args, settings, seed)?);
    let headers = headers::encode(&args.headers).map_err(usage)?;
    Ok(Workload {
        topics: topics(args, bootstrap.is_none())?,
        clients: clients(args)?,
        threads: args.threads,
        arrival,
        phases: phases(args, settings.producer.delivery_timeout)?,
        stock: stock(args, settings, &values, &keys, &headers)?,
        values,
        keys,
        headers,
        producer: settings.producer.clone(),
        client_id: settings.client_id.clone(),
        tick: tick(args, settings.producer.linger)?,
        precise: args.precise,
        seed,
        detail: Detail::Full,
        interval: interval(args)?,
        connect_timeout: settings.connect_timeout,
    })
}

fn clients(args: &Produce) -> Result<u32, Failure> {
    if args.threads == 0 || args.connections == 0 || args.clients == Some(0) {
        return Err(Failure::Usage(
            "--threads, --clients and --connections are at least 1".into(),
        ));
    }
    let clients = args.clients.unwrap_or(args.threads);
    if clients < args.threads {
        return Err(Failure::Usage(format!(
            "--clients {clients} can't be spread over --threads {}",
            args.threads
        )));
    }
    Ok(clients)
}

fn arrival(args: &Produce, values: &Pool, seed: u64) -> Result<Arrival, Failure> {
    let rate = match &args.rate {
        Some(text) => rate::parse(text).map_err(usage)?,
        None => Rate::Unlimited,
    };
    let bytes = match values.value_bytes_each() {
        Some(each) => RecordBytes::Each(each),
        None => RecordBytes::Mean(values.value_bytes_mean()),
    };
    let process = match args.arrival.as_str() {
        "constant" => Process::Constant,
        "poisson" => Process::Poisson { seed },
        other => {
            return Err(Failure::Usage(format!(
                "--arrival {other}: constant or poisson is wanted"
            )));
        }
    };
    Ok(Arrival::new(rate, process, bytes))
}

fn words(args: &Produce, workload: &Workload) -> Words {
    Words {
        values: value_words(args, workload),
        keys: match args.key.as_str() {
            "none" => "no key".to_owned(),
            keys => format!("keys {keys}"),
        },
        headers: args.headers.len() as u32,
        arrival: args.arrival.clone(),
        rate: args
            .rate
            .clone()
            .filter(|_| !workload.arrival.is_flat_out()),
        compressibility: args.compressibility,
        clients_raised: args.clients.is_none() && args.threads > 1,
    }
}

fn value_words(args: &Produce, workload: &Workload) -> String {
    let values = match (&args.payload_file, args.record_size.parse::<u64>()) {
        (Some(path), _) => format!("lines of {path} as values"),
        (None, Ok(bytes)) => format!("{bytes} B values"),
        (None, Err(_)) => format!("{} values", args.record_size),
    };
    match &workload.stock {
        Some(stock) => format!("{values} in {} prepared batches", stock.templates().len()),
        None => values,
    }
}

fn topics(args: &Produce, embedded: bool) -> Result<Vec<String>, Failure> {
    if args.topics.is_empty() && !embedded {
        return Err(Failure::Usage("--topic is needed with a cluster".into()));
    }
    let mut names = args.topics.clone();
    if names.is_empty() {
        names.push(EMBEDDED_TOPIC.to_owned());
    }
    let Some(count) = args.topic_count else {
        return Ok(names);
    };
    let [name] = names.as_slice() else {
        return Err(Failure::Usage(
            "--topics puts numbers behind one name: give --topic once".into(),
        ));
    };
    Ok((0..count)
        .map(|number| format!("{name}-{number}"))
        .collect())
}

fn topic_rules(args: &Produce, workload: &Workload) -> Result<TopicRules, Failure> {
    let configs = configs(&args.topic_configs)?;
    Ok(TopicRules {
        making: args.partitions.map(|partitions| Making {
            partitions,
            replication_factor: args.replication_factor,
            configs,
        }),
        existing: args.existing_topic,
        keep: args.keep_topics,
        yes: args.yes,
        planned_bytes: planned_bytes(workload),
        whole_batch_bytes: workload.stock.as_ref().map(|stock| stock.batch_bytes_max()),
    })
}

/// Bytes of values that will be written, where count, or rate and time, tell.
fn planned_bytes(workload: &Workload) -> Option<u64> {
    let phases = &workload.phases;
    let seconds = |span: Nanos| span as f64 / SECOND as f64;
    let of_span = |span: Nanos| Some(workload.arrival.records_per_s()? * seconds(span));
    let measured = match (phases.measure.records, phases.measure.span) {
        (Some(records), _) => Some(records as f64),
        (None, Some(span)) => of_span(span),
        (None, None) => None,
    }?;
    let warmup = match phases.warmup {
        Warmup::Records(records) => records as f64,
        Warmup::For(0) => 0.0,
        Warmup::For(span) => of_span(span)?,
    };
    Some(((measured + warmup) * workload.values.value_bytes_mean()) as u64)
}

fn phases(args: &Produce, delivery_timeout: Nanos) -> Result<Phases, Failure> {
    let span = args
        .duration
        .as_ref()
        .map(|text| parse_span("--duration", text))
        .transpose()?;
    let bounded = span.is_some() || args.num_records.is_some();
    let warmup = match (&args.warmup, args.warmup_records) {
        (Some(text), _) => Warmup::For(parse_span("--warmup", text)?),
        (None, Some(records)) => Warmup::Records(records),
        (None, None) if bounded => Warmup::For(0),
        (None, None) => Warmup::For(2 * SECOND),
    };
    let drain = args
        .drain
        .as_ref()
        .map(|text| parse_span("--drain", text))
        .transpose()?;
    if args.num_records == Some(0) || span == Some(0) {
        return Err(Failure::Usage(
            "there is nothing to measure: -n and -d are above 0".into(),
        ));
    }
    Ok(Phases {
        warmup,
        measure: Extent {
            records: args.num_records,
            span: if bounded { span } else { Some(10 * SECOND) },
        },
        drain: drain.unwrap_or(delivery_timeout),
    })
}

fn interval(args: &Produce) -> Result<Nanos, Failure> {
    let interval = parse_span("--interval", &args.interval)?;
    if interval < INTERVAL_MIN {
        return Err(Failure::Usage(format!(
            "--interval {}: at least {} is wanted",
            args.interval,
            span::show(INTERVAL_MIN)
        )));
    }
    Ok(interval)
}

/// The tick asked for; shorter when batches linger for less than two of them.
fn tick(args: &Produce, linger: Nanos) -> Result<Nanos, Failure> {
    let asked = parse_span("--tick", &args.tick)?;
    if asked == 0 {
        return Err(Failure::Usage("--tick is above 0".into()));
    }
    Ok(plan::tick(asked, linger))
}

fn parse_span(option: &str, text: &str) -> Result<Nanos, Failure> {
    span::parse(text).map_err(|e| Failure::Usage(format!("{option}: {e}")))
}
