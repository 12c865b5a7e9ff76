//! The pipeline under a hand-driven clock.

use super::*;
use crate::base::clock::{HandClock, MILLISECOND, SECOND};

/// A request of given segments.
#[derive(Debug, PartialEq)]
struct Request {
    segments: Vec<Vec<u8>>,
    expects_reply: bool,
}

impl Outgoing for Request {
    fn segments(&self) -> usize {
        self.segments.len()
    }
    fn segment(&self, index: usize) -> &[u8] {
        &self.segments[index]
    }
    fn bytes(&self) -> usize {
        self.segments.iter().map(Vec::len).sum()
    }
    fn expects_reply(&self) -> bool {
        self.expects_reply
    }
    fn api(&self) -> (ApiKey, i16) {
        (ApiKey::PRODUCE, 9)
    }
}

fn request(segments: &[&[u8]]) -> Request {
    Request {
        segments: segments.iter().map(|s| s.to_vec()).collect(),
        expects_reply: true,
    }
}

fn unanswered(bytes: &[u8]) -> Request {
    Request {
        expects_reply: false,
        ..request(&[bytes])
    }
}

fn pipeline(in_flight_max: usize) -> Pipeline<Request> {
    Pipeline::new(Limits {
        in_flight_max,
        request_timeout: 30 * SECOND,
    })
}

fn push(pipeline: &mut Pipeline<Request>, now: Nanos, request: Request) -> i32 {
    let id = pipeline.next_correlation_id();
    pipeline.push(now, id, request);
    id
}

/// What the next write would send, at most `max_bytes` in at most `slices_max` slices.
fn next(pipeline: &Pipeline<Request>, max_bytes: usize, slices_max: usize) -> Vec<u8> {
    let mut slices = vec![IoSlice::new(&[]); slices_max];
    let count = pipeline.slices(0, max_bytes, &mut slices);
    slices[..count].concat_bytes()
}

trait ConcatBytes {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl ConcatBytes for [IoSlice<'_>] {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|slice| slice.to_vec()).collect()
    }
}

fn at(now: Nanos) -> Arrival {
    Arrival {
        first_byte: now,
        last_byte: now,
    }
}

fn wrote(now: Nanos, bytes: usize) -> Write {
    Write {
        began: now,
        ended: now,
        bytes,
    }
}

#[test]
fn replies_meet_their_requests_in_order_and_bring_the_marks() {
    let mut clock = HandClock::at(SECOND);
    let mut p = pipeline(5);
    let first = push(&mut p, clock.now(), request(&[b"ab", b"cd"]));
    let second = push(&mut p, clock.advance(1), request(&[b"ef"]));
    p.wrote(Write {
        began: clock.advance(10),
        ended: clock.advance(5),
        bytes: 6,
    });
    let arrival = Arrival {
        first_byte: clock.advance(100),
        last_byte: clock.advance(1),
    };
    let sent = p.received(arrival, first).unwrap();
    assert_eq!(sent.entry, request(&[b"ab", b"cd"]));
    assert_eq!(sent.queued, SECOND);
    assert_eq!(sent.first_byte_written, SECOND + 11);
    assert_eq!(sent.last_byte_written, SECOND + 16);
    assert_eq!(sent.first_byte_read, SECOND + 116);
    assert_eq!(sent.last_byte_read, SECOND + 117);
    assert_eq!(p.received(arrival, second).unwrap().queued, SECOND + 1);
    assert!(p.is_empty());
}

#[test]
fn every_cut_of_every_write_sends_each_byte_once() {
    let all = b"abcdefghij";
    for first in 1..all.len() {
        for second in 1..=all.len() - first {
            let mut p = pipeline(5);
            push(&mut p, 0, request(&[b"abc", b"", b"d"]));
            push(&mut p, 0, request(&[b"ef"]));
            push(&mut p, 0, request(&[b"g", b"hij"]));
            let mut out = Vec::new();
            for bytes in [first, second, all.len()] {
                let offered = next(&p, bytes, 64);
                p.wrote(wrote(1, offered.len()));
                out.extend_from_slice(&offered);
            }
            assert_eq!(out, all, "cut at {first} and {second}");
            assert!(!p.has_unwritten(0));
        }
    }
}

#[test]
fn one_write_takes_no_more_slices_and_bytes_than_allowed() {
    let mut p = pipeline(5);
    push(&mut p, 0, request(&[b"ab", b"cd", b"ef"]));
    push(&mut p, 0, request(&[b"gh"]));
    assert_eq!(next(&p, 100, 2), b"abcd");
    assert_eq!(next(&p, 3, 64), b"abc");
    assert_eq!(next(&p, 100, 64), b"abcdefgh");
}

#[test]
fn the_window_counts_what_is_queued_and_what_is_unanswered() {
    let mut p = pipeline(2);
    let first = push(&mut p, 0, request(&[b"a"]));
    assert!(p.can_send(0), "the first need not be written");
    push(&mut p, 0, request(&[b"b"]));
    assert!(!p.can_send(0));
    p.wrote(wrote(0, 2));
    assert!(!p.can_send(0));
    p.received(at(0), first).unwrap();
    assert!(p.can_send(0));
}

#[test]
fn a_reply_with_another_correlation_id_is_refused_and_nothing_is_lost() {
    let mut p = pipeline(5);
    let first = push(&mut p, 0, request(&[b"a"]));
    let second = push(&mut p, 0, request(&[b"b"]));
    p.wrote(wrote(0, 2));
    let error = p.received(at(0), second).unwrap_err();
    assert_eq!(
        error,
        PipelineError::CorrelationId {
            expected: first,
            received: second
        }
    );
    assert_eq!(
        error.to_string(),
        "a reply has correlation id 2; 1 was expected"
    );
    assert_eq!(p.drain_entries().count(), 2);
}

#[test]
fn a_reply_to_nothing_and_a_reply_to_half_a_request_are_refused() {
    let mut p = pipeline(5);
    let unasked = Err(PipelineError::Unasked { received: 1 });
    assert_eq!(p.received(at(0), 1).map(|_| ()), unasked);
    let id = push(&mut p, 0, request(&[b"abc"]));
    p.wrote(wrote(0, 2));
    assert_eq!(p.received(at(0), id).map(|_| ()), unasked);
    p.wrote(wrote(0, 1));
    assert!(p.received(at(0), id).is_ok());
}

#[test]
fn requests_without_a_reply_are_through_when_written_and_the_others_meet_their_replies() {
    let mut p = pipeline(5);
    let first = push(&mut p, 0, request(&[b"aa"]));
    push(&mut p, 0, unanswered(b"bb"));
    let third = push(&mut p, 0, request(&[b"cc"]));
    push(&mut p, 0, unanswered(b"dd"));
    p.wrote(wrote(7, 7));
    let through: Vec<_> = p.completed_without_reply().collect();
    assert_eq!(through.len(), 1);
    assert_eq!(through[0].entry, unanswered(b"bb"));
    assert_eq!(through[0].last_byte_read, 7);
    assert_eq!(p.received(at(8), first).unwrap().entry, request(&[b"aa"]));
    assert_eq!(p.received(at(8), third).unwrap().entry, request(&[b"cc"]));
    p.wrote(wrote(9, 1));
    assert_eq!(p.completed_without_reply().count(), 1);
    assert!(p.is_empty());
}

#[test]
fn a_lost_connection_tells_how_far_each_request_was() {
    let mut p = pipeline(5);
    for bytes in [b"aa", b"bb", b"cc"] {
        push(&mut p, 0, request(&[bytes]));
    }
    p.wrote(wrote(0, 3));
    let progress: Vec<_> = p.drain_entries().map(|(_, progress)| progress).collect();
    use Progress::{Partial, Unwritten, Written};
    assert_eq!(progress, [Written, Partial, Unwritten]);
    assert!(p.is_empty() && !p.has_unwritten(0));
}

#[test]
fn the_oldest_request_sets_the_deadline() {
    let mut p = pipeline(5);
    assert_eq!(p.next_deadline(), None);
    let first = push(&mut p, SECOND, request(&[b"a"]));
    push(&mut p, 2 * SECOND, request(&[b"b"]));
    assert_eq!(p.next_deadline(), Some(31 * SECOND));
    assert!(!p.timed_out(31 * SECOND - 1));
    assert!(p.timed_out(31 * SECOND));
    p.wrote(wrote(2 * SECOND, 2));
    p.received(at(3 * SECOND), first).unwrap();
    assert_eq!(p.next_deadline(), Some(32 * SECOND));
}

#[test]
fn a_mute_holds_back_what_is_not_begun_and_is_no_time_out() {
    let mut p = pipeline(5);
    push(&mut p, 0, request(&[b"ab"]));
    push(&mut p, 0, request(&[b"cd"]));
    p.wrote(wrote(0, 1));
    p.mute_until(MILLISECOND, 60 * SECOND);
    assert!(!p.can_send(SECOND));
    let mut slices = [IoSlice::new(&[]); 8];
    let count = p.slices(SECOND, 100, &mut slices);
    assert_eq!(
        slices[..count].concat_bytes(),
        b"b",
        "the rest of what is begun"
    );
    p.wrote(wrote(SECOND, 1));
    assert!(!p.has_unwritten(59 * SECOND));
    assert!(!p.timed_out(89 * SECOND));
    assert!(p.has_unwritten(60 * SECOND) && p.can_send(60 * SECOND));
    assert!(p.timed_out(90 * SECOND));
    assert_eq!(p.mutes().replies(), 1);
}

#[test]
fn correlation_ids_start_again_at_zero_after_the_largest() {
    let mut p = pipeline(5);
    p.next_correlation_id = i32::MAX;
    let last = push(&mut p, 0, request(&[b"a"]));
    let next = push(&mut p, 0, request(&[b"b"]));
    assert_eq!((last, next), (i32::MAX, 0));
}
