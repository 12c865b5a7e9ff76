//! Cuts what a connection reads into frames; keeps only the tail of an unfinished one.

use super::pipeline::Arrival;
use crate::base::clock::Nanos;
use crate::wire::frame::{self, FrameError, LENGTH_BYTES};

/// Room that a tail may keep between frames, in bytes.
const TAIL_KEPT_BYTES: usize = 64 * 1024;

/// The unfinished frame at the end of what was read.
///
/// Frames that one read brings whole are handed out where they lie. Of others the bytes are copied
/// once; memory grows with bytes that have come, not with the length that a peer announces.
#[derive(Debug, Default)]
pub struct Deframer {
    tail: Vec<u8>,
    first_byte: Nanos,
}

impl Deframer {
    /// Takes `bytes`, read at `now`, and hands out each whole frame without its length.
    ///
    /// # Errors
    /// When a length is none, or when `each` fails. Bytes that follow are of no use then.
    pub fn feed<X: From<FrameError>>(
        &mut self,
        now: Nanos,
        bytes: &[u8],
        mut each: impl FnMut(&[u8], Arrival) -> Result<(), X>,
    ) -> Result<(), X> {
        let mut rest = bytes;
        if !self.tail.is_empty() {
            if !self.finish_tail(&mut rest)? {
                return Ok(());
            }
            let arrival = Arrival {
                first_byte: self.first_byte,
                last_byte: now,
            };
            each(&self.tail[LENGTH_BYTES..], arrival)?;
            self.tail.clear();
            self.tail.shrink_to(TAIL_KEPT_BYTES);
        }
        let arrival = Arrival {
            first_byte: now,
            last_byte: now,
        };
        while let Some((frame, taken)) = frame::split(rest)? {
            each(frame, arrival)?;
            rest = &rest[taken..];
        }
        if !rest.is_empty() {
            self.first_byte = now;
            self.tail.extend_from_slice(rest);
        }
        Ok(())
    }

    /// Whether a frame has begun to come and isn't all there.
    pub fn unfinished(&self) -> bool {
        !self.tail.is_empty()
    }

    /// Moves bytes from `rest` until the tail is one whole frame; false when they don't suffice.
    fn finish_tail(&mut self, rest: &mut &[u8]) -> Result<bool, FrameError> {
        loop {
            let length = frame::length(&self.tail)?;
            let end = LENGTH_BYTES + length.unwrap_or(0);
            if length.is_some() && self.tail.len() == end {
                return Ok(true);
            }
            if rest.is_empty() {
                return Ok(false);
            }
            let (taken, left) = rest.split_at(rest.len().min(end - self.tail.len()));
            self.tail.extend_from_slice(taken);
            *rest = left;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds pieces at times 1, 2, 3 …; gives the frames with first and last byte's time.
    fn feed(pieces: &[&[u8]]) -> Result<Vec<(Vec<u8>, Nanos, Nanos)>, FrameError> {
        let mut deframer = Deframer::default();
        let mut frames = Vec::new();
        for (now, piece) in (1..).zip(pieces) {
            deframer.feed(now, piece, |frame, arrival| {
                frames.push((frame.to_vec(), arrival.first_byte, arrival.last_byte));
                Ok::<_, FrameError>(())
            })?;
        }
        Ok(frames)
    }

    const STREAM: &[u8] = &[0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3];

    #[test]
    fn frames_come_out_whole_however_the_stream_is_cut() {
        let whole = feed(&[STREAM]).unwrap();
        assert_eq!(
            whole,
            [(vec![7, 8], 1, 1), (vec![], 1, 1), (vec![1, 2, 3], 1, 1)]
        );
        for first in 0..STREAM.len() {
            for second in first..STREAM.len() {
                let pieces = [&STREAM[..first], &STREAM[first..second], &STREAM[second..]];
                let frames = feed(&pieces).unwrap();
                let bodies = frames.iter().map(|frame| &frame.0);
                assert!(
                    bodies.eq(whole.iter().map(|frame| &frame.0)),
                    "{first} {second}"
                );
            }
        }
    }

    #[test]
    fn a_frame_tells_when_its_first_and_its_last_byte_came() {
        let frames = feed(&[&STREAM[..3], &STREAM[3..5], &STREAM[5..]]).unwrap();
        assert_eq!(frames[0], (vec![7, 8], 1, 3));
        assert_eq!(frames[2], (vec![1, 2, 3], 3, 3));
    }

    #[test]
    fn a_bad_length_is_refused_at_its_fourth_byte_however_it_comes() {
        for cut in 0..4 {
            let tls = [0x15, 3, 3, 0, 2, 2, 0x46];
            assert_eq!(feed(&[&tls[..cut], &tls[cut..]]), Err(FrameError::Tls));
            let after_a_frame = [0, 0, 0, 1, 9, 0xff, 0xff, 0xff, 0xff];
            let pieces = [&after_a_frame[..5 + cut], &after_a_frame[5 + cut..]];
            assert_eq!(feed(&pieces), Err(FrameError::Negative(-1)));
        }
    }

    #[test]
    fn an_announced_length_takes_no_memory_before_its_bytes_come() {
        let mut deframer = Deframer::default();
        let fine = |_: &[u8], _| Ok::<_, FrameError>(());
        deframer.feed(1, &[6, 0, 0, 0, 1], fine).unwrap();
        assert!(deframer.unfinished());
        assert!(deframer.tail.capacity() < 1024);
    }
}
