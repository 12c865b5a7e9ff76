//! The dial: the result as people read it, a row a subject.

use super::table::{Row, equation, row, table};
use super::words::{MIB, amount, bytes, count, many, rate, seconds};
use crate::measure::limit::Suspect;
use crate::measure::recorder::Arrivals;
use crate::measure::summary::{Clock, Summary};
use crate::measure::verdict::exit_code;
use crate::scenario::outcome::{Client, Outcome, Verification};

/// How the dial is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Whether digits are grouped, `200 000`: on terminals only.
    pub grouped: bool,
}

/// Writes the dial of `outcome`, ending in a newline.
pub fn dial(outcome: &Outcome, style: Style) -> String {
    let summary = outcome.summary();
    let dial = Dial {
        outcome,
        summary: &summary,
        grouped: style.grouped,
    };
    let mut out = String::new();
    for (label, text) in dial.rows() {
        let line = match text.is_empty() {
            true => label,
            false => format!("{label:<12} {text}"),
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

struct Dial<'a> {
    outcome: &'a Outcome,
    summary: &'a Summary,
    grouped: bool,
}

impl Dial<'_> {
    fn rows(&self) -> Vec<Row> {
        let mut rows = vec![
            row("target", self.target()),
            row("load", self.load()),
            row("client", self.client()),
            row("measured", self.measured()),
            row("throughput", self.throughput()),
        ];
        rows.extend(self.latency());
        rows.push(row("records", self.records()));
        rows.extend(self.errors());
        rows.push(row("batches", self.batches()));
        rows.push(row("spread", self.spread()));
        rows.push(row("limit", self.limit()));
        rows.extend(self.verdicts());
        rows
    }

    fn count(&self, number: u64) -> String {
        count(number, self.grouped)
    }

    fn target(&self) -> String {
        let target = &self.outcome.target;
        let brokers = many(target.brokers.len() as u64, "broker", self.grouped);
        let security = &target.security_protocol;
        if target.embedded {
            return format!(
                "embedded broker in this process, not a cluster   {brokers}   {security}"
            );
        }
        let version = target.version.as_deref().unwrap_or("Kafka");
        let at = target.bootstrap.join(",");
        format!("{version} @ {at}   {brokers}   {security}")
    }

    fn load(&self) -> String {
        let load = &self.outcome.load;
        let topics = match load.topics.as_slice() {
            [topic] => {
                let partitions = many(u64::from(topic.partitions), "partition", self.grouped);
                let replicas = topic
                    .replication_factor
                    .map(|factor| format!(" × {factor}"));
                let isr = topic
                    .min_insync_replicas
                    .map(|isr| format!(" (min.insync {isr})"));
                let (replicas, isr) = (replicas.unwrap_or_default(), isr.unwrap_or_default());
                format!("topic {}  {partitions}{replicas}{isr}", topic.name)
            }
            topics => {
                let partitions = topics.iter().map(|topic| u64::from(topic.partitions)).sum();
                let topics = many(topics.len() as u64, "topic", self.grouped);
                format!("{topics}  {}", many(partitions, "partition", self.grouped))
            }
        };
        let rate = match &load.rate_text {
            Some(rate) => format!("{rate} {}", load.arrival),
            None => load.arrival.clone(),
        };
        let headers = match load.headers {
            0 => String::new(),
            some => format!(", {}", many(u64::from(some), "header", self.grouped)),
        };
        let (values, keys, seed) = (&load.values, &load.keys, self.outcome.seed);
        format!("{topics}   {values}, {keys}{headers}   {rate}   seed {seed}")
    }

    fn client(&self) -> String {
        let client = &self.outcome.client;
        let clients = many(u64::from(client.clients), "client", self.grouped);
        let raised = if client.clients_raised {
            " (one a thread)"
        } else {
            ""
        };
        let each = u64::from(client.connections_per_broker);
        let connections = many(each, "connection", self.grouped);
        let threads = many(u64::from(client.threads), "thread", self.grouped);
        let setup = format!("{clients}{raised} × {connections}/broker × {threads}");
        let settings = settings(client, self.grouped).join("  ");
        format!("{setup}   {settings}   (else {})", client.profile_text)
    }

    fn measured(&self) -> String {
        let time = &self.outcome.timeline;
        let recording = &self.outcome.recording;
        let mut text = seconds(self.summary.window_ns);
        let warmup = time.window_start.saturating_sub(time.started);
        let warm = &recording.warmup;
        if warmup > 0 || warm.due > 0 {
            text += &format!(" after {} warm-up", seconds(warmup));
        }
        let before = warm.acked + warm.written;
        if before > 0 {
            let all = before + recording.measured.acked + recording.measured.written;
            let (before, all) = (self.count(before), self.count(all));
            text += &format!("   {before} records of warm-up apart, {all} written in all");
        }
        match time.interrupted_by {
            Some(2) => text + "   partial: interrupted (SIGINT)",
            Some(15) => text + "   partial: interrupted (SIGTERM)",
            Some(signal) => text + &format!("   partial: interrupted (signal {signal})"),
            None => text,
        }
    }

    fn throughput(&self) -> String {
        let throughput = &self.summary.throughput;
        format!(
            "{} rec/s   {} MiB/s payload   {} MiB/s wire ({:.2} Gbit/s)",
            rate(throughput.records_per_s, self.grouped),
            amount(throughput.payload_bytes_per_s / MIB),
            amount(throughput.wire_bytes_per_s / MIB),
            throughput.wire_bytes_per_s * 8.0 / 1e9,
        )
    }

    fn latency(&self) -> Vec<Row> {
        let summary = self.summary;
        let Some(send) = &summary.send else {
            let text = "not available: with acks=0 no answer is awaited";
            return vec![row("latency", text.to_owned())];
        };
        let requests = self.count(self.outcome.recording.requests);
        let mut clocks = Vec::new();
        if let Some(response) = &summary.response {
            clocks.push((" response", response, "due → acknowledged".to_owned()));
        }
        clocks.push((" send", send, "offered → acknowledged".to_owned()));
        if let Some(request) = &summary.request {
            let meaning = format!("written → answered, {requests} requests");
            clocks.push((" request", request, meaning));
        }
        let evidence = &self.outcome.limit.evidence;
        let late = evidence.lag_p99_ns > evidence.lag_ns_allowed;
        if let Some(lag) = summary.lag.as_ref().filter(|_| late) {
            let meaning = "kdyno's own lateness, part of response".to_owned();
            clocks.push((" lag", lag, meaning));
        }
        let few = |clock: &Clock| clock.percentiles.iter().any(|(_, reading)| !reading.enough);
        let marked = clocks.iter().any(|(_, clock, _)| few(clock));
        let mut rows = table(&clocks, |clock| self.samples(clock));
        if marked {
            rows.push(row(
                " (…) from too few samples to be more than an anecdote",
                String::new(),
            ));
        }
        rows.extend(self.parts());
        if self.outcome.load.arrivals == Arrivals::FlatOut {
            rows.push(row(&self.own_buffer(), String::new()));
        }
        rows
    }

    /// Where percentiles are marked, the number of samples stands beside them.
    fn samples(&self, clock: &Clock) -> String {
        let few = clock.percentiles.iter().any(|(_, reading)| !reading.enough);
        let censored = match clock.censored {
            0 => String::new(),
            some => format!(", {} without an answer", self.count(some)),
        };
        match few {
            true => format!(", {} samples{censored}", self.count(clock.count)),
            false => censored,
        }
    }

    fn parts(&self) -> Vec<Row> {
        let mean = self.summary.part_sums.means();
        let mut rows = Vec::new();
        if let Some(slowest) = self.summary.parts_slowest {
            let decimals = if mean.total_ns() < 1e6 { 3 } else { 2 };
            rows.push(row(
                &format!(" mean {}", equation(&mean, decimals)),
                String::new(),
            ));
            let text = format!(" slowest 1 %: {}", equation(&slowest, decimals));
            rows.push(row(&text, String::new()));
        }
        rows
    }

    fn own_buffer(&self) -> String {
        let memory = self.outcome.client.property("buffer.memory");
        let memory: f64 = memory.and_then(|bytes| bytes.parse().ok()).unwrap_or(0.0);
        let memory = memory * f64::from(self.outcome.client.clients.max(1));
        let per_s = self.summary.throughput.payload_bytes_per_s;
        let text = " flat out, send is a measure of your own buffer, not a broker latency";
        if memory <= 0.0 || per_s <= 0.0 {
            return text.to_owned();
        }
        format!(
            " this is your own buffer ({} ÷ {}/s ≈ {:.2} s), not a broker latency",
            bytes(memory),
            bytes(per_s),
            memory / per_s
        )
    }

    fn records(&self) -> String {
        let counts = &self.outcome.recording.measured;
        let taken = match self.outcome.is_unacknowledged() {
            true => format!("written {}", self.count(counts.written)),
            false => format!("acked {}", self.count(counts.acked)),
        };
        let arrived = match &self.outcome.arrived {
            Some(arrived) if arrived.others_may_write => format!(
                "   arrived {} (end offsets; others may write to this topic too)",
                self.count(arrived.records)
            ),
            Some(arrived) => format!("   arrived {} (end offsets)", self.count(arrived.records)),
            None => String::new(),
        };
        let verification = match self.outcome.verification {
            Verification::NotChecked => "duplicates not checked (--verify)",
        };
        format!(
            "due {}   {taken}{arrived}   failed {}   unknown {}   unsent {}   retried {} ({})   {verification}",
            self.count(counts.due),
            self.count(counts.failed),
            self.count(counts.unknown),
            self.count(counts.unsent),
            self.count(counts.retried_records),
            many(counts.retried_requests, "request", self.grouped),
        )
    }

    fn errors(&self) -> Vec<Row> {
        let mut errors = self.outcome.recording.errors.clone();
        errors.sort_by_key(|error| (std::cmp::Reverse(error.records), error.name));
        let text = |records, ending, name| format!(" {name}  {} {ending}", self.count(records));
        let rows = errors.iter();
        rows.map(|error| {
            row(
                &text(error.records, error.ending.name(), error.name),
                String::new(),
            )
        })
        .collect()
    }

    fn batches(&self) -> String {
        let batches = &self.summary.batches;
        let ratio = match batches.ratio {
            Some(ratio) => format!("   {ratio:.2}:1 ({:.2})", 1.0 / ratio),
            None => String::new(),
        };
        format!(
            "{}   {} records, {} → {} each{ratio}",
            self.count(batches.count),
            rate(batches.records, self.grouped),
            bytes(batches.raw_bytes),
            bytes(batches.wire_bytes),
        )
    }

    fn spread(&self) -> String {
        let spread = &self.summary.partitions;
        let shares = self.summary.broker_shares.iter();
        let shares: Vec<String> = shares
            .map(|(_, share)| format!("{:.1} %", share * 100.0))
            .collect();
        let ratio = match spread.max_over_min() {
            Some(ratio) => format!("max ÷ min {ratio:.2}"),
            None => format!("{} got nothing", self.count(spread.empty as u64)),
        };
        format!(
            "partitions {} / {} / {}, {ratio}   brokers {}",
            self.count(spread.min),
            self.count(spread.median.round() as u64),
            self.count(spread.max),
            shares.join(" "),
        )
    }

    fn limit(&self) -> String {
        let limit = &self.outcome.limit;
        let rate_asked = self.outcome.load.arrivals == Arrivals::Scheduled;
        let held = &self.summary.rate;
        let short = match limit.suspect {
            Suspect::None => String::new(),
            _ if rate_asked => format!(
                "   (due {}/s, reached {}/s)",
                rate(held.due_per_s, self.grouped),
                rate(held.reached_per_s, self.grouped)
            ),
            _ => String::new(),
        };
        format!("{}: {}{short}", limit.suspect.name(), limit.reason)
    }

    fn verdicts(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for promise in &self.outcome.promises {
            let kept = if promise.kept { "kept" } else { "NOT MET" };
            rows.push(row(
                "promise",
                format!("{kept}   {}: {}", promise.promise, promise.reason),
            ));
        }
        for warning in &self.outcome.warnings {
            rows.push(row("warning", warning.clone()));
        }
        let reasons = &self.outcome.exit_reasons;
        for reason in reasons {
            rows.push(row("exit", format!("{}: {}", reason.code, reason.text)));
        }
        if reasons.len() > 1 {
            rows.push(row(
                "exit",
                format!("{} is the exit code", exit_code(reasons)),
            ));
        }
        rows
    }
}

/// The settings that shape every run, and what deviates from the profile.
fn settings(client: &Client, grouped: bool) -> Vec<String> {
    let value = |name: &str| client.property(name).unwrap_or_default();
    let acks = match value("acks") {
        "-1" => "all",
        other => other,
    };
    let idempotent = match value("enable.idempotence") {
        "true" => " idempotent",
        _ => "",
    };
    let number = |name: &str| {
        value(name)
            .parse()
            .map_or(value(name).to_owned(), |n| count(n, grouped))
    };
    let mut settings = vec![
        format!("acks={acks}{idempotent}"),
        format!("linger {} ms", value("linger.ms")),
        format!("batch {}", number("batch.size")),
        match value("compression.type") {
            "" | "none" => "no compression".to_owned(),
            codec => codec.to_owned(),
        },
    ];
    let shown = [
        "acks",
        "enable.idempotence",
        "linger.ms",
        "batch.size",
        "compression.type",
    ];
    let others = client
        .properties
        .iter()
        .filter(|property| property.deviates);
    let others = others.filter(|property| !shown.contains(&property.name.as_str()));
    settings.extend(others.map(|property| format!("{}={}", property.name, property.value)));
    settings
}
