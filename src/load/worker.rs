//! A load thread: offers, drains, writes, reads, records, in that order, with nothing between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mio::{Events, Poll, Token};

use super::lane::{Lane, Offered};
use super::ledger::{Ledger, Witness};
use super::pacer::{Pace, Pacer};
use super::wakes::Wakes;
use crate::base::clock::{self, Nanos};
use crate::client::produce::request::Request;
use crate::client::produce::{RouteIndex, WireContext};
use crate::cluster::control::{Command, Commands, Event, LaneRef};
use crate::host::cpu;
use crate::measure::recorder::{Answered, Recorder};
use crate::measure::stamps::Stamps;
use crate::net::connection::{Connection, ReadBuffer};
use crate::net::lost::Lost;
use crate::net::mailbox::Inbox;
use crate::net::pipeline::{Limits, Sent};
use crate::wire::api::ApiKey;

/// The poll's token of the alarm; connections count from 0.
pub const ALARM: Token = Token(usize::MAX);
/// The poll's token of the mailbox.
pub const MAIL: Token = Token(usize::MAX - 1);
/// The name of what the end of the run leaves behind.
const RUN_ENDED: &str = "RUN_ENDED";

/// When the run is to stop; 0 while nobody has said so.
#[derive(Debug, Default)]
pub struct Stop {
    /// When to offer no more.
    pub offer_until: AtomicU64,
    /// When to wait no longer.
    pub drain_until: AtomicU64,
}

/// What a load thread needs.
pub struct Worker {
    /// Its place among the workers.
    pub index: u32,
    /// Its poll.
    pub poll: Poll,
    /// What the control plane tells it.
    pub inbox: Inbox<Event>,
    /// How it asks the control plane.
    pub commands: Commands,
    /// Its clients.
    pub lanes: Vec<Lane>,
    /// `client.id` of each.
    pub client_ids: Vec<Arc<str>>,
    /// What it records.
    pub ledger: Ledger,
    /// The least time between two looks at deadlines.
    pub tick: Nanos,
    /// How it meets due times.
    pub pace: Pace,
    /// How long the drain may take.
    pub drain: Nanos,
    /// Who may stop it.
    pub stop: Arc<Stop>,
    /// The window its CPU time is measured over, as far as it is known.
    pub window: (Nanos, Nanos),
    /// Its connections, by token.
    links: Vec<Link>,
    /// The connections of each lane.
    links_of: Vec<Vec<usize>>,
    cpu_before: Option<Nanos>,
    cpu_after: Option<Nanos>,
    wakes: Wakes,
    runnable: Vec<u32>,
    pumped: Vec<u32>,
    events: Vec<String>,
    mail: VecDeque<Event>,
    ready: Vec<RouteIndex>,
    buffer: ReadBuffer,
    done: usize,
    finished: Vec<bool>,
}

struct Link {
    lane: u32,
    route: RouteIndex,
    connection: Option<Connection<Request<Stamps>>>,
}

/// What a load thread brings back.
pub struct Worked {
    /// What it recorded.
    pub recorder: Recorder,
    /// When its lanes opened the window, the first of them.
    pub measured_from: Option<Nanos>,
    /// What happened, in words.
    pub events: Vec<String>,
    /// The most of `buffer.memory` in use, bytes, over its lanes.
    pub buffer_bytes_max: u64,
    /// CPU time of the thread in the window, ns.
    pub cpu_ns: u64,
}

/// The parts of a [`Worker`] that its maker gives.
pub struct Setup {
    /// See [`Worker::index`].
    pub index: u32,
    /// See [`Worker::poll`].
    pub poll: Poll,
    /// See [`Worker::inbox`].
    pub inbox: Inbox<Event>,
    /// See [`Worker::commands`].
    pub commands: Commands,
    /// See [`Ledger::slots`].
    pub slots: Arc<[u32]>,
    /// See [`Worker::tick`].
    pub tick: Nanos,
    /// See [`Worker::pace`].
    pub pace: Pace,
    /// See [`Worker::drain`].
    pub drain: Nanos,
    /// See [`Worker::stop`].
    pub stop: Arc<Stop>,
    /// See [`Ledger::witness`].
    pub witness: Option<Box<dyn Witness>>,
}

impl Worker {
    /// A worker for `lanes`.
    pub fn new(
        setup: Setup,
        lanes: Vec<Lane>,
        client_ids: Vec<Arc<str>>,
        recorder: Recorder,
    ) -> Self {
        let count = lanes.len();
        Self {
            index: setup.index,
            poll: setup.poll,
            inbox: setup.inbox,
            ledger: Ledger {
                recorder,
                slots: setup.slots,
                commands: setup.commands.clone(),
                witness: setup.witness,
            },
            commands: setup.commands,
            lanes,
            client_ids,
            tick: setup.tick,
            pace: setup.pace,
            drain: setup.drain,
            stop: setup.stop,
            window: (0, Nanos::MAX),
            links: Vec::new(),
            links_of: vec![Vec::new(); count],
            cpu_before: None,
            cpu_after: None,
            wakes: Wakes::new(count),
            runnable: Vec::with_capacity(count),
            pumped: Vec::with_capacity(count),
            events: Vec::new(),
            mail: VecDeque::new(),
            ready: Vec::new(),
            buffer: ReadBuffer::new(),
            done: 0,
            finished: vec![false; count],
        }
    }

    /// Connects every lane and gets it a producer id, within `limit`.
    ///
    /// # Errors
    /// What did not come about, and the last that was heard of it.
    pub fn prepare(&mut self, limit: Nanos) -> Result<(), String> {
        let deadline = clock::now() + limit;
        for lane in 0..self.lanes.len() as u32 {
            self.connect_routes(lane);
            if self.lanes[lane as usize].producer.identity_needed() {
                let lane = self.lane_ref(lane);
                self.commands
                    .send(Command::InitProducerId { lane, ticket: 0 });
            }
        }
        let mut events = Events::with_capacity(256);
        loop {
            let missing = self.links.iter().filter(|l| l.connection.is_none()).count();
            let nameless = self
                .lanes
                .iter()
                .filter(|l| l.producer.identity_needed())
                .count();
            if missing + nameless == 0 {
                return Ok(());
            }
            let now = clock::now();
            if now >= deadline {
                let heard = self.events.last().cloned().unwrap_or_default();
                return Err(format!(
                    "{missing} connections and {nameless} producer ids are missing: {heard}"
                ));
            }
            let wait = Duration::from_nanos(deadline - now);
            self.poll
                .poll(&mut events, Some(wait))
                .map_err(|e| e.to_string())?;
            self.take_mail()?;
        }
    }

    /// Runs the load until it ends, or is stopped.
    ///
    /// # Errors
    /// When the system fails.
    pub fn run(mut self) -> std::io::Result<Worked> {
        let mut pacer = Pacer::new(self.poll.registry(), ALARM, self.pace)?;
        let mut events = Events::with_capacity(1024);
        self.runnable = (0..self.lanes.len() as u32).collect();
        let mut polled = clock::now();
        let mut drain_until = Nanos::MAX;
        loop {
            let now = clock::now();
            let stopped = self.stop.offer_until.load(Ordering::Relaxed);
            if stopped != 0 && now >= stopped && self.done < self.lanes.len() {
                self.leave_all(now);
            }
            while let Some(lane) = self.wakes.pop_due(now) {
                self.runnable.push(lane);
            }
            // Two lists take turns, so that neither grows anew.
            let mut pumped = std::mem::take(&mut self.pumped);
            std::mem::swap(&mut pumped, &mut self.runnable);
            for lane in pumped.drain(..) {
                self.pump(lane);
            }
            self.pumped = pumped;
            let now = clock::now();
            if self.done == self.lanes.len() {
                drain_until = drain_until.min(now.saturating_add(self.drain));
                let told = self.stop.drain_until.load(Ordering::Relaxed);
                if told != 0 {
                    drain_until = drain_until.min(told);
                }
                let outstanding = |lane: &Lane| lane.producer.outstanding_records() > 0;
                if !self.lanes.iter().any(outstanding) || now >= drain_until {
                    break;
                }
            }
            self.ledger.tick(now);
            self.watch_cpu(now);
            self.ledger.recorder.looped(now - polled, now - polled);
            let next = || self.wakes.earliest().unwrap_or(Nanos::MAX).min(drain_until);
            let due = self.runnable.is_empty().then(next);
            pacer.wait(&mut self.poll, &mut events, now, due)?;
            polled = clock::now();
            self.serve(&mut pacer, &events);
        }
        Ok(self.finish())
    }

    /// Reads the thread's CPU time when the window opens, and when it closes.
    fn watch_cpu(&mut self, now: Nanos) {
        let (opens, closes) = self.window;
        if self.cpu_before.is_none() && now >= opens {
            self.cpu_before = Some(cpu::thread());
        }
        if self.cpu_after.is_none() && now >= closes {
            self.cpu_after = Some(cpu::thread());
        }
    }

    fn serve(&mut self, pacer: &mut Pacer, events: &Events) {
        for event in events {
            match event.token() {
                ALARM => pacer.rang(),
                MAIL => {
                    if let Err(why) = self.take_mail() {
                        self.events.push(why);
                    }
                }
                Token(link) => {
                    if event.is_writable()
                        && let Some(connection) = &mut self.links[link].connection
                    {
                        connection.writable();
                    }
                    if event.is_readable() || event.is_read_closed() {
                        self.read(link);
                    }
                    let lane = self.links[link].lane;
                    self.runnable.push(lane);
                }
            }
        }
        self.runnable.sort_unstable();
        self.runnable.dedup();
    }

    /// Lets a lane offer, sends what is ready, and says when it is to be woken.
    fn pump(&mut self, index: u32) {
        let now = clock::now();
        let lane = &mut self.lanes[index as usize];
        let mut wake = None;
        if !self.finished[index as usize] {
            match lane.offer(now, &mut self.ledger.recorder) {
                Offered::More => self.runnable.push(index),
                Offered::Until(at) | Offered::Blocked(at) => wake = Some(at),
                Offered::End => {
                    self.finished[index as usize] = true;
                    self.done += 1;
                    lane.producer.flush_start(now);
                }
            }
        }
        self.send(index);
        let now = clock::now();
        let lane = &mut self.lanes[index as usize];
        let mut outcomes = self.ledger.told(-1, now);
        let next = lane.producer.next_deadline();
        if next.is_some_and(|next| next <= now) {
            lane.producer.expire(now, &mut outcomes);
        }
        if lane.producer.take_needs_metadata() {
            self.commands.send(Command::Refresh { topics: Vec::new() });
        }
        let again = now + self.tick;
        let next = lane.producer.next_deadline().map(|next| next.max(again));
        for at in next.into_iter().chain(self.link_deadlines(index)) {
            wake = Some(wake.map_or(at, |wake| wake.min(at)));
        }
        self.wakes.set(index, wake);
    }

    /// When the oldest request of one of the lane's connections is over its time.
    fn link_deadlines(&self, lane: u32) -> Option<Nanos> {
        let own = self.links_of[lane as usize].iter();
        own.filter_map(|at| {
            self.links[*at]
                .connection
                .as_ref()?
                .pipeline()
                .next_deadline()
        })
        .min()
    }

    /// Drains what is ready into the lane's connections, one write each.
    fn send(&mut self, index: u32) {
        let now = clock::now();
        let mut ready = std::mem::take(&mut self.ready);
        self.lanes[index as usize]
            .producer
            .ready_routes(now, &mut ready);
        for position in 0..self.links_of[index as usize].len() {
            let at = self.links_of[index as usize][position];
            let route = self.links[at].route;
            let is_ready = ready.contains(&route);
            if let Err(lost) = self.send_link(at, is_ready, now) {
                self.lose(at, &lost);
            }
        }
        self.ready = ready;
    }

    fn send_link(&mut self, at: usize, is_ready: bool, now: Nanos) -> Result<(), Lost> {
        let link = &mut self.links[at];
        let Some(connection) = &mut link.connection else {
            return Ok(());
        };
        connection.check_deadline(now)?;
        let version = connection.versions().agree(ApiKey::PRODUCE);
        let Ok(version) = version else {
            return Ok(());
        };
        let lane = &mut self.lanes[link.lane as usize];
        while is_ready && connection.pipeline().can_send(now) {
            let context = WireContext {
                version,
                correlation_id: connection.pipeline().next_correlation_id(),
                client_id: &self.client_ids[link.lane as usize],
            };
            let Some(request) = lane.producer.drain(now, link.route, &context) else {
                break;
            };
            connection.push(now, context.correlation_id, request);
        }
        connection.write(now)?;
        let node = connection.node_id();
        let mut outcomes = self.ledger.told(node, now);
        let mutes = connection.pipeline().mutes().clone();
        for sent in connection.pipeline_mut().completed_without_reply() {
            lane.producer.on_written(sent, &mutes, &mut outcomes);
        }
        Ok(())
    }

    fn read(&mut self, at: usize) {
        let link = &mut self.links[at];
        let Some(mut connection) = link.connection.take() else {
            return;
        };
        let producer = &mut self.lanes[link.lane as usize].producer;
        let mutes = connection.pipeline().mutes().clone();
        let mut outcomes = self.ledger.told(connection.node_id(), clock::now());
        let mut mute = 0;
        let mut refresh = false;
        let mut malformed = None;
        let result = connection.read(&mut self.buffer, |body, sent| {
            let answered = answered(outcomes.node, &sent);
            match producer.on_reply(sent, body, &mutes, &mut outcomes) {
                Ok(replied) => {
                    mute = mute.max(replied.throttle);
                    refresh |= replied.refresh_metadata;
                    outcomes.recorder.request(&Answered {
                        throttled: replied.throttle,
                        ..answered
                    });
                }
                Err((error, request)) => {
                    let progress = crate::net::pipeline::Progress::Written;
                    producer.on_lost(outcomes.now, request, progress, &mut outcomes);
                    malformed = Some(Lost::Header(error));
                }
            }
        });
        if mute > 0 {
            let now = clock::now();
            connection.pipeline_mut().mute_until(now, now + mute);
        }
        self.links[at].connection = Some(connection);
        if refresh {
            self.commands.send(Command::Refresh { topics: Vec::new() });
        }
        if let Some(lost) = result.err().or(malformed) {
            self.lose(at, &lost);
        }
    }

    /// Gives a connection up, and asks for another one.
    fn lose(&mut self, at: usize, lost: &Lost) {
        let link = &mut self.links[at];
        let Some(mut connection) = link.connection.take() else {
            return;
        };
        let node = connection.node_id();
        self.events
            .push(format!("connection to broker {node} lost: {lost}"));
        // The socket closes when it is dropped, whether the poll still knew it or not.
        let _ = connection.deregister(self.poll.registry());
        let now = clock::now();
        let (lane, route) = (link.lane, link.route);
        let producer = &mut self.lanes[lane as usize].producer;
        let mut outcomes = self.ledger.told(node, now);
        for (request, progress) in connection.pipeline_mut().drain_entries() {
            outcomes.recorder.request_retried();
            producer.on_lost(now, request, progress, &mut outcomes);
        }
        self.commands.send(Command::Refresh { topics: Vec::new() });
        self.ask(at, lane, route);
        self.runnable.push(lane);
    }

    fn take_mail(&mut self) -> Result<(), String> {
        let mut mail = std::mem::take(&mut self.mail);
        self.inbox.take(&mut mail);
        let mut result = Ok(());
        for event in mail.drain(..) {
            if let Err(why) = self.hear(event) {
                result = Err(why);
            }
        }
        self.mail = mail;
        result
    }

    fn hear(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Snapshot(snapshot) => {
                for lane in 0..self.lanes.len() as u32 {
                    self.lanes[lane as usize].producer.update(&snapshot);
                    self.connect_routes(lane);
                    self.runnable.push(lane);
                }
            }
            Event::Connected {
                lane,
                ticket,
                established,
            } => {
                let at = ticket as usize;
                let producer = &mut self.lanes[lane as usize].producer;
                let limits = Limits {
                    in_flight_max: producer.options().in_flight_max,
                    request_timeout: producer.options().request_timeout,
                };
                let mut connection = Connection::new(established, limits, None);
                connection
                    .versions()
                    .agree(ApiKey::PRODUCE)
                    .map_err(|e| e.to_string())?;
                connection
                    .register(self.poll.registry(), Token(at))
                    .map_err(|e| e.to_string())?;
                self.links[at].connection = Some(connection);
                self.runnable.push(lane);
            }
            Event::ConnectFailed {
                ticket,
                error,
                again,
                ..
            } => {
                self.events.push(error.to_string());
                if !again {
                    let link = &self.links[ticket as usize];
                    let producer = &self.lanes[link.lane as usize].producer;
                    if producer.route_in_use(link.route) {
                        return Err(error.to_string());
                    }
                }
            }
            Event::ProducerId {
                lane,
                producer_id,
                epoch,
                ..
            } => {
                let producer = &mut self.lanes[lane as usize].producer;
                producer.set_identity(producer_id, epoch);
                self.runnable.push(lane);
            }
            Event::ProducerIdFailed { error, .. } => return Err(error.to_string()),
        }
        Ok(())
    }

    /// Asks for the connections of a lane's routes that were never asked for.
    fn connect_routes(&mut self, lane: u32) {
        let count = self.lanes[lane as usize].producer.route_count() as u32;
        for route in (0..count).map(RouteIndex) {
            let own = |at: &usize| self.links[*at].route == route;
            let in_use = self.lanes[lane as usize].producer.route_in_use(route);
            if in_use && !self.links_of[lane as usize].iter().any(own) {
                self.links_of[lane as usize].push(self.links.len());
                self.links.push(Link {
                    lane,
                    route,
                    connection: None,
                });
                self.ask(self.links.len() - 1, lane, route);
            }
        }
    }

    fn ask(&self, at: usize, lane: u32, route: RouteIndex) {
        let (node_id, _) = self.lanes[lane as usize].producer.route(route);
        self.commands.send(Command::Connect {
            lane: self.lane_ref(lane),
            ticket: at as u64,
            node_id,
        });
    }

    fn lane_ref(&self, lane: u32) -> LaneRef {
        LaneRef {
            worker: self.index,
            lane,
        }
    }

    /// Nothing more is offered: what was due and not taken is unsent.
    fn leave_all(&mut self, now: Nanos) {
        for index in 0..self.lanes.len() {
            let lane = &mut self.lanes[index];
            if !self.finished[index] {
                lane.leave(now, RUN_ENDED, &mut self.ledger.recorder);
                lane.producer.flush_start(now);
                self.finished[index] = true;
                self.done += 1;
            }
            self.runnable.push(index as u32);
        }
    }

    /// Ends what is still open.
    fn finish(mut self) -> Worked {
        let now = clock::now();
        for index in 0..self.links.len() {
            let Some(mut connection) = self.links[index].connection.take() else {
                continue;
            };
            let lane = self.links[index].lane;
            let node = connection.node_id();
            for (request, progress) in connection.pipeline_mut().drain_entries() {
                let mut outcomes = self.ledger.told(node, now);
                let producer = &mut self.lanes[lane as usize].producer;
                producer.on_lost(now, request, progress, &mut outcomes);
            }
        }
        let mut buffer_bytes_max = 0;
        let mut measured_from = None;
        for lane in &mut self.lanes {
            let mut outcomes = self.ledger.told(-1, now);
            lane.producer.abort(RUN_ENDED, &mut outcomes);
            buffer_bytes_max += lane.producer.buffer_bytes_max();
            measured_from = match (measured_from, lane.phases.measured_from()) {
                (Some(a), Some(b)) => Some(std::cmp::min::<Nanos>(a, b)),
                (a, b) => a.or(b),
            };
        }
        if let Some(witness) = &mut self.ledger.witness {
            witness.finish(now);
        }
        Worked {
            recorder: self.ledger.recorder,
            measured_from,
            events: self.events,
            buffer_bytes_max,
            cpu_ns: self
                .cpu_after
                .unwrap_or_else(cpu::thread)
                .saturating_sub(self.cpu_before.unwrap_or(0)),
        }
    }
}

fn answered(node: i32, sent: &Sent<Request<Stamps>>) -> Answered {
    Answered {
        node,
        last_byte_written: sent.last_byte_written,
        first_byte_read: sent.first_byte_read,
        throttled: 0,
    }
}
