//! Judges an outcome: promises, the limit, warnings, and the reasons of the exit code.

use super::figures::look_up;
use super::outcome::Outcome;
use crate::measure::histogram::Quantile;
use crate::measure::limit::{self, Evidence, lag_ns_allowed};
use crate::measure::promise::{Promise, PromiseResult};
use crate::measure::recorder::Arrivals;
use crate::measure::summary::Summary;
use crate::measure::verdict::{Judged, LagHeld, OVERLOAD_TEXT, exit_reasons};

/// What the user asked of the result.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// `--slo` and `--fail-if`, each already checked to name a figure and to fit its unit.
    pub promises: &'a [Promise],
    /// `--allow-errors`.
    pub errors_allowed: bool,
}

/// Fills in the verdicts of `outcome`: its promises, limit, warnings and exit reasons.
pub fn judge(outcome: &mut Outcome, asked: &Asked<'_>) {
    let summary = outcome.summary();
    let promises = asked.promises.iter();
    let judged = promises.map(|promise| judge_promise(outcome, &summary, promise));
    outcome.promises = judged.collect();
    outcome.limit = limit::find(evidence(outcome, &summary));
    let more = warnings(outcome, &summary);
    outcome.warnings.extend(more);
    outcome.exit_reasons = exit_reasons(&Judged {
        measured: &outcome.recording.measured,
        warmup: &outcome.recording.warmup,
        errors_allowed: asked.errors_allowed,
        rate: summary.rate,
        overloaded: summary.overloaded,
        lag: lag(outcome, &summary),
        promises: &outcome.promises,
        interrupted_by: outcome.timeline.interrupted_by,
    });
}

fn judge_promise(outcome: &Outcome, summary: &Summary, promise: &Promise) -> PromiseResult {
    let flat_out = outcome.load.arrivals == Arrivals::FlatOut;
    let group = promise.figure.split_once('.').map(|(group, _)| group);
    let reason = match group {
        Some("send") if flat_out => "flat out, send measures your own buffer: it keeps no promise",
        Some("response" | "lag") if flat_out => {
            "flat out there is no response time: ask for a --rate"
        }
        _ => return promise.judge(look_up(outcome, summary, &promise.figure)),
    };
    PromiseResult {
        reason: reason.to_owned(),
        ..promise.judge(None)
    }
}

fn lag(outcome: &Outcome, summary: &Summary) -> Option<LagHeld> {
    summary.lag.as_ref()?;
    let response = outcome.recording.clocks.response.quantile(Quantile::P99);
    Some(LagHeld {
        p99_ns: outcome.recording.lag.quantile(Quantile::P99)?,
        allowed_ns: lag_ns_allowed(outcome.client.tick_ns, response),
    })
}

fn evidence(outcome: &Outcome, summary: &Summary) -> Evidence {
    let window_ns = summary.window_ns;
    let share = |ns: u64| ns as f64 / window_ns.max(1) as f64;
    let loops = &outcome.recording.loops;
    let most = |values: &mut dyn Iterator<Item = u64>| values.max().unwrap_or(0);
    let client = &outcome.client;
    let lanes = f64::from(client.clients.max(1));
    let threads = f64::from(client.threads.max(1));
    let brokers = summary.broker_shares.len().max(1) as f64;
    let connections = f64::from(client.connections_per_broker.max(1)) * lanes;
    let window_blocked: u64 = loops.iter().map(|one| one.window_blocked_ns).sum();
    let memory_blocked = most(&mut loops.iter().map(|one| one.memory_blocked_ns));
    let nodes = outcome.recording.nodes.iter();
    let rate_asked = outcome.load.arrivals == Arrivals::Scheduled;
    let lag = lag(outcome, summary);
    let send_buffer = client.property("send.buffer.bytes");
    Evidence {
        rate_asked,
        rate_reached: rate_asked && summary.rate.held && !summary.overloaded,
        window_ns,
        loop_pause_ns_max: most(&mut loops.iter().map(|one| one.pause_ns_max)),
        busy_share_max: share(most(&mut loops.iter().map(|one| one.busy_ns))),
        cpu_share_max: share(most(&mut outcome.tool.thread_cpu_ns.iter().copied())),
        cgroup_throttled_share: share(outcome.tool.cgroup_throttled_ns.unwrap_or(0)),
        steal_share: outcome.tool.steal_share.unwrap_or(0.0),
        run_queue_share_max: share(most(&mut outcome.tool.thread_run_queue_ns.iter().copied())),
        lag_p99_ns: lag.map_or(0, |lag| lag.p99_ns),
        lag_ns_allowed: lag.map_or(0, |lag| lag.allowed_ns),
        memory_blocked_share: share(memory_blocked) * threads / lanes.max(threads),
        window_blocked_share: share(window_blocked) / (connections * brokers),
        send_buffer_bytes: send_buffer
            .and_then(|bytes| bytes.parse().ok())
            .unwrap_or(-1),
        parts: summary.part_sums.means(),
        retransmit_share_max: retransmits(outcome),
        rtt_ns_max: most(&mut outcome.network.iter().map(|node| node.rtt_ns)),
        quota_share_max: share(most(&mut nodes.map(|node| node.throttled_ns))) / connections,
        partition_share_max: summary.partitions.max_share(),
        partition_count: summary.partitions.count,
        broker_share_max: summary
            .broker_shares
            .iter()
            .map(|(_, share)| *share)
            .fold(0.0, f64::max),
        broker_count: outcome.target.brokers.len(),
    }
}

fn retransmits(outcome: &Outcome) -> f64 {
    let share = |sent: u64, again: u64| again as f64 / sent.max(1) as f64;
    let nodes = outcome.network.iter();
    nodes
        .map(|node| share(node.segments, node.retransmits))
        .fold(0.0, f64::max)
}

fn warnings(outcome: &Outcome, summary: &Summary) -> Vec<String> {
    let mut warnings = Vec::new();
    if summary.overloaded {
        warnings.push(OVERLOAD_TEXT.to_owned());
    }
    let spread = &summary.partitions;
    if spread.empty > 0 && spread.total > 0 {
        warnings.push(format!(
            "{} of {} partitions got nothing",
            spread.empty, spread.count
        ));
    } else if let Some(ratio) = spread.max_over_min().filter(|_| spread.is_uneven()) {
        warnings.push(format!(
            "partitions are uneven: the fullest got {ratio:.1} times the emptiest"
        ));
    }
    let clocks = &outcome.recording.clocks;
    let saturated = clocks.response.saturated().max(clocks.send.saturated());
    if saturated > 0 {
        warnings.push(format!(
            "{saturated} latencies of more than 1 h are shown as 1 h"
        ));
    }
    if outcome.load.prepared_batches.is_some() && !outcome.target.embedded {
        warnings.push(REPEATED_TEXT.to_owned());
    }
    warnings.extend(compression(outcome, summary));
    warnings
}

/// What prepared batches distort.
const REPEATED_TEXT: &str = "prepared batches repeat: disks and tiers that compress, and topics \
    with a codec of their own, have less work than fresh records would give them";

/// Asked and achieved compression more than 5 % apart.
fn compression(outcome: &Outcome, summary: &Summary) -> Option<String> {
    let asked = 1.0 - outcome.load.compressibility_asked?;
    let achieved = 1.0 / summary.batches.ratio?;
    let codec = outcome.client.property("compression.type")?;
    let apart = (achieved - asked).abs() > COMPRESSION_TOLERANCE;
    (codec != "none" && apart)
        .then(|| format!("batches compress to {achieved:.2} of their size, {asked:.2} was asked"))
}

const COMPRESSION_TOLERANCE: f64 = 0.05;
