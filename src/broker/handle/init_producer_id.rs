//! InitProducerId: a new id for whoever asks; transactions are refused.

use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, ProducerId};

use super::{Answer, answer};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;
use crate::wire::control::decode_request;
use crate::wire::header::RequestHeader;

pub fn handle(
    header: &RequestHeader<'_>,
    body: &[u8],
    state: &mut State,
    out: &mut Vec<u8>,
) -> Answer {
    let Ok(request) = decode_request::<InitProducerIdRequest>(body, header.version) else {
        return Answer::Close;
    };
    let response = if request.transactional_id.is_some() {
        InitProducerIdResponse::default().with_error_code(BrokerError::INVALID_REQUEST.0)
    } else {
        InitProducerIdResponse::default()
            .with_producer_id(ProducerId(state.producer_id()))
            .with_producer_epoch(0)
    };
    answer::<InitProducerIdRequest>(header, header.version, &response, out)
}
