//! CreatePartitions: topics get more of them.

use kafka_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use kafka_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};

use super::{Answer, Call, text};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<CreatePartitionsRequest>() else {
        return Answer::Close;
    };
    let results = request.topics.iter().map(|wanted| {
        let (topics, only_check) = (&mut state.topics, request.validate_only);
        let widened = topics.widen(&wanted.name, wanted.count, only_check);
        let (error, why) = match widened {
            Ok(()) => (BrokerError::NONE, None),
            Err((error, why)) => (error, Some(text(&why))),
        };
        CreatePartitionsTopicResult::default()
            .with_name(wanted.name.clone())
            .with_error_code(error.0)
            .with_error_message(why)
    });
    let response = CreatePartitionsResponse::default().with_results(results.collect());
    call.answer::<CreatePartitionsRequest>(&response, out)
}
