//! The one reader of bytes: borrows, knows its offset, and says what was wanted where.

use std::fmt;

/// Reads one frame, or a part of it, from front to back.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// Bytes that are not what the layout says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError {
    /// What was wanted.
    pub wanted: &'static str,
    /// Where it was wanted, counted from the start of the cursor's bytes.
    pub offset: usize,
    /// Why it is not there.
    pub fault: Fault,
}

/// Why a field is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end too early.
    Short,
    /// A length or count is negative, or larger than what is left.
    Length,
    /// A variable-length number goes on for too long.
    Varint,
    /// A value the layout does not allow: null where none may be, text that is not UTF-8.
    Value,
    /// Bytes are left over behind the last field.
    Trailing,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.fault {
            Fault::Short => "the bytes end too early",
            Fault::Length => "a length does not fit into what is left",
            Fault::Varint => "a variable-length number is too long",
            Fault::Value => "the value is not allowed",
            Fault::Trailing => "bytes are left over",
        };
        write!(f, "{} at byte {}: {why}", self.wanted, self.offset)
    }
}

impl std::error::Error for DecodeError {}

type Result<T> = std::result::Result<T, DecodeError>;

impl<'a> Cursor<'a> {
    /// A cursor at the first of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes not yet read.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// What is not yet read.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.offset..]
    }

    /// An error at this place.
    pub fn error(&self, wanted: &'static str, fault: Fault) -> DecodeError {
        DecodeError {
            wanted,
            offset: self.offset,
            fault,
        }
    }

    /// That nothing is left.
    pub fn end(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(self.error("the end", Fault::Trailing)),
        }
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize, wanted: &'static str) -> Result<&'a [u8]> {
        let end = self.offset.checked_add(count);
        match end.and_then(|end| self.bytes.get(self.offset..end)) {
            Some(bytes) => {
                self.offset += count;
                Ok(bytes)
            }
            None => Err(self.error(wanted, Fault::Short)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self, wanted: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, wanted)?);
        Ok(array)
    }

    /// One byte that is 0 or something else.
    pub fn bool(&mut self) -> Result<bool> {
        Ok(self.array::<1>("bool")?[0] != 0)
    }

    /// A signed byte.
    pub fn i8(&mut self) -> Result<i8> {
        Ok(i8::from_be_bytes(self.array("int8")?))
    }

    /// Two bytes, signed.
    #[inline]
    pub fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.array("int16")?))
    }

    /// Two bytes, unsigned.
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array("uint16")?))
    }

    /// Four bytes, signed.
    #[inline]
    pub fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array("int32")?))
    }

    /// Four bytes, unsigned.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array("uint32")?))
    }

    /// Eight bytes, signed.
    #[inline]
    pub fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array("int64")?))
    }

    /// Eight bytes of IEEE 754.
    pub fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_be_bytes(self.array("float64")?))
    }

    /// Sixteen bytes, most significant first.
    pub fn uuid(&mut self) -> Result<[u8; 16]> {
        self.array("uuid")
    }

    /// 7 bits a byte, low group first; at most 5 bytes.
    #[inline]
    pub fn unsigned_varint(&mut self) -> Result<u32> {
        let start = *self;
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let [byte] = self.array("unsigned varint")?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value)
                    .map_err(|_| start.error("unsigned varint", Fault::Varint));
            }
        }
        Err(start.error("unsigned varint", Fault::Varint))
    }

    /// A zig-zag number of 32 bits.
    #[inline]
    pub fn varint(&mut self) -> Result<i32> {
        let raw = self.unsigned_varint()?;
        Ok((raw >> 1) as i32 ^ -((raw & 1) as i32))
    }

    /// A zig-zag number of 64 bits; at most 10 bytes.
    #[inline]
    pub fn varlong(&mut self) -> Result<i64> {
        let start = *self;
        let mut raw = 0u64;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array("varlong")?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            raw |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok((raw >> 1) as i64 ^ -((raw & 1) as i64));
            }
        }
        Err(start.error("varlong", Fault::Varint))
    }

    /// A length of `flexible` or classic form, −1 or 0 being null, bounded by what is left.
    pub fn length(&mut self, flexible: bool, wanted: &'static str) -> Result<Option<usize>> {
        let start = *self;
        let length = if flexible {
            match self.unsigned_varint()? {
                0 => return Ok(None),
                more => more as usize - 1,
            }
        } else {
            match self.i32()? {
                -1 => return Ok(None),
                length => {
                    usize::try_from(length).map_err(|_| start.error(wanted, Fault::Length))?
                }
            }
        };
        self.bounded(start, length, wanted).map(Some)
    }

    fn bounded(&self, start: Self, length: usize, wanted: &'static str) -> Result<usize> {
        if length > self.remaining() {
            return Err(start.error(wanted, Fault::Length));
        }
        Ok(length)
    }

    /// Text that may be null.
    pub fn nullable_string(&mut self, flexible: bool) -> Result<Option<&'a str>> {
        let start = *self;
        let length = if flexible {
            self.length(true, "string")?
        } else {
            match self.i16()? {
                -1 => None,
                length => {
                    let length = usize::try_from(length)
                        .map_err(|_| start.error("string", Fault::Length))?;
                    Some(self.bounded(start, length, "string")?)
                }
            }
        };
        let Some(length) = length else {
            return Ok(None);
        };
        match std::str::from_utf8(self.take(length, "string")?) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(start.error("string", Fault::Value)),
        }
    }

    /// Text.
    pub fn string(&mut self, flexible: bool) -> Result<&'a str> {
        let start = *self;
        self.nullable_string(flexible)?
            .ok_or_else(|| start.error("string", Fault::Value))
    }

    /// Bytes that may be null.
    pub fn nullable_bytes(&mut self, flexible: bool) -> Result<Option<&'a [u8]>> {
        match self.length(flexible, "bytes")? {
            Some(length) => self.take(length, "bytes").map(Some),
            None => Ok(None),
        }
    }

    /// How many elements an array has that may not be null. Each takes at least one byte, so a count
    /// is never larger than what is left.
    pub fn array_count(&mut self, flexible: bool) -> Result<usize> {
        let start = *self;
        let count = self.length(flexible, "array")?;
        count.ok_or_else(|| start.error("array", Fault::Value))
    }

    /// The size of a tagged field, bounded by what is left.
    pub fn length_of_tag(&mut self) -> Result<usize> {
        let start = *self;
        let size = self.unsigned_varint()? as usize;
        self.bounded(start, size, "tagged field")
    }

    /// Walks the tagged fields that end a struct in a flexible version, giving each payload.
    pub fn tagged_fields(
        &mut self,
        mut field: impl FnMut(u32, &mut Cursor<'a>) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..self.unsigned_varint()? {
            let tag = self.unsigned_varint()?;
            let size = self.length_of_tag()?;
            let mut payload = Cursor {
                bytes: &self.bytes[..self.offset + size],
                offset: self.offset,
            };
            field(tag, &mut payload)?;
            self.offset += size;
        }
        Ok(())
    }

    /// Skips the tagged fields that end a struct, where the version has any.
    #[inline]
    pub fn skip_tagged_fields(&mut self, flexible: bool) -> Result<()> {
        if !flexible {
            return Ok(());
        }
        self.tagged_fields(|_, _| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_length_numbers_of_every_width_come_back() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x01], -1),
            (&[0x02], 1),
            (&[0xfe, 0xff, 0xff, 0xff, 0x0f], i64::from(i32::MAX)),
            (&[0xff, 0xff, 0xff, 0xff, 0x0f], i64::from(i32::MIN)),
        ] {
            assert_eq!(Cursor::new(bytes).varlong(), Ok(value));
            assert_eq!(Cursor::new(bytes).varint().map(i64::from), Ok(value));
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Cursor::new(&most).varlong(), Ok(i64::MIN));
    }

    #[test]
    fn a_number_that_goes_on_too_long_is_an_error_where_it_starts() {
        let bytes = [0xff; 11];
        for fault in [
            Cursor::new(&bytes).unsigned_varint().map(|_| ()),
            Cursor::new(&bytes).varlong().map(|_| ()),
        ] {
            let error = fault.unwrap_err();
            assert_eq!((error.fault, error.offset), (Fault::Varint, 0));
        }
    }

    #[test]
    fn a_length_larger_than_what_is_left_is_refused_before_anything_is_taken() {
        let mut cursor = Cursor::new(&[0x7f, 0xff, 0xff, 0xff, 1, 2]);
        let error = cursor.nullable_bytes(false).unwrap_err();
        assert_eq!((error.fault, error.offset), (Fault::Length, 0));
        let mut cursor = Cursor::new(&[0x80, 0x00]);
        assert_eq!(
            cursor.string(false).map_err(|e| e.fault),
            Err(Fault::Length)
        );
    }

    #[test]
    fn unknown_tagged_fields_are_skipped_by_their_size() {
        let bytes = [2, 5, 2, 0xaa, 0xbb, 99, 3, b'x', b'y', b'z', 0x2a];
        let mut cursor = Cursor::new(&bytes);
        cursor.skip_tagged_fields(true).unwrap();
        assert_eq!(cursor.i8(), Ok(0x2a));
        assert_eq!(cursor.end(), Ok(()));
    }
}
