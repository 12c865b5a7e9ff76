//! Whether a run was a measurement of what was asked, and the exit code that says so.

use super::promise::PromiseResult;
use super::recording::{Counts, SLICE_COUNT, Slice};
use crate::base::clock::{Nanos, SECOND};

/// One reason for an exit code other than 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitReason {
    /// The code it asks for.
    pub code: u8,
    /// What happened, a sentence.
    pub text: String,
}

/// A promise was not met.
pub const EXIT_PROMISE: u8 = 3;
/// Verification found loss, duplicates, disorder or corruption.
pub const EXIT_VERIFICATION: u8 = 4;
/// Records failed or are missing.
pub const EXIT_RECORDS: u8 = 5;
/// Not a valid measurement of the rate or promise asked.
pub const EXIT_INVALID: u8 = 6;

/// The rate asked and the rate reached.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateHeld {
    /// What was asked, records/s; none flat out.
    pub asked_per_s: Option<f64>,
    /// What the schedule made due, records/s.
    pub due_per_s: f64,
    /// What was acknowledged in the window, records/s.
    pub reached_per_s: f64,
    /// Whether what was due was reached within ± 1 %; true flat out.
    pub held: bool,
}

/// What [`RateHeld`] is judged by.
#[derive(Debug, Clone, Copy)]
pub struct RateSeen {
    /// What was asked, records/s; none flat out.
    pub asked_per_s: Option<f64>,
    /// Records due in the window.
    pub due: u64,
    /// Records acknowledged in the window.
    pub acked: u64,
    /// Length of the window, ns.
    pub window_ns: Nanos,
    /// Length of the schedule, when the last acknowledgement ended the window instead of it.
    pub schedule_ns: Option<Nanos>,
    /// What a response took while no backlog had built up; 0 when a warm-up came before, whose
    /// records in flight make up for those in flight at the end.
    pub steady_response_ns: f64,
}

impl RateHeld {
    /// Compares what was due with what was reached. At its end a window always has records in
    /// flight: as many as a steady response takes are no shortfall.
    pub fn judge(seen: &RateSeen) -> Self {
        let per_s = |records: u64, ns: Nanos| records as f64 * SECOND as f64 / ns.max(1) as f64;
        let window_ns = seen.window_ns;
        let span_ns = seen.schedule_ns.unwrap_or(window_ns);
        let due = seen.due as f64;
        let (off, allowed) = match seen.schedule_ns {
            // All that was due is acknowledged: the time that took is what tells.
            Some(span_ns) => {
                let late = window_ns as f64 - span_ns as f64 - seen.steady_response_ns;
                (late, span_ns as f64 * RATE_TOLERANCE)
            }
            None => {
                let in_flight = due * seen.steady_response_ns / window_ns.max(1) as f64;
                let short = due - seen.acked as f64;
                let short = if short > 0.0 {
                    (short - in_flight).max(0.0)
                } else {
                    -short
                };
                // Counting whole records, one may always fall on the other side of a border.
                (short, (due * RATE_TOLERANCE).max(1.0))
            }
        };
        Self {
            asked_per_s: seen.asked_per_s,
            due_per_s: per_s(seen.due, span_ns),
            reached_per_s: per_s(seen.acked, window_ns),
            held: seen.asked_per_s.is_none() || off <= allowed,
        }
    }
}

/// What decides on the validity of a run and on its exit code.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// Counts of the measured phase.
    pub measured: &'a Counts,
    /// Counts of the warm-up.
    pub warmup: &'a Counts,
    /// `--allow-errors`.
    pub errors_allowed: bool,
    /// The rate.
    pub rate: RateHeld,
    /// Whether the backlog of the schedule grew over the whole window.
    pub overloaded: bool,
    /// 99th percentile of lag, and what of it is allowed; none flat out.
    pub lag: Option<LagHeld>,
    /// The promises, judged.
    pub promises: &'a [PromiseResult],
    /// The signal that ended the run, if one did.
    pub interrupted_by: Option<i32>,
}

/// The tool's own lateness, and how much of it leaves the measurement valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LagHeld {
    /// 99th percentile of lag.
    pub p99_ns: Nanos,
    /// What is allowed: [`super::limit::lag_ns_allowed`].
    pub allowed_ns: Nanos,
}

/// Every reason for an exit code other than 0, the decisive one first.
pub fn exit_reasons(judged: &Judged<'_>) -> Vec<ExitReason> {
    let mut reasons = Vec::new();
    let mut add = |code, text| reasons.push(ExitReason { code, text });
    if let Some(signal) = judged.interrupted_by {
        add(
            128 + signal as u8,
            format!("interrupted by signal {signal}; results are partial"),
        );
    }
    if let Some(text) = missing(judged).filter(|_| !judged.errors_allowed) {
        add(EXIT_RECORDS, text);
    }
    let asked = judged.rate.asked_per_s.is_some() || !judged.promises.is_empty();
    if let Some(text) = invalid(judged).filter(|_| asked) {
        add(EXIT_INVALID, text);
    }
    for broken in judged.promises.iter().filter(|promise| !promise.kept) {
        add(
            EXIT_PROMISE,
            format!("{}: {}", broken.promise, broken.reason),
        );
    }
    reasons.sort_by_key(|reason| rank(reason.code));
    reasons
}

/// The exit code: that of the most important reason.
pub fn exit_code(reasons: &[ExitReason]) -> u8 {
    let codes = reasons.iter().map(|reason| reason.code);
    codes.min_by_key(|code| rank(*code)).unwrap_or(0)
}

/// Whether the backlog of a schedule grew over the whole window: the mean response of each quarter
/// is longer than that of the one before, by 1 % of the window from first to last. Then latency
/// depends on how long the run is.
pub fn overloaded(slices: &[Slice; SLICE_COUNT], window_ns: Nanos) -> bool {
    let quarters = slices.chunks(SLICE_COUNT / 4).map(|quarter| {
        let sum = |slices: &[Slice]| {
            let mut sum = Slice::default();
            for slice in slices {
                sum.records += slice.records;
                sum.response_ns += slice.response_ns;
            }
            sum
        };
        sum(quarter).mean_ns()
    });
    // A quarter in which nothing was acknowledged says nothing; three must be left to see growth.
    let means: Vec<f64> = quarters.flatten().collect();
    let grows = means.len() >= 3 && means.windows(2).all(|pair| pair[1] > pair[0]);
    let growth = means
        .last()
        .zip(means.first())
        .map(|(last, first)| last - first);
    grows && growth.is_some_and(|growth| growth >= window_ns as f64 * RATE_TOLERANCE)
}

/// The text that goes with [`overloaded`].
pub const OVERLOAD_TEXT: &str = "overload: latency here depends on how long you run";

fn missing(judged: &Judged<'_>) -> Option<String> {
    let mut all = *judged.measured;
    all.add(judged.warmup);
    let lost = all.failed + all.unknown + all.unsent;
    (lost > 0).then(|| {
        format!(
            "{lost} records were not acknowledged: {} failed, {} unknown, {} unsent",
            all.failed, all.unknown, all.unsent
        )
    })
}

fn invalid(judged: &Judged<'_>) -> Option<String> {
    let rate = &judged.rate;
    if !rate.held {
        return Some(format!(
            "asked {:.0}/s, reached {:.0}/s: not a measurement of {:.0}/s",
            rate.due_per_s, rate.reached_per_s, rate.due_per_s
        ));
    }
    if judged.overloaded {
        return Some(OVERLOAD_TEXT.to_owned());
    }
    let late = judged.lag.filter(|lag| lag.p99_ns > lag.allowed_ns)?;
    Some(format!(
        "kdyno itself was late: p99 of lag {:.3} ms, allowed {:.3} ms; use --precise or a shorter --tick",
        late.p99_ns as f64 / 1e6,
        late.allowed_ns as f64 / 1e6
    ))
}

/// 4 beats 5 beats 6 beats 3; an interruption beats all of them.
fn rank(code: u8) -> u8 {
    match code {
        EXIT_VERIFICATION => 1,
        EXIT_RECORDS => 2,
        EXIT_INVALID => 3,
        EXIT_PROMISE => 4,
        _ => 0,
    }
}

/// ± 1 % is held.
const RATE_TOLERANCE: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MILLISECOND;
    use crate::measure::promise::{Figure, Promise};

    const QUIET: Counts = Counts {
        due: 10,
        acked: 10,
        written: 0,
        failed: 0,
        unknown: 0,
        unsent: 0,
        retried_records: 0,
        retried_requests: 0,
    };

    fn judged<'a>(measured: &'a Counts, promises: &'a [PromiseResult]) -> Judged<'a> {
        Judged {
            measured,
            warmup: &QUIET,
            errors_allowed: false,
            rate: RateHeld {
                held: true,
                ..RateHeld::default()
            },
            overloaded: false,
            lag: None,
            promises,
            interrupted_by: None,
        }
    }

    fn broken() -> PromiseResult {
        let promise = Promise::parse("p99<1ms", false).expect("good");
        promise.judge(Some(Figure {
            value: Some(2e6),
            samples: None,
        }))
    }

    #[test]
    fn a_run_that_did_what_was_asked_exits_0() {
        let reasons = exit_reasons(&judged(&QUIET, &[]));
        assert!(reasons.is_empty());
        assert_eq!(exit_code(&reasons), 0);
    }

    #[test]
    fn when_several_hold_missing_records_beat_an_invalid_rate_and_that_beats_a_promise() {
        let lossy = Counts {
            acked: 9,
            failed: 1,
            ..QUIET
        };
        let promises = [broken()];
        let all = Judged {
            rate: RateHeld {
                asked_per_s: Some(100.0),
                due_per_s: 100.0,
                reached_per_s: 80.0,
                held: false,
            },
            ..judged(&lossy, &promises)
        };
        let codes: Vec<u8> = exit_reasons(&all)
            .iter()
            .map(|reason| reason.code)
            .collect();
        assert_eq!(codes, [EXIT_RECORDS, EXIT_INVALID, EXIT_PROMISE]);
        let allowed = exit_reasons(&Judged {
            errors_allowed: true,
            ..all
        });
        assert_eq!(exit_code(&allowed), EXIT_INVALID);
        let signalled = exit_reasons(&Judged {
            interrupted_by: Some(15),
            ..all
        });
        assert_eq!(exit_code(&signalled), 143);
        let verified = [ExitReason {
            code: EXIT_VERIFICATION,
            text: String::new(),
        }];
        assert_eq!(
            exit_code(&[exit_reasons(&all), verified.to_vec()].concat()),
            4
        );
    }

    #[test]
    fn flat_out_is_never_invalid() {
        let flat_out = Judged {
            overloaded: true,
            ..judged(&QUIET, &[])
        };
        assert!(exit_reasons(&flat_out).is_empty());
    }

    fn seen(acked: u64) -> RateSeen {
        RateSeen {
            asked_per_s: Some(100.0),
            due: 1_000,
            acked,
            window_ns: 10 * SECOND,
            schedule_ns: None,
            steady_response_ns: 0.0,
        }
    }

    #[test]
    fn a_rate_is_held_within_one_percent_of_what_was_due() {
        for (acked, held) in [(990, true), (989, false), (1_010, true), (1_011, false)] {
            assert_eq!(RateHeld::judge(&seen(acked)).held, held, "{acked}");
        }
        let slow = |acked| RateSeen {
            due: 20,
            ..seen(acked)
        };
        assert!(RateHeld::judge(&slow(19)).held && !RateHeld::judge(&slow(18)).held);
        let flat_out = RateSeen {
            asked_per_s: None,
            ..seen(1)
        };
        assert!(RateHeld::judge(&flat_out).held);
    }

    #[test]
    fn records_in_flight_at_the_end_of_a_run_without_warm_up_are_no_shortfall() {
        let linger = RateSeen {
            steady_response_ns: 100e6,
            ..seen(980)
        };
        assert!(RateHeld::judge(&linger).held);
        assert!(
            !RateHeld::judge(&RateSeen {
                acked: 979,
                ..linger
            })
            .held
        );
    }

    #[test]
    fn a_count_of_records_must_be_acknowledged_in_the_time_its_schedule_takes() {
        let counted = |window_ns| RateSeen {
            window_ns,
            schedule_ns: Some(10 * SECOND),
            steady_response_ns: 100e6,
            ..seen(1_000)
        };
        // The last record is due one gap before the schedule's end.
        assert!(RateHeld::judge(&counted(9_990 * MILLISECOND + 100 * MILLISECOND)).held);
        let slow = RateHeld::judge(&counted(15 * SECOND));
        assert!(!slow.held);
        assert_eq!((slow.due_per_s, slow.reached_per_s.round()), (100.0, 67.0));
    }

    #[test]
    fn lag_beyond_what_is_allowed_invalidates_and_names_the_way_out() {
        let lag = LagHeld {
            p99_ns: 3 * MILLISECOND,
            allowed_ns: 2 * MILLISECOND,
        };
        let late = Judged {
            lag: Some(lag),
            rate: RateHeld {
                asked_per_s: Some(1.0),
                due_per_s: 1.0,
                reached_per_s: 1.0,
                held: true,
            },
            ..judged(&QUIET, &[])
        };
        let reasons = exit_reasons(&late);
        assert_eq!(exit_code(&reasons), EXIT_INVALID);
        assert!(reasons[0].text.contains("--precise"), "{}", reasons[0].text);
    }

    fn slices(mean_ns: impl Fn(u64) -> u64) -> [Slice; SLICE_COUNT] {
        std::array::from_fn(|index| Slice {
            records: 100,
            response_ns: u128::from(mean_ns(index as u64)) * 100,
        })
    }

    #[test]
    fn a_backlog_that_grows_over_the_whole_window_is_overload_and_a_stall_is_not() {
        let window = 10 * SECOND;
        let growing = slices(|i| MILLISECOND + i * 20 * MILLISECOND);
        assert!(overloaded(&growing, window));
        let stall = slices(|i| {
            if (5..8).contains(&i) {
                SECOND
            } else {
                MILLISECOND
            }
        });
        assert!(!overloaded(&stall, window));
        let creeping = slices(|i| MILLISECOND + i * 10_000);
        assert!(!overloaded(&creeping, window));
        assert!(!overloaded(&[Slice::default(); SLICE_COUNT], window));
    }
}
