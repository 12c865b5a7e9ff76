//! Requests over real sockets to a peer that misbehaves: the right error, in bounded time.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kdyno::base::clock::{self, MILLISECOND, Nanos, SECOND};
use kdyno::net::connect::Established;
use kdyno::net::connection::{Connection, ReadBuffer};
use kdyno::net::lost::Lost;
use kdyno::net::pipeline::{Limits, Outgoing, PipelineError, Progress, Sent};
use kdyno::net::versions::Versions;
use kdyno::wire::api::ApiKey;
use kdyno::wire::frame::FrameError;
use kdyno::wire::header::{RequestHeader, write_response_header};
use mio::{Events, Poll, Token};

use crate::support::fake::{Action, Behaviour, End, Fake, Gate, PATIENCE, Request, hex};

/// A Produce v9 request whose body is filler; the fake does not look into it.
#[derive(Debug)]
struct Produce {
    head: Vec<u8>,
    filler: Vec<u8>,
    expects_reply: bool,
    number: usize,
}

impl Outgoing for Produce {
    fn segments(&self) -> usize {
        2
    }
    fn segment(&self, index: usize) -> &[u8] {
        [&self.head, &self.filler][index]
    }
    fn bytes(&self) -> usize {
        self.head.len() + self.filler.len()
    }
    fn expects_reply(&self) -> bool {
        self.expects_reply
    }
    fn api(&self) -> (ApiKey, i16) {
        (ApiKey::PRODUCE, 9)
    }
}

/// A reply's body and the request that it answered.
type Reply = (Vec<u8>, Sent<Produce>);

/// A connection and the poll that a load thread would have.
struct Client {
    connection: Connection<Produce>,
    buffer: ReadBuffer,
    poll: Poll,
    replies: Vec<Reply>,
    pushed: usize,
}

impl Client {
    fn connect(fake: &Fake) -> Self {
        Self::with_timeout(fake, 30 * SECOND)
    }

    fn with_timeout(fake: &Fake, request_timeout: Nanos) -> Self {
        let stream = TcpStream::connect(fake.address()).unwrap();
        stream.set_nonblocking(true).unwrap();
        let established = Established {
            stream,
            peer: fake.address(),
            node_id: 1,
            versions: Versions::new(Vec::new(), Arc::default()),
        };
        let limits = Limits {
            in_flight_max: 5,
            request_timeout,
        };
        let mut connection = Connection::new(established, limits, None);
        let poll = Poll::new().unwrap();
        connection.register(poll.registry(), Token(0)).unwrap();
        Self {
            connection,
            buffer: ReadBuffer::new(),
            poll,
            replies: Vec::new(),
            pushed: 0,
        }
    }

    fn push(&mut self, filler_bytes: usize, expects_reply: bool) {
        let correlation_id = self.connection.pipeline().next_correlation_id();
        let mut head = vec![0; 4];
        let header = RequestHeader {
            api: ApiKey::PRODUCE,
            version: 9,
            correlation_id,
            client_id: Some("kdyno"),
        };
        header.write(&mut head);
        let bytes = head.len() - 4 + filler_bytes;
        head[..4].copy_from_slice(&i32::try_from(bytes).unwrap().to_be_bytes());
        let request = Produce {
            head,
            filler: vec![b'x'; filler_bytes],
            expects_reply,
            number: self.pushed,
        };
        self.pushed += 1;
        self.connection.push(clock::now(), correlation_id, request);
    }

    /// Writes and reads as a load thread would, until `done` or the connection is lost.
    fn run(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), Lost> {
        let started = Instant::now();
        let mut events = Events::with_capacity(8);
        loop {
            let now = clock::now();
            self.connection.check_deadline(now)?;
            self.connection.write(now)?;
            if done(self) {
                return Ok(());
            }
            assert!(started.elapsed() < PATIENCE, "it hung");
            let tick = Some(Duration::from_millis(20));
            self.poll.poll(&mut events, tick).unwrap();
            for event in &events {
                if event.is_writable() {
                    self.connection.writable();
                }
                if event.is_readable() {
                    let replies = &mut self.replies;
                    let keep = |body: &[u8], sent| replies.push((body.to_vec(), sent));
                    self.connection.read(&mut self.buffer, keep)?;
                }
            }
        }
    }

    fn until_replies(&mut self, count: usize) -> Result<(), Lost> {
        self.run(|client| client.replies.len() >= count)
    }

    fn until_lost(&mut self) -> Lost {
        self.run(|_| false).unwrap_err()
    }

    fn numbers(&self) -> Vec<usize> {
        self.replies
            .iter()
            .map(|reply| reply.1.entry.number)
            .collect()
    }

    fn left(&mut self) -> Vec<Progress> {
        let left = self.connection.pipeline_mut().drain_entries();
        left.map(|(_, progress)| progress).collect()
    }
}

/// A reply to `correlation_id` whose body is `body`.
fn frame(correlation_id: i32, body: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 4];
    write_response_header(&mut out, ApiKey::PRODUCE, 9, correlation_id);
    out.extend_from_slice(body);
    let bytes = i32::try_from(out.len() - 4).unwrap();
    out[..4].copy_from_slice(&bytes.to_be_bytes());
    out
}

fn echo(request: &Request) -> Vec<Action> {
    vec![Action::Send(frame(request.correlation_id, b"done"))]
}

#[test]
fn replies_meet_their_requests_and_bring_marks_in_order() {
    let fake = Fake::start(Behaviour::script(echo));
    let mut client = Client::connect(&fake);
    for n in 0..5 {
        client.push(n * 100_000 + 10, true);
    }
    assert!(!client.connection.pipeline().can_send(0));
    client.until_replies(5).unwrap();
    assert_eq!(client.numbers(), [0, 1, 2, 3, 4]);
    for (body, sent) in &client.replies {
        assert_eq!(body, b"done");
        let marks = [
            sent.queued,
            sent.first_byte_written,
            sent.last_byte_written,
            sent.first_byte_read,
            sent.last_byte_read,
        ];
        assert!(marks.is_sorted(), "{marks:?}");
    }
}

#[test]
fn a_reply_that_comes_in_pieces_cut_anywhere_is_whole() {
    let whole = frame(1, b"done").len();
    for cut in 0..=whole {
        let script = move |request: &Request| {
            let bytes = frame(request.correlation_id, b"done");
            let (first, second) = bytes.split_at(cut);
            let pause = Action::Pause(Duration::from_millis(1));
            vec![
                Action::Send(first.to_vec()),
                pause,
                Action::Send(second.to_vec()),
            ]
        };
        let fake = Fake::start(Behaviour::script(script));
        let mut client = Client::connect(&fake);
        client.push(10, true);
        client.until_replies(1).unwrap();
        assert_eq!(client.replies[0].0, b"done", "cut at {cut}");
    }
}

#[test]
fn a_reply_cut_off_anywhere_ends_the_connection_and_its_request() {
    let whole = frame(1, b"done").len();
    for cut in 0..whole {
        let script = move |request: &Request| {
            let bytes = frame(request.correlation_id, b"done")[..cut].to_vec();
            vec![Action::Send(bytes), Action::Close]
        };
        let fake = Fake::start(Behaviour::script(script));
        let mut client = Client::connect(&fake);
        client.push(10, true);
        let wanted = if cut == 0 {
            Lost::Closed
        } else {
            Lost::ClosedWithinReply
        };
        assert_eq!(client.until_lost(), wanted, "cut at {cut}");
        assert_eq!(client.left(), [Progress::Written]);
    }
}

#[test]
fn replies_before_the_end_of_the_stream_are_not_lost_with_it() {
    let script = |request: &Request| match request.correlation_id {
        2 => [echo(request), vec![Action::Close]].concat(),
        _ => echo(request),
    };
    let fake = Fake::start(Behaviour::script(script));
    let mut client = Client::connect(&fake);
    for n in 0..3 {
        client.push(n * 100_000 + 10, true);
    }
    let lost = client.until_lost();
    // The third request may still have been unread, and then the peer's system resets.
    assert!(matches!(lost, Lost::Closed | Lost::Reset), "{lost}");
    assert_eq!(client.numbers(), [0, 1]);
    assert_eq!(client.left().len(), 1);
}

#[test]
fn replies_in_another_order_end_the_connection_and_none_is_paired_by_guess() {
    // The third request brings out the replies to 2, 1 and 3.
    let script = |request: &Request| match request.correlation_id {
        3 => [2, 1, 3]
            .map(|id| Action::Send(frame(id, b"done")))
            .to_vec(),
        _ => Vec::new(),
    };
    let fake = Fake::start(Behaviour::script(script));
    let mut client = Client::connect(&fake);
    for n in 0..3 {
        client.push(n * 100_000 + 10, true);
    }
    let lost = client.until_lost();
    let order = PipelineError::CorrelationId {
        expected: 1,
        received: 2,
    };
    assert_eq!(lost, Lost::Order(order));
    assert!(client.replies.is_empty());
    assert_eq!(client.left(), [Progress::Written; 3]);
    drop(client);
    assert_ne!(fake.wait_for_end(0), End::Garbage);
}

#[test]
fn a_correlation_id_never_sent_is_named_with_the_one_expected() {
    let script = |_: &Request| vec![Action::Send(frame(77, b"done"))];
    let fake = Fake::start(Behaviour::script(script));
    let mut client = Client::connect(&fake);
    client.push(10, true);
    let text = client.until_lost().to_string();
    assert_eq!(text, "a reply has correlation id 77; 1 was expected");
}

#[test]
fn a_reply_that_nobody_asked_for_ends_the_connection() {
    let fake = Fake::start(Behaviour::greeting(vec![Action::Send(frame(1, b"done"))]));
    let lost = Client::connect(&fake).until_lost();
    assert_eq!(lost, Lost::Order(PipelineError::Unasked { received: 1 }));
}

#[test]
fn lengths_that_are_none_are_refused_before_anything_is_allocated() {
    let openings = [
        (hex("ffffffff"), FrameError::Negative(-1)),
        (hex("80000000"), FrameError::Negative(i32::MIN)),
        (hex("7fffffff"), FrameError::Oversized(i32::MAX)),
        (hex("06400001"), FrameError::Oversized(0x0640_0001)),
        (hex("15030300020246"), FrameError::Tls),
        (hex("1603010200"), FrameError::Tls),
        (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), FrameError::Http),
    ];
    for (bytes, error) in openings {
        let fake = Fake::start(Behaviour::script(move |_| {
            vec![Action::Send(bytes.clone())]
        }));
        let mut client = Client::connect(&fake);
        client.push(10, true);
        assert_eq!(client.until_lost(), Lost::Frame(error));
        assert_eq!(client.left(), [Progress::Written]);
    }
}

#[test]
fn a_frame_too_short_for_its_header_ends_the_connection() {
    for short in ["00000000", "0000000100", "000000020000", "0000000400000001"] {
        let fake = Fake::start(Behaviour::script(move |_| vec![Action::Send(hex(short))]));
        let mut client = Client::connect(&fake);
        client.push(10, true);
        let lost = client.until_lost();
        assert!(matches!(lost, Lost::Header(_)), "{short}: {lost}");
    }
}

#[test]
fn a_reset_ends_the_connection_and_says_so() {
    let fake = Fake::start(Behaviour::script(|_| vec![Action::Reset]));
    let mut client = Client::connect(&fake);
    client.push(10, true);
    assert_eq!(client.until_lost(), Lost::Reset);
    assert_eq!(client.left(), [Progress::Written]);
}

#[test]
fn a_peer_that_never_answers_costs_the_request_timeout_and_no_more() {
    let fake = Fake::start(Behaviour::script(|_| Vec::new()));
    let mut client = Client::with_timeout(&fake, 200 * MILLISECOND);
    let started = Instant::now();
    client.push(10, true);
    let lost = client.until_lost();
    assert_eq!(lost.to_string(), "no answer within 200 ms");
    assert!(started.elapsed() >= Duration::from_millis(200));
    assert_eq!(client.left(), [Progress::Written]);
}

#[test]
fn a_peer_that_stops_reading_never_sees_a_second_request_inside_the_first() {
    let gate = Arc::new(Gate::default());
    let behaviour = Behaviour {
        gate: Some(Arc::clone(&gate)),
        receive_buffer_bytes: Some(4096),
        ..Behaviour::script(echo)
    };
    let fake = Fake::start(behaviour);
    let mut client = Client::with_timeout(&fake, 300 * MILLISECOND);
    // More than loopback takes in: the second never begins.
    client.push(16 << 20, true);
    client.push(1 << 20, true);
    let after = 300 * MILLISECOND;
    assert_eq!(client.until_lost(), Lost::TimedOut { after });
    assert_eq!(client.left(), [Progress::Partial, Progress::Unwritten]);
    drop(client);
    gate.open();
    assert!(matches!(fake.wait_for_end(0), End::WithinFrame(_)));
    assert!(fake.requests().is_empty());
}

#[test]
fn a_slow_reader_gets_every_byte() {
    let gate = Arc::new(Gate::default());
    let behaviour = Behaviour {
        gate: Some(Arc::clone(&gate)),
        receive_buffer_bytes: Some(4096),
        ..Behaviour::script(echo)
    };
    let fake = Fake::start(behaviour);
    let mut client = Client::connect(&fake);
    for bytes in [8 << 20, 0, 1 << 20] {
        client.push(bytes, true);
    }
    // Let the socket fill up, then let go.
    client
        .run(|client| client.connection.pipeline().has_unwritten(0))
        .unwrap();
    gate.open();
    client.until_replies(3).unwrap();
    let sizes: Vec<_> = fake
        .requests()
        .iter()
        .map(|request| request.body.len())
        .collect();
    assert_eq!(sizes, [8 << 20, 0, 1 << 20]);
}

#[test]
fn requests_without_reply_are_through_when_written_and_others_meet_their_replies() {
    let script = |request: &Request| match request.body.len() {
        7 => Vec::new(),
        _ => echo(request),
    };
    let fake = Fake::start(Behaviour::script(script));
    let mut client = Client::connect(&fake);
    for expects_reply in [true, false, true, false, true] {
        client.push(if expects_reply { 10 } else { 7 }, expects_reply);
    }
    client.until_replies(3).unwrap();
    assert_eq!(client.numbers(), [0, 2, 4]);
    let through = client.connection.pipeline_mut().completed_without_reply();
    let through: Vec<_> = through.map(|sent| sent.entry.number).collect();
    assert_eq!(through, [1, 3]);
    assert_eq!(fake.wait_for(ApiKey::PRODUCE, 5).len(), 5);
}

#[test]
fn a_throttled_connection_is_silent_for_as_long_as_the_broker_said() {
    let fake = Fake::start(Behaviour::script(echo));
    let mut client = Client::with_timeout(&fake, 100 * MILLISECOND);
    client.push(10, true);
    client.until_replies(1).unwrap();
    // As a lane does when the reply says so: much longer than the request timeout.
    let muted = 400 * MILLISECOND;
    let now = clock::now();
    let pipeline = client.connection.pipeline_mut();
    pipeline.mute_until(now, now + muted);
    client.push(10, true);
    client.until_replies(2).unwrap();
    let waited = client.replies[1].1.first_byte_written - now;
    assert!(waited >= muted, "{waited}");
    let mutes = client.connection.pipeline().mutes();
    assert_eq!((mutes.replies(), mutes.total()), (1, muted));
}
