//! The one writer of bytes: appends to a `Vec`, reserves, and patches what it reserved.

/// Appends one byte.
pub fn put_i8(out: &mut Vec<u8>, value: i8) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends two bytes.
pub fn put_i16(out: &mut Vec<u8>, value: i16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends four bytes.
pub fn put_i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends eight bytes.
pub fn put_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends 7 bits a byte, low group first.
pub fn put_unsigned_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes 7 bits a byte into the end of `room`, and gives where it begins there.
///
/// # Panics
/// When `room` is shorter than [`unsigned_varint_bytes`] of `value`.
pub fn right_align_unsigned_varint(room: &mut [u8], value: u32) -> usize {
    let bytes = unsigned_varint_bytes(value);
    let start = room.len() - bytes;
    let mut rest = value;
    for (index, byte) in room[start..].iter_mut().enumerate() {
        *byte = rest as u8 & 0x7f | if index + 1 < bytes { 0x80 } else { 0 };
        rest >>= 7;
    }
    start
}

/// How many bytes [`put_unsigned_varint`] takes for `value`: 1 to 5.
pub fn unsigned_varint_bytes(value: u32) -> usize {
    (38 - (value | 1).leading_zeros() as usize) / 7
}

/// Appends a length, `None` being null, in `flexible` or classic form of four bytes.
///
/// # Panics
/// When a length does not fit the wire's 31 bits.
pub fn put_length(out: &mut Vec<u8>, length: Option<usize>, flexible: bool) {
    let length = length.map(|length| i32::try_from(length).expect("frames are below 2 GiB"));
    if flexible {
        put_unsigned_varint(out, length.map_or(0, |length| length as u32 + 1));
    } else {
        put_i32(out, length.unwrap_or(-1));
    }
}

/// Appends text that may be null.
///
/// # Panics
/// When classic text is longer than 32767 bytes: names come from options, which are checked.
pub fn put_nullable_string(out: &mut Vec<u8>, text: Option<&str>, flexible: bool) {
    match text {
        Some(text) if flexible => put_length(out, Some(text.len()), true),
        Some(text) => put_i16(
            out,
            i16::try_from(text.len()).expect("text of a classic field is below 32 KiB"),
        ),
        None if flexible => put_unsigned_varint(out, 0),
        None => put_i16(out, -1),
    }
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Appends text.
pub fn put_string(out: &mut Vec<u8>, text: &str, flexible: bool) {
    put_nullable_string(out, Some(text), flexible);
}

/// Appends an empty section of tagged fields, where the version has one.
pub fn put_no_tagged_fields(out: &mut Vec<u8>, flexible: bool) {
    if flexible {
        out.push(0);
    }
}

/// Overwrites four reserved bytes at `at`.
///
/// # Panics
/// When they were not reserved.
pub fn patch_i32(out: &mut [u8], at: usize, value: i32) {
    out[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::cursor::Cursor;

    #[test]
    fn unsigned_varints_of_every_width_come_back_from_either_end() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 1 << 21, 1 << 28, u32::MAX] {
            let mut out = Vec::new();
            put_unsigned_varint(&mut out, value);
            assert_eq!(out.len(), unsigned_varint_bytes(value));
            assert_eq!(Cursor::new(&out).unsigned_varint(), Ok(value));
            let mut room = [0xee; 5];
            let start = right_align_unsigned_varint(&mut room, value);
            assert_eq!(room[start..], out);
        }
    }
}
