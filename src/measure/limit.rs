//! What kept a run from going faster: an ordered table of thresholds, the tool accused first.
//!
//! The rows are asked in the order of [`Suspect`]; the first whose evidence passes its threshold
//! is the verdict. A rate that was asked and reached has no limit.

use super::parts::{Part, PartMeans};
use crate::base::clock::{Nanos, SECOND};

/// What can be the limit, in the order in which it is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspect {
    /// Nothing: the rate asked was reached.
    #[default]
    None,
    /// One gap between two polls took so long that it alone cost the rate.
    LoopPause,
    /// The busiest load thread has no time left.
    LoadThread,
    /// The cgroup took the CPU away.
    CgroupThrottling,
    /// The hypervisor took the CPU away.
    Steal,
    /// Other threads had the core.
    RunQueue,
    /// The tool was late for reasons of its own.
    Lag,
    /// `buffer.memory` is full while the brokers could take more.
    BufferMemory,
    /// `send.buffer.bytes` is bounded and full.
    SendBuffer,
    /// Everything that may be in flight is.
    InFlightWindow,
    /// The network loses segments.
    Retransmits,
    /// Most of an answer's time is the way there and back.
    RoundTrip,
    /// A broker's quota.
    Quota,
    /// One partition takes far more than its share.
    HotPartition,
    /// One broker takes far more than its share.
    HotBroker,
    /// None of the above.
    Broker,
}

impl Suspect {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::LoopPause => "client: loop pause",
            Self::LoadThread => "client: load thread",
            Self::CgroupThrottling => "client: cgroup CPU limit",
            Self::Steal => "client: hypervisor steal",
            Self::RunQueue => "client: other threads on its core",
            Self::Lag => "client: schedule lag",
            Self::BufferMemory => "buffer.memory",
            Self::SendBuffer => "send.buffer.bytes",
            Self::InFlightWindow => "in-flight window",
            Self::Retransmits => "network: retransmits",
            Self::RoundTrip => "network: round trip",
            Self::Quota => "broker quota",
            Self::HotPartition => "hot partition",
            Self::HotBroker => "hot broker",
            Self::Broker => "broker",
        }
    }
}

/// The verdict; by default the table was not asked yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limit {
    /// What it was.
    pub suspect: Suspect,
    /// Why: one sentence with the figure that decided.
    pub reason: String,
    /// The figures all rows were asked with, whatever the verdict.
    pub evidence: Evidence,
}

/// The figures the table asks. Shares are of the window, 0 to 1; 0 where nothing is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Whether a rate was asked and reached within 1 %.
    pub rate_reached: bool,
    /// Whether a rate was asked.
    pub rate_asked: bool,
    /// Length of the window.
    pub window_ns: Nanos,
    /// The longest gap between two polls of any load thread.
    pub loop_pause_ns_max: Nanos,
    /// Loop time outside poll and spin of the busiest load thread.
    pub busy_share_max: f64,
    /// CPU time of the busiest load thread.
    pub cpu_share_max: f64,
    /// Time the cgroup was throttled.
    pub cgroup_throttled_share: f64,
    /// CPU time the hypervisor took.
    pub steal_share: f64,
    /// Time the load thread that waited longest waited for a core.
    pub run_queue_share_max: f64,
    /// 99th percentile of lag; 0 flat out.
    pub lag_p99_ns: Nanos,
    /// The lag that would still be valid: [`lag_ns_allowed`].
    pub lag_ns_allowed: Nanos,
    /// Time the load thread most blocked was blocked on `buffer.memory`.
    pub memory_blocked_share: f64,
    /// Time in which the in-flight window was full while there was something to send.
    pub window_blocked_share: f64,
    /// `send.buffer.bytes`; −1 leaves it to the kernel.
    pub send_buffer_bytes: i64,
    /// Mean parts of a response (flat out: of a send).
    pub parts: PartMeans,
    /// Share of segments sent again, of the worst broker.
    pub retransmit_share_max: f64,
    /// Longest round trip of a broker.
    pub rtt_ns_max: Nanos,
    /// Pauses a broker asked for, of the worst broker.
    pub quota_share_max: f64,
    /// Share of records of the fullest partition, and how many partitions there are.
    pub partition_share_max: f64,
    /// Partitions written to.
    pub partition_count: usize,
    /// Share of records of the fullest broker.
    pub broker_share_max: f64,
    /// Brokers written to.
    pub broker_count: usize,
}

/// Asks the table.
pub fn find(evidence: Evidence) -> Limit {
    let (suspect, reason) = ask(&evidence);
    Limit {
        suspect,
        reason,
        evidence,
    }
}

/// The lag that leaves a measurement valid: two ticks, or a tenth of the response if that is more.
pub fn lag_ns_allowed(tick_ns: Nanos, response_p99_ns: Option<Nanos>) -> Nanos {
    (2 * tick_ns).max(response_p99_ns.unwrap_or(0) / 10)
}

fn ask(is: &Evidence) -> (Suspect, String) {
    if is.rate_reached {
        let cpu = percent(is.cpu_share_max);
        let text = format!("the rate asked was reached; busiest load thread {cpu} CPU");
        return (Suspect::None, text);
    }
    ask_the_tool(is)
        .or_else(|| ask_the_client(is))
        .or_else(|| ask_the_way(is))
        .unwrap_or_else(|| {
            let request = ms(is.parts.of(Part::Request));
            let text = format!("nothing else stands out; a request takes {request} on average");
            (Suspect::Broker, text)
        })
}

fn ask_the_tool(is: &Evidence) -> Option<(Suspect, String)> {
    let pause_share = is.loop_pause_ns_max as f64 / is.window_ns.max(1) as f64;
    let rows = [
        (
            is.window_ns >= SECOND && pause_share >= PAUSE_SHARE,
            Suspect::LoopPause,
            format!(
                "a load thread did not poll for {}",
                ms(is.loop_pause_ns_max as f64)
            ),
        ),
        (
            is.busy_share_max.max(is.cpu_share_max) >= BUSY_SHARE,
            Suspect::LoadThread,
            format!(
                "busiest load thread {} busy, {} CPU",
                percent(is.busy_share_max),
                percent(is.cpu_share_max)
            ),
        ),
        (
            is.cgroup_throttled_share >= CGROUP_SHARE,
            Suspect::CgroupThrottling,
            format!(
                "throttled {} of the time",
                percent(is.cgroup_throttled_share)
            ),
        ),
        (
            is.steal_share >= STEAL_SHARE,
            Suspect::Steal,
            format!("the hypervisor took {} of the CPU", percent(is.steal_share)),
        ),
        (
            is.run_queue_share_max >= RUN_QUEUE_SHARE,
            Suspect::RunQueue,
            format!(
                "a load thread waited {} of the time for a core",
                percent(is.run_queue_share_max)
            ),
        ),
        (
            is.rate_asked && is.lag_p99_ns > is.lag_ns_allowed,
            Suspect::Lag,
            format!("p99 of lag {}", ms(is.lag_p99_ns as f64)),
        ),
    ];
    first(rows)
}

fn ask_the_client(is: &Evidence) -> Option<(Suspect, String)> {
    let window_open = is.window_blocked_share < BLOCKED_SHARE;
    let sending = is.parts.of(Part::Write) + is.parts.of(Part::Request);
    let write_share = is.parts.of(Part::Write) / sending.max(1.0);
    let rows = [
        (
            // While the window is full, full memory is its consequence.
            window_open && is.memory_blocked_share >= BLOCKED_SHARE,
            Suspect::BufferMemory,
            format!(
                "full {} of the time while the in-flight window was open",
                percent(is.memory_blocked_share)
            ),
        ),
        (
            is.send_buffer_bytes >= 0 && write_share >= BLOCKED_SHARE,
            Suspect::SendBuffer,
            format!(
                "{} bytes: writing a request takes {}, {} of its time",
                is.send_buffer_bytes,
                ms(is.parts.of(Part::Write)),
                percent(write_share)
            ),
        ),
        (
            !window_open,
            Suspect::InFlightWindow,
            format!(
                "full {} of the time; a request takes {} on average",
                percent(is.window_blocked_share),
                ms(is.parts.of(Part::Request))
            ),
        ),
    ];
    first(rows)
}

fn ask_the_way(is: &Evidence) -> Option<(Suspect, String)> {
    let request = is.parts.of(Part::Request);
    let rtt = is.rtt_ns_max as f64;
    let hot = |share: f64, count: usize| count > 1 && share * count as f64 > HOT_FACTOR;
    let rows = [
        (
            is.retransmit_share_max >= RETRANSMIT_SHARE,
            Suspect::Retransmits,
            format!(
                "{} of the segments to a broker sent again",
                percent(is.retransmit_share_max)
            ),
        ),
        (
            request > 0.0 && rtt >= request * RTT_SHARE,
            Suspect::RoundTrip,
            format!("{} of the {} a request takes", ms(rtt), ms(request)),
        ),
        (
            is.quota_share_max >= QUOTA_SHARE,
            Suspect::Quota,
            format!(
                "a broker asked for pauses {} of the time",
                percent(is.quota_share_max)
            ),
        ),
        (
            hot(is.partition_share_max, is.partition_count),
            Suspect::HotPartition,
            format!(
                "one of {} partitions took {}",
                is.partition_count,
                percent(is.partition_share_max)
            ),
        ),
        (
            hot(is.broker_share_max, is.broker_count),
            Suspect::HotBroker,
            format!(
                "one of {} brokers took {}",
                is.broker_count,
                percent(is.broker_share_max)
            ),
        ),
    ];
    first(rows)
}

fn first<const N: usize>(rows: [(bool, Suspect, String); N]) -> Option<(Suspect, String)> {
    let mut rows = rows.into_iter();
    rows.find_map(|(passed, suspect, reason)| passed.then_some((suspect, reason)))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn ms(ns: f64) -> String {
    format!("{:.3} ms", ns / 1e6)
}

/// A pause of 1 % of the window alone breaks the promise of ± 1 %.
const PAUSE_SHARE: f64 = 0.01;
/// A loop that works nine tenths of the time has no room to be on time.
const BUSY_SHARE: f64 = 0.90;
/// Throttled time comes in slices of 100 ms: 1 % of it is seen in every percentile.
const CGROUP_SHARE: f64 = 0.01;
const STEAL_SHARE: f64 = 0.05;
const RUN_QUEUE_SHARE: f64 = 0.10;
/// Blocked at least half of the time.
const BLOCKED_SHARE: f64 = 0.50;
const RETRANSMIT_SHARE: f64 = 0.01;
const RTT_SHARE: f64 = 0.50;
const QUOTA_SHARE: f64 = 0.10;
/// More than twice the fair share.
const HOT_FACTOR: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Evidence {
        let mut parts = PartMeans::default();
        parts.ns[Part::Request as usize] = 2e6;
        Evidence {
            window_ns: 10 * SECOND,
            send_buffer_bytes: 131_072,
            partition_share_max: 0.2,
            partition_count: 6,
            broker_share_max: 0.34,
            broker_count: 3,
            parts,
            ..Evidence::default()
        }
    }

    fn suspect(change: impl FnOnce(&mut Evidence)) -> Suspect {
        let mut evidence = quiet();
        change(&mut evidence);
        find(evidence).suspect
    }

    #[test]
    fn a_rate_asked_and_reached_has_no_limit_whatever_the_rest_says() {
        let limit = find(Evidence {
            rate_reached: true,
            cpu_share_max: 0.09,
            busy_share_max: 1.0,
            ..quiet()
        });
        assert_eq!(limit.suspect, Suspect::None);
        assert_eq!(
            limit.reason,
            "the rate asked was reached; busiest load thread 9 % CPU"
        );
    }

    #[test]
    fn each_row_is_found_by_its_own_evidence() {
        assert_eq!(suspect(|_| ()), Suspect::Broker);
        assert_eq!(
            suspect(|is| is.loop_pause_ns_max = SECOND / 10),
            Suspect::LoopPause
        );
        assert_eq!(suspect(|is| is.busy_share_max = 0.95), Suspect::LoadThread);
        assert_eq!(
            suspect(|is| is.cgroup_throttled_share = 0.02),
            Suspect::CgroupThrottling
        );
        assert_eq!(suspect(|is| is.steal_share = 0.06), Suspect::Steal);
        assert_eq!(
            suspect(|is| is.run_queue_share_max = 0.2),
            Suspect::RunQueue
        );
        assert_eq!(
            suspect(|is| is.memory_blocked_share = 0.6),
            Suspect::BufferMemory
        );
        assert_eq!(
            suspect(|is| is.window_blocked_share = 0.6),
            Suspect::InFlightWindow
        );
        assert_eq!(
            suspect(|is| is.retransmit_share_max = 0.02),
            Suspect::Retransmits
        );
        assert_eq!(suspect(|is| is.rtt_ns_max = 1_500_000), Suspect::RoundTrip);
        assert_eq!(suspect(|is| is.quota_share_max = 0.3), Suspect::Quota);
        assert_eq!(
            suspect(|is| is.partition_share_max = 0.4),
            Suspect::HotPartition
        );
        assert_eq!(suspect(|is| is.broker_share_max = 0.7), Suspect::HotBroker);
    }

    #[test]
    fn the_tool_is_accused_before_the_broker() {
        let both = suspect(|is| {
            is.busy_share_max = 0.97;
            is.window_blocked_share = 0.9;
            is.quota_share_max = 0.9;
        });
        assert_eq!(both, Suspect::LoadThread);
    }

    #[test]
    fn memory_full_behind_a_full_window_is_the_windows_fault() {
        let both = suspect(|is| {
            is.memory_blocked_share = 1.0;
            is.window_blocked_share = 1.0;
        });
        assert_eq!(both, Suspect::InFlightWindow);
    }

    #[test]
    fn lag_counts_only_where_a_rate_was_asked() {
        let late = |rate_asked| {
            suspect(|is| {
                is.rate_asked = rate_asked;
                is.lag_p99_ns = 5_000_000;
                is.lag_ns_allowed = lag_ns_allowed(1_000_000, Some(30_000_000));
            })
        };
        assert_eq!(late(true), Suspect::Lag);
        assert_eq!(late(false), Suspect::Broker);
    }

    #[test]
    fn a_bounded_send_buffer_is_named_when_writing_takes_most_of_a_request() {
        let slow_write = |bytes| {
            suspect(|is| {
                is.send_buffer_bytes = bytes;
                is.parts.ns[Part::Write as usize] = 5e6;
            })
        };
        assert_eq!(slow_write(131_072), Suspect::SendBuffer);
        assert_eq!(slow_write(-1), Suspect::Broker);
    }
}
