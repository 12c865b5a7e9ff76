//! What was written is read as it came, in whole batches, and a reader may wait for it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::PartitionData;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{
    ApiVersionsRequest, FetchRequest, ListOffsetsRequest, ProduceRequest,
};
use kdyno::records::reader::Batches;
use kdyno::wire::broker_error::BrokerError;
use rstest::rstest;
use uuid::Uuid;

use super::{batch, make, memory, name, produce};
use crate::support::asker::Asker;

const TOPIC: &str = "t";
const PLENTY: u64 = 1 << 30;
const LIMIT: i32 = 1 << 20;

fn partition(index: i32, offset: i64) -> FetchPartition {
    FetchPartition::default()
        .with_partition(index)
        .with_fetch_offset(offset)
        .with_partition_max_bytes(LIMIT)
}

fn fetch(version: i16, id: Uuid, partitions: Vec<FetchPartition>) -> FetchRequest {
    let topic = FetchTopic::default().with_partitions(partitions);
    let topic = match version {
        13.. => topic.with_topic_id(id),
        _ => topic.with_topic(name(TOPIC)),
    };
    FetchRequest::default()
        .with_max_bytes(LIMIT)
        .with_session_epoch(-1)
        .with_topics(vec![topic])
}

/// What a request for one topic gives of its partitions.
fn read(asker: &mut Asker, version: i16, request: &FetchRequest) -> Vec<PartitionData> {
    let mut response = asker.ask(version, request);
    assert_eq!(response.error_code, 0);
    response.responses.remove(0).partitions
}

fn records(data: &PartitionData) -> &Bytes {
    data.records.as_ref().expect("empty, never null")
}

#[rstest]
fn batches_come_back_as_they_were_written_with_the_offsets_of_the_log(
    #[values(4, 5, 7, 11, 12, 13, 18)] version: i16,
) {
    let broker = memory(2, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    let written = [batch(10, &[b"a", b"b"]), batch(20, &[b"c", b"d", b"e"])];
    for (batch, base) in written.iter().zip([0, 2]) {
        let answer = produce(&mut asker, TOPIC, 1, batch);
        assert_eq!((answer.error_code, answer.base_offset), (0, base));
    }
    let request = fetch(version, id, vec![partition(0, 0), partition(1, 1)]);
    let data = read(&mut asker, version, &request);
    assert!(records(&data[0]).is_empty());
    assert_eq!((data[0].high_watermark, data[1].high_watermark), (0, 5));
    // The batch with the wanted offset comes whole.
    let mut batches = Batches::new(records(&data[1]));
    for (batch, base) in written.iter().zip([0, 2]) {
        let read = batches.next().unwrap().unwrap();
        assert_eq!((read.base_offset(), read.leader_epoch()), (base, 0));
        assert_eq!(read.check_crc(), Ok(()));
        assert_eq!(read.bytes()[16..], batch[16..]);
    }
    assert!(batches.next().is_none() && batches.rest().is_empty());
}

#[test]
fn a_reader_that_waits_is_answered_when_there_is_enough_and_not_before() {
    let broker = memory(1, PLENTY);
    let mut writer = Asker::connect(broker.addresses()[0]);
    let mut reader = Asker::connect(broker.addresses()[0]);
    let id = make(&mut writer, TOPIC);
    let written = batch(1, &[b"abc"]);
    let request = fetch(12, id, vec![partition(0, 0)])
        .with_max_wait_ms(8_000)
        .with_min_bytes(written.len() as i32 + 1);
    let start = Instant::now();
    let fetch_id = reader.send(12, &request);
    // What is asked behind it waits for its turn.
    let versions_id = reader.send(3, &ApiVersionsRequest::default());
    produce(&mut writer, TOPIC, 0, &written);
    produce(&mut writer, TOPIC, 0, &written);
    let response = reader.answer::<FetchRequest>(12, fetch_id);
    assert!(start.elapsed() < Duration::from_secs(4));
    let bytes = records(&response.responses[0].partitions[0]).len();
    assert_eq!(bytes, 2 * written.len());
    reader.answer::<ApiVersionsRequest>(3, versions_id);
}

#[test]
fn a_reader_gets_what_there_is_when_it_has_waited_long_enough() {
    let broker = memory(1, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    let written = batch(1, &[b"abc"]);
    produce(&mut asker, TOPIC, 0, &written);
    let request = fetch(12, id, vec![partition(0, 0)])
        .with_max_wait_ms(30)
        .with_min_bytes(LIMIT);
    let start = Instant::now();
    let data = read(&mut asker, 12, &request);
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!(records(&data[0]).len(), written.len());
}

#[test]
fn limits_hold_but_for_the_first_batch() {
    let broker = memory(2, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    let written = batch(1, &[&[7; 1_000]]);
    let bytes = written.len();
    for _ in 0..4 {
        produce(&mut asker, TOPIC, 0, &written);
        produce(&mut asker, TOPIC, 1, &written);
    }
    let mut sizes = |limits: [i32; 2], max_bytes: i32| {
        let wanted = limits
            .iter()
            .zip(0..)
            .map(|(limit, index)| partition(index, 0).with_partition_max_bytes(*limit));
        let request = fetch(12, id, wanted.collect()).with_max_bytes(max_bytes);
        let data = read(&mut asker, 12, &request);
        [0, 1].map(|index| records(&data[index]).len())
    };
    let two = 2 * bytes as i32 + 5;
    assert_eq!(sizes([two, LIMIT], LIMIT), [2 * bytes, 4 * bytes]);
    assert_eq!(sizes([LIMIT, LIMIT], two), [2 * bytes, 0]);
    // The first is given whatever its size, and only it.
    assert_eq!(sizes([1, 1], LIMIT), [bytes, 0]);
    assert_eq!(sizes([LIMIT, LIMIT], 1), [bytes, 0]);
    assert_eq!(sizes([0, 0], 0), [bytes, 0]);
}

#[test]
fn what_can_not_be_read_is_named_at_once() {
    let broker = memory(1, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    produce(&mut asker, TOPIC, 0, &batch(1, &[b"a"]));
    let mut error = |id: Uuid, wanted: FetchPartition| {
        let request = fetch(13, id, vec![wanted])
            .with_max_wait_ms(60_000)
            .with_min_bytes(1_000);
        BrokerError(read(&mut asker, 13, &request)[0].error_code)
    };
    assert_eq!(error(id, partition(0, 2)), BrokerError::OFFSET_OUT_OF_RANGE);
    assert_eq!(
        error(id, partition(0, -1)),
        BrokerError::OFFSET_OUT_OF_RANGE
    );
    let missing = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
    assert_eq!(error(id, partition(9, 0)), missing);
    assert_eq!(error(id, partition(-1, 0)), missing);
    let strange = Uuid::from_u128(7);
    assert_eq!(
        error(strange, partition(0, 0)),
        BrokerError::UNKNOWN_TOPIC_ID
    );
    let later = partition(0, 0).with_current_leader_epoch(3);
    assert_eq!(error(id, later), BrokerError::UNKNOWN_LEADER_EPOCH);
    let session = FetchRequest::default()
        .with_session_id(5)
        .with_session_epoch(1);
    let response = asker.ask(12, &session);
    let unknown = BrokerError::FETCH_SESSION_ID_NOT_FOUND;
    assert_eq!(BrokerError(response.error_code), unknown);
}

#[test]
fn damaged_batches_are_refused_and_not_kept() {
    let broker = memory(1, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    let good = batch(1, &[b"abc", b"def"]);
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let answer = produce(&mut asker, TOPIC, 0, &flipped);
    assert_eq!(BrokerError(answer.error_code), BrokerError::CORRUPT_MESSAGE);
    // More records announced than there are, under a CRC that holds.
    let mut more = good;
    more[23..27].copy_from_slice(&2i32.to_be_bytes());
    more[57..61].copy_from_slice(&3i32.to_be_bytes());
    let crc = crc32c::crc32c(&more[21..]);
    more[17..21].copy_from_slice(&crc.to_be_bytes());
    let answer = produce(&mut asker, TOPIC, 0, &more);
    assert_eq!(BrokerError(answer.error_code), BrokerError::INVALID_RECORD);
    let data = read(&mut asker, 12, &fetch(12, id, vec![partition(0, 0)]));
    assert_eq!(data[0].high_watermark, 0);
}

fn offset_at(asker: &mut Asker, version: i16, timestamp: i64) -> (i64, i64) {
    let wanted = ListOffsetsPartition::default().with_timestamp(timestamp);
    let topic = ListOffsetsTopic::default()
        .with_name(name(TOPIC))
        .with_partitions(vec![wanted]);
    let request = ListOffsetsRequest::default().with_topics(vec![topic]);
    let response = asker.ask(version, &request);
    let found = &response.topics[0].partitions[0];
    assert_eq!(found.error_code, 0);
    (found.offset, found.timestamp)
}

#[test]
fn offsets_are_found_by_place_and_by_time() {
    let broker = memory(1, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    make(&mut asker, TOPIC);
    produce(&mut asker, TOPIC, 0, &batch(100, &[b"a", b"b", b"c"]));
    produce(&mut asker, TOPIC, 0, &batch(300, &[b"d", b"e"]));
    produce(&mut asker, TOPIC, 0, &batch(200, &[b"f"]));
    let expected = [
        (-1, (6, -1)),
        (-2, (0, -1)),
        (-3, (4, 301)),
        (-4, (0, -1)),
        (-5, (-1, -1)),
        (0, (0, 100)),
        (101, (1, 101)),
        (103, (3, 300)),
        (302, (-1, -1)),
    ];
    for (timestamp, found) in expected {
        for version in 1..=10 {
            let got = offset_at(&mut asker, version, timestamp);
            assert_eq!(got, found, "{timestamp} in version {version}");
        }
    }
}

#[test]
fn the_oldest_batches_of_all_partitions_go_when_there_are_too_many_bytes() {
    let written = batch(1, &[&[7; 1_000], &[8; 1_000]]);
    let broker = memory(2, 3 * written.len() as u64);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    for partition in [0, 0, 1, 1, 0] {
        produce(&mut asker, TOPIC, partition, &written);
    }
    let request = fetch(12, id, vec![partition(0, 4), partition(1, 0)]);
    let data = read(&mut asker, 12, &request);
    assert_eq!(data[0].log_start_offset, 4);
    assert_eq!((data[0].high_watermark, data[1].high_watermark), (6, 4));
    assert_eq!(data[1].log_start_offset, 0);
    assert_eq!(records(&data[1]).len(), 2 * written.len());
    assert_eq!(offset_at(&mut asker, 9, -2), (4, -1));
    let gone = read(&mut asker, 12, &fetch(12, id, vec![partition(0, 3)]));
    let out_of_range = BrokerError::OFFSET_OUT_OF_RANGE;
    assert_eq!(BrokerError(gone[0].error_code), out_of_range);
}

#[test]
fn answers_that_nobody_reads_hold_back_further_requests() {
    let broker = memory(1, PLENTY);
    let mut asker = Asker::connect(broker.addresses()[0]);
    let id = make(&mut asker, TOPIC);
    for _ in 0..8 {
        produce(&mut asker, TOPIC, 0, &batch(1, &[&[7; 1_000_000]]));
    }
    let request = fetch(
        12,
        id,
        vec![partition(0, 0).with_partition_max_bytes(i32::MAX)],
    )
    .with_max_bytes(i32::MAX);
    let ids: Vec<i32> = (0..20).map(|_| asker.send(12, &request)).collect();
    for id in ids {
        let response = asker.answer::<FetchRequest>(12, id);
        let bytes = records(&response.responses[0].partitions[0]).len();
        assert!(bytes > 8_000_000);
    }
    // The connection goes on as before.
    let nothing = ProduceRequest::default().with_acks(1);
    assert!(asker.ask(9, &nothing).responses.is_empty());
}
