//! What records hold, seen from the batches they end up in.

#![allow(clippy::unwrap_used)] // Outside test functions too, a surprise fails the test.

use std::collections::HashSet;
use std::sync::Arc;

use kdyno::load::arrival::Share;
use kdyno::load::headers;
use kdyno::load::key::{KeyPlan, KeyPool, Keys};
use kdyno::load::payload::{Content, Plan, Pool, Sizes, Values, pool_bytes};
use kdyno::load::source::Source;
use kdyno::records::compress::{Codec, Compression};
use kdyno::records::reader::Batches;
use kdyno::records::writer::{BatchWriter, Identity, Record};

const BATCH_BYTES: usize = 512_000;

fn source(content: Content, sizes: Sizes, null_ratio: f64, keys: KeyPlan) -> Source {
    let plan = Plan {
        content,
        sizes,
        null_ratio,
        pool_bytes: pool_bytes(BATCH_BYTES, true),
        seed: 42,
    };
    let pool = Pool::prepare(plan).unwrap();
    let keys = KeyPool::prepare(keys, 42, crc32c::crc32c).unwrap();
    Source {
        values: Values::new(Arc::new(pool), Share::ALL),
        keys: Keys::new(Arc::new(keys), Share::ALL),
        headers: headers::encode::<&str>(&[]).unwrap(),
    }
}

/// Fills a batch of [`BATCH_BYTES`] and gives what a codec makes of it: wire ÷ raw.
fn wire_to_raw(source: &mut Source, compression: Compression) -> f64 {
    let mut raw = Vec::new();
    let mut batch = BatchWriter::begin(&mut raw);
    for index in 0.. {
        let drawn = source.record(index);
        let record = Record {
            timestamp_ms: 1_767_225_600_000,
            key: drawn.key.map(|key| key.bytes),
            value: drawn.value,
            headers: drawn.headers,
        };
        if raw.len() + batch.record_bytes(&record) > BATCH_BYTES {
            break;
        }
        batch.append(&mut raw, &record);
    }
    let mut wire = Vec::new();
    let mut codec = Codec::new(compression);
    let closed = batch.close_compressed(&raw, &mut wire, &mut codec, Identity::NONE);
    closed.unwrap().len() as f64 / raw.len() as f64
}

/// K-02: 512 B values, batches of 512,000 B, zstd.
#[test]
fn batches_compress_as_much_as_was_asked() {
    let zstd = Compression::Zstd { level: 3 };
    let of = |content| {
        let mut source = source(content, Sizes::Fixed(512), 0.0, KeyPlan::None);
        wire_to_raw(&mut source, zstd)
    };
    let default = of(Content::Letters);
    assert!(default >= 0.5, "{default}");
    for (compressibility, expected) in [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)] {
        let got = of(Content::Compressible(compressibility));
        assert!((got - expected).abs() < 0.1, "{compressibility}: {got}");
    }
}

#[test]
fn small_values_compress_as_fresh_ones_would_too() {
    for compression in [Compression::Lz4, Compression::Zstd { level: 3 }] {
        let sizes = Sizes::Fixed(100);
        let mut source = source(Content::Bytes, sizes, 0.0, KeyPlan::None);
        let got = wire_to_raw(&mut source, compression);
        // A pool that repeated within a batch would fall far below this.
        assert!(got > 0.9, "{compression:?}: {got}");
    }
}

#[test]
fn a_batch_read_back_holds_the_very_records_and_nulls_stay_null() {
    let sizes = "uniform:0..300".parse().unwrap();
    let keys = KeyPlan::Zipf { n: 100, s: 1.0 };
    let mut source = Source {
        headers: headers::encode(&["trace=a=b", "empty="]).unwrap(),
        ..source(Content::Letters, sizes, 0.2, keys)
    };
    let mut buffer = Vec::new();
    let mut batch = BatchWriter::begin(&mut buffer);
    let mut payload_bytes = 0;
    for index in 0..500 {
        let drawn = source.record(index);
        payload_bytes += drawn.payload_bytes() as u64;
        let record = Record {
            timestamp_ms: 1_767_225_600_000 + index as i64,
            key: drawn.key.map(|key| key.bytes),
            value: drawn.value,
            headers: drawn.headers,
        };
        batch.append(&mut buffer, &record);
    }
    assert_eq!(batch.payload_bytes(), payload_bytes);
    let range = batch.close(&mut buffer, Identity::NONE);
    let read = Batches::new(&buffer[range]).next().unwrap().unwrap();
    let mut scratch = Vec::new();
    let mut nulls = 0;
    let mut values = HashSet::new();
    for (index, record) in read.records(&mut scratch, usize::MAX).unwrap().enumerate() {
        let record = record.unwrap();
        let drawn = source.record(index as u64);
        assert_eq!(record.key, drawn.key.map(|key| key.bytes));
        assert_eq!(record.value, drawn.value);
        nulls += usize::from(record.value.is_none());
        values.insert(record.value.map(<[u8]>::to_vec));
        let names: Vec<_> = record
            .headers
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        assert_eq!(names.len(), 2);
    }
    assert!((60..140).contains(&nulls), "{nulls}");
    assert!(values.len() > 380, "{}", values.len());
}
