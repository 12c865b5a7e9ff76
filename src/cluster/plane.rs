//! The control plane's own loop: one task that owns what is known, and tasks that ask for it.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{MetadataRequest, MetadataResponse, TopicName};
use kafka_protocol::protocol::StrBytes;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use super::control::{
    Answer, Board, BootstrapError, CallError, Command, ControlOptions, Event, LaneRef, Node,
};
use super::dials::{Dials, Next, Wanted};
use super::merge::{apply_hint, merge};
use super::pool::Pool;
use super::producer_id::{IdTask, IdWanted, post};
use super::reach::{Failure, Manner, Reached, Way, ask_any, reach};
use super::refresh::Refresh;
use super::snapshot::{Parts, Snapshot};
use crate::base::clock::{self, Nanos};
use crate::net::address::Address;
use crate::net::connect::{ConnectError, STAGGER, Target, connect};
use crate::net::control_stream::ControlStream;
use crate::net::mailbox::Post;
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;
use crate::wire::control::{ControlError, RequestMeta};

/// What the control plane's thread is told.
pub(super) enum Message {
    Bootstrap(mpsc::Sender<Result<Arc<Snapshot>, BootstrapError>>),
    Command(Command),
    Call(Call),
    Stop,
}

type Encode = Box<dyn FnOnce(&RequestMeta<'_>) -> Result<Vec<u8>, ControlError> + Send>;

/// A request whose type only the caller knows.
pub(super) struct Call {
    pub node: Node,
    pub api: ApiKey,
    pub encode: Encode,
    pub reply: mpsc::Sender<Result<Answer, CallError>>,
}

/// What a task brings back.
enum Done {
    Metadata(Result<(Reached, MetadataResponse), Vec<Failure>>),
    Dialled {
        node_id: i32,
        wanted: Wanted,
        result: Result<ControlStream, ConnectError>,
    },
    /// A call's connection to keep, and what its caller waits for.
    Called {
        reached: Option<Reached>,
        result: Result<Answer, CallError>,
        reply: mpsc::Sender<Result<Answer, CallError>>,
    },
    ProducerIds(Option<Reached>),
}

/// All that the control plane knows.
pub(super) struct Plane {
    options: ControlOptions,
    manner: Manner,
    posts: Arc<[Post<Event>]>,
    board: Arc<Board>,
    snapshot: Arc<Snapshot>,
    topics: BTreeSet<Arc<str>>,
    refresh: Refresh,
    /// What is known may be of another cluster: only the bootstrap servers are asked, and their
    /// answer stands alone.
    forget: bool,
    /// Who gave the last metadata, as users know it.
    told_by: String,
    bootstrapping: Option<mpsc::Sender<Result<Arc<Snapshot>, BootstrapError>>>,
    pool: Pool,
    dials: Dials,
    ids_wanted: Vec<IdWanted>,
    ids_running: bool,
    tasks: JoinSet<Done>,
}

/// Runs a plane on a thread of its own until it is told to stop.
pub(super) fn spawn(
    plane: Plane,
    messages: UnboundedReceiver<Message>,
) -> io::Result<JoinHandle<()>> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build()?;
    let thread = std::thread::Builder::new().name("kdyno-control".to_owned());
    thread.spawn(move || {
        runtime.block_on(plane.run(messages));
        // A name that is still being looked up may take long; nobody waits for it.
        runtime.shutdown_background();
    })
}

impl Plane {
    pub fn new(options: ControlOptions, posts: Vec<Post<Event>>, board: Arc<Board>) -> Self {
        let max_age = options.metadata_max_age.as_nanos() as Nanos;
        Self {
            manner: Manner {
                connect: Arc::new(options.connect.clone()),
                request_timeout: options.request_timeout,
                stagger: STAGGER,
            },
            posts: posts.into(),
            board,
            snapshot: Arc::default(),
            topics: options.topics.iter().cloned().collect(),
            refresh: Refresh::new(max_age, options.retry),
            forget: false,
            told_by: String::new(),
            bootstrapping: None,
            pool: Pool::default(),
            dials: Dials::new(options.connect_concurrency, options.reconnect),
            ids_wanted: Vec::new(),
            ids_running: false,
            tasks: JoinSet::new(),
            options,
        }
    }

    async fn run(mut self, mut messages: UnboundedReceiver<Message>) {
        loop {
            let now = clock::now();
            self.start_metadata(now);
            self.start_dials(now);
            self.start_ids();
            let due = [self.refresh.due(), self.dials.due()];
            let due = due.into_iter().flatten().min();
            let wait = due.map(|due| Duration::from_nanos(due.saturating_sub(now)));
            tokio::select! {
                message = messages.recv() => match message {
                    None | Some(Message::Stop) => return,
                    Some(message) => self.told(message),
                },
                Some(done) = self.tasks.join_next() => match done {
                    Ok(done) => self.done(done),
                    Err(error) => match error.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(_cancelled) => {}
                    },
                },
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
        }
    }

    fn told(&mut self, message: Message) {
        match message {
            Message::Bootstrap(reply) => {
                self.bootstrapping = Some(reply);
                self.refresh.need();
            }
            Message::Call(call) => self.start_call(call),
            Message::Command(Command::Connect {
                lane,
                ticket,
                node_id,
            }) => self.dials.want(node_id, Wanted { lane, ticket }),
            Message::Command(Command::Refresh { topics }) => {
                self.topics.extend(topics);
                self.refresh.need();
            }
            Message::Command(Command::InitProducerId { lane, ticket }) => {
                self.ids_wanted.push(IdWanted { lane, ticket });
            }
            Message::Command(Command::Hint(hint)) => {
                if let Some(snapshot) = apply_hint(&self.snapshot, &hint) {
                    self.publish(snapshot);
                }
                self.refresh.need();
            }
            Message::Stop => {}
        }
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Metadata(Ok((reached, response))) => self.learn(reached, &response),
            Done::Metadata(Err(failures)) => self.nobody_answered(&failures),
            Done::Dialled {
                node_id,
                wanted,
                result,
            } => self.dialled(node_id, wanted, result),
            Done::Called {
                reached,
                result,
                reply,
            } => {
                // Kept first: the caller's next call finds it.
                self.keep(reached);
                // Whoever asked may have given up waiting.
                let _ = reply.send(result);
            }
            Done::ProducerIds(reached) => {
                self.ids_running = false;
                self.keep(reached);
            }
        }
    }

    fn keep(&mut self, reached: Option<Reached>) {
        if let Some(reached) = reached {
            self.pool.put(reached.stream);
        }
    }
}

// Metadata.
impl Plane {
    fn start_metadata(&mut self, now: Nanos) {
        if self.refresh.due().is_none_or(|due| due > now) {
            return;
        }
        self.refresh.started();
        let ways = self.ways();
        let manner = self.manner.clone();
        let topics: Vec<Arc<str>> = self.topics.iter().cloned().collect();
        let auto = self.options.allow_auto_topic_creation;
        let request = move |version| metadata_request(&topics, auto, version);
        self.tasks
            .spawn(async move { Done::Metadata(ask_any(ways, &manner, request).await) });
    }

    fn learn(&mut self, reached: Reached, response: &MetadataResponse) {
        let now = clock::now();
        let error = BrokerError(response.error_code);
        if error.is_error() {
            let failure = format!("{}: Metadata: {error}", reached.address);
            return self.metadata_refused(error, failure);
        }
        let previous = match std::mem::take(&mut self.forget) {
            true => &Snapshot::new(Parts {
                generation: self.snapshot.generation,
                ..Parts::default()
            }),
            false => &*self.snapshot,
        };
        let merged = merge(previous, response, &self.topics);
        self.refresh
            .succeeded(now, merged.complete, fastrand::f64());
        self.told_by = reached.address.clone();
        self.pool.put(reached.stream);
        self.publish(merged.snapshot);
        if let Some(reply) = self.bootstrapping.take() {
            // Whoever asked may have given up waiting.
            let _ = reply.send(Ok(Arc::clone(&self.snapshot)));
        }
    }

    fn metadata_refused(&mut self, error: BrokerError, failure: String) {
        self.refresh.failed(clock::now(), fastrand::f64());
        if error == BrokerError::REBOOTSTRAP_REQUIRED {
            self.forget_cluster();
        }
        if let Some(reply) = self.bootstrapping.take() {
            let _ = reply.send(Err(BootstrapError(vec![failure])));
        }
    }

    fn nobody_answered(&mut self, failures: &[Failure]) {
        let now = clock::now();
        self.refresh.failed(now, fastrand::f64());
        let since = self.refresh.failing_since().unwrap_or(now);
        let trigger = self.options.rebootstrap_after.as_nanos() as Nanos;
        if now - since >= trigger || failures.iter().any(Failure::rebootstrap) {
            self.forget_cluster();
        }
        if let Some(reply) = self.bootstrapping.take() {
            let texts = failures.iter().map(ToString::to_string).collect();
            let _ = reply.send(Err(BootstrapError(texts)));
        }
    }

    fn forget_cluster(&mut self) {
        self.forget = true;
        self.pool.retain(|_| false);
    }

    fn publish(&mut self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        let previous = std::mem::replace(&mut self.snapshot, Arc::clone(&snapshot));
        self.pool
            .retain(|node_id| node_id < 0 || previous.broker(node_id) == snapshot.broker(node_id));
        self.board.post(Arc::clone(&snapshot));
        for worker in 0..self.posts.len() as u32 {
            post(&self.posts, worker, Event::Snapshot(Arc::clone(&snapshot)));
        }
    }

    /// Ways to whichever broker: an idle connection, brokers that did not fail lately, the others,
    /// the bootstrap servers.
    fn ways(&mut self) -> Vec<Way> {
        let idle = self
            .pool
            .take_any()
            .map(|stream| Way::Idle(Box::new(stream)));
        let dials = self.targets().into_iter().map(Way::Dial);
        idle.into_iter().chain(dials).collect()
    }

    fn targets(&self) -> Vec<Target> {
        let mut brokers: Vec<Target> = match self.forget {
            true => Vec::new(),
            false => self.snapshot.brokers().iter().map(target).collect(),
        };
        fastrand::shuffle(&mut brokers);
        brokers.sort_by_key(|broker| self.dials.failures(broker.node_id));
        let bootstrap = self.options.bootstrap.iter().cloned();
        brokers.extend((1..).zip(bootstrap).map(|(nth, address)| Target {
            node_id: -nth,
            address,
        }));
        brokers
    }
}

// Connections for lanes.
impl Plane {
    fn start_dials(&mut self, now: Nanos) {
        while let Some(next) = self.dials.next(now, &self.snapshot) {
            match next {
                Next::Gone(node_id, wanted) => {
                    let error = CallError::NoSuchNode(node_id).to_string();
                    self.connect_failed(node_id, wanted, error, false);
                }
                Next::Dial(target, wanted) => {
                    let options = Arc::clone(&self.manner.connect);
                    let node_id = target.node_id;
                    self.tasks.spawn(async move {
                        Done::Dialled {
                            node_id,
                            wanted,
                            result: connect(target, options).await,
                        }
                    });
                }
            }
        }
    }

    fn dialled(
        &mut self,
        node_id: i32,
        wanted: Wanted,
        result: Result<ControlStream, ConnectError>,
    ) {
        let (error, again) = match result.map(ControlStream::into_established) {
            Ok(Ok(established)) => {
                self.dials.succeeded(node_id);
                let LaneRef { worker, lane } = wanted.lane;
                let event = Event::Connected {
                    lane,
                    ticket: wanted.ticket,
                    established,
                };
                return post(&self.posts, worker, event);
            }
            Ok(Err(error)) => (error.to_string(), true),
            Err(error) => (self.explain(node_id, &error), !error.permanent()),
        };
        if again {
            let unit = fastrand::f64();
            self.dials.failed(clock::now(), node_id, wanted, unit);
            // It may have moved.
            self.refresh.need();
        } else {
            self.dials.gave_up(node_id);
        }
        self.connect_failed(node_id, wanted, error, again);
    }

    fn connect_failed(&self, node_id: i32, wanted: Wanted, error: String, again: bool) {
        let LaneRef { worker, lane } = wanted.lane;
        let event = Event::ConnectFailed {
            lane,
            ticket: wanted.ticket,
            node_id,
            error: error.into(),
            again,
        };
        post(&self.posts, worker, event);
    }

    fn explain(&self, node_id: i32, error: &ConnectError) -> String {
        if self.dials.reached(node_id) || error.permanent() {
            return format!("broker {node_id} at {error}");
        }
        format!(
            "broker {node_id} cannot be reached at {error}. That is the address which {} gave for \
             it: see advertised.listeners of the broker",
            self.told_by
        )
    }
}

// Requests for others.
impl Plane {
    fn start_ids(&mut self) {
        if self.ids_running || self.ids_wanted.is_empty() {
            return;
        }
        self.ids_running = true;
        let idle = self.pool.take_any().map(|stream| Reached {
            address: stream.peer().to_string(),
            stream,
        });
        let task = IdTask {
            idle,
            targets: self.targets(),
            manner: self.manner.clone(),
            retry: self.options.retry,
            timeout: self.options.api_timeout,
            posts: Arc::clone(&self.posts),
        };
        let wanted = std::mem::take(&mut self.ids_wanted);
        self.tasks
            .spawn(async move { Done::ProducerIds(task.run(wanted).await) });
    }

    fn start_call(&mut self, call: Call) {
        let ways = match self.ways_to(call.node) {
            Ok(ways) => ways,
            Err(error) => return drop(call.reply.send(Err(error))),
        };
        let manner = self.manner.clone();
        let timeout = self.options.api_timeout;
        self.tasks.spawn(async move {
            let Call {
                api, encode, reply, ..
            } = call;
            let ask = ask_once(ways, manner, api, encode);
            let (result, reached) = match tokio::time::timeout(timeout, ask).await {
                Ok((result, reached)) => (result, reached),
                Err(_) => (Err(CallError::TimedOut(timeout)), None),
            };
            Done::Called {
                reached,
                result,
                reply,
            }
        });
    }

    fn ways_to(&mut self, node: Node) -> Result<Vec<Way>, CallError> {
        let node_id = match node {
            Node::Any => None,
            Node::Id(node_id) => Some(node_id),
            Node::Controller => self.snapshot.controller,
        };
        let Some(node_id) = node_id else {
            return Ok(self.ways());
        };
        if let Some(stream) = self.pool.take(node_id) {
            return Ok(vec![Way::Idle(Box::new(stream))]);
        }
        let broker = self.snapshot.broker(node_id);
        let broker = broker.ok_or(CallError::NoSuchNode(node_id))?;
        Ok(vec![Way::Dial(target(broker))])
    }
}

async fn ask_once(
    ways: Vec<Way>,
    manner: Manner,
    api: ApiKey,
    encode: Encode,
) -> (Result<Answer, CallError>, Option<Reached>) {
    let mut reached = match reach(ways, &manner).await {
        Ok(reached) => reached,
        Err(errors) => return (Err(CallError::Connect(errors)), None),
    };
    let timeout = manner.request_timeout;
    let peer = reached.address.clone();
    match reached.stream.ask_raw(api, encode, timeout).await {
        Ok(reply) => (Ok(Answer { reply, peer }), Some(reached)),
        Err(error) => (Err(CallError::Ask { peer, error }), None),
    }
}

fn target(broker: &super::snapshot::Broker) -> Target {
    Target {
        node_id: broker.id,
        address: Address {
            host: broker.host.clone(),
            port: broker.port,
        },
    }
}

fn metadata_request(topics: &[Arc<str>], auto: bool, version: i16) -> MetadataRequest {
    let topic = |name: &Arc<str>| {
        let name = TopicName(StrBytes::from_string(name.to_string()));
        MetadataRequestTopic::default().with_name(Some(name))
    };
    MetadataRequest::default()
        .with_topics(Some(topics.iter().map(topic).collect()))
        // Before version 4 a broker that may make topics cannot be told not to.
        .with_allow_auto_topic_creation(auto || version < 4)
}
