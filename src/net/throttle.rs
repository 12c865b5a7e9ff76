//! How long a reply asks its client to be silent, whatever its API.

use super::control_stream::RawReply;
use crate::wire::api::ApiKey;
use crate::wire::cursor::Cursor;
use crate::wire::header::read_response_header;
use crate::wire::schema::{self, Direction, Field, Limits, Scalar, Visitor};

/// The throttle time of a reply, in milliseconds; 0 where there is none, or where the reply is malformed, which
/// its decoder tells better.
pub(crate) fn throttle_ms(api: ApiKey, reply: &RawReply) -> i32 {
    let Some(layout) = schema::message(api, Direction::Response) else {
        return 0;
    };
    let mut cursor = Cursor::new(&reply.frame);
    if read_response_header(&mut cursor, api, reply.version).is_err() {
        return 0;
    }
    let mut find = Find::default();
    let bytes = cursor.rest();
    match schema::walk(layout, reply.version, bytes, Limits::DEFAULT, &mut find) {
        Ok(()) => find.throttle_ms,
        Err(_) => 0,
    }
}

/// Looks for the field at the top of the message.
#[derive(Default)]
struct Find {
    depth: usize,
    throttle_ms: i32,
}

impl<'a> Visitor<'a> for Find {
    fn scalar(&mut self, field: &'static Field, _: usize, value: Scalar<'a>) {
        if self.depth == 0
            && field.name == "ThrottleTimeMs"
            && let Scalar::Int(ms) = value
        {
            self.throttle_ms = i32::try_from(ms).unwrap_or(0);
        }
    }
    fn begin_array(&mut self, _: &'static Field, _: usize) {
        self.depth += 1;
    }
    fn end_array(&mut self, _: &'static Field) {
        self.depth -= 1;
    }
    fn begin_struct(&mut self, _: &'static Field) {
        self.depth += 1;
    }
    fn end_struct(&mut self, _: &'static Field) {
        self.depth -= 1;
    }
    fn unknown_tag(&mut self, _: u32, _: &'a [u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::control::encode_response;
    use kafka_protocol::messages::{MetadataRequest, MetadataResponse};

    #[test]
    fn a_reply_of_any_api_tells_how_long_to_be_silent() {
        let response = MetadataResponse::default().with_throttle_time_ms(5000);
        let frame = encode_response::<MetadataRequest>(&response, 12, 1).unwrap();
        let mut reply = RawReply {
            frame: frame[4..].to_vec(),
            version: 12,
        };
        assert_eq!(throttle_ms(ApiKey::METADATA, &reply), 5000);
        reply.frame.pop();
        assert_eq!(throttle_ms(ApiKey::METADATA, &reply), 0);
    }
}
