//! A whole load: threads and clients made, connected, started together, and their records merged.

use std::io;
use std::sync::Arc;
use std::sync::mpsc;

use mio::Poll;

use super::arrival::{Arrival, Schedule, Share};
use super::key::{KeyPool, Keys};
use super::lane::{Content, Lane};
use super::ledger::Witness;
use super::pacer::Pace;
use super::payload::{Pool, Values};
use super::phase::{LanePhases, Phases, Warmup};
use super::source::Source;
use super::stock::Stock;
use super::worker::{MAIL, Setup, Stop, Worked, Worker};
use crate::base::clock::{self, MILLISECOND, Nanos};
use crate::client::produce::Producer;
use crate::client::produce::options::ProducerOptions;
use crate::cluster::control::{ControlPlane, Event};
use crate::cluster::snapshot::Snapshot;
use crate::measure::recorder::{Arrivals, Detail, Recorder, RecorderOptions, Window};
use crate::measure::recording::Recording;
use crate::net::mailbox::{Inbox, Post, channel};
use crate::records::writer::EncodedHeaders;

/// What is to be sent, and by whom.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The topics, which exist.
    pub topics: Vec<String>,
    /// Virtual clients; at least as many as threads.
    pub clients: u32,
    /// Load threads, at least 1.
    pub threads: u32,
    /// When records are due.
    pub arrival: Arrival,
    /// Warm-up, window, drain.
    pub phases: Phases,
    /// The values.
    pub values: Arc<Pool>,
    /// The keys.
    pub keys: Arc<KeyPool>,
    /// The headers.
    pub headers: EncodedHeaders,
    /// Prepared batches to send instead of assembling each, from these values, keys and headers.
    pub stock: Option<Arc<Stock>>,
    /// How each client works.
    pub producer: ProducerOptions,
    /// `client.id`; `{n}` stands for the client's number.
    pub client_id: String,
    /// The time between wakes for due records.
    pub tick: Nanos,
    /// Whether threads spin to meet due times.
    pub precise: bool,
    /// Equal seeds give equal records.
    pub seed: u64,
    /// How much is recorded.
    pub detail: Detail,
    /// The length of the intervals of the series.
    pub interval: Nanos,
    /// How long connecting may take.
    pub connect_timeout: Nanos,
}

/// Threads to be: their polls and mailboxes, made before the control plane that writes to them.
#[derive(Debug)]
pub struct Team {
    seats: Vec<(Poll, Inbox<Event>)>,
    posts: Vec<Post<Event>>,
}

/// What a load came to.
#[derive(Debug)]
pub struct Ran {
    /// What all threads recorded.
    pub recording: Recording,
    /// Time zero.
    pub started: Nanos,
    /// Wall clock at time zero, ms since 1970.
    pub started_utc_ms: i64,
    /// When the window opened.
    pub window_start: Nanos,
    /// When it closed; none when it closed at the last acknowledgement.
    pub window_end: Option<Nanos>,
    /// When the drain was over.
    pub ended: Nanos,
    /// What happened, in words.
    pub events: Vec<String>,
    /// The most of `buffer.memory` in use over all clients, bytes.
    pub buffer_bytes_max: u64,
    /// CPU time of each load thread, ns.
    pub thread_cpu_ns: Vec<u64>,
}

impl Team {
    /// Seats for `threads` load threads.
    ///
    /// # Errors
    /// When the system gives no poll.
    pub fn new(threads: u32) -> io::Result<Self> {
        let mut team = Self {
            seats: Vec::new(),
            posts: Vec::new(),
        };
        for _ in 0..threads {
            let poll = Poll::new()?;
            let (post, inbox) = channel(poll.registry(), MAIL)?;
            team.seats.push((poll, inbox));
            team.posts.push(post);
        }
        Ok(team)
    }

    /// Where the control plane puts its events.
    pub fn posts(&self) -> Vec<Post<Event>> {
        self.posts.clone()
    }
}

/// Runs the load. Connections, metadata and producer ids stand before time zero. `witness` gives
/// each thread who hears of its batches.
///
/// # Errors
/// What did not come about, in words.
pub fn run(
    workload: &Workload,
    team: Team,
    control: &ControlPlane,
    stop: &Arc<Stop>,
    mut witness: impl FnMut(u32) -> Option<Box<dyn Witness>>,
) -> Result<Ran, String> {
    let snapshot = control.snapshot();
    let mut slots = Vec::new();
    let mut next = 0;
    for topic in &workload.topics {
        slots.push(next);
        let known = snapshot.topic(topic);
        next += known.map_or(0, |topic| topic.partitions.len() as u32);
    }
    let slots: Arc<[u32]> = slots.into();
    let (ready, are_ready) = mpsc::channel();
    let mut starts = Vec::new();
    let mut threads = Vec::new();
    for (index, (poll, inbox)) in (0..).zip(team.seats) {
        let setup = Setup {
            index,
            poll,
            inbox,
            commands: control.commands(),
            slots: Arc::clone(&slots),
            tick: workload.tick,
            pace: match workload.precise {
                true => Pace::Precise,
                false => Pace::Tick(workload.tick),
            },
            drain: workload.phases.drain,
            stop: Arc::clone(stop),
            witness: witness(index),
        };
        let (start, started) = mpsc::channel();
        starts.push(start);
        let work = Work {
            workload: workload.clone(),
            snapshot: Arc::clone(&snapshot),
            setup,
        };
        let ready = ready.clone();
        let thread = std::thread::Builder::new()
            .name(format!("load-{index}"))
            .spawn(move || work.perform(&ready, &started))
            .map_err(|e| e.to_string())?;
        threads.push(thread);
    }
    for _ in &threads {
        are_ready.recv().map_err(|e| e.to_string())??;
    }
    let zero = clock::now() + MILLISECOND;
    let started_utc_ms = clock::wall_ms();
    for start in starts {
        start.send(zero).map_err(|e| e.to_string())?;
    }
    let mut worked = Vec::new();
    for thread in threads {
        let joined = thread.join().map_err(|_| "a load thread panicked")?;
        worked.push(joined?);
    }
    Ok(merge(workload, worked, zero, started_utc_ms))
}

struct Work {
    workload: Workload,
    snapshot: Arc<Snapshot>,
    setup: Setup,
}

impl Work {
    fn perform(
        self,
        ready: &mpsc::Sender<Result<(), String>>,
        start: &mpsc::Receiver<Nanos>,
    ) -> Result<Worked, String> {
        let workload = self.workload;
        let thread = self.setup.index;
        let numbers: Vec<u32> = (0..workload.clients)
            .filter(|client| client % workload.threads == thread)
            .collect();
        let lanes = numbers
            .iter()
            .map(|client| lane(&workload, *client, &self.snapshot))
            .collect();
        let ids = numbers
            .iter()
            .map(|client| {
                workload
                    .client_id
                    .replace("{n}", &client.to_string())
                    .into()
            })
            .collect();
        let mut worker = Worker::new(self.setup, lanes, ids, recorder(&workload, 0));
        let prepared = worker.prepare(workload.connect_timeout);
        let failed = prepared.is_err();
        ready.send(prepared).map_err(|e| e.to_string())?;
        if failed {
            return Err("not started".into());
        }
        let zero = start.recv().map_err(|e| e.to_string())?;
        // What is offered before time zero would be a warm-up nobody asked for.
        let early = std::time::Duration::from_nanos(zero.saturating_sub(clock::now()));
        std::thread::sleep(early);
        worker.ledger.recorder = recorder(&workload, zero);
        if let Some(witness) = &mut worker.ledger.witness {
            witness.begin(zero);
        }
        if let Some(window) = window(&workload, zero) {
            worker.window = (window.start, window.end.unwrap_or(Nanos::MAX));
        }
        for (lane, client) in worker.lanes.iter_mut().zip(numbers) {
            begin(&workload, client, lane, zero);
        }
        worker.run().map_err(|e| e.to_string())
    }
}

fn share(workload: &Workload, client: u32) -> Share {
    Share {
        lane: client,
        lane_count: workload.clients,
    }
}

/// Begins the schedule of client number `client` at `zero`.
pub fn begin(workload: &Workload, client: u32, lane: &mut Lane, zero: Nanos) {
    let share = share(workload, client);
    lane.schedule = Schedule::new(&workload.arrival, share, zero);
    lane.phases = LanePhases::new(&workload.phases, &workload.arrival, share, zero);
}

/// A recorder of `workload`, whose time zero is `start`.
pub fn recorder(workload: &Workload, start: Nanos) -> Recorder {
    let arrivals = if workload.arrival.is_flat_out() {
        Arrivals::FlatOut
    } else {
        Arrivals::Scheduled
    };
    let mut recorder = Recorder::new(RecorderOptions {
        detail: workload.detail,
        arrivals,
        start,
        interval: workload.interval,
    });
    if let Some(window) = window(workload, start) {
        recorder.set_window(window);
    }
    recorder
}

/// The window, where the plan alone says when it opens.
fn window(workload: &Workload, start: Nanos) -> Option<Window> {
    let opens = match workload.phases.warmup {
        Warmup::For(span) => start + span,
        Warmup::Records(0) => start,
        Warmup::Records(records) => start + workload.arrival.due_of(records)?,
    };
    let counted = workload.phases.measure.records.is_some();
    let end = workload.phases.measure.span.map(|span| opens + span);
    Some(Window {
        start: opens,
        end: end.filter(|_| !counted),
        end_planned: end.filter(|_| !workload.arrival.is_flat_out()),
    })
}

/// Client number `client` of `workload`, in a cluster as `snapshot` has it.
pub fn lane(workload: &Workload, client: u32, snapshot: &Snapshot) -> Lane {
    let share = share(workload, client);
    let seed = workload.seed ^ crate::base::rng::mix(u64::from(client));
    let mut producer = Producer::new(workload.producer.clone(), seed);
    let topics = workload
        .topics
        .iter()
        .map(|topic| producer.add_topic(topic))
        .collect();
    producer.update(snapshot);
    let content = match &workload.stock {
        Some(stock) => Content::Stamped {
            stock: Arc::clone(stock),
            next: None,
            // Clients begin with different batches.
            taken: client as usize,
        },
        None => Content::Assembled(Source {
            values: Values::new(Arc::clone(&workload.values), share),
            keys: Keys::new(Arc::clone(&workload.keys), share),
            headers: workload.headers.clone(),
        }),
    };
    let wall_offset_ms = clock::wall_ms() - (clock::now() / MILLISECOND) as i64;
    Lane::new(
        producer,
        topics,
        Schedule::new(&workload.arrival, share, 0),
        content,
        LanePhases::new(&workload.phases, &workload.arrival, share, 0),
        wall_offset_ms,
    )
}

fn merge(workload: &Workload, worked: Vec<Worked>, zero: Nanos, started_utc_ms: i64) -> Ran {
    let ended = clock::now();
    let planned = window(workload, zero);
    let seen = worked
        .iter()
        .filter_map(|worked| worked.measured_from)
        .min();
    let mut ran = Ran {
        recording: Recording::default(),
        started: zero,
        started_utc_ms,
        window_start: planned.map(|window| window.start).or(seen).unwrap_or(zero),
        window_end: planned.and_then(|window| window.end),
        ended,
        events: Vec::new(),
        buffer_bytes_max: 0,
        thread_cpu_ns: Vec::new(),
    };
    let mut first = true;
    for worked in worked {
        let recording = worked.recorder.finish(ended);
        if first {
            ran.recording = recording;
            first = false;
        } else {
            ran.recording.add(&recording);
        }
        ran.events.extend(worked.events);
        ran.buffer_bytes_max += worked.buffer_bytes_max;
        ran.thread_cpu_ns.push(worked.cpu_ns);
    }
    ran
}
