//! The tool at work: its lines on standard output, all else on standard error.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::args::{KeyDistribution, Payload, PerfArgs, Refusal, Throughput, parse};
use super::format::{final_line, metrics_table, response_line, warmup_notice};
use super::metrics::metrics;
use super::payload::{reading_line, records_read_line, split};
use super::reporter::{Reporter, Said, stats_plan};
use super::stats::Stats;
use crate::base::clock::{MILLISECOND, Nanos, SECOND};
use crate::base::rate::Rate;
use crate::cli::Failure;
use crate::cli::drive::drive;
use crate::cli::outcome::outcome;
use crate::cli::plan::{EMBEDDED_PARTITIONS, Plan, Words, tick};
use crate::cli::properties::from_file;
use crate::client::profile::Profile;
use crate::client::properties::read;
use crate::client::settings::Settings;
use crate::load::arrival::{Arrival, Process, RecordBytes};
use crate::load::headers;
use crate::load::key::{KeyPlan, KeyPool};
use crate::load::ledger::Witness;
use crate::load::payload::{self, Content, Lines, Pool, Sizes};
use crate::load::phase::{Extent, Phases, Warmup};
use crate::load::run::Workload;
use crate::measure::recorder::Detail;
use crate::net::address::Address;
use crate::net::versions::Pins;
use crate::records::compress::Compression;
use crate::scenario::figures::look_up;
use crate::scenario::outcome::Outcome;

/// Runs the tool with its arguments; gives its exit code.
pub fn run(args: &[String]) -> u8 {
    let result = parse(args).and_then(|perf| {
        for notice in &perf.notices {
            print(notice);
        }
        perform(&perf)
    });
    match result {
        Ok(code) => code,
        Err(refusal) => {
            // A closed terminal leaves nobody to tell.
            write!(std::io::stdout(), "{}", refusal.stdout()).ok();
            write!(std::io::stderr(), "{}", refusal.stderr()).ok();
            refusal.exit_code()
        }
    }
}

/// To Kafka's tools all that comes after the command line is one kind of failure.
impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Usage(why) | Failure::Run(why) => Self::Failed(why),
        }
    }
}

fn perform(perf: &PerfArgs) -> Result<u8, Refusal> {
    let plan = plan(perf)?;
    for warning in &plan.properties.warnings {
        complain(warning);
    }
    if perf.warmup_records > 0 {
        print(&warmup_notice(perf.warmup_records));
    }
    let (printer, said) = channel();
    let stats_plan = stats_plan(
        perf.num_records,
        perf.warmup_records,
        perf.reporting_interval_ms * MILLISECOND,
        perf.fidelity,
    );
    let mut reporter = Some(Reporter::new(stats_plan, printer));
    let printing = thread::spawn(move || print_all(&said));
    let witness = |_| {
        reporter
            .take()
            .map(|reporter| Box::new(reporter) as Box<dyn Witness>)
    };
    let driven = drive(&plan, witness)?;
    let ended = printing.join().ok().flatten();
    let (stats, now) = ended.ok_or_else(|| Failure::Run("the load ended unheard".to_owned()))?;
    let outcome = outcome(&plan, driven);
    Ok(sum_up(perf, &plan, &outcome, &stats, now))
}

/// The lines at the end. Those of a run that was interrupted would be taken for a result: they go to
/// standard error.
fn sum_up(perf: &PerfArgs, plan: &Plan, outcome: &Outcome, stats: &Stats, now: Nanos) -> u8 {
    let totals = [Some(stats.totals(now)), stats.steady_totals(now)];
    let lines = totals.iter().flatten().map(final_line);
    if let Some(signal) = outcome.timeline.interrupted_by {
        lines.for_each(|line| complain(&format!("interrupted: {line}")));
        return 128 + signal as u8;
    }
    lines.for_each(|line| print(&line));
    if perf.print_metrics {
        let table = metrics_table(&metrics(outcome, &plan.settings().client_id));
        print(table.trim_end_matches('\n'));
    }
    if perf.throughput != Throughput::Unlimited {
        let summary = outcome.summary();
        let figure = |name: &str| look_up(outcome, &summary, name)?.value;
        let finite = |name: &str| {
            figure(name)
                .filter(|ns| ns.is_finite())
                .map(|ns| ns as Nanos)
        };
        complain(&response_line(
            finite("response.p99"),
            finite("response.p99.9"),
        ));
    }
    0
}

/// Prints what is said until the load ends, and gives its statistics.
fn print_all(said: &Receiver<Said>) -> Option<(Box<Stats>, Nanos)> {
    for said in said {
        match said {
            Said::Out(line) => print(&line),
            Said::Err(line) => complain(&line),
            Said::Ended(stats, now) => return Some((stats, now)),
        }
    }
    None
}

fn print(line: &str) {
    let mut stdout = std::io::stdout().lock();
    // Kafka's tool goes on when nobody reads it.
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .ok();
}

fn complain(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

fn plan(perf: &PerfArgs) -> Result<Plan, Refusal> {
    let file = match &perf.config_file {
        Some(path) => from_file(path).map_err(Failure::Usage)?,
        None => Vec::new(),
    };
    let given = perf.client_properties(file)?;
    let profile = Profile::Java4;
    let properties = read(profile, &given).map_err(|e| Failure::Usage(e.to_string()))?;
    let servers = properties.settings.bootstrap.as_deref().unwrap_or_default();
    let bootstrap = Address::parse_list(servers).map_err(|e| Failure::Usage(e.to_string()))?;
    Ok(Plan {
        workload: workload(perf, &properties.settings)?,
        bootstrap: Some(bootstrap),
        profile,
        properties,
        pins: Pins::default(),
        topic_rules: None,
        embedded_partitions: EMBEDDED_PARTITIONS,
        auto_create: true,
        words: words(perf),
    })
}

fn workload(perf: &PerfArgs, settings: &Settings) -> Result<Workload, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::Usage(e.to_string());
    let seed = perf.random_seed as u64;
    let values = values(perf, settings, seed)?;
    let keys = match perf.keys {
        KeyDistribution::None => KeyPlan::None,
        KeyDistribution::Range { range } => KeyPlan::Sequence {
            modulo: Some(u64::from(range)),
        },
        KeyDistribution::Random { range } => KeyPlan::Uniform {
            n: u64::from(range),
        },
    };
    let keys = KeyPool::prepare(keys, seed, settings.key_hash.function());
    let rate = match perf.throughput {
        Throughput::Unlimited => Rate::Unlimited,
        Throughput::PerSecond(per_s) => Rate::Records(per_s),
    };
    let bytes = RecordBytes::Mean(values.value_bytes_mean());
    Ok(Workload {
        topics: vec![perf.topic.clone()],
        clients: 1,
        threads: 1,
        arrival: Arrival::new(rate, Process::Constant, bytes),
        phases: Phases {
            warmup: Warmup::Records(perf.warmup_records),
            measure: Extent {
                records: Some(perf.num_records - perf.warmup_records),
                span: None,
            },
            drain: settings.producer.delivery_timeout,
        },
        values: Arc::new(values),
        keys: Arc::new(keys.map_err(|e| usage(&e))?),
        headers: headers::encode(&[] as &[String]).map_err(|e| usage(&e))?,
        stock: None,
        producer: settings.producer.clone(),
        client_id: settings.client_id.clone(),
        tick: tick(MILLISECOND, settings.producer.linger),
        precise: false,
        seed,
        detail: Detail::Full,
        interval: SECOND,
        connect_timeout: settings.connect_timeout,
    })
}

fn values(perf: &PerfArgs, settings: &Settings, seed: u64) -> Result<Pool, Failure> {
    let mut sizes = Sizes::Fixed(0);
    let content = match &perf.payload {
        Payload::Random { bytes } => {
            sizes = Sizes::Fixed(*bytes);
            Content::Letters
        }
        Payload::Monotonic => Content::Index,
        Payload::File { path, delimiter } => Content::Lines(pieces(path, delimiter)?),
    };
    let compressed = settings.producer.compression != Compression::None;
    Pool::prepare(payload::Plan {
        content,
        sizes,
        null_ratio: 0.0,
        pool_bytes: payload::pool_bytes(settings.producer.batch_bytes, compressed),
        seed,
    })
    .map_err(|e| Failure::Usage(e.to_string()))
}

fn pieces(path: &str, delimiter: &str) -> Result<Lines, Failure> {
    let absolute = std::path::absolute(path).map_err(|e| Failure::Usage(format!("{path}: {e}")))?;
    print(&reading_line(&absolute.display().to_string()));
    // A file that is not there is, to Kafka's tool, as good as an empty one.
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let pieces = split(&text, delimiter).map_err(|e| Failure::Usage(e.to_string()))?;
    print(&records_read_line(pieces.len()));
    let pieces = pieces.into_iter().map(str::as_bytes);
    Lines::from_texts(pieces).map_err(|e| Failure::Usage(format!("{path}: {e}")))
}

fn words(perf: &PerfArgs) -> Words {
    Words {
        values: match &perf.payload {
            Payload::Random { bytes } => format!("{bytes} B values"),
            Payload::File { path, .. } => format!("pieces of {path} as values"),
            Payload::Monotonic => "record numbers as values".to_owned(),
        },
        keys: match perf.keys {
            KeyDistribution::None => "no key".to_owned(),
            KeyDistribution::Range { range } => format!("keys sequence:{range}"),
            KeyDistribution::Random { range } => format!("keys uniform:{range}"),
        },
        arrival: "constant".to_owned(),
        rate: match perf.throughput {
            Throughput::Unlimited => None,
            Throughput::PerSecond(per_s) => Some(per_s.to_string()),
        },
        ..Words::default()
    }
}
