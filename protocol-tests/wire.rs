//! Messages that Apache Kafka's own classes wrote are read to their last byte, and damage is survived.

use kdyno::base::rng::Rng;
use kdyno::wire::api::ApiKey;
use kdyno::wire::cursor::Cursor;
use kdyno::wire::guard;
use kdyno::wire::header::RequestHeader;
use kdyno::wire::produce::{Reply, walk_request};
use kdyno::wire::schema::value::{Struct, Value, decode};
use kdyno::wire::schema::{Direction, Layout, Scalar, blob, message};
use serde_json::Value as Json;

use crate::support::fixtures::{hex_of, json_lines};

const MESSAGES: &[u8] = include_bytes!("../fixtures/wire/java-messages.jsonl.gz");

struct Message {
    layout: &'static Layout,
    version: i16,
    body: Vec<u8>,
    line: Json,
}

fn messages() -> Vec<Message> {
    json_lines(MESSAGES)
        .into_iter()
        .map(|line| {
            let name = line["api"].as_str().expect("a name");
            let key = line["key"].as_i64().map(|key| ApiKey(key as i16));
            let layout = match (key, line["kind"].as_str()) {
                (Some(key), Some("request")) => message(key, Direction::Request),
                (Some(key), _) => message(key, Direction::Response),
                (None, _) => blob(name),
            };
            Message {
                layout: layout.unwrap_or_else(|| panic!("no layout of {name}")),
                version: line["version"].as_i64().expect("a version") as i16,
                body: hex_of(&line, "body").expect("a body"),
                line,
            }
        })
        .collect()
}

#[test]
fn every_message_of_java_is_read_to_its_last_byte_with_equal_values() {
    let mut compared = 0;
    let messages = messages();
    assert!(messages.len() > 1_000);
    for message in &messages {
        let of = format!(
            "{} {} {}",
            message.line["api"], message.version, message.line["case"]
        );
        let read = decode(message.layout, message.version, &message.body)
            .unwrap_or_else(|error| panic!("{of}: {error}"));
        compared += equal(&read, &message.line["json"], &of);
    }
    assert!(compared > 10_000, "{compared}");
}

/// Compares what can be compared of `read` with Java's own printing; gives how many values that was.
fn equal(read: &Struct<'_>, java: &Json, of: &str) -> u32 {
    let mut compared = 0;
    for (name, value) in &read.fields {
        let mut letters = name.chars();
        let first = letters.next().expect("a name").to_ascii_lowercase();
        let java = &java[format!("{first}{}", letters.as_str())];
        compared += equal_value(value, java, &format!("{of} {name}"));
    }
    compared
}

fn equal_value(value: &Value<'_>, java: &Json, of: &str) -> u32 {
    match value {
        Value::Struct(fields) => equal(fields, java, of),
        Value::Array(elements) => {
            let of_java = java.as_array().map_or(&[][..], Vec::as_slice);
            if java.is_array() {
                assert_eq!(elements.len(), of_java.len(), "{of}");
            }
            let pairs = elements.iter().zip(of_java);
            pairs
                .map(|(element, java)| equal_value(element, java, of))
                .sum()
        }
        Value::Scalar(scalar) => match (scalar, java) {
            (Scalar::Bool(value), Json::Bool(java)) => {
                assert_eq!(value, java, "{of}");
                1
            }
            (Scalar::Int(value), Json::Number(java)) => {
                assert_eq!(Some(*value), java.as_i64(), "{of}");
                1
            }
            (Scalar::String(value), Json::String(java)) => {
                assert_eq!(value, java, "{of}");
                1
            }
            (Scalar::Null, java) => {
                assert!(java.is_null(), "{of}: {java}");
                1
            }
            // Bytes and ids are printed in other alphabets, records as their size.
            _ => 0,
        },
    }
}

#[test]
fn javas_produce_messages_read_the_same_through_our_own_reader() {
    let mut partitions = 0;
    for message in messages() {
        let java = &message.line["json"];
        match message.layout.message {
            Some((ApiKey::PRODUCE, Direction::Request)) => {
                let mut read = Vec::new();
                let fields = walk_request(&message.body, message.version, |_, request| {
                    read.push(i64::from(request.partition));
                });
                let fields = fields.expect("Java's own request");
                assert_eq!(java["acks"], fields.acks);
                assert_eq!(java["timeoutMs"], fields.timeout_ms);
                assert_eq!(java["transactionalId"].as_str(), fields.transactional_id);
                let expected: Vec<i64> = nested(&java["topicData"], "partitionData")
                    .map(|partition| number(&partition["index"]))
                    .collect();
                assert_eq!(read, expected);
                partitions += read.len();
            }
            Some((ApiKey::PRODUCE, Direction::Response)) => {
                let mut read = Vec::new();
                let reply = Reply::new(&message.body, message.version);
                let throttle = reply.walk(
                    |reply| {
                        let place = (i64::from(reply.partition), i64::from(reply.error.0));
                        read.push((place, reply.base_offset, reply.log_append_time_ms));
                    },
                    |_| {},
                );
                assert_eq!(java["throttleTimeMs"], throttle.expect("Java's own answer"));
                let expected: Vec<_> = nested(&java["responses"], "partitionResponses")
                    .map(|partition| {
                        let place = (number(&partition["index"]), number(&partition["errorCode"]));
                        let offset = number(&partition["baseOffset"]);
                        (place, offset, number(&partition["logAppendTimeMs"]))
                    })
                    .collect();
                assert_eq!(read, expected);
                partitions += read.len();
            }
            _ => {}
        }
    }
    assert!(partitions > 50, "{partitions}");
}

/// The elements of `inner` in every element of `outer`.
fn nested<'a>(outer: &'a Json, inner: &'a str) -> impl Iterator<Item = &'a Json> {
    let outer = outer.as_array().into_iter().flatten();
    outer.flat_map(move |element| element[inner].as_array().into_iter().flatten())
}

fn number(java: &Json) -> i64 {
    java.as_i64().expect("a whole number")
}

#[test]
fn cut_and_edited_messages_are_refused_or_read_and_never_a_panic() {
    let mut rng = Rng::new(11, 0);
    for message in messages() {
        let Some((api, direction)) = message.layout.message else {
            continue;
        };
        let mut hostile: Vec<Vec<u8>> = (0..message.body.len().min(40))
            .map(|cut| message.body[..cut].to_vec())
            .collect();
        for _ in 0..10 {
            let mut edited = message.body.clone();
            if !edited.is_empty() {
                let at = rng.below(edited.len() as u64) as usize;
                edited[at] = rng.next_u64() as u8;
            }
            hostile.push(edited);
        }
        for bytes in hostile {
            guard::check(api, message.version, direction, &bytes).ok();
            Reply::new(&bytes, message.version)
                .walk(|_| {}, |_| {})
                .ok();
            walk_request(&bytes, message.version, |_, _| {}).ok();
            RequestHeader::read(&mut Cursor::new(&bytes)).ok();
        }
    }
}

#[test]
fn counts_of_gigabytes_are_refused_before_a_typed_decoder_sees_them() {
    for (api, version, hex) in [
        (ApiKey::API_VERSIONS, 1, "009d37c20e01"),
        (ApiKey::METADATA, 1, "00c70003"),
        (ApiKey::PRODUCE, 11, "bcdd3a"),
        (ApiKey::FETCH, 5, "8100037f0102cf0a"),
        (ApiKey::SASL_HANDSHAKE, 0, "00545ec8d702"),
    ] {
        let bytes = crate::support::fixtures::hex(hex);
        let checked = guard::check(api, version, Direction::Response, &bytes);
        assert!(checked.is_err(), "{api}");
    }
}
