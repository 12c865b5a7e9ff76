//! Connecting and the handshake, to peers that are no brokers, other brokers, or not there.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kdyno::net::address::Address;
use kdyno::net::connect::{ConnectError, ConnectOptions, Target, connect};
use kdyno::net::control_stream::ControlStream;
use kdyno::net::versions::Pins;
use kdyno::wire::api::{ApiKey, Range};

use crate::support::cluster::{OFFERS, api_versions, connect_options};
use crate::support::fake::{Action, Behaviour, Fake, Request, hex, patched};

const AV_35: &str = "0000001000000001002300000001001200000003";
const AV_35_EMPTY: &str = "0000000a00000001002300000000";
const AV_VENDOR: &str = "000000570000000100000900000003000d010502aabb0001000400120000020001000b0000030000000d0000120000000400001600000006000054000000030027100000000100000000000201080000000000000007630378797a";
const AV_NO_PRODUCE: &str = "0000001a0000000100000300000005000300001200000004000000000000";

fn dial(address: &str, options: ConnectOptions) -> Result<ControlStream, ConnectError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    let target = Target {
        node_id: -1,
        address: address.parse::<Address>().unwrap(),
    };
    let result = runtime.block_on(connect(target, Arc::new(options)));
    runtime.shutdown_background();
    result
}

fn to(fake: &Fake) -> Result<ControlStream, ConnectError> {
    let options = connect_options(Duration::from_secs(10));
    dial(&fake.address().to_string(), options)
}

fn refused(fake: &Fake) -> String {
    to(fake).unwrap_err().to_string()
}

fn offering(offers: &'static [(ApiKey, i16, i16)]) -> Fake {
    Fake::start(Behaviour::script(move |request| {
        api_versions(request, offers)
    }))
}

/// Asks the first ApiVersions to be refused by `refusal`, and gives what was asked.
fn asked_after(refusal: impl Fn(&Request) -> Vec<Action> + Send + Sync + 'static) -> Vec<i16> {
    let script = move |request: &Request| match request.correlation_id {
        1 => refusal(request),
        _ => api_versions(request, &OFFERS),
    };
    let fake = Fake::start(Behaviour::script(script));
    let stream = to(&fake).unwrap();
    assert_eq!(stream.versions().agree(ApiKey::PRODUCE), Ok(13));
    assert_eq!(fake.connections(), 1, "on the same connection");
    fake.requests()
        .iter()
        .map(|request| request.version)
        .collect()
}

/// A port that nobody listens at.
fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

#[test]
fn a_refused_api_versions_is_asked_again_in_the_version_that_the_broker_names() {
    assert_eq!(asked_after(|request| patched(request, AV_35)), [4, 3]);
}

#[test]
fn a_refusal_that_names_no_version_is_asked_again_in_version_0() {
    assert_eq!(asked_after(|request| patched(request, AV_35_EMPTY)), [4, 0]);
    // Without a list, and as librdkafka's mock cluster writes it.
    let bare = "00000006000000010023";
    assert_eq!(asked_after(move |request| patched(request, bare)), [4, 0]);
    let odd = "0000000f000000010023010012000000020000";
    assert_eq!(asked_after(move |request| patched(request, odd)), [4, 0]);
    // A version no lower than the one asked would be asked for ever.
    let same = "0000001000000001002300000001001200000004";
    assert_eq!(asked_after(move |request| patched(request, same)), [4, 0]);
}

#[test]
fn a_second_refusal_is_final() {
    let fake = Fake::start(Behaviour::script(|request| patched(request, AV_35)));
    let text = refused(&fake);
    assert!(text.contains("UNSUPPORTED_VERSION"), "{text}");
    assert_eq!(fake.requests().len(), 2);
}

#[test]
fn unknown_keys_and_tags_are_no_error() {
    let script = |request: &Request| match request.version {
        3 => patched(request, AV_VENDOR),
        _ => patched(request, AV_35),
    };
    let fake = Fake::start(Behaviour::script(script));
    let stream = to(&fake).unwrap();
    let versions = stream.versions();
    assert_eq!(versions.ranges().len(), 8);
    assert_eq!(versions.offered(ApiKey(84)), Some(Range { min: 0, max: 3 }));
    assert_eq!(
        versions.offered(ApiKey(10000)),
        Some(Range { min: 0, max: 1 })
    );
    assert_eq!(versions.agree(ApiKey::PRODUCE), Ok(13));
}

#[test]
fn no_common_version_names_the_api_both_ranges_and_the_broker() {
    let script = |request: &Request| match request.version {
        3 => patched(request, AV_NO_PRODUCE),
        _ => patched(request, AV_35),
    };
    let upside_down = Fake::start(Behaviour::script(script));
    let old = offering(&[(ApiKey::PRODUCE, 0, 2), (ApiKey::METADATA, 0, 12)]);
    for (fake, range) in [(&upside_down, "5–3"), (&old, "0–2")] {
        let error = to(fake).unwrap_err();
        assert!(error.permanent());
        let text = error.to_string();
        let apart = format!("Produce: kdyno speaks versions 3–13, the broker {range}");
        assert!(text.contains(&apart), "{text}");
        assert!(text.starts_with(&fake.address().to_string()), "{text}");
        let asked = fake.requests();
        assert!(
            asked
                .iter()
                .all(|request| request.api == ApiKey::API_VERSIONS)
        );
    }
}

#[test]
fn a_pinned_version_that_the_broker_does_not_speak_is_refused() {
    let fake = offering(&[(ApiKey::PRODUCE, 0, 11), (ApiKey::METADATA, 0, 12)]);
    let mut options = connect_options(Duration::from_secs(10));
    options.handshake.pins = Pins::parse(["produce=12"]).unwrap().into();
    let address = fake.address().to_string();
    let text = dial(&address, options.clone()).unwrap_err().to_string();
    let pinned = "Produce version 12 was asked for; the broker speaks versions 0–11";
    assert!(text.contains(pinned), "{text}");
    options.handshake.pins = Pins::parse(["Produce=9"]).unwrap().into();
    let stream = dial(&address, options).unwrap();
    assert_eq!(stream.versions().agree(ApiKey::PRODUCE), Ok(9));
}

#[test]
fn a_port_that_speaks_tls_or_http_is_called_so() {
    let alert = vec![Action::Send(hex("15030300020246")), Action::Close];
    let hello = vec![Action::Send(hex("16030100c8"))];
    let http = vec![Action::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())];
    for (bytes, word) in [(alert, "TLS"), (hello, "TLS"), (http, "HTTP")] {
        let answers = bytes.clone();
        let on_request = Fake::start(Behaviour::script(move |_| answers.clone()));
        let at_once = Fake::start(Behaviour::greeting(bytes));
        for fake in [on_request, at_once] {
            let started = Instant::now();
            let text = refused(&fake);
            assert!(text.contains(&format!("speaks {word}")), "{text}");
            assert!(started.elapsed() < Duration::from_secs(3));
        }
    }
}

#[test]
fn a_peer_that_hangs_up_is_said_to_be_perhaps_a_listener_of_another_kind() {
    for action in [Action::Close, Action::Reset] {
        let fake = Fake::start(Behaviour::script(move |_| vec![action.clone()]));
        let text = refused(&fake);
        assert!(text.contains("a listener for TLS or SASL"), "{text}");
    }
}

#[test]
fn lengths_that_are_none_and_a_wrong_correlation_id_end_the_handshake() {
    let endings = [
        ("ffffffff", "a frame of -1 bytes was announced"),
        ("7fffffff", "a frame of 2147483647 bytes was announced"),
        (
            "00000008000000630000000000",
            "correlation id 99; 1 was expected",
        ),
        ("00000000", "malformed"),
        ("000000060000000100000000", "ApiVersions version 4"),
    ];
    for (bytes, words) in endings {
        let fake = Fake::start(Behaviour::script(move |_| vec![Action::Send(hex(bytes))]));
        let text = refused(&fake);
        assert!(text.contains(words), "{bytes}: {text}");
    }
}

#[test]
fn a_handshake_cut_at_every_byte_ends_at_once() {
    let whole = hex(AV_35).len();
    for cut in 0..whole {
        let script =
            move |_: &Request| vec![Action::Send(hex(AV_35)[..cut].to_vec()), Action::Close];
        let fake = Fake::start(Behaviour::script(script));
        let text = refused(&fake);
        assert!(text.contains("closed the connection"), "{cut}: {text}");
    }
}

#[test]
fn a_peer_that_says_nothing_costs_the_connect_timeout() {
    let fake = Fake::start(Behaviour::script(|_| Vec::new()));
    let options = connect_options(Duration::from_millis(200));
    let started = Instant::now();
    let text = dial(&fake.address().to_string(), options)
        .unwrap_err()
        .to_string();
    assert!(text.contains("connected, then no answer within"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn each_address_and_its_reason_is_named() {
    let closed = closed_port();
    let options = connect_options(Duration::from_secs(10));
    let error = dial(&closed.to_string(), options.clone()).unwrap_err();
    assert_eq!(error.to_string(), format!("{closed}: connection refused"));
    assert!(!error.permanent());
    let text = dial("kafka.internal.invalid:9092", options)
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with("kafka.internal.invalid:9092: does not resolve"),
        "{text}"
    );
}

#[test]
fn all_addresses_of_a_name_are_tried() {
    // localhost is ::1 and 127.0.0.1 on most machines; the broker listens at the second only.
    let fake = offering(&OFFERS);
    let options = connect_options(Duration::from_secs(10));
    let address = format!("localhost:{}", fake.address().port());
    assert_eq!(dial(&address, options).unwrap().peer(), fake.address());
}

#[test]
fn ipv6_in_brackets_is_dialled() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    let behaviour = Behaviour {
        bind: "[::1]:0",
        ..Behaviour::script(|request| api_versions(request, &OFFERS))
    };
    let fake = Fake::start(behaviour);
    assert_eq!(to(&fake).unwrap().peer(), fake.address());
}
