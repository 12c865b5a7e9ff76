//! Batches that Apache Kafka's own classes wrote hold for our reader what they hold for Java's.

use kdyno::base::rng::Rng;
use kdyno::records::reader::{Batch, Batches};

use crate::support::fixtures::{hex_of, json_lines};

const BATCHES: &[u8] = include_bytes!("../fixtures/records/java-batches.jsonl.gz");
const INFLATED_MAX: usize = 64 << 20;

#[test]
fn every_batch_of_java_decodes_to_equal_records() {
    let lines = json_lines(BATCHES);
    assert!(lines.len() > 30);
    for line in &lines {
        let case = &line["case"];
        let bytes = hex_of(line, "hex").expect("a batch");
        let batch = Batch::only(&bytes).expect("a batch").expect("a whole one");
        batch.check_crc().expect("Java's own CRC");
        let header = &line["batch"];
        assert_eq!(header["base_offset"], batch.base_offset(), "{case}");
        assert_eq!(header["count"], batch.record_count(), "{case}");
        assert_eq!(
            header["last_offset_delta"],
            batch.last_offset_delta(),
            "{case}"
        );
        assert_eq!(header["base_sequence"], batch.base_sequence(), "{case}");
        assert_eq!(header["last_sequence"], batch.last_sequence(), "{case}");
        assert_eq!(header["producer_id"], batch.producer_id(), "{case}");
        assert_eq!(header["max_timestamp"], batch.max_timestamp_ms(), "{case}");
        assert_eq!(header["control"], batch.control(), "{case}");
        assert_eq!(header["transactional"], batch.transactional(), "{case}");
        assert_eq!(
            header["codec"],
            batch.codec().expect("a codec").name(),
            "{case}"
        );
        let expected = line["records"].as_array().expect("records");
        let mut scratch = Vec::new();
        let records = batch.records(&mut scratch, INFLATED_MAX).expect("records");
        let mut count = 0;
        for (record, java) in records.zip(expected) {
            let record = record.expect("a record");
            assert_eq!(java["offset"], record.offset, "{case}");
            assert_eq!(java["timestamp"], record.timestamp_ms, "{case}");
            let key = hex_of(java, "key_hex");
            assert_eq!(key.as_deref(), record.key, "{case}");
            match java["value_len"].as_u64() {
                Some(bytes) => {
                    assert_eq!(
                        record.value.map(<[u8]>::len),
                        Some(bytes as usize),
                        "{case}"
                    );
                }
                None => assert_eq!(hex_of(java, "value_hex").as_deref(), record.value, "{case}"),
            }
            let headers = java["headers"].as_array().expect("headers");
            assert_eq!(record.headers.iter().count(), headers.len(), "{case}");
            for ((name, value), java) in record.headers.iter().zip(headers) {
                assert_eq!(java[0], name, "{case}");
                let expected = java[1].as_str().map(crate::support::fixtures::hex);
                assert_eq!(expected.as_deref(), value, "{case}");
            }
            count += 1;
        }
        assert_eq!(count, expected.len(), "{case}");
    }
}

#[test]
fn cut_and_edited_batches_never_panic_and_never_inflate_beyond_the_ceiling() {
    let mut rng = Rng::new(5, 0);
    for line in json_lines(BATCHES) {
        let bytes = hex_of(&line, "hex").expect("a batch");
        for round in 0..60 {
            let mut hostile = bytes.clone();
            if round % 3 == 0 {
                hostile.truncate(rng.below(bytes.len() as u64 + 1) as usize);
            }
            for _ in 0..=rng.below(3) {
                if !hostile.is_empty() {
                    let at = rng.below(hostile.len() as u64) as usize;
                    hostile[at] = rng.next_u64() as u8;
                }
            }
            for batch in Batches::new(&hostile).flatten() {
                batch.check_crc().ok();
                let mut scratch = Vec::new();
                if let Ok(records) = batch.records(&mut scratch, 1 << 20) {
                    records.flatten().for_each(drop);
                }
                assert!(scratch.len() <= (1 << 20) + 1);
            }
        }
    }
}

#[test]
fn a_batch_that_claims_millions_of_records_allocates_nothing_for_them() {
    let hostile = "000000000000000000000031000000000228d9bd3800006d00000000000000000003e8\
                   00000000000003e8ffffffffffffffffffff000000000036000001";
    let bytes = crate::support::fixtures::hex(hostile);
    let batch = Batches::new(&bytes)
        .next()
        .expect("a batch")
        .expect("of format 2");
    let mut scratch = Vec::new();
    let records = batch.records(&mut scratch, 1 << 20);
    assert!(records.map_or(true, |mut records| {
        records.next().is_some_and(|r| r.is_err())
    }));
    assert!(scratch.capacity() < 1 << 16);
}
