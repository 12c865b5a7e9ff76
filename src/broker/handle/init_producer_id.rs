//! InitProducerId: a new id for whoever asks; transactions are refused.

use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, ProducerId};

use super::{Answer, Call};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<InitProducerIdRequest>() else {
        return Answer::Close;
    };
    let response = if request.transactional_id.is_some() {
        InitProducerIdResponse::default().with_error_code(BrokerError::INVALID_REQUEST.0)
    } else {
        InitProducerIdResponse::default()
            .with_producer_id(ProducerId(state.producer_id()))
            .with_producer_epoch(0)
    };
    call.answer::<InitProducerIdRequest>(&response, out)
}
