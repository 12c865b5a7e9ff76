//! Message layouts as data, and one walker over them.
//!
//! `messages.txt` holds every message of a broker's listener; its head says how to read it.

mod parse;
pub mod value;
mod walk;

use std::sync::OnceLock;

use super::api::{ApiKey, Range};

pub use walk::{Limits, Scalar, Visitor, WalkError, walk};

/// One field, in wire order among its siblings.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Kafka's name of it.
    pub name: &'static str,
    /// What it holds, or what its elements hold.
    pub kind: Kind,
    /// Whether it is an array of that.
    pub array: bool,
    /// The versions it is in.
    pub versions: Range,
    /// The versions in which it may be null.
    pub nullable: Option<Range>,
    /// Its number among the tagged fields; inline otherwise.
    pub tag: Option<u32>,
    /// What it holds where it is not on the wire, as `messages.txt` spells it.
    pub default: &'static str,
    /// The fields of a struct.
    pub fields: Vec<Field>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// One byte.
    Int8,
    /// Two bytes.
    Int16,
    /// Two bytes, unsigned.
    Uint16,
    /// Four bytes.
    Int32,
    /// Eight bytes.
    Int64,
    /// Eight bytes of IEEE 754.
    Float64,
    /// Sixteen bytes.
    Uuid,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// Bytes that hold record batches.
    Records,
    /// Fields of its own.
    Struct,
}

/// Which side of an exchange a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From client to broker.
    Request,
    /// From broker to client.
    Response,
}

/// One layout: a request, a response, or a blob inside another message.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Kafka's name of the API or blob.
    pub name: &'static str,
    /// The API and the side; none for a blob.
    pub message: Option<(ApiKey, Direction)>,
    /// The versions known.
    pub versions: Range,
    /// The flexible ones.
    pub flexible: Option<Range>,
    /// Its fields.
    pub fields: Vec<Field>,
}

impl Layout {
    /// Whether `version` has compact lengths and tagged fields.
    pub fn flexible(&self, version: i16) -> bool {
        self.flexible.is_some_and(|range| range.contains(version))
    }
}

/// Every layout, in the order of the data.
pub fn layouts() -> &'static [Layout] {
    static LAYOUTS: OnceLock<Vec<Layout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| parse::layouts(include_str!("messages.txt")))
}

/// The layout of one side of an API.
pub fn message(api: ApiKey, direction: Direction) -> Option<&'static Layout> {
    let mut layouts = layouts().iter();
    layouts.find(|layout| layout.message == Some((api, direction)))
}

/// The layout of a blob.
pub fn blob(name: &str) -> Option<&'static Layout> {
    let mut layouts = layouts().iter();
    layouts.find(|layout| layout.message.is_none() && layout.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::api::APIS;

    #[test]
    fn the_layouts_agree_with_the_table_of_apis() {
        for api in APIS {
            for direction in [Direction::Request, Direction::Response] {
                let layout = message(api.key, direction).expect("every API has both sides");
                assert_eq!(layout.name, api.name);
                assert_eq!(layout.versions, api.known);
                for version in api.known.min..=api.known.max {
                    assert_eq!(
                        layout.flexible(version),
                        api.key.flexible(version),
                        "{} {version}",
                        api.name
                    );
                }
            }
        }
    }

    #[test]
    fn nested_structs_keep_their_fields() {
        let produce = message(ApiKey::PRODUCE, Direction::Request).unwrap();
        let topic = &produce.fields[3];
        assert_eq!(
            (topic.name, topic.kind, topic.array),
            ("TopicData", Kind::Struct, true)
        );
        let records = &topic.fields[2].fields[1];
        assert_eq!((records.name, records.kind), ("Records", Kind::Records));
        assert!(blob("ConsumerProtocolSubscription").is_some());
    }
}
