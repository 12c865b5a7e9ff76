//! The one walker: reads a message field by field and tells a visitor what it met.

use thiserror::Error;

use super::{Field, Kind, Layout};
use crate::wire::cursor::{Cursor, DecodeError, Fault};

/// A value without parts, borrowed from the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    /// Nothing, where that is allowed.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number of any width.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Sixteen bytes.
    Uuid([u8; 16]),
    /// Text.
    String(&'a str),
    /// Bytes, or record batches.
    Bytes(&'a [u8]),
}

/// What is told of a message while it is walked. Offsets count from its first byte.
pub trait Visitor<'a> {
    /// A field without parts, or one element of an array of such.
    fn scalar(&mut self, field: &'static Field, offset: usize, value: Scalar<'a>);
    /// An array begins.
    fn begin_array(&mut self, field: &'static Field, count: usize);
    /// An array is over.
    fn end_array(&mut self, field: &'static Field);
    /// A struct, or one element of an array of structs, begins.
    fn begin_struct(&mut self, field: &'static Field);
    /// A struct is over.
    fn end_struct(&mut self, field: &'static Field);
    /// A tagged field that the layout does not know, in the innermost struct.
    fn unknown_tag(&mut self, tag: u32, payload: &'a [u8]);
}

/// How much a message may hold, so that a typed decoder behind the walker stays bounded.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Elements of one array; Kafka 4.4's own decoders stop at 1,000,000.
    pub array_elements: usize,
    /// Elements of all arrays of a message.
    pub elements: usize,
    /// Fields of one tag section; Kafka 4.4's own decoders stop at 10,000.
    pub tags: u32,
}

impl Limits {
    /// What kdyno reads.
    pub const DEFAULT: Self = Self {
        array_elements: 1_000_000,
        elements: 4_000_000,
        tags: 10_000,
    };
}

/// Why a message could not be walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{field}: {error}")]
pub struct WalkError {
    /// The field it happened in.
    pub field: &'static str,
    /// What happened.
    pub error: DecodeError,
}

/// Walks the whole of `bytes` as `version` of `layout`.
///
/// # Errors
/// When they are not such a message, to the last byte, within `limits`.
pub fn walk<'a>(
    layout: &'static Layout,
    version: i16,
    bytes: &'a [u8],
    limits: Limits,
    visitor: &mut impl Visitor<'a>,
) -> Result<(), WalkError> {
    let mut walker = Walker {
        cursor: Cursor::new(bytes),
        version,
        flexible: layout.flexible(version),
        limits,
        elements_left: limits.elements,
        visitor,
    };
    walker.fields(&layout.fields, layout.name)?;
    let end = walker.cursor.end();
    end.map_err(|error| WalkError {
        field: layout.name,
        error,
    })
}

struct Walker<'a, 'v, V> {
    cursor: Cursor<'a>,
    version: i16,
    flexible: bool,
    limits: Limits,
    elements_left: usize,
    visitor: &'v mut V,
}

type Walked<T> = Result<T, WalkError>;

impl<'a, V: Visitor<'a>> Walker<'a, '_, V> {
    fn fields(&mut self, fields: &'static [Field], of: &'static str) -> Walked<()> {
        for field in fields {
            if field.tag.is_none() && field.versions.contains(self.version) {
                self.field(field)?;
            }
        }
        if self.flexible {
            self.tags(fields, of)?;
        }
        Ok(())
    }

    fn tags(&mut self, fields: &'static [Field], of: &'static str) -> Walked<()> {
        let at = |error| WalkError { field: of, error };
        let start = self.cursor;
        let count = self.cursor.unsigned_varint().map_err(at)?;
        if count > self.limits.tags {
            return Err(at(start.error("tagged fields", Fault::Length)));
        }
        let mut least = 0;
        for _ in 0..count {
            let start = self.cursor;
            let tag = self.cursor.unsigned_varint().map_err(at)?;
            if tag < least {
                return Err(at(start.error("an ascending tag", Fault::Value)));
            }
            least = tag.saturating_add(1);
            let size = self.cursor.length_of_tag().map_err(at)?;
            let known = fields
                .iter()
                .find(|f| f.tag == Some(tag) && f.versions.contains(self.version));
            let Some(field) = known else {
                let payload = self.cursor.take(size, "tagged field").map_err(at)?;
                self.visitor.unknown_tag(tag, payload);
                continue;
            };
            let end = self.cursor.offset() + size;
            self.field(field)?;
            if self.cursor.offset() != end {
                return Err(WalkError {
                    field: field.name,
                    error: self
                        .cursor
                        .error("the end of the tagged field", Fault::Trailing),
                });
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &'static Field) -> Walked<()> {
        if !field.array {
            return self.value(field, true);
        }
        let start = self.cursor;
        let at = |error| WalkError {
            field: field.name,
            error,
        };
        let Some(count) = self.cursor.length(self.flexible, "array").map_err(at)? else {
            self.require_nullable(field, start)?;
            self.visitor.scalar(field, start.offset(), Scalar::Null);
            return Ok(());
        };
        if count > self.limits.array_elements || count > self.elements_left {
            return Err(at(start.error("array", Fault::Length)));
        }
        self.elements_left -= count;
        self.visitor.begin_array(field, count);
        for _ in 0..count {
            self.value(field, false)?;
        }
        self.visitor.end_array(field);
        Ok(())
    }

    /// A field that is no array, or one element of one; elements are never null.
    fn value(&mut self, field: &'static Field, may_be_null: bool) -> Walked<()> {
        let start = self.cursor;
        let at = |error| WalkError {
            field: field.name,
            error,
        };
        if field.kind == Kind::Struct {
            let nullable = field.nullable.is_some_and(|r| r.contains(self.version));
            if may_be_null && nullable {
                match self.cursor.i8().map_err(at)? {
                    1 => {}
                    null if null < 0 => {
                        self.visitor.scalar(field, start.offset(), Scalar::Null);
                        return Ok(());
                    }
                    // Decoders disagree on what any other marker means.
                    _ => return Err(at(start.error("a marker of 1 or below 0", Fault::Value))),
                }
            }
            self.visitor.begin_struct(field);
            self.fields(&field.fields, field.name)?;
            self.visitor.end_struct(field);
            return Ok(());
        }
        let scalar = self.scalar(field.kind).map_err(at)?;
        if scalar == Scalar::Null {
            self.require_nullable(field, start)?;
        }
        self.visitor.scalar(field, start.offset(), scalar);
        Ok(())
    }

    fn require_nullable(&self, field: &'static Field, start: Cursor<'a>) -> Walked<()> {
        if field.nullable.is_some_and(|r| r.contains(self.version)) {
            return Ok(());
        }
        Err(WalkError {
            field: field.name,
            error: start.error("a value that is not null", Fault::Value),
        })
    }

    fn scalar(&mut self, kind: Kind) -> Result<Scalar<'a>, DecodeError> {
        let cursor = &mut self.cursor;
        let flexible = self.flexible;
        Ok(match kind {
            Kind::Bool => Scalar::Bool(cursor.bool()?),
            Kind::Int8 => Scalar::Int(cursor.i8()?.into()),
            Kind::Int16 => Scalar::Int(cursor.i16()?.into()),
            Kind::Uint16 => Scalar::Int(cursor.u16()?.into()),
            Kind::Int32 => Scalar::Int(cursor.i32()?.into()),
            Kind::Int64 => Scalar::Int(cursor.i64()?),
            Kind::Float64 => Scalar::Float(cursor.f64()?),
            Kind::Uuid => Scalar::Uuid(cursor.uuid()?),
            Kind::String => cursor
                .nullable_string(flexible)?
                .map_or(Scalar::Null, Scalar::String),
            Kind::Bytes | Kind::Records | Kind::Struct => cursor
                .nullable_bytes(flexible)?
                .map_or(Scalar::Null, Scalar::Bytes),
        })
    }
}
