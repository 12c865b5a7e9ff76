//! What the whole client allocates once it runs: nothing per record, less than once per request.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

#[path = "support/processes.rs"]
#[allow(dead_code)] // Other tests signal theirs.
mod processes;

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use kdyno::base::clock::{MILLISECOND, SECOND};
use kdyno::base::rate::Rate;
use kdyno::client::profile::Profile;
use kdyno::cluster::control::ControlPlane;
use kdyno::load::arrival::{Arrival, Process, RecordBytes};
use kdyno::load::key::{KeyPlan, KeyPool};
use kdyno::load::payload::{self, Content, POOL_BYTES, Pool};
use kdyno::load::phase::{Extent, Phases, Warmup};
use kdyno::load::run::{Ran, Team, Workload, run};
use kdyno::measure::recorder::Detail;
use kdyno::net::address::Address;
use kdyno::net::versions::Pins;
use kdyno::records::compress::Compression;
use kdyno::records::writer::EncodedHeaders;
use kdyno::wire::api::ApiKey;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use processes::OwnBroker;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TOPIC: &str = "allocations";

fn workload(arrival: Arrival, compression: Compression, records: u64) -> Workload {
    let settings = Profile::Java4.settings();
    let mut producer = settings.producer.clone();
    producer.compression = compression;
    let plan = payload::Plan {
        content: Content::Letters,
        sizes: "100".parse().unwrap(),
        null_ratio: 0.0,
        pool_bytes: POOL_BYTES,
        seed: 1,
    };
    let keys = KeyPool::prepare(KeyPlan::Uniform { n: 1_000 }, 1, crc32c::crc32c);
    Workload {
        topics: vec![TOPIC.to_owned()],
        clients: 1,
        threads: 1,
        arrival,
        phases: Phases {
            warmup: Warmup::Records(0),
            measure: Extent {
                records: Some(records),
                span: None,
            },
            drain: 10 * SECOND,
        },
        values: Arc::new(Pool::prepare(plan).unwrap()),
        keys: Arc::new(keys.unwrap()),
        headers: EncodedHeaders::none(),
        stock: None,
        producer,
        client_id: settings.client_id,
        tick: MILLISECOND,
        precise: false,
        seed: 1,
        detail: Detail::Full,
        interval: SECOND,
        connect_timeout: 10 * SECOND,
    }
}

/// Allocations of a run from before its threads start to its end, and what it came to.
fn allocations(broker: &OwnBroker, workload: &Workload) -> (u64, Ran) {
    let bootstrap = Address::parse_list(&broker.address).unwrap();
    let team = Team::new(1).unwrap();
    let mut options = Profile::Java4
        .settings()
        .control(&bootstrap, &Pins::default());
    options.connect.handshake.required = [ApiKey::PRODUCE, ApiKey::METADATA].into();
    options.topics = vec![TOPIC.into()];
    options.allow_auto_topic_creation = true;
    let control = ControlPlane::start(options, team.posts()).unwrap();
    control.bootstrap().unwrap();
    let known = control.wait_for(Duration::from_secs(10), |snapshot| {
        snapshot.topic(TOPIC).is_some_and(|topic| topic.ready())
    });
    assert!(known.is_ok());
    let region = Region::new(ALLOCATOR);
    let ran = run(workload, team, &control, &Arc::default(), |_| None).unwrap();
    let change = region.change();
    ((change.allocations + change.reallocations) as u64, ran)
}

#[test]
fn a_running_client_allocates_nothing_per_record_and_less_than_once_per_request() {
    let broker = OwnBroker::start();
    let bytes = RecordBytes::Each(100);
    let paced = Arrival::new(Rate::Records(2e5), Process::Constant, bytes);
    let poisson = Arrival::new(Rate::Records(2e5), Process::Poisson { seed: 1 }, bytes);
    for (arrival, compression, records) in [
        // Flat out the buffer memory has to be full before nothing grows any more.
        (Arrival::FLAT_OUT, Compression::None, 1_000_000),
        (paced, Compression::None, 100_000),
        (poisson, Compression::None, 100_000),
        (paced, Compression::Lz4, 100_000),
    ] {
        let [(few, short), (many, long)] = [records, 3 * records]
            .map(|records| allocations(&broker, &workload(arrival, compression, records)));
        assert_eq!(long.recording.measured.acked, 3 * records);
        let more = many.saturating_sub(few) as f64;
        let requests = long.recording.requests - short.recording.requests;
        let what = format!("{arrival:?} {compression:?}: {few} and {many}, {requests} requests");
        eprintln!("{what}");
        assert!(more / (2.0 * records as f64) < 0.001, "{what}");
        assert!(more / (requests as f64) < 1.0, "{what}");
    }
}
