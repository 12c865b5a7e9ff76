//! Values taken from a file or from standard input, one a line, whole.

use std::io::{self, BufRead};

/// The most bytes of lines that are held, 1 GiB.
pub const LINES_BYTES_MAX: usize = 1 << 30;

/// Texts of any length, each a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    bytes: Vec<u8>,
    /// 0, and where each one ends; it begins where its predecessor ends.
    ends: Vec<u32>,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: vec![0],
        }
    }
}

impl Lines {
    /// Reads all lines of `reader`. A line ends in `\n` or `\r\n`, which are not part of it; the last
    /// one may go without. Empty lines are values too.
    ///
    /// # Errors
    /// When reading fails, or there is more than [`LINES_BYTES_MAX`].
    pub fn read(mut reader: impl BufRead) -> io::Result<Self> {
        let mut lines = Self::default();
        loop {
            let start = lines.bytes.len();
            if reader.read_until(b'\n', &mut lines.bytes)? == 0 {
                lines.bytes.shrink_to_fit();
                return Ok(lines);
            }
            if lines.bytes.ends_with(b"\n") {
                lines.bytes.pop();
                if lines.bytes.len() > start && lines.bytes.ends_with(b"\r") {
                    lines.bytes.pop();
                }
            }
            lines.end()?;
        }
    }

    /// The texts given, as they are.
    ///
    /// # Errors
    /// When they are more than [`LINES_BYTES_MAX`].
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> io::Result<Self> {
        let mut lines = Self::default();
        for text in texts {
            lines.bytes.extend_from_slice(text);
            lines.end()?;
        }
        Ok(lines)
    }

    /// Appends a text; the caller holds to [`LINES_BYTES_MAX`].
    pub(in crate::load) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u32);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one numbered `index`.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.ends[index] as usize..self.ends[index + 1] as usize]
    }

    /// Bytes of all together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of the longest.
    pub fn longest(&self) -> usize {
        (0..self.len())
            .map(|index| self.get(index).len())
            .max()
            .unwrap_or(0)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.bytes.len() > LINES_BYTES_MAX {
            let text = format!("more than {LINES_BYTES_MAX} bytes of lines");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_without_their_ends() {
        let lines = Lines::read(&b"one\ntwo\r\n\nf\r our\nlast"[..]).unwrap();
        let all: Vec<_> = (0..lines.len()).map(|index| lines.get(index)).collect();
        assert_eq!(all, [&b"one"[..], b"two", b"", b"f\r our", b"last"]);
        assert_eq!((lines.bytes(), lines.longest()), (16, 6));
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_and_nothing_is_no_line() {
        let lines = Lines::read(&b"\xff\x00\n"[..]).unwrap();
        assert_eq!((lines.len(), lines.get(0)), (1, &b"\xff\x00"[..]));
        assert!(Lines::read(&b""[..]).unwrap().is_empty());
    }
}
