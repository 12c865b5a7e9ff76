//! Groups of the classic protocol, and what they commit.

use bytes::Bytes;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kafka_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    FindCoordinatorRequest, GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
};
use kafka_protocol::protocol::StrBytes;
use kdyno::broker::Running;
use kdyno::wire::broker_error::BrokerError;
use rstest::rstest;

use super::{make, memory, name};
use crate::support::asker::Asker;

const TOPIC: &str = "t";
const PLENTY: u64 = 1 << 30;
const VERSION: i16 = 9;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group() -> GroupId {
    GroupId(text("g"))
}

fn join(version: i16, member_id: &StrBytes) -> JoinGroupRequest {
    let protocols = ["sticky", "range"].map(|name| {
        JoinGroupRequestProtocol::default()
            .with_name(text(name))
            .with_metadata(Bytes::from_static(b"topics"))
    });
    let request = JoinGroupRequest::default()
        .with_group_id(group())
        .with_session_timeout_ms(10_000)
        .with_member_id(member_id.clone())
        .with_protocol_type(text("consumer"))
        .with_protocols(protocols.to_vec());
    match version {
        0 => request,
        _ => request.with_rebalance_timeout_ms(10_000),
    }
}

/// Joins as a new member and gives its id and the answer's number; the answer is still to come.
fn come(asker: &mut Asker) -> (StrBytes, i32) {
    let first = asker.ask(VERSION, &join(VERSION, &StrBytes::default()));
    let required = BrokerError::MEMBER_ID_REQUIRED;
    assert_eq!(BrokerError(first.error_code), required);
    let sent = asker.send(VERSION, &join(VERSION, &first.member_id));
    (first.member_id, sent)
}

fn sync(
    member: &StrBytes,
    generation: i32,
    parts: &[(&StrBytes, &'static [u8])],
) -> SyncGroupRequest {
    let assignments = parts.iter().map(|(member, part)| {
        SyncGroupRequestAssignment::default()
            .with_member_id((*member).clone())
            .with_assignment(Bytes::from_static(part))
    });
    SyncGroupRequest::default()
        .with_group_id(group())
        .with_member_id(member.clone())
        .with_generation_id(generation)
        .with_assignments(assignments.collect())
}

fn heartbeat(asker: &mut Asker, member: &StrBytes, generation: i32) -> BrokerError {
    let request = HeartbeatRequest::default()
        .with_group_id(group())
        .with_member_id(member.clone())
        .with_generation_id(generation);
    BrokerError(asker.ask(4, &request).error_code)
}

fn connect(broker: &Running) -> Asker {
    Asker::connect(broker.addresses()[0])
}

#[rstest]
fn a_member_alone_leads_and_gets_what_it_gives_itself_in_every_version(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)] version: i16,
) {
    let broker = memory(1, PLENTY);
    let mut asker = connect(&broker);
    let mut joined = asker.ask(version, &join(version, &StrBytes::default()));
    if version >= 4 {
        let required = BrokerError::MEMBER_ID_REQUIRED;
        assert_eq!(BrokerError(joined.error_code), required);
        joined = asker.ask(version, &join(version, &joined.member_id));
    }
    assert_eq!((joined.error_code, joined.generation_id), (0, 1));
    assert_eq!(joined.leader, joined.member_id);
    assert!(joined.member_id.starts_with("asker-"));
    assert_eq!(joined.protocol_name, Some(text("sticky")));
    assert_eq!(&*joined.members[0].metadata, b"topics");
    let request = sync(&joined.member_id, 1, &[(&joined.member_id, b"all")]);
    let synced = asker.ask(version.min(5), &request);
    assert_eq!((synced.error_code, &*synced.assignment), (0, &b"all"[..]));
    let heartbeat = HeartbeatRequest::default()
        .with_group_id(group())
        .with_member_id(joined.member_id.clone())
        .with_generation_id(1);
    assert_eq!(asker.ask(version.min(4), &heartbeat).error_code, 0);
    let leave = LeaveGroupRequest::default().with_group_id(group());
    let leave = match version {
        3.. => {
            let member = MemberIdentity::default().with_member_id(joined.member_id.clone());
            leave.with_members(vec![member])
        }
        _ => leave.with_member_id(joined.member_id.clone()),
    };
    let left = asker.ask(version.min(5), &leave);
    assert_eq!(left.error_code, 0);
    assert!(left.members.iter().all(|member| member.error_code == 0));
    let unknown = BrokerError::UNKNOWN_MEMBER_ID;
    assert_eq!(
        BrokerError(asker.ask(version.min(4), &heartbeat).error_code),
        unknown
    );
}

#[test]
fn a_second_member_makes_the_first_join_again_and_waits_for_its_part() {
    let broker = memory(1, PLENTY);
    let (mut one, mut two) = (connect(&broker), connect(&broker));
    let (first, sent) = come(&mut one);
    let alone = one.answer::<JoinGroupRequest>(VERSION, sent);
    assert_eq!(alone.generation_id, 1);
    one.ask(5, &sync(&first, 1, &[(&first, b"all")]));
    let (second, waits) = come(&mut two);
    // The second joins while the first is still told; it learns of it by its heartbeat.
    let told = BrokerError::REBALANCE_IN_PROGRESS;
    while heartbeat(&mut one, &first, 1) != told {}
    let again = one.ask(VERSION, &join(VERSION, &first));
    let joined = two.answer::<JoinGroupRequest>(VERSION, waits);
    let facts = |answer: &JoinGroupResponse| (answer.generation_id, answer.leader.clone());
    assert_eq!(facts(&again), (2, first.clone()));
    assert_eq!(facts(&joined), (2, first.clone()));
    assert_eq!((again.members.len(), joined.members.len()), (2, 0));
    // The follower's part comes when the leader has shared.
    let waits = two.send(5, &sync(&second, 2, &[]));
    let parts: [(&StrBytes, &'static [u8]); 2] = [(&first, b"left"), (&second, b"right")];
    let shared = one.ask(5, &sync(&first, 2, &parts));
    assert_eq!(&*shared.assignment, b"left");
    let synced = two.answer::<SyncGroupRequest>(5, waits);
    assert_eq!((synced.error_code, &*synced.assignment), (0, &b"right"[..]));
    assert_eq!(heartbeat(&mut one, &first, 2), BrokerError::NONE);
    assert_eq!(
        heartbeat(&mut two, &second, 1),
        BrokerError::ILLEGAL_GENERATION
    );
    // One leaves: the other shares anew.
    let member = MemberIdentity::default().with_member_id(first.clone());
    let leave = LeaveGroupRequest::default()
        .with_group_id(group())
        .with_members(vec![member]);
    assert_eq!(one.ask(4, &leave).members[0].error_code, 0);
    assert_eq!(heartbeat(&mut two, &second, 2), told);
    let last = two.ask(VERSION, &join(VERSION, &second));
    assert_eq!(facts(&last), (3, second));
}

#[test]
fn who_can_not_belong_to_a_group_is_told_why() {
    let broker = memory(1, PLENTY);
    let mut asker = connect(&broker);
    let mut error =
        |request: JoinGroupRequest| BrokerError(asker.ask(VERSION, &request).error_code);
    let new = join(VERSION, &StrBytes::default());
    let short = new.clone().with_session_timeout_ms(5_999);
    assert_eq!(error(short), BrokerError::INVALID_SESSION_TIMEOUT);
    let nameless = new.clone().with_group_id(GroupId::default());
    assert_eq!(error(nameless), BrokerError::INVALID_GROUP_ID);
    let strange = join(VERSION, &text("somebody"));
    assert_eq!(error(strange), BrokerError::UNKNOWN_MEMBER_ID);
    let without = new.with_protocols(Vec::new());
    assert_eq!(error(without), BrokerError::INCONSISTENT_GROUP_PROTOCOL);
    let (first, sent) = come(&mut asker);
    asker.answer::<JoinGroupRequest>(VERSION, sent);
    let other = JoinGroupRequestProtocol::default().with_name(text("other"));
    let mut second = connect(&broker);
    let wish = join(VERSION, &StrBytes::default());
    let answer = second.ask(VERSION, &wish.clone().with_protocols(vec![other]));
    let inconsistent = BrokerError::INCONSISTENT_GROUP_PROTOCOL;
    assert_eq!(BrokerError(answer.error_code), inconsistent);
    let answer = second.ask(VERSION, &wish.with_protocol_type(text("connect")));
    assert_eq!(BrokerError(answer.error_code), inconsistent);
    assert_eq!(heartbeat(&mut second, &first, 1), BrokerError::NONE);
}

#[test]
fn a_restarted_member_with_an_instance_id_takes_its_place_and_fences_the_old_one() {
    let broker = memory(1, PLENTY);
    let (mut old, mut new) = (connect(&broker), connect(&broker));
    let wish = join(VERSION, &StrBytes::default()).with_group_instance_id(Some(text("i")));
    let first = old.ask(VERSION, &wish);
    assert_eq!((first.error_code, first.generation_id), (0, 1));
    let own = sync(&first.member_id, 1, &[(&first.member_id, b"all")]);
    old.ask(5, &own.with_group_instance_id(Some(text("i"))));
    let second = new.ask(VERSION, &wish);
    assert_ne!(second.member_id, first.member_id);
    // Nothing is shared anew: the leader is told to leave that.
    assert_eq!((second.generation_id, second.skip_assignment), (1, true));
    let own = sync(&second.member_id, 1, &[]).with_group_instance_id(Some(text("i")));
    assert_eq!(&*new.ask(5, &own).assignment, b"all");
    let beat = HeartbeatRequest::default()
        .with_group_id(group())
        .with_generation_id(1)
        .with_member_id(first.member_id)
        .with_group_instance_id(Some(text("i")));
    let fenced = BrokerError::FENCED_INSTANCE_ID;
    assert_eq!(BrokerError(old.ask(4, &beat).error_code), fenced);
}

fn commit(
    asker: &mut Asker,
    version: i16,
    member: &str,
    generation: i32,
    place: (&str, i32),
) -> BrokerError {
    let partition = OffsetCommitRequestPartition::default()
        .with_partition_index(place.1)
        .with_committed_offset(42)
        .with_committed_metadata(Some(text("note")));
    let topic = OffsetCommitRequestTopic::default()
        .with_name(name(place.0))
        .with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(group())
        .with_member_id(text(member))
        .with_generation_id_or_member_epoch(generation)
        .with_topics(vec![topic]);
    let response = asker.ask(version, &request);
    BrokerError(response.topics[0].partitions[0].error_code)
}

/// Offset and metadata of partition 0 and of partition 1.
fn committed(asker: &mut Asker, version: i16) -> Vec<(i64, String)> {
    let shown = |offset: i64, metadata: &Option<StrBytes>| {
        (offset, metadata.as_ref().expect("never null").to_string())
    };
    if version < 8 {
        let topic = OffsetFetchRequestTopic::default()
            .with_name(name(TOPIC))
            .with_partition_indexes(vec![0, 1]);
        let request = OffsetFetchRequest::default()
            .with_group_id(group())
            .with_topics(Some(vec![topic]));
        let response = asker.ask(version, &request);
        assert_eq!(response.error_code, 0);
        let partitions = response.topics[0].partitions.iter();
        return partitions
            .map(|at| shown(at.committed_offset, &at.metadata))
            .collect();
    }
    let topic = OffsetFetchRequestTopics::default()
        .with_name(name(TOPIC))
        .with_partition_indexes(vec![0, 1]);
    let wanted = OffsetFetchRequestGroup::default()
        .with_group_id(group())
        .with_topics(Some(vec![topic]));
    let request = OffsetFetchRequest::default().with_groups(vec![wanted]);
    let response = asker.ask(version, &request);
    let partitions = response.groups[0].topics[0].partitions.iter();
    partitions
        .map(|at| shown(at.committed_offset, &at.metadata))
        .collect()
}

#[test]
fn what_was_committed_is_found_again_in_every_version() {
    let broker = memory(2, PLENTY);
    let mut asker = connect(&broker);
    make(&mut asker, TOPIC);
    let nothing = vec![(-1, String::new()), (-1, String::new())];
    for version in 1..=9 {
        assert_eq!(committed(&mut asker, version), nothing);
    }
    for version in 2..=9 {
        assert_eq!(
            commit(&mut asker, version, "", -1, (TOPIC, 0)),
            BrokerError::NONE
        );
    }
    let one = vec![(42, "note".to_owned()), (-1, String::new())];
    for version in 1..=9 {
        assert_eq!(committed(&mut asker, version), one);
    }
    let unknown = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
    for place in [(TOPIC, 2), (TOPIC, -1), ("other", 0)] {
        assert_eq!(commit(&mut asker, 9, "", -1, place), unknown);
    }
    // All that there is, without asking by name.
    let wanted = OffsetFetchRequestGroup::default()
        .with_group_id(group())
        .with_topics(None);
    let request = OffsetFetchRequest::default().with_groups(vec![wanted]);
    let topics = &asker.ask(8, &request).groups[0].topics;
    assert_eq!((topics.len(), topics[0].partitions.len()), (1, 1));
}

#[test]
fn only_members_of_the_generation_commit_while_a_group_has_members() {
    let broker = memory(1, PLENTY);
    let mut asker = connect(&broker);
    make(&mut asker, TOPIC);
    let (member, sent) = come(&mut asker);
    asker.answer::<JoinGroupRequest>(VERSION, sent);
    let place = (TOPIC, 0);
    let early = commit(&mut asker, 9, &member, 1, place);
    assert_eq!(early, BrokerError::REBALANCE_IN_PROGRESS);
    asker.ask(5, &sync(&member, 1, &[(&member, b"all")]));
    assert_eq!(commit(&mut asker, 9, &member, 1, place), BrokerError::NONE);
    let late = commit(&mut asker, 9, &member, 0, place);
    assert_eq!(late, BrokerError::ILLEGAL_GENERATION);
    let stranger = commit(&mut asker, 9, "", -1, place);
    assert_eq!(stranger, BrokerError::UNKNOWN_MEMBER_ID);
}

#[test]
fn a_coordinator_is_one_of_the_brokers_and_the_others_say_so() {
    let broker = super::cluster(3, 1);
    let mut asker = connect(&broker);
    for version in 0..=6 {
        let request = FindCoordinatorRequest::default();
        let (node, port) = if version < 4 {
            let found = asker.ask(version, &request.with_key(text("g")));
            (found.node_id, found.port)
        } else {
            let found = asker.ask(version, &request.with_coordinator_keys(vec![text("g")]));
            (found.coordinators[0].node_id, found.coordinators[0].port)
        };
        for (id, address) in (1..).zip(broker.addresses()) {
            assert_eq!(id == node.0, i32::from(address.port()) == port);
            let mut asker = Asker::connect(*address);
            let error = heartbeat(&mut asker, &text("m"), 1);
            let expected = match id == node.0 {
                true => BrokerError::UNKNOWN_MEMBER_ID,
                false => BrokerError::NOT_COORDINATOR,
            };
            assert_eq!(error, expected);
        }
    }
}
