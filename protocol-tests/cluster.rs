//! The control plane against fakes: who is asked, how often, and what workers are told.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use kafka_protocol::messages::{
    DescribeClusterRequest, DescribeClusterResponse, InitProducerIdRequest, InitProducerIdResponse,
    MetadataRequest, MetadataResponse,
};
use kdyno::cluster::control::{
    CallError, Command, ControlOptions, ControlPlane, Event, LaneRef, Node,
};
use kdyno::cluster::merge::Hint;
use kdyno::cluster::snapshot::Snapshot;
use kdyno::net::mailbox::{self, Inbox};
use kdyno::wire::api::ApiKey;
use kdyno::wire::broker_error::BrokerError;
use mio::{Events, Poll, Token};

use crate::support::cluster::{OFFERS, Topic, api_versions, control_options, healthy, metadata};
use crate::support::fake::{Action, Behaviour, Fake, PATIENCE, Request, patched, reply, typed};

const META_UNREACHABLE: &str = "000000680000000100000000000200000001176b61666b612e696e7465726e616c2e696e76616c69640000238400000263ffffffff02000002740102030405060708090a0b0c0d0e0f1000020000000000000000000100000001020000000102000000010100800000000000";

/// A control plane and the mailboxes of its workers.
struct Rig {
    plane: ControlPlane,
    workers: Vec<Worker>,
}

struct Worker {
    poll: Poll,
    inbox: Inbox<Event>,
    events: VecDeque<Event>,
}

impl Rig {
    fn start(options: ControlOptions, workers: usize) -> Self {
        let boxes = (0..workers).map(|_| {
            let poll = Poll::new().unwrap();
            let (post, inbox) = mailbox::channel(poll.registry(), Token(0)).unwrap();
            let events = VecDeque::new();
            (
                post,
                Worker {
                    poll,
                    inbox,
                    events,
                },
            )
        });
        let (posts, workers) = boxes.unzip();
        let plane = ControlPlane::start(options, posts).unwrap();
        Self { plane, workers }
    }

    /// One worker, bootstrapped from `fake`.
    fn of(fake: &Fake) -> Self {
        let rig = Self::start(control_options(&[fake.address()]), 1);
        rig.plane.bootstrap().unwrap();
        rig
    }

    fn connect(&self, lane: LaneRef, ticket: u64, node_id: i32) {
        let command = Command::Connect {
            lane,
            ticket,
            node_id,
        };
        self.plane.commands().send(command);
    }

    fn ask_producer_id(&self, ticket: u64) {
        let command = Command::InitProducerId { lane: LANE, ticket };
        self.plane.commands().send(command);
    }

    fn refresh(&self) {
        let topics = Vec::new();
        self.plane.commands().send(Command::Refresh { topics });
    }

    /// The next event of the first worker that `pick` takes.
    fn event<T>(&mut self, pick: impl FnMut(Event) -> Option<T>) -> T {
        self.workers[0].event(pick)
    }

    fn failure(&mut self) -> (String, bool) {
        self.event(|event| match event {
            Event::ConnectFailed { error, again, .. } => Some((error.to_string(), again)),
            _ => None,
        })
    }

    fn connected(&mut self) -> (u64, SocketAddr) {
        self.event(|event| match event {
            Event::Connected {
                ticket,
                established,
                ..
            } => Some((ticket, established.peer)),
            _ => None,
        })
    }

    fn wait_for(&self, wanted: impl FnMut(&Snapshot) -> bool) -> Arc<Snapshot> {
        let found = self.plane.wait_for(PATIENCE, wanted);
        found.expect("a snapshot as wanted")
    }
}

impl Worker {
    fn event<T>(&mut self, mut pick: impl FnMut(Event) -> Option<T>) -> T {
        let started = Instant::now();
        let mut ready = Events::with_capacity(4);
        loop {
            while let Some(event) = self.events.pop_front() {
                if let Some(picked) = pick(event) {
                    return picked;
                }
            }
            assert!(started.elapsed() < PATIENCE, "no such event came");
            let tick = Some(Duration::from_millis(100));
            self.poll.poll(&mut ready, tick).unwrap();
            self.inbox.take(&mut self.events);
        }
    }
}

const LANE: LaneRef = LaneRef { worker: 0, lane: 3 };

/// A fake whose script may use its own address and how many requests of this API came before.
fn fake(
    script: impl Fn(&Request, SocketAddr, usize) -> Vec<Action> + Send + Sync + 'static,
) -> Fake {
    let address = Arc::new(OnceLock::new());
    let own = Arc::clone(&address);
    let counts: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
    let behaviour = Behaviour::script(move |request| {
        let nth = counts[request.api.0 as usize].fetch_add(1, Ordering::SeqCst);
        script(request, *own.wait(), nth)
    });
    let fake = Fake::start(behaviour);
    address.set(fake.address()).unwrap();
    fake
}

fn healthy_fake() -> Fake {
    fake(|request, address, _| healthy(request, address))
}

/// Answers Metadata with `answer` by how many came before; the rest as a healthy broker.
fn answering(
    answer: impl Fn(usize, SocketAddr) -> MetadataResponse + Send + Sync + 'static,
) -> Fake {
    fake(move |request, address, nth| match request.api {
        ApiKey::METADATA => reply::<MetadataRequest>(request, &answer(nth, address)),
        _ => healthy(request, address),
    })
}

fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

fn leader(snapshot: &Snapshot) -> Option<i32> {
    snapshot.topic("t")?.partition(0)?.leader
}

#[test]
fn every_bootstrap_entry_is_tried_without_waiting_long_for_one() {
    let silent = Fake::start(Behaviour::script(|_| Vec::new()));
    let good = healthy_fake();
    for bad in [closed_port(), silent.address()] {
        let started = Instant::now();
        let rig = Rig::start(control_options(&[bad, good.address()]), 1);
        let snapshot = rig.plane.bootstrap().unwrap();
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(leader(&snapshot), Some(1));
        assert_eq!(snapshot.cluster_id.as_deref(), Some("fake"));
        assert_eq!(snapshot.controller, Some(1));
    }
}

#[test]
fn a_bootstrap_that_fails_names_each_entry_and_why() {
    let closed = closed_port();
    let tls = vec![Action::Send(vec![0x15, 3, 3, 0, 2, 2, 0x46])];
    let tls = Fake::start(Behaviour::greeting(tls));
    let mut options = control_options(&[closed, tls.address()]);
    options
        .bootstrap
        .push("no.such.invalid:9092".parse().unwrap());
    let text = Rig::start(options, 0)
        .plane
        .bootstrap()
        .unwrap_err()
        .to_string();
    let refused = format!("{closed}: connection refused");
    let not_kafka = format!("{}: connected, then the peer speaks TLS", tls.address());
    for words in [
        &refused,
        &not_kafka,
        "no.such.invalid:9092: does not resolve",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn an_advertised_address_that_cannot_be_reached_is_named_with_where_it_came_from() {
    let offers = [(ApiKey::PRODUCE, 0, 11), (ApiKey::METADATA, 0, 12)];
    let fake = fake(move |request, _, _| match request.api {
        ApiKey::METADATA => patched(request, META_UNREACHABLE),
        _ => api_versions(request, &offers),
    });
    let mut rig = Rig::of(&fake);
    rig.connect(LANE, 1, 1);
    let (text, again) = rig.failure();
    assert!(again);
    let bootstrap = fake.address().to_string();
    let address = "broker 1 cannot be reached at kafka.internal.invalid:9092: does not resolve";
    for words in [address, &bootstrap, "advertised.listeners"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn lanes_of_several_workers_get_connections_of_their_own() {
    let fake = healthy_fake();
    let mut rig = Rig::start(control_options(&[fake.address()]), 2);
    rig.plane.bootstrap().unwrap();
    for worker in [0, 1] {
        for lane in [0, 1] {
            rig.connect(LaneRef { worker, lane }, 10 + u64::from(lane), 1);
        }
    }
    for worker in &mut rig.workers {
        let mut got: Vec<_> = (0..2)
            .map(|_| {
                worker.event(|event| match event {
                    Event::Connected {
                        lane,
                        ticket,
                        established,
                    } => {
                        assert_eq!(established.node_id, 1);
                        assert_eq!(established.versions.agree(ApiKey::PRODUCE), Ok(13));
                        Some((lane, ticket))
                    }
                    _ => None,
                })
            })
            .collect();
        got.sort_unstable();
        assert_eq!(got, [(0, 10), (1, 11)]);
    }
    for worker in &mut rig.workers {
        worker.events.clear();
    }
    rig.refresh();
    for worker in &mut rig.workers {
        worker.event(|event| matches!(event, Event::Snapshot(_)).then_some(()));
    }
}

#[test]
fn a_broker_that_refuses_is_dialled_again_with_back_off_until_it_takes() {
    // Its first three connections end at once.
    let broker = fake(|request, address, _| match request.connection {
        0..3 => vec![Action::Close],
        _ => healthy(request, address),
    });
    let at = broker.address();
    let fake = answering(move |_, _| metadata(&[(1, at)], &[Topic::led("t")]));
    let mut options = control_options(&[fake.address()]);
    // Metadata stays away from the broker that is looked at.
    options.reconnect.base *= 2;
    let mut rig = Rig::start(options, 1);
    rig.plane.bootstrap().unwrap();
    rig.connect(LANE, 7, 1);
    let (text, again) = rig.failure();
    assert!(again, "{text}");
    assert_eq!(rig.connected(), (7, at));
}

#[test]
fn a_broker_that_is_not_in_the_cluster_is_not_dialled() {
    let fake = healthy_fake();
    let mut rig = Rig::of(&fake);
    rig.connect(LANE, 1, 9);
    let (text, again) = rig.failure();
    assert_eq!(
        (text.as_str(), again),
        ("broker 9 is not part of the cluster", false)
    );
}

#[test]
fn a_broker_without_a_common_version_is_not_dialled_again() {
    let old = fake(|request, _, _| api_versions(request, &[(ApiKey::PRODUCE, 0, 2)]));
    let at = old.address();
    let fake = answering(move |_, _| metadata(&[(1, at)], &[Topic::led("t")]));
    let mut rig = Rig::of(&fake);
    rig.connect(LANE, 1, 1);
    let (text, again) = rig.failure();
    assert!(!again);
    assert!(
        text.contains("kdyno speaks versions 3–13, the broker 0–2"),
        "{text}"
    );
    assert!(text.contains(&format!("broker 1 at {at}")), "{text}");
}

#[test]
fn a_broker_that_moved_is_dialled_where_it_is_now() {
    let new = healthy_fake();
    let (old, at) = (closed_port(), new.address());
    let fake = answering(move |nth, _| {
        let address = if nth == 0 { old } else { at };
        metadata(&[(1, address)], &[Topic::led("t")])
    });
    let mut rig = Rig::of(&fake);
    rig.connect(LANE, 1, 1);
    assert_eq!(rig.connected(), (1, at));
}

#[test]
fn a_topic_that_is_just_being_made_is_asked_for_until_it_is_there() {
    let fake = answering(|nth, address| {
        let (error, leaders) = match nth {
            0 => (3, vec![]),
            1 => (5, vec![]),
            2 => (0, vec![]),
            3 => (0, vec![(-1, 0)]),
            _ => (0, vec![(1, 0)]),
        };
        let topic = Topic {
            name: "t",
            error,
            leaders,
        };
        metadata(&[(1, address)], &[topic])
    });
    let rig = Rig::of(&fake);
    rig.wait_for(|snapshot| snapshot.topic("t").is_some_and(|topic| topic.ready()));
    assert_eq!(fake.wait_for(ApiKey::METADATA, 5).len(), 5);
}

#[test]
fn a_topic_that_does_not_exist_is_told_in_bounded_time_and_not_hammered() {
    let fake = answering(|_, address| {
        let topic = Topic {
            name: "t",
            error: 3,
            leaders: vec![],
        };
        metadata(&[(1, address)], &[topic])
    });
    let rig = Rig::of(&fake);
    let time = Duration::from_millis(500);
    let latest = rig
        .plane
        .wait_for(time, |snapshot| leader(snapshot).is_some());
    let error = latest.unwrap_err().topic("t").unwrap().error;
    assert_eq!(error, BrokerError::UNKNOWN_TOPIC_OR_PARTITION);
    // 10, 20, 40, 80, then every 100 ms less a fifth.
    assert!(fake.wait_for(ApiKey::METADATA, 1).len() < 12);
}

#[test]
fn metadata_is_asked_by_age_and_only_for_topics_of_interest() {
    let fake = healthy_fake();
    let mut options = control_options(&[fake.address()]);
    options.metadata_max_age = Duration::from_millis(30);
    let rig = Rig::start(options, 1);
    rig.plane.bootstrap().unwrap();
    let topics = vec!["u".into()];
    rig.plane.commands().send(Command::Refresh { topics });
    let asked = fake.wait_for(ApiKey::METADATA, 5);
    let last: MetadataRequest = typed(asked.last().unwrap());
    let names = last.topics.unwrap();
    let names: Vec<_> = names
        .iter()
        .map(|topic| topic.name.as_ref().unwrap().to_string())
        .collect();
    assert_eq!(names, ["t", "u"]);
    assert!(!last.allow_auto_topic_creation);
}

#[test]
fn an_older_leader_epoch_is_never_told_to_workers() {
    let fake = answering(|nth, address| {
        let leaders = vec![[(1, 5), (2, 4), (2, 6)][nth.min(2)]];
        let topic = Topic {
            name: "t",
            error: 0,
            leaders,
        };
        metadata(&[(1, address), (2, address)], &[topic])
    });
    let mut rig = Rig::of(&fake);
    rig.refresh();
    fake.wait_for(ApiKey::METADATA, 2);
    rig.refresh();
    let mut leaders = Vec::new();
    while leaders.last() != Some(&2) {
        leaders.push(rig.event(|event| match event {
            Event::Snapshot(snapshot) => leader(&snapshot),
            _ => None,
        }));
    }
    assert_eq!(leaders, [1, 1, 2]);
}

#[test]
fn a_leader_hint_is_told_to_workers_at_once_and_metadata_is_asked() {
    let fake = healthy_fake();
    let mut rig = Rig::of(&fake);
    let hint = Hint {
        topic: "t".into(),
        partition: 0,
        leader: 2,
        leader_epoch: 9,
        endpoint: Some(kdyno::cluster::snapshot::Broker {
            id: 2,
            host: "127.0.0.1".into(),
            port: 1,
            rack: None,
        }),
    };
    rig.plane.commands().send(Command::Hint(hint));
    rig.event(|event| match event {
        Event::Snapshot(snapshot) => (leader(&snapshot) == Some(2)).then_some(()),
        _ => None,
    });
    fake.wait_for(ApiKey::METADATA, 2);
}

#[test]
fn a_cluster_that_asks_for_it_is_learnt_anew_from_the_bootstrap_servers() {
    // The broker says 129; the bootstrap server then tells of another cluster with lower epochs.
    let broker = answering(|_, _| MetadataResponse::default().with_error_code(129));
    let other = healthy_fake();
    let (old, new) = (broker.address(), other.address());
    let bootstrap = answering(move |nth, _| {
        let (at, epoch) = if nth == 0 { (old, 50) } else { (new, 1) };
        let topic = Topic {
            leaders: vec![(1, epoch)],
            ..Topic::led("t")
        };
        metadata(&[(1, at)], &[topic])
    });
    let rig = Rig::of(&bootstrap);
    rig.refresh();
    let snapshot = rig.wait_for(|snapshot| {
        snapshot
            .broker(1)
            .is_some_and(|broker| broker.port == new.port())
    });
    assert_eq!(snapshot.topic("t").unwrap().partitions[0].leader_epoch, 1);
    assert!(snapshot.generation > 1);
}

#[test]
fn the_bootstrap_list_stays_a_fallback_when_all_known_brokers_are_gone() {
    let (gone, good) = (closed_port(), healthy_fake());
    let at = good.address();
    let bootstrap = answering(move |nth, _| {
        let address = if nth == 0 { gone } else { at };
        metadata(&[(1, address)], &[Topic::led("t")])
    });
    let rig = Rig::of(&bootstrap);
    rig.refresh();
    rig.wait_for(|snapshot| snapshot.broker(1).is_some_and(|b| b.port == at.port()));
}

#[test]
fn a_producer_id_is_asked_for_again_while_the_broker_is_loading() {
    let fake = fake(|request, address, nth| match (request.api, nth) {
        (ApiKey::INIT_PRODUCER_ID, 0..2) => {
            let response = InitProducerIdResponse::default().with_error_code(14);
            reply::<InitProducerIdRequest>(request, &response)
        }
        _ => healthy(request, address),
    });
    let mut rig = Rig::of(&fake);
    rig.ask_producer_id(5);
    let got = rig.event(|event| match event {
        Event::ProducerId {
            lane,
            ticket,
            producer_id,
            epoch,
        } => Some((lane, ticket, producer_id, epoch)),
        _ => None,
    });
    assert_eq!(got, (3, 5, 4000, 0));
    let asked = fake.wait_for(ApiKey::INIT_PRODUCER_ID, 3);
    let request: InitProducerIdRequest = typed(&asked[2]);
    assert_eq!((request.producer_id.0, request.producer_epoch), (-1, -1));
    assert_eq!(request.transactional_id, None);
}

#[test]
fn a_producer_id_that_is_forbidden_is_told_at_once() {
    let fake = fake(|request, address, _| match request.api {
        ApiKey::INIT_PRODUCER_ID => {
            let response = InitProducerIdResponse::default().with_error_code(31);
            reply::<InitProducerIdRequest>(request, &response)
        }
        _ => healthy(request, address),
    });
    let mut rig = Rig::of(&fake);
    rig.ask_producer_id(5);
    let (text, code) = rig.event(|event| match event {
        Event::ProducerIdFailed { error, code, .. } => Some((error, code)),
        _ => None,
    });
    assert_eq!(code, Some(BrokerError::CLUSTER_AUTHORIZATION_FAILED));
    assert!(text.contains("CLUSTER_AUTHORIZATION_FAILED"), "{text}");
    assert_eq!(fake.wait_for(ApiKey::INIT_PRODUCER_ID, 1).len(), 1);
}

#[test]
fn many_lanes_get_their_producer_ids_over_few_connections() {
    let fake = healthy_fake();
    let mut rig = Rig::of(&fake);
    (0..200).for_each(|ticket| rig.ask_producer_id(ticket));
    for wanted in 0..200 {
        let ticket = rig.event(|event| match event {
            Event::ProducerId { ticket, .. } => Some(ticket),
            _ => None,
        });
        assert_eq!(ticket, wanted);
    }
    assert!(fake.connections() <= 3, "{}", fake.connections());
}

fn describing(script: impl Fn(usize) -> Vec<Action> + Send + Sync + 'static) -> Fake {
    fake(move |request, address, nth| match request.api {
        ApiKey::DESCRIBE_CLUSTER => {
            let response = DescribeClusterResponse::default()
                .with_throttle_time_ms(if nth == 0 { 300 } else { 0 })
                .with_error_code(nth as i16);
            [
                reply::<DescribeClusterRequest>(request, &response),
                script(nth),
            ]
            .concat()
        }
        _ => healthy(request, address),
    })
}

#[test]
fn a_call_reaches_any_broker_the_controller_or_the_one_named() {
    let fake = describing(|_| Vec::new());
    let rig = Rig::of(&fake);
    for (nth, node) in [Node::Any, Node::Controller, Node::Id(1)]
        .into_iter()
        .enumerate()
    {
        let response = rig
            .plane
            .call(node, DescribeClusterRequest::default())
            .unwrap();
        assert_eq!(usize::try_from(response.error_code), Ok(nth));
    }
    let unknown = rig
        .plane
        .call(Node::Id(9), DescribeClusterRequest::default());
    assert_eq!(unknown.unwrap_err(), CallError::NoSuchNode(9));
    // The first answer asked for 300 ms of silence on its connection.
    let asked = fake.wait_for(ApiKey::DESCRIBE_CLUSTER, 3);
    assert_eq!(asked[0].connection, asked[1].connection);
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(300));
}

#[test]
fn an_idle_connection_that_the_broker_closed_is_no_failure() {
    let fake = describing(|_| vec![Action::Close]);
    let rig = Rig::of(&fake);
    for nth in 0..3 {
        let response = rig
            .plane
            .call(Node::Any, DescribeClusterRequest::default())
            .unwrap();
        assert_eq!(response.error_code, nth);
        // Its end of the stream is there before the next call.
        fake.wait_for_end(fake.requests().last().unwrap().connection);
    }
}

#[test]
fn a_call_that_the_broker_does_not_offer_is_said_to_be_so() {
    let fake = fake(|request, address, _| match request.api {
        ApiKey::API_VERSIONS => api_versions(request, &OFFERS[..3]),
        _ => healthy(request, address),
    });
    let rig = Rig::of(&fake);
    let error = rig
        .plane
        .call(Node::Any, DescribeClusterRequest::default())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("DescribeCluster: the broker does not offer it"),
        "{text}"
    );
    assert!(text.contains(&fake.address().to_string()), "{text}");
}

#[test]
fn the_control_plane_ends_promptly_though_it_is_dialling() {
    let silent = Fake::start(Behaviour::script(|_| Vec::new()));
    let at = silent.address();
    let fake = answering(move |_, _| metadata(&[(1, at)], &[Topic::led("t")]));
    let rig = Rig::of(&fake);
    rig.connect(LANE, 1, 1);
    silent.wait_for(ApiKey::API_VERSIONS, 1);
    let started = Instant::now();
    drop(rig);
    assert!(started.elapsed() < Duration::from_secs(5));
}
