//! Keys: which, how often, and with which hash.

use std::collections::HashMap;

use super::*;

/// Tells keys apart, and nothing more.
fn hash(key: &[u8]) -> u32 {
    key.iter()
        .fold(17u32, |hash, &byte| hash.wrapping_mul(31) ^ u32::from(byte))
}

fn keys(spec: &str) -> Keys {
    let KeySpec::Plan(plan) = spec.parse().unwrap() else {
        panic!("{spec} needs a file");
    };
    let pool = Arc::new(KeyPool::prepare(plan, 42, hash).unwrap());
    Keys::new(pool, Share::ALL)
}

fn drawn(keys: &mut Keys, records: u64) -> HashMap<String, u32> {
    let mut counts = HashMap::new();
    for index in 0..records {
        let key = keys.key(index).unwrap();
        assert_eq!(key.hash, hash(key.bytes));
        let text = String::from_utf8(key.bytes.to_vec()).unwrap();
        *counts.entry(text).or_default() += 1;
    }
    counts
}

#[test]
fn no_keys_are_no_keys() {
    let mut none = keys("none");
    assert_eq!(none.key(0), None);
    assert!(!none.pool.has_keys());
}

#[test]
fn a_sequence_counts_over_all_clients_and_starts_again_at_its_end() {
    let plan = KeyPlan::Sequence { modulo: Some(3) };
    let pool = Arc::new(KeyPool::prepare(plan, 1, hash).unwrap());
    let share = Share {
        lane: 1,
        lane_count: 2,
    };
    let mut second = Keys::new(pool, share);
    let texts: Vec<_> = (0..4)
        .map(|index| second.key(index).unwrap().bytes.to_vec())
        .collect();
    assert_eq!(texts, [b"1", b"0", b"2", b"1"]);
    assert_eq!(keys("sequence").key(1_234_567).unwrap().bytes, b"1234567");
    let large = keys("sequence:9_000_000_000")
        .key(9_000_000_001)
        .map(|key| key.bytes.to_vec());
    assert_eq!(large, Some(b"1".to_vec()));
}

#[test]
fn uniform_keys_are_equally_likely_pooled_or_not() {
    let counts = drawn(&mut keys("uniform:16"), 160_000);
    assert_eq!(counts.len(), 16);
    assert!(counts.values().all(|count| count.abs_diff(10_000) < 500));
    let counts = drawn(&mut keys("uniform:4000000000"), 10_000);
    assert!(counts.len() > 9_990);
}

#[test]
fn zipf_favours_the_first_keys() {
    let counts = drawn(&mut keys("zipf:1000,1"), 100_000);
    // 1 ÷ (1 + 1/2 + … + 1/1000) = 13.4 %.
    assert!(counts["0"].abs_diff(13_360) < 600, "{}", counts["0"]);
    assert!(counts["1"].abs_diff(6_680) < 400);
}

#[test]
fn a_fixed_key_and_lines_are_taken_as_they_are() {
    let counts = drawn(&mut keys("fixed:a:b"), 10);
    assert_eq!(counts["a:b"], 10);
    let lines = Lines::read(&b"x\nyy\n"[..]).unwrap();
    let pool = KeyPool::prepare(KeyPlan::Lines(lines), 1, hash).unwrap();
    assert_eq!((pool.key_bytes_each(), pool.key_bytes_mean()), (None, 1.5));
    let counts = drawn(&mut Keys::new(Arc::new(pool), Share::ALL), 1_000);
    assert_eq!(counts.len(), 2);
}

#[test]
fn a_key_is_a_function_of_seed_client_and_number_alone() {
    let mut one = keys("uniform:1000");
    let mut again = keys("uniform:1000");
    for index in (0..100).rev() {
        assert_eq!(one.key(index), again.key(index));
    }
    let pool = Arc::clone(&one.pool);
    let share = Share {
        lane: 1,
        lane_count: 2,
    };
    let mut other = Keys::new(pool, share);
    assert!((0..10).any(|index| other.key(index) != one.key(index)));
}

#[test]
fn refusals_say_what_to_write() {
    for (text, word) in [
        ("random", "uniform:N"),
        ("uniform", "uniform:N"),
        ("uniform:0", "at least 1"),
        ("uniform:many", "at least 1"),
        ("zipf:100", "zipf:1000,0.99"),
        ("zipf:100,-1", "0 to 10"),
        ("zipf:9000000,1", "at most 1048576"),
        ("file:", "file:PATH"),
    ] {
        let said = text.parse::<KeySpec>().unwrap_err().to_string();
        assert!(said.contains(word), "{text}: {said}");
    }
    let file = KeySpec::File("keys.txt".to_owned());
    assert_eq!("file:keys.txt".parse(), Ok(file));
}
