//! Reads fixtures: compressed files of one JSON object a line.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

/// The objects of `bytes`, a compressed file of one JSON object a line.
pub fn json_lines(bytes: &[u8]) -> Vec<Value> {
    let mut text = String::new();
    GzDecoder::new(bytes)
        .read_to_string(&mut text)
        .expect("a fixture is whole");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}

/// The bytes of a text of hex digits.
pub fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits"))
        .collect()
}

/// The hex field `name` of `object`; none where it is null.
pub fn hex_of(object: &Value, name: &str) -> Option<Vec<u8>> {
    object[name].as_str().map(hex)
}
