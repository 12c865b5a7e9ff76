//! A message as a tree of values: what tests compare, and what tools will print.

use super::walk::{Limits, Scalar, Visitor, WalkError, walk};
use super::{Field, Layout};

/// A value, with its parts.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A value without parts.
    Scalar(Scalar<'a>),
    /// Elements.
    Array(Vec<Value<'a>>),
    /// Fields, in wire order, and tagged fields that the layout does not know.
    Struct(Struct<'a>),
}

/// The fields of a struct.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Struct<'a> {
    /// By Kafka's names.
    pub fields: Vec<(&'static str, Value<'a>)>,
    /// Tags that no version knows, with their bytes.
    pub unknown_tags: Vec<(u32, &'a [u8])>,
}

/// Decodes the whole of `bytes` as `version` of `layout`.
///
/// # Errors
/// When they are not such a message, to the last byte.
pub fn decode<'a>(
    layout: &'static Layout,
    version: i16,
    bytes: &'a [u8],
) -> Result<Struct<'a>, WalkError> {
    let mut builder = Builder {
        stack: vec![Open::Struct(Struct::default())],
    };
    walk(layout, version, bytes, Limits::DEFAULT, &mut builder)?;
    match builder.stack.pop() {
        Some(Open::Struct(message)) => Ok(message),
        _ => Ok(Struct::default()),
    }
}

impl<'a> Struct<'a> {
    /// The field called `name`, where it was on the wire.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let mut fields = self.fields.iter();
        fields.find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}

enum Open<'a> {
    Struct(Struct<'a>),
    Array(Vec<Value<'a>>),
}

struct Builder<'a> {
    stack: Vec<Open<'a>>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, field: &'static Field, value: Value<'a>) {
        match self.stack.last_mut() {
            Some(Open::Struct(open)) => open.fields.push((field.name, value)),
            Some(Open::Array(elements)) => elements.push(value),
            None => {}
        }
    }

    fn close(&mut self, field: &'static Field) {
        let value = match self.stack.pop() {
            Some(Open::Struct(fields)) => Value::Struct(fields),
            Some(Open::Array(elements)) => Value::Array(elements),
            None => return,
        };
        self.add(field, value);
    }
}

impl<'a> Visitor<'a> for Builder<'a> {
    fn scalar(&mut self, field: &'static Field, _: usize, value: Scalar<'a>) {
        self.add(field, Value::Scalar(value));
    }

    fn begin_array(&mut self, _: &'static Field, _: usize) {
        self.stack.push(Open::Array(Vec::new()));
    }

    fn end_array(&mut self, field: &'static Field) {
        self.close(field);
    }

    fn begin_struct(&mut self, _: &'static Field) {
        self.stack.push(Open::Struct(Struct::default()));
    }

    fn end_struct(&mut self, field: &'static Field) {
        self.close(field);
    }

    fn unknown_tag(&mut self, tag: u32, payload: &'a [u8]) {
        if let Some(Open::Struct(open)) = self.stack.last_mut() {
            open.unknown_tags.push((tag, payload));
        }
    }
}
