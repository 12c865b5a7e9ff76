//! A whole client against the embedded sink.

use std::sync::Arc;

use super::figures::Sample;
use super::rig::{Rig, SPAN, Shape};
use crate::load::run;
use crate::load::worker::Stop;

/// One round.
pub fn run(shape: &Shape) -> Result<Sample, String> {
    let (rig, team) = Rig::new(shape)?;
    let sink_before = rig.broker.cpu_ns();
    let stop = Arc::new(Stop::default());
    let ran = run::run(&rig.workload, team, &rig.control, &stop, |_| None)?;
    let sink_cpu = rig.broker.cpu_ns().saturating_sub(sink_before);
    let all = ran.ended.saturating_sub(ran.started).max(1);
    Ok(Sample {
        records: ran.recording.in_window.records,
        bytes: ran.recording.in_window.wire_bytes,
        wall: SPAN,
        cpu: ran.thread_cpu_ns.iter().sum(),
        sink_share: Some(sink_cpu as f64 / all as f64),
        paced: None,
    })
}
