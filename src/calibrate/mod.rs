//! What this machine and this tool reach with no broker's work in the way.
//!
//! All cases run in turn, round after round, so that what disturbs the machine for a while disturbs
//! all of them; figures are medians over rounds. A round of a case in which other processes used
//! the machine is repeated.

mod assembled;
mod case;
mod figures;
mod pacing;
mod raw;
mod rig;
mod sink;
mod stamping;

use std::collections::BTreeMap;

pub use case::CASES;
pub use figures::Figures;
pub use rig::RECORD_POOL_BYTES;

use crate::base::clock::{self, Nanos};
use crate::host::cpu;
use crate::host::steal::CpuTicks;
use case::Case;
use figures::{Sample, figures};

/// The most of the machine that others may use in a round that counts.
const FOREIGN_SHARE_MAX: f64 = 0.12;
/// Times that a disturbed round is repeated.
const REPEATS_MAX: u32 = 3;

/// What is to be calibrated.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Names of cases; empty for all of [`CASES`].
    pub cases: Vec<String>,
    /// Rounds of each, at least 1.
    pub rounds: u32,
}

/// What came of it.
#[derive(Debug)]
pub struct Calibration {
    /// Figures by case, in the order they ran.
    pub cases: Vec<(&'static str, Figures)>,
    /// Nanoseconds to date and number one batch, whatever its size; none when not asked for.
    pub stamp_ns: Option<f64>,
    /// Rounds that were disturbed to the end, over all cases.
    pub disturbed: u32,
}

/// Runs the cases. `tell` hears of each round.
///
/// # Errors
/// What the system would not do, or a case that nobody knows, in words.
pub fn calibrate(plan: &Plan, mut tell: impl FnMut(u32)) -> Result<Calibration, String> {
    let cases = chosen(&plan.cases)?;
    let mut samples: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
    let mut stamps = Vec::new();
    let mut disturbed = 0;
    for round in 0..plan.rounds {
        tell(round);
        for case in &cases {
            let (sample, undisturbed) = undisturbed(case)?;
            disturbed += u32::from(!undisturbed);
            samples.entry(case.name).or_default().push(sample);
        }
        if plan.cases.is_empty() {
            stamps.push(stamping::stamp_ns()?);
        }
    }
    let raw = samples.get(case::RAW).cloned().unwrap_or_default();
    let figures = cases.iter().map(|case| {
        let own = samples.get(case.name).map_or(&[][..], Vec::as_slice);
        (case.name, figures(own, &raw))
    });
    Ok(Calibration {
        cases: figures.collect(),
        stamp_ns: figures::median(stamps),
        disturbed,
    })
}

fn chosen(names: &[String]) -> Result<Vec<Case>, String> {
    let known = || CASES.map(|case| case.name).join(", ");
    let unknown = names
        .iter()
        .find(|name| !CASES.iter().any(|case| case.name == **name));
    if let Some(unknown) = unknown {
        return Err(format!(
            "no case is called {unknown}; there are {}",
            known()
        ));
    }
    let wanted = |case: &Case| names.is_empty() || names.iter().any(|name| name == case.name);
    Ok(CASES.into_iter().filter(wanted).collect())
}

/// One round of a case that nobody else disturbed, or the last that somebody did.
fn undisturbed(case: &Case) -> Result<(Sample, bool), String> {
    for repeat in 0.. {
        let before = reading();
        let sample = case.run()?;
        let disturbed = foreign_share(&before, &reading()) > FOREIGN_SHARE_MAX;
        if !disturbed || repeat == REPEATS_MAX {
            return Ok((sample, !disturbed));
        }
    }
    unreachable!("the last repeat returns")
}

type Reading = (Option<CpuTicks>, Nanos, Nanos);

fn reading() -> Reading {
    (CpuTicks::read(), cpu::process(), clock::now())
}

/// The share of all CPUs that other processes and the hypervisor used between two readings.
fn foreign_share(before: &Reading, after: &Reading) -> f64 {
    let (Some(earlier), Some(later)) = (before.0, after.0) else {
        return 0.0;
    };
    let own = after.1.saturating_sub(before.1);
    let wall = after.2.saturating_sub(before.2);
    let busy = later.busy_share_since(earlier);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    busy - own as f64 / (wall.max(1) as f64 * cores as f64)
}
