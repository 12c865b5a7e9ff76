//! A client without a socket: records assembled, batches closed, requests laid out and given up as
//! written at once.

use std::sync::Arc;

use super::figures::Sample;
use super::rig::{Rig, SPAN, Shape, WARMUP};
use crate::base::clock::{self, Nanos};
use crate::client::produce::options::Acks;
use crate::client::produce::request::Request;
use crate::client::produce::{RouteIndex, WireContext};
use crate::host::cpu;
use crate::load;
use crate::load::lane::Lane;
use crate::load::ledger::Ledger;
use crate::load::run::{lane, recorder};
use crate::measure::stamps::Stamps;
use crate::net::mutes::Mutes;
use crate::net::pipeline::Sent;

/// Produce 9: topics by name, as a request to any broker looks.
const CONTEXT: WireContext<'_> = WireContext {
    version: 9,
    correlation_id: 0,
    client_id: "kdyno",
};

/// One round.
pub fn run(shape: &Shape) -> Result<Sample, String> {
    let (mut rig, _team) = Rig::new(shape)?;
    rig.workload.producer.acks = Acks::None;
    rig.workload.producer.idempotent = false;
    let mut lane = lane(&rig.workload, 0, &rig.control.snapshot());
    let start = clock::now();
    let mut ledger = Ledger {
        recorder: recorder(&rig.workload, start),
        slots: Arc::from([0]),
        commands: rig.control.commands(),
        witness: None,
    };
    load::run::begin(&rig.workload, 0, &mut lane, start);
    turn(&mut lane, &mut ledger, start + WARMUP);
    let (cpu_before, from) = (cpu::thread(), clock::now());
    turn(&mut lane, &mut ledger, start + WARMUP + SPAN);
    let (cpu_after, until) = (cpu::thread(), clock::now());
    let volume = ledger.recorder.finish(until).in_window;
    Ok(Sample {
        records: volume.records,
        bytes: volume.wire_bytes,
        wall: until - from,
        cpu: cpu_after - cpu_before,
        sink_share: None,
        paced: None,
    })
}

/// Offers and gives up what is ready, until `until`.
fn turn(lane: &mut Lane, ledger: &mut Ledger, until: Nanos) {
    let mutes = Mutes::default();
    let mut ready: Vec<RouteIndex> = Vec::new();
    loop {
        let now = clock::now();
        if now >= until {
            return;
        }
        lane.offer(now, &mut ledger.recorder);
        lane.producer.ready_routes(now, &mut ready);
        for route in &ready {
            while let Some(request) = lane.producer.drain(now, *route, &CONTEXT) {
                let mut told = ledger.told(0, now);
                lane.producer
                    .on_written(written(request, now), &mutes, &mut told);
            }
        }
    }
}

fn written(entry: Request<Stamps>, now: Nanos) -> Sent<Request<Stamps>> {
    Sent {
        entry,
        queued: now,
        first_byte_written: now,
        last_byte_written: now,
        first_byte_read: now,
        last_byte_read: now,
    }
}
