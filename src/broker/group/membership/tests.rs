//! Groups by a clock that moves by hand: who is out, who is woken, and when.

use mio::Token;

use super::*;
use crate::base::clock::{MILLISECOND, SECOND};

const LATER: Nanos = 100 * SECOND;

fn wish(member_id: &str, connection: usize) -> Join {
    Join {
        member_id: member_id.to_owned(),
        instance_id: None,
        client_id: "c".to_owned(),
        id_first: false,
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 30_000,
        protocol_type: "consumer".to_owned(),
        protocols: vec![("range".to_owned(), Bytes::new())],
        connection: Token(connection),
    }
}

/// Id and generation of who has joined.
fn member(joined: &Joined) -> (String, i32) {
    match joined {
        Joined::Member {
            member_id,
            generation,
            ..
        } => (member_id.clone(), *generation),
        Joined::Wait(until) => panic!("it waits until {until}"),
    }
}

fn alone(group: &mut Group, now: Nanos) -> String {
    let (id, generation) = member(&group.join(wish("", 1), now).unwrap());
    let part = vec![(id.clone(), Bytes::from_static(b"all"))];
    let synced = group.sync((&id, None), generation, part, Token(1), now);
    assert_eq!(synced, Ok(Synced::Assignment(Bytes::from_static(b"all"))));
    id
}

#[test]
fn a_member_that_is_not_heard_of_is_out_when_its_session_ends() {
    let mut group = Group::new(0);
    let id = alone(&mut group, LATER);
    let almost = LATER + 10 * SECOND - 1;
    assert_eq!(group.heartbeat((&id, None), 1, almost), Ok(()));
    assert_eq!(group.next(), almost + 10 * SECOND);
    let over = almost + 10 * SECOND;
    let unknown = Err(BrokerError::UNKNOWN_MEMBER_ID);
    assert_eq!(group.heartbeat((&id, None), 1, over), unknown);
    assert_eq!((group.phase, group.generation), (Phase::Empty, 2));
    assert_eq!(group.next(), Nanos::MAX);
}

#[test]
fn who_does_not_join_again_in_time_is_out_and_the_others_are_woken() {
    let mut group = Group::new(0);
    let first = alone(&mut group, LATER);
    let waits = group.join(wish("", 2), LATER).unwrap();
    let until = LATER + 30 * SECOND;
    assert_eq!(waits, Joined::Wait(until));
    // The first lives, but does not join.
    for second in 1..30 {
        let told = group.heartbeat((&first, None), 1, LATER + second * SECOND);
        assert_eq!(told, Err(BrokerError::REBALANCE_IN_PROGRESS));
    }
    group.woken.clear();
    group.tick(until);
    assert_eq!(group.woken, [Token(2)]);
    let joined = group.joined(Token(2), until).unwrap();
    assert_eq!(member(&joined).1, 2);
    let unknown = Err(BrokerError::UNKNOWN_MEMBER_ID);
    assert_eq!(group.heartbeat((&first, None), 1, until), unknown);
}

#[test]
fn members_are_told_to_join_again_when_their_leader_does_not_share() {
    let mut group = Group::new(0);
    let leader = alone(&mut group, LATER);
    assert!(matches!(
        group.join(wish("", 2), LATER),
        Ok(Joined::Wait(_))
    ));
    group.join(wish(&leader, 1), LATER).unwrap();
    let (follower, generation) = member(&group.joined(Token(2), LATER).unwrap());
    assert_eq!(generation, 2);
    let waits = group.sync((&follower, None), 2, Vec::new(), Token(2), LATER);
    let until = LATER + 30 * SECOND;
    assert_eq!(waits, Ok(Synced::Wait(until)));
    // The leader's session ends first.
    group.woken.clear();
    let over = LATER + 10 * SECOND;
    assert_eq!(group.next(), over);
    group.tick(over);
    assert!(group.woken.contains(&Token(2)));
    let again = group.sync((&follower, None), 2, Vec::new(), Token(2), over);
    assert_eq!(again, Err(BrokerError::REBALANCE_IN_PROGRESS));
}

#[test]
fn the_first_round_waits_for_more_members_but_not_longer_than_their_rebalance_time() {
    let mut group = Group::new(3 * SECOND);
    let waits = |at: Nanos| Ok(Joined::Wait(at));
    assert_eq!(group.join(wish("", 1), LATER), waits(LATER + 3 * SECOND));
    let later = LATER + 2 * SECOND;
    assert_eq!(group.join(wish("", 2), later), waits(later + 3 * SECOND));
    let last = LATER + 29 * SECOND;
    for (second, connection) in (4..=29).step_by(2).zip(3..) {
        let now = LATER + second * SECOND;
        assert!(matches!(
            group.join(wish("", connection), now),
            Ok(Joined::Wait(_))
        ));
    }
    let full = LATER + 30 * SECOND;
    assert_eq!(group.joined(Token(1), last), Ok(Joined::Wait(full)));
    assert_eq!(member(&group.joined(Token(1), full).unwrap()).1, 1);
    assert_eq!(group.members.len(), 15);
}

#[test]
fn an_id_that_was_given_is_waited_for_until_its_session_would_end() {
    let mut group = Group::new(0);
    let leader = alone(&mut group, LATER);
    let first = Join {
        id_first: true,
        ..wish("", 2)
    };
    let promised = group.join(first, LATER).unwrap_err();
    assert_eq!(promised.error, BrokerError::MEMBER_ID_REQUIRED);
    let other = group.join(wish(&leader, 1), LATER).unwrap();
    assert!(matches!(other, Joined::Wait(_)));
    let over = LATER + 10 * SECOND;
    assert_eq!(group.next(), over);
    group.tick(over - MILLISECOND);
    assert!(matches!(
        group.joined(Token(1), over - 1),
        Ok(Joined::Wait(_))
    ));
    assert_eq!(member(&group.joined(Token(1), over).unwrap()).1, 2);
    let late = group.join(wish(&promised.member_id, 2), over).unwrap_err();
    assert_eq!(late.error, BrokerError::UNKNOWN_MEMBER_ID);
}

#[test]
fn the_way_to_share_is_the_one_most_members_would_take_of_those_all_know() {
    let with = |names: &[&str], connection| Join {
        protocols: names
            .iter()
            .map(|name| ((*name).to_owned(), Bytes::new()))
            .collect(),
        ..wish("", connection)
    };
    let mut group = Group::new(SECOND);
    for (names, connection) in [
        (&["own", "a", "b"][..], 1),
        (&["b", "a"], 2),
        (&["b", "a", "c"], 3),
    ] {
        assert!(group.join(with(names, connection), LATER).is_ok());
    }
    group.tick(LATER + SECOND);
    assert_eq!(group.protocol.as_deref(), Some("b"));
}
