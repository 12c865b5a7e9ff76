//! The cases by name.

use super::figures::Sample;
use super::{assembled, pacing, raw, rig::Shape, sink};
use crate::base::clock::MILLISECOND;
use crate::load::arrival::Process;
use crate::load::pacer::Pace;
use crate::measure::recorder::Detail;

/// One case.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Writes of finished requests of this many bytes, and nothing else.
    Raw(usize),
    /// A client that assembles records, answered at once without any socket.
    Assembled(Shape),
    /// A client, whole, and the embedded sink.
    Sink(Shape),
    /// Waiting for due times and nothing else.
    Pacing(f64, Process, Pace),
}

/// What others are compared with.
pub const RAW: &str = "raw_256k";

const KIB: usize = 1024;
const TICK: Pace = Pace::Tick(MILLISECOND);
const POISSON: Process = Process::Poisson { seed: 1 };

/// All cases, in the order they run.
pub const CASES: [Case; 21] = [
    case(RAW, Kind::Raw(256 * KIB)),
    case("stamped_256k", Kind::Sink(Shape::stamped(64 * KIB))),
    case("stamped_1m", Kind::Sink(Shape::stamped(256 * KIB))),
    case("assembled_10", Kind::Assembled(Shape::assembled(10))),
    case("assembled_100", Kind::Assembled(Shape::assembled(100))),
    case("assembled_1024", Kind::Assembled(Shape::assembled(1024))),
    case("sink_10", Kind::Sink(Shape::assembled(10))),
    case("sink_100", Kind::Sink(Shape::assembled(100))),
    case("sink_1024", Kind::Sink(Shape::assembled(1024))),
    case(
        "sink_100_counting",
        Kind::Sink(Shape {
            detail: Detail::CountsOnly,
            ..Shape::assembled(100)
        }),
    ),
    case(
        "sink_100_16k_one",
        Kind::Sink(Shape {
            batch_bytes: 16 * KIB,
            partitions: 1,
            ..Shape::assembled(100)
        }),
    ),
    case(
        "sink_100_16k_many",
        Kind::Sink(Shape {
            batch_bytes: 16 * KIB,
            partitions: 16,
            ..Shape::assembled(100)
        }),
    ),
    case("pacing_1k", Kind::Pacing(1e3, Process::Constant, TICK)),
    case("pacing_10k", Kind::Pacing(1e4, Process::Constant, TICK)),
    case("pacing_100k", Kind::Pacing(1e5, Process::Constant, TICK)),
    case("pacing_1m", Kind::Pacing(1e6, Process::Constant, TICK)),
    case("poisson_1k", Kind::Pacing(1e3, POISSON, TICK)),
    case("poisson_10k", Kind::Pacing(1e4, POISSON, TICK)),
    case("poisson_100k", Kind::Pacing(1e5, POISSON, TICK)),
    case("poisson_1m", Kind::Pacing(1e6, POISSON, TICK)),
    case(
        "precise_10k",
        Kind::Pacing(1e4, Process::Constant, Pace::Precise),
    ),
];

const fn case(name: &'static str, kind: Kind) -> Case {
    Case { name, kind }
}

impl Case {
    /// One round.
    pub fn run(&self) -> Result<Sample, String> {
        match self.kind {
            Kind::Raw(bytes) => raw::run(bytes),
            Kind::Assembled(shape) => assembled::run(&shape),
            Kind::Sink(shape) => sink::run(&shape),
            Kind::Pacing(per_s, process, pace) => {
                pacing::run(per_s, process, pace).map_err(|e| e.to_string())
            }
        }
    }
}
