//! `kdyno produce`: what was asked, run, judged and shown.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::auth::security::Security;
use crate::base::clock::{Nanos, SECOND};
use crate::base::rate::{self, Rate};
use crate::base::span;
use crate::broker::{self, BrokerOptions, Running};
use crate::cli::Failure;
use crate::cli::args::Produce;
use crate::cli::properties::{Settings, settings};
use crate::cli::signal;
use crate::client::partition::murmur2;
use crate::cluster::control::{ControlOptions, ControlPlane};
use crate::cluster::retry::Backoff;
use crate::cluster::snapshot::Snapshot;
use crate::host::machine::Machine;
use crate::load::arrival::{Arrival, Process, RecordBytes};
use crate::load::key::{KeyPlan, KeyPool, KeySpec};
use crate::load::payload::{self, Content, Lines, Pool};
use crate::load::phase::{Extent, Phases, Warmup};
use crate::load::run::{Ran, Team, Workload, run as run_load};
use crate::load::worker::Stop;
use crate::measure::promise::Promise;
use crate::measure::recorder::{Arrivals, Detail};
use crate::measure::verdict::exit_code;
use crate::net::address::Address;
use crate::net::connect::ConnectOptions;
use crate::net::handshake::HandshakeOptions;
use crate::net::versions::Pins;
use crate::records::compress::Compression;
use crate::report::file::Output;
use crate::report::json::to_json;
use crate::report::text::{Style, dial};
use crate::scenario::figures::unit_of;
use crate::scenario::judge::{Asked, judge};
use crate::scenario::outcome::{
    Broker, Client, Environment, Event, Kind, Load, Outcome, PartitionName, Property,
    PropertyClass, Target, Timeline, Tool, Topic, Verification,
};
use crate::wire::api::ApiKey;

/// The topic of the embedded broker.
const EMBEDDED_TOPIC: &str = "kdyno";
/// Its partitions.
const EMBEDDED_PARTITIONS: u32 = 6;

/// Runs it; gives the exit code.
pub fn run(args: &Produce) -> Result<u8, Failure> {
    let plan = Plan::of(args)?;
    let embedded = match &plan.bootstrap {
        Some(_) => None,
        None => Some(embed()?),
    };
    let bootstrap = match (&plan.bootstrap, &embedded) {
        (Some(addresses), _) => addresses.clone(),
        (None, Some(broker)) => {
            let address = broker.addresses()[0].to_string();
            Address::parse_list(&address).map_err(|e| Failure::Run(e.to_string()))?
        }
        (None, None) => Vec::new(),
    };
    let team = Team::new(plan.workload.threads).map_err(|e| Failure::Run(e.to_string()))?;
    let options = plan.control(bootstrap.clone());
    let control =
        ControlPlane::start(options, team.posts()).map_err(|e| Failure::Run(e.to_string()))?;
    control
        .bootstrap()
        .map_err(|e| Failure::Run(e.to_string()))?;
    let snapshot = await_topics(
        &control,
        &plan.workload.topics,
        plan.workload.connect_timeout,
    )?;
    let stop = Arc::new(Stop::default());
    let signalled = signal::watch(&stop);
    let ran = run_load(&plan.workload, team, &control, &stop).map_err(Failure::Run)?;
    let mut outcome = plan.outcome(args, ran, &snapshot, &bootstrap, embedded.is_some());
    outcome.timeline.interrupted_by = match signalled.load(Ordering::SeqCst) {
        0 => None,
        number => Some(number),
    };
    let asked = Asked {
        promises: &plan.promises,
        errors_allowed: args.allow_errors,
    };
    judge(&mut outcome, &asked);
    show(args, &plan, &outcome)?;
    Ok(exit_code(&outcome.exit_reasons))
}

/// What will happen.
struct Plan {
    workload: Workload,
    bootstrap: Option<Vec<Address>>,
    settings: Settings,
    rate: Rate,
    outputs: Vec<Output>,
    promises: Vec<Promise>,
    pins: Pins,
    values_text: String,
    clients_raised: bool,
}

impl Plan {
    fn of(args: &Produce) -> Result<Self, Failure> {
        let usage = |e: &dyn std::fmt::Display| Failure::Usage(e.to_string());
        let mut settings = settings(&args.properties).map_err(|e| usage(&e))?;
        if args.threads == 0 || args.connections == 0 || args.clients == Some(0) {
            return Err(Failure::Usage(
                "--threads, --clients and --connections are at least 1".into(),
            ));
        }
        settings.producer.connections = args.connections;
        let clients = args.clients.unwrap_or(args.threads);
        if clients < args.threads {
            return Err(Failure::Usage(format!(
                "--clients {clients} can't be spread over --threads {}",
                args.threads
            )));
        }
        let rate = match &args.rate {
            Some(text) => rate::parse(text).map_err(|e| usage(&e))?,
            None => Rate::Unlimited,
        };
        let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1 << 53));
        let values = values(args, &settings, seed)?;
        let keys = keys(args, seed)?;
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
        let promises: Result<Vec<Promise>, Failure> =
            args.promises.iter().map(|text| promise(text)).collect();
        let outputs: Result<Vec<Output>, _> = args
            .outputs
            .iter()
            .map(|path| Output::parse(path))
            .collect();
        let pins = Pins::parse(args.api_versions.iter().map(String::as_str));
        let workload = Workload {
            topics: topics(args)?,
            clients,
            threads: args.threads,
            arrival: Arrival::new(rate, process, bytes),
            phases: phases(args, settings.producer.delivery_timeout)?,
            values: Arc::new(values),
            keys: Arc::new(keys),
            headers: crate::load::headers::encode(&args.headers).map_err(|e| usage(&e))?,
            producer: settings.producer.clone(),
            client_id: settings.client_id.clone(),
            tick: tick(args, settings.producer.linger)?,
            precise: args.precise,
            seed,
            detail: Detail::Full,
            connect_timeout: parse_span("--connect-timeout", &args.connect_timeout)?,
        };
        let bootstrap = match args.bootstrap_server.as_deref() {
            None | Some("embedded") => None,
            Some(list) => Some(Address::parse_list(list).map_err(|e| usage(&e))?),
        };
        if bootstrap.is_some() && !args.existing_topic {
            return Err(Failure::Usage(
                "writing to a topic that kdyno did not make asks for --existing-topic".into(),
            ));
        }
        Ok(Self {
            workload,
            bootstrap,
            settings,
            rate,
            outputs: outputs.map_err(|e| usage(&e))?,
            promises: promises?,
            pins: pins.map_err(|e| usage(&e))?,
            values_text: match (&args.payload_file, args.record_size.parse::<u64>()) {
                (Some(path), _) => format!("lines of {path} as values"),
                (None, Ok(bytes)) => format!("{bytes} B values"),
                (None, Err(_)) => format!("{} values", args.record_size),
            },
            clients_raised: args.clients.is_none() && args.threads > 1,
        })
    }

    fn control(&self, bootstrap: Vec<Address>) -> ControlOptions {
        let timeout = Duration::from_nanos(self.workload.connect_timeout);
        let backoff = |base: u64, max: u64| Backoff {
            base: base * crate::base::clock::MILLISECOND,
            max: max * crate::base::clock::MILLISECOND,
        };
        ControlOptions {
            bootstrap,
            connect: ConnectOptions {
                client_id: self.settings.client_id.as_str().into(),
                timeout,
                socket: self.settings.socket.clone(),
                security: Security::Plaintext,
                handshake: HandshakeOptions {
                    pins: Arc::new(self.pins.clone()),
                    required: [ApiKey::PRODUCE, ApiKey::METADATA].into(),
                },
                tap: None,
            },
            request_timeout: Duration::from_nanos(self.workload.producer.request_timeout),
            api_timeout: Duration::from_secs(60),
            retry: self.workload.producer.retry_backoff,
            reconnect: backoff(50, 1000),
            connect_concurrency: 64,
            metadata_max_age: Duration::from_secs(300),
            rebootstrap_after: Duration::from_secs(300),
            topics: self
                .workload
                .topics
                .iter()
                .map(|t| t.as_str().into())
                .collect(),
            allow_auto_topic_creation: false,
        }
    }

    fn outcome(
        &self,
        args: &Produce,
        ran: Ran,
        snapshot: &Snapshot,
        bootstrap: &[Address],
        embedded: bool,
    ) -> Outcome {
        let machine = Machine::read();
        let span = self.workload.phases.measure.span;
        Outcome {
            kind: Kind::Produce,
            command: std::env::args().collect(),
            seed: self.workload.seed,
            target: target(snapshot, bootstrap, embedded),
            load: self.load(args, snapshot, embedded),
            client: self.client(),
            environment: Environment {
                kdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
                kernel: machine.kernel,
                cpu: machine.cpu,
                cores: machine.cores as u32,
                congestion_control: machine.congestion_control.unwrap_or_default(),
            },
            timeline: Timeline {
                started_utc_ms: ran.started_utc_ms,
                started: ran.started,
                window_start: ran.window_start,
                window_end: ran.window_end,
                schedule_end: span
                    .filter(|_| !self.workload.arrival.is_flat_out())
                    .map(|span| ran.window_start + span),
                ended: ran.ended,
                interrupted_by: None,
            },
            recording: ran.recording,
            partitions: partitions(&self.workload.topics, snapshot),
            tool: Tool {
                process_cpu_ns: crate::host::cpu::process(),
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
            warnings: Vec::new(),
        }
    }

    fn load(&self, args: &Produce, snapshot: &Snapshot, embedded: bool) -> Load {
        let flat_out = self.workload.arrival.is_flat_out();
        let topics = self.workload.topics.iter().map(|name| {
            let known = snapshot.topic(name);
            let first = known.and_then(|topic| topic.partitions.first());
            Topic {
                name: name.clone(),
                partitions: known.map_or(0, |topic| topic.partitions.len() as u32),
                replication_factor: first.map(|partition| partition.replicas.len() as u32),
                min_insync_replicas: None,
                made: embedded,
            }
        });
        Load {
            topics: topics.collect(),
            values: self.values_text.clone(),
            keys: match args.key.as_str() {
                "none" => "no key".to_owned(),
                keys => format!("keys {keys}"),
            },
            headers: args.headers.len() as u32,
            arrivals: match flat_out {
                true => Arrivals::FlatOut,
                false => Arrivals::Scheduled,
            },
            arrival: match flat_out {
                true => "flat out".to_owned(),
                false => args.arrival.clone(),
            },
            rate_text: args.rate.clone().filter(|_| self.rate != Rate::Unlimited),
            rate_records_per_s: self.workload.arrival.records_per_s(),
            records_asked: args.num_records,
            duration_asked_ns: self.workload.phases.measure.span,
            compressibility_asked: args.compressibility,
        }
    }

    fn client(&self) -> Client {
        let set = self.settings.set.iter();
        Client {
            clients: self.workload.clients,
            clients_raised: self.clients_raised,
            connections_per_broker: self.workload.producer.connections,
            threads: self.workload.threads,
            pinned: false,
            profile: "java-4".to_owned(),
            profile_text: "Java 4.4 defaults".to_owned(),
            tick_ns: self.workload.tick,
            properties: set
                .map(|(name, value)| Property {
                    name: name.clone(),
                    value: value.clone(),
                    class: PropertyClass::Honoured,
                    deviates: true,
                })
                .chain(self.effective())
                .collect(),
        }
    }

    /// The main properties that were not set.
    fn effective(&self) -> impl Iterator<Item = Property> + '_ {
        let producer = &self.workload.producer;
        let defaults = [
            ("acks", producer.acks.name().to_owned()),
            ("enable.idempotence", producer.idempotent.to_string()),
            ("linger.ms", (producer.linger / 1_000_000).to_string()),
            ("batch.size", producer.batch_bytes.to_string()),
            ("buffer.memory", producer.buffer_bytes.to_string()),
            (
                "compression.type",
                producer.compression.id().name().to_owned(),
            ),
        ];
        let set = |name: &str| self.settings.set.iter().any(|(key, _)| key == name);
        defaults
            .into_iter()
            .filter(move |(name, _)| !set(name))
            .map(|(name, value)| Property {
                name: name.to_owned(),
                value,
                class: PropertyClass::Honoured,
                deviates: false,
            })
    }
}

fn embed() -> Result<Running, Failure> {
    let options = BrokerOptions::sink(EMBEDDED_PARTITIONS);
    broker::start(&options).map_err(|e| Failure::Run(format!("the embedded broker: {e}")))
}

fn topics(args: &Produce) -> Result<Vec<String>, Failure> {
    let embedded = matches!(args.bootstrap_server.as_deref(), None | Some("embedded"));
    if args.topics.is_empty() && !embedded {
        return Err(Failure::Usage("--topic is needed with a cluster".into()));
    }
    if args.topics.is_empty() {
        return Ok(vec![EMBEDDED_TOPIC.to_owned()]);
    }
    Ok(args.topics.clone())
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

fn values(args: &Produce, settings: &Settings, seed: u64) -> Result<Pool, Failure> {
    let content = match (args.compressibility, args.payload.as_str()) {
        _ if args.payload_file.is_some() => {
            let path = args.payload_file.as_deref().unwrap_or_default();
            Content::Lines(read_lines("--payload-file", path)?)
        }
        (Some(share), _) => Content::Compressible(share),
        (None, "letters") => Content::Letters,
        (None, "bytes") => Content::Bytes,
        (None, "zeros") => Content::Zeros,
        (None, other) => {
            return Err(Failure::Usage(format!(
                "--payload {other}: letters, bytes or zeros is wanted"
            )));
        }
    };
    let compressed = settings.producer.compression != Compression::None;
    let sizes = args.record_size.parse();
    Pool::prepare(payload::Plan {
        content,
        sizes: sizes.map_err(|e| Failure::Usage(format!("--record-size: {e}")))?,
        null_ratio: args.null_values,
        pool_bytes: payload::pool_bytes(settings.producer.batch_bytes, compressed),
        seed,
    })
    .map_err(|e| Failure::Usage(e.to_string()))
}

fn keys(args: &Produce, seed: u64) -> Result<KeyPool, Failure> {
    let spec: KeySpec = args
        .key
        .parse()
        .map_err(|e| Failure::Usage(format!("--key: {e}")))?;
    let plan = match spec {
        KeySpec::Plan(plan) => plan,
        KeySpec::File(path) => KeyPlan::Lines(read_lines("--key file", &path)?),
    };
    KeyPool::prepare(plan, seed, murmur2::positive)
        .map_err(|e| Failure::Usage(format!("--key: {e}")))
}

/// The lines of a file, or of standard input where it is called -.
fn read_lines(option: &str, path: &str) -> Result<Lines, Failure> {
    let unreadable = |e: std::io::Error| Failure::Usage(format!("{option} {path}: {e}"));
    let lines = if path == "-" {
        Lines::read(std::io::stdin().lock())
    } else {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        Lines::read(std::io::BufReader::new(file))
    };
    let lines = lines.map_err(unreadable)?;
    if lines.is_empty() {
        return Err(Failure::Usage(format!("{option} {path}: it has no lines")));
    }
    Ok(lines)
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

/// The tick asked for; shorter when batches linger for less than two of them.
fn tick(args: &Produce, linger: Nanos) -> Result<Nanos, Failure> {
    let asked = parse_span("--tick", &args.tick)?;
    if asked == 0 {
        return Err(Failure::Usage("--tick is above 0".into()));
    }
    Ok(match linger {
        0 => asked,
        linger => asked.min(linger / 2).max(100_000),
    })
}

fn parse_span(option: &str, text: &str) -> Result<Nanos, Failure> {
    span::parse(text).map_err(|e| Failure::Usage(format!("{option}: {e}")))
}

fn promise(text: &str) -> Result<Promise, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::Usage(format!("--slo '{text}': {e}"));
    let promise = Promise::parse(text, false).map_err(|e| usage(&e))?;
    let unit = unit_of(&promise.figure).map_err(|e| usage(&e))?;
    promise.fits(unit).map_err(|e| usage(&e))
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

fn partitions(topics: &[String], snapshot: &Snapshot) -> Vec<PartitionName> {
    let known = topics.iter().filter_map(|name| snapshot.topic(name));
    known
        .flat_map(|topic| {
            topic.partitions.iter().map(|partition| PartitionName {
                topic: topic.name.to_string(),
                partition: partition.index,
            })
        })
        .collect()
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

/// Prints the result and writes the files asked for; one that fails does not keep the others back.
fn show(args: &Produce, plan: &Plan, outcome: &Outcome) -> Result<(), Failure> {
    let stdout = std::io::stdout();
    let text = if args.json {
        to_json(outcome).map_err(|e| Failure::Run(e.to_string()))?
    } else {
        let style = Style {
            grouped: stdout.is_terminal(),
        };
        dial(outcome, style)
    };
    let mut failed = Vec::new();
    if let Err(error) = writeln!(&stdout, "{}", text.trim_end()) {
        failed.push(format!("standard output: {error}"));
    }
    for output in &plan.outputs {
        if let Err(error) = output.write(outcome) {
            failed.push(error.to_string());
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Run(failed.join("; "))),
    }
}
