//! Values: fresh, repeatable, of the sizes asked, and as compressible as asked.

use std::collections::HashSet;

use super::*;

fn plan(content: Content, sizes: Sizes) -> Plan {
    Plan {
        content,
        sizes,
        null_ratio: 0.0,
        pool_bytes: POOL_BYTES,
        seed: 42,
    }
}

fn values(plan: Plan) -> Values {
    Values::new(Arc::new(Pool::prepare(plan).unwrap()), Share::ALL)
}

fn client(pool: &Arc<Pool>, lane: u32) -> Values {
    let share = Share {
        lane,
        lane_count: 4,
    };
    Values::new(Arc::clone(pool), share)
}

#[test]
fn records_differ_from_one_another() {
    // In compressible bytes, some short values lie wholly within filler.
    for (content, distinct_min) in [
        (Content::Letters, 4_950),
        (Content::Bytes, 4_950),
        (Content::Compressible(0.0), 4_950),
        (Content::Compressible(0.5), 4_400),
    ] {
        let mut values = values(plan(content, Sizes::Fixed(100)));
        let seen: HashSet<Vec<u8>> = (0..5_000)
            .map(|index| values.value(index).unwrap().to_vec())
            .collect();
        assert!(seen.len() > distinct_min, "{}", seen.len());
    }
}

#[test]
fn a_record_is_a_function_of_seed_client_and_number_alone() {
    let pool = |seed| {
        let plan = plan(Content::Letters, "uniform:10..200".parse().unwrap());
        Arc::new(Pool::prepare(Plan { seed, ..plan }).unwrap())
    };
    let (one, again, other) = (pool(1), pool(1), pool(2));
    let mut forwards = client(&one, 2);
    let in_order: Vec<_> = (0..100)
        .map(|index| forwards.value(index).map(<[u8]>::to_vec))
        .collect();
    let mut backwards = client(&again, 2);
    for index in (0..100).rev() {
        assert_eq!(
            backwards.value(index),
            in_order[index as usize].as_deref(),
            "{index}"
        );
    }
    assert_ne!(client(&one, 1).value(0), in_order[0].as_deref());
    assert_ne!(client(&other, 2).value(0), in_order[0].as_deref());
}

#[test]
fn sizes_are_what_was_asked_and_their_mean_is_known_beforehand() {
    for (sizes, smallest, largest) in [
        ("100", 100, 100),
        ("0", 0, 0),
        ("1MiB", 1 << 20, 1 << 20),
        ("uniform:100..2000", 100, 2_000),
        ("lognormal:1KiB,0.5", 100, 10_000),
    ] {
        let pool = Pool::prepare(plan(Content::Letters, sizes.parse().unwrap())).unwrap();
        let mean = pool.value_bytes_mean();
        let mut values = Values::new(Arc::new(pool), Share::ALL);
        let mut sum = 0;
        for index in 0..20_000 {
            let bytes = values.value(index).unwrap().len();
            assert!((smallest..=largest).contains(&bytes), "{sizes}: {bytes}");
            sum += bytes;
        }
        let got = sum as f64 / 20_000.0;
        assert!(
            (got - mean).abs() <= 0.02 * mean,
            "{sizes}: {got} of {mean}"
        );
    }
}

#[test]
fn the_share_of_nulls_is_what_was_asked() {
    let base = plan(Content::Letters, Sizes::Fixed(10));
    for null_ratio in [0.0, 0.25, 1.0] {
        let mut values = values(Plan {
            null_ratio,
            ..base.clone()
        });
        let nulls = (0..100_000).filter(|&index| values.value(index).is_none());
        let got = nulls.count() as f64 / 100_000.0;
        assert!((got - null_ratio).abs() < 0.005, "{got}");
    }
    let half = Pool::prepare(Plan {
        null_ratio: 0.5,
        ..base
    });
    let half = half.unwrap();
    assert_eq!(
        (half.value_bytes_each(), half.value_bytes_mean()),
        (None, 5.0)
    );
}

#[test]
fn every_codec_reaches_the_compressibility_asked() {
    for compression in [
        Compression::Gzip { level: 1 },
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd { level: 3 },
    ] {
        for (asked, content) in [
            (1.0, Content::Bytes),
            (1.0, Content::Compressible(0.0)),
            (0.75, Content::Compressible(0.25)),
            (0.5, Content::Compressible(0.5)),
            (0.2, Content::Compressible(0.8)),
            (0.0, Content::Compressible(1.0)),
        ] {
            let batch_bytes = 512 << 10;
            let plan = Plan {
                pool_bytes: pool_bytes(batch_bytes, true),
                ..plan(content, Sizes::Fixed(512))
            };
            let pool = Arc::new(Pool::prepare(plan).unwrap());
            let got = pool.achieved_ratio(compression, batch_bytes).unwrap();
            assert!((got - asked).abs() < 0.1, "{compression:?} {asked}: {got}");
        }
    }
}

#[test]
fn letters_compress_as_those_of_kafkas_own_tool() {
    let plan = Plan {
        pool_bytes: pool_bytes(512_000, true),
        ..plan(Content::Letters, Sizes::Fixed(512))
    };
    let pool = Arc::new(Pool::prepare(plan).unwrap());
    let zstd = Compression::Zstd { level: 3 };
    let got = pool.achieved_ratio(zstd, 512_000).unwrap();
    assert!((0.55..0.7).contains(&got), "{got}");
}

#[test]
fn zeros_are_zeros_and_numbers_count_over_all_clients() {
    let mut zeros = values(plan(Content::Zeros, Sizes::Fixed(3)));
    assert_eq!(zeros.value(9), Some(&[0, 0, 0][..]));
    let pool = Arc::new(Pool::prepare(plan(Content::Index, Sizes::Fixed(0))).unwrap());
    let mut third = client(&pool, 2);
    assert_eq!(third.value(0), Some(&b"2"[..]));
    assert_eq!(third.value(25), Some(&b"102"[..]));
    let mut alone = Values::new(pool, Share::ALL);
    assert_eq!(alone.value(u64::MAX), Some(&b"18446744073709551615"[..]));
}

#[test]
fn every_line_is_sent_and_nothing_else() {
    let lines = Lines::read(&b"a\nbb\n\nccc"[..]).unwrap();
    let mut values = values(plan(Content::Lines(lines), Sizes::Fixed(100)));
    let seen: HashSet<Vec<u8>> = (0..200)
        .map(|index| values.value(index).unwrap().to_vec())
        .collect();
    let all = [&b"a"[..], b"bb", b"", b"ccc"].map(<[u8]>::to_vec);
    assert_eq!(seen, HashSet::from(all));
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let ratio = Pool::prepare(plan(Content::Compressible(1.5), Sizes::Fixed(1)));
    assert!(ratio.unwrap_err().to_string().contains("between 0 and 1"));
    let null = Pool::prepare(Plan {
        null_ratio: f64::NAN,
        ..plan(Content::Bytes, Sizes::Fixed(1))
    });
    assert!(null.is_err());
    let empty = Pool::prepare(plan(Content::Lines(Lines::default()), Sizes::Fixed(1)));
    assert_eq!(empty.unwrap_err(), PayloadError::NoLines);
}
