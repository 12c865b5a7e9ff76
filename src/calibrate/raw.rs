//! Finished requests written to the sink over and over: what the sockets alone carry.

use std::io::Write;
use std::net::TcpStream;

use super::figures::Sample;
use super::rig::{Rig, SPAN, Shape, WARMUP};
use crate::base::clock::{self, MILLISECOND, Nanos};
use crate::client::produce::WireContext;
use crate::client::produce::options::Acks;
use crate::host::cpu;
use crate::load;
use crate::load::run::{lane, recorder};
use crate::net::pipeline::Outgoing;
use crate::net::socket::{Congestion, SocketOptions};

/// What stands around the one batch of a request, at most.
const ENVELOPE_BYTES: usize = 128;

/// One round of writes of about `bytes` each.
pub fn run(bytes: usize) -> Result<Sample, String> {
    let shape = Shape {
        partitions: 1,
        ..Shape::stamped(bytes - ENVELOPE_BYTES)
    };
    let (mut rig, _team) = Rig::new(&shape)?;
    let request = request(&mut rig)?;
    let address = rig.broker.addresses()[0];
    let mut socket = TcpStream::connect(address).map_err(|e| e.to_string())?;
    let options = SocketOptions {
        congestion: Congestion::CubicOnLoopback,
        ..SocketOptions::default()
    };
    options.apply(&socket, address).map_err(|e| e.to_string())?;
    let sink_before = rig.broker.cpu_ns();
    let start = clock::now();
    write_until(&mut socket, &request, start + WARMUP)?;
    let (cpu_before, from) = (cpu::thread(), clock::now());
    let writes = write_until(&mut socket, &request, from + SPAN)?;
    let (cpu_after, until) = (cpu::thread(), clock::now());
    // The sink tells its time when it goes to sleep.
    std::thread::sleep(std::time::Duration::from_millis(5));
    let sink_cpu = rig.broker.cpu_ns().saturating_sub(sink_before);
    Ok(Sample {
        records: 0,
        bytes: writes * request.len() as u64,
        wall: until - from,
        cpu: cpu_after - cpu_before,
        sink_share: Some(sink_cpu as f64 / (until - start + 5 * MILLISECOND) as f64),
        paced: None,
    })
}

/// The bytes of one request that asks for no answer.
fn request(rig: &mut Rig) -> Result<Vec<u8>, String> {
    rig.workload.producer.acks = Acks::None;
    rig.workload.producer.idempotent = false;
    let mut lane = lane(&rig.workload, 0, &rig.control.snapshot());
    let now = clock::now();
    load::run::begin(&rig.workload, 0, &mut lane, now);
    let mut recorder = recorder(&rig.workload, now);
    lane.offer(now, &mut recorder);
    let mut ready = Vec::new();
    lane.producer.ready_routes(now, &mut ready);
    let context = WireContext {
        version: 9,
        correlation_id: 0,
        client_id: "kdyno",
    };
    let route = *ready.first().ok_or("nothing is ready to be written")?;
    let request = lane.producer.drain(now, route, &context);
    let request = request.ok_or("nothing is ready to be written")?;
    let parts: Vec<&[u8]> = (0..request.segments())
        .map(|i| request.segment(i))
        .collect();
    Ok(parts.concat())
}

fn write_until(socket: &mut TcpStream, request: &[u8], until: Nanos) -> Result<u64, String> {
    let mut writes = 0;
    while clock::now() < until {
        socket.write_all(request).map_err(|e| e.to_string())?;
        writes += 1;
    }
    Ok(writes)
}
