//! A client and an embedded sink, set up for one round.

use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::{MILLISECOND, Nanos, SECOND};
use crate::broker::{self, BrokerOptions, Running};
use crate::client::profile::Profile;
use crate::client::settings::Settings;
use crate::cluster::control::ControlPlane;
use crate::load::arrival::{Arrival, Share};
use crate::load::key::{KeyPlan, KeyPool, Keys};
use crate::load::payload::{self, Content, POOL_BYTES, Pool, Sizes, Values};
use crate::load::phase::{Extent, Phases, Warmup};
use crate::load::run::{Team, Workload};
use crate::load::source::Source;
use crate::load::stock::{Stock, StockPlan};
use crate::measure::recorder::Detail;
use crate::net::address::Address;
use crate::net::versions::Pins;
use crate::records::compress::Compression;
use crate::records::writer::EncodedHeaders;
use crate::wire::api::ApiKey;

/// The pool that values are slices of, bytes.
pub const RECORD_POOL_BYTES: usize = POOL_BYTES;
/// The topic written to.
pub const TOPIC: &str = "calibrate";
/// The seed of all rounds.
const SEED: u64 = 1;
/// Time before the window.
pub const WARMUP: Nanos = 100 * MILLISECOND;
/// The window.
pub const SPAN: Nanos = 400 * MILLISECOND;

/// What the client of a round is like.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Value bytes.
    pub record_bytes: u64,
    /// `batch.size`.
    pub batch_bytes: usize,
    /// Partitions: batches in a request.
    pub partitions: u32,
    /// How much is recorded.
    pub detail: Detail,
    /// Whether batches are prepared.
    pub stamped: bool,
}

impl Shape {
    /// Records of `record_bytes`, batches of 64 KiB, four to a request.
    pub const fn assembled(record_bytes: u64) -> Self {
        Self {
            record_bytes,
            batch_bytes: 64 << 10,
            partitions: 4,
            detail: Detail::Full,
            stamped: false,
        }
    }

    /// Prepared batches of `batch_bytes`, four to a request.
    pub const fn stamped(batch_bytes: usize) -> Self {
        Self {
            batch_bytes,
            stamped: true,
            ..Self::assembled(1024)
        }
    }
}

/// The sink, what knows it, and what is to be done to it.
pub struct Rig {
    /// The control plane.
    pub control: ControlPlane,
    /// The load.
    pub workload: Workload,
    /// The sink.
    pub broker: Running,
}

impl Rig {
    /// A rig for `shape`, and the seat of its one load thread.
    pub fn new(shape: &Shape) -> Result<(Self, Team), String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        let broker = broker::start(&BrokerOptions::sink(shape.partitions)).map_err(|e| text(&e))?;
        let address = broker.addresses()[0].to_string();
        let bootstrap = Address::parse_list(&address).map_err(|e| text(&e))?;
        let settings = settings(shape);
        let team = Team::new(1).map_err(|e| text(&e))?;
        let mut options = settings.control(&bootstrap, &Pins::default());
        options.connect.handshake.required = [ApiKey::PRODUCE, ApiKey::METADATA].into();
        options.topics = vec![TOPIC.into()];
        options.allow_auto_topic_creation = true;
        let control = ControlPlane::start(options, team.posts()).map_err(|e| text(&e))?;
        control.bootstrap().map_err(|e| text(&e))?;
        let known = control.wait_for(Duration::from_secs(10), |snapshot| {
            snapshot.topic(TOPIC).is_some_and(|topic| topic.ready())
        });
        known.map_err(|_| "the embedded sink tells of no topic".to_owned())?;
        let workload = workload(shape, &settings)?;
        let rig = Self {
            control,
            workload,
            broker,
        };
        Ok((rig, team))
    }
}

fn settings(shape: &Shape) -> Settings {
    let mut settings = Profile::Throughput.settings();
    let producer = &mut settings.producer;
    producer.batch_bytes = shape.batch_bytes;
    producer.compression = Compression::None;
    producer.in_flight_max = 5;
    // Four full batches and what stands around them.
    producer.request_bytes_max = (shape.batch_bytes * 4 + (64 << 10)).max(1 << 20);
    settings
}

fn workload(shape: &Shape, settings: &Settings) -> Result<Workload, String> {
    let values = Arc::new(values(shape)?);
    let keys = KeyPool::prepare(KeyPlan::None, SEED, settings.key_hash.function());
    let stock = shape.stamped.then(|| stock(shape)).transpose()?;
    Ok(Workload {
        topics: vec![TOPIC.to_owned()],
        clients: 1,
        threads: 1,
        arrival: Arrival::FLAT_OUT,
        phases: Phases {
            warmup: Warmup::For(WARMUP),
            measure: Extent {
                records: None,
                span: Some(SPAN),
            },
            drain: SECOND,
        },
        values,
        keys: Arc::new(keys.map_err(|e| e.to_string())?),
        headers: EncodedHeaders::none(),
        stock: stock.map(Arc::new),
        producer: settings.producer.clone(),
        client_id: settings.client_id.clone(),
        tick: MILLISECOND,
        precise: false,
        seed: SEED,
        detail: shape.detail,
        interval: SECOND,
        connect_timeout: 10 * SECOND,
    })
}

fn values(shape: &Shape) -> Result<Pool, String> {
    let sizes: Result<Sizes, _> = shape.record_bytes.to_string().parse();
    Pool::prepare(payload::Plan {
        content: Content::Letters,
        sizes: sizes.map_err(|e| format!("{e}"))?,
        null_ratio: 0.0,
        pool_bytes: RECORD_POOL_BYTES,
        seed: SEED,
    })
    .map_err(|e| e.to_string())
}

/// Prepared batches.
pub fn stock(shape: &Shape) -> Result<Stock, String> {
    let keys = KeyPool::prepare(KeyPlan::None, SEED, crc32c::crc32c).map_err(|e| e.to_string())?;
    let source = Source {
        values: Values::new(Arc::new(values(shape)?), Share::ALL),
        keys: Keys::new(Arc::new(keys), Share::ALL),
        headers: EncodedHeaders::none(),
    };
    let plan = StockPlan {
        batch_bytes: shape.batch_bytes,
        compression: Compression::None,
    };
    Stock::prepare(plan, source).map_err(|e| e.to_string())
}
