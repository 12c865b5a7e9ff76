//! The length in front of every message, its ceiling, and what is said when it is no length at all.

use thiserror::Error;

/// The largest frame that is read: a broker's own default limit of a request.
pub const FRAME_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Bytes of the length itself.
pub const LENGTH_BYTES: usize = 4;

/// First bytes that are no frame of Kafka's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A TLS record.
    #[error("the peer speaks TLS, not plaintext Kafka")]
    Tls,
    /// An HTTP answer or request.
    #[error("the peer speaks HTTP, not Kafka")]
    Http,
    /// A length below zero.
    #[error("a frame of {0} bytes was announced")]
    Negative(i32),
    /// A length above [`FRAME_BYTES_MAX`].
    #[error("a frame of {0} bytes was announced; the limit is {FRAME_BYTES_MAX}")]
    Oversized(i32),
}

/// The length of the frame that `bytes` begin with, or `None` while it isn't all there.
///
/// # Errors
/// When the first four bytes are no length.
#[inline]
pub fn length(bytes: &[u8]) -> Result<Option<usize>, FrameError> {
    let Some(head) = bytes.first_chunk::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(*head);
    match usize::try_from(length) {
        Ok(fits) if fits <= FRAME_BYTES_MAX => Ok(Some(fits)),
        Ok(_) => Err(diagnose(*head).unwrap_or(FrameError::Oversized(length))),
        Err(_) => Err(FrameError::Negative(length)),
    }
}

/// The first frame in `bytes` without its length, and how many bytes it takes with it; `None` while
/// it isn't all there.
///
/// # Errors
/// When the first four bytes are no length.
#[inline]
pub fn split(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, FrameError> {
    let Some(length) = length(bytes)? else {
        return Ok(None);
    };
    let end = LENGTH_BYTES + length;
    Ok(bytes.get(LENGTH_BYTES..end).map(|frame| (frame, end)))
}

/// What else the first bytes may be. Both read as a length far above the ceiling.
fn diagnose(head: [u8; LENGTH_BYTES]) -> Option<FrameError> {
    match head {
        [0x15 | 0x16, 3, ..] => Some(FrameError::Tls),
        [b'H', b'T', b'T', b'P'] | [b'G', b'E', b'T', b' '] | [b'P', b'O', b'S', b'T'] => {
            Some(FrameError::Http)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_of_tls_and_http_are_called_by_their_name() {
        assert_eq!(split(&[0x15, 3, 3, 0, 2]), Err(FrameError::Tls));
        assert_eq!(split(b"HTTP/1.1 400 Bad Request"), Err(FrameError::Http));
        assert_eq!(split(&[0xff; 4]), Err(FrameError::Negative(-1)));
        assert_eq!(
            split(&[0x7f, 0, 0, 0]),
            Err(FrameError::Oversized(0x7f00_0000))
        );
    }

    #[test]
    fn an_unfinished_frame_is_no_error() {
        let whole = [0, 0, 0, 2, 7, 8, 0, 0];
        for cut in 0..6 {
            assert_eq!(split(&whole[..cut]), Ok(None));
        }
        assert_eq!(split(&whole), Ok(Some((&[7, 8][..], 6))));
        assert_eq!(split(&[0, 0, 0, 0]), Ok(Some((&[][..], 4))));
    }
}
