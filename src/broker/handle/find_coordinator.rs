//! FindCoordinator: the broker that answers for a group.

use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::{BrokerId, FindCoordinatorRequest, FindCoordinatorResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Answer, Call};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// The first version that asks for several keys at once.
const SEVERAL_FROM: i16 = 4;
/// What is asked for by a group's id.
const GROUP: i8 = 0;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<FindCoordinatorRequest>() else {
        return Answer::Close;
    };
    let found = |key: &StrBytes| coordinator(state, request.key_type, key);
    let response = if call.header.version >= SEVERAL_FROM {
        let coordinators = request.coordinator_keys.iter().map(found);
        FindCoordinatorResponse::default().with_coordinators(coordinators.collect())
    } else {
        let one = found(&request.key);
        FindCoordinatorResponse::default()
            .with_error_code(one.error_code)
            .with_node_id(one.node_id)
            .with_host(one.host)
            .with_port(one.port)
    };
    call.answer::<FindCoordinatorRequest>(&response, out)
}

fn coordinator(state: &State, key_type: i8, key: &StrBytes) -> Coordinator {
    let coordinator = Coordinator::default().with_key(key.clone());
    if key_type != GROUP {
        // There are neither transactions nor share groups.
        return coordinator
            .with_error_code(BrokerError::INVALID_REQUEST.0)
            .with_node_id(BrokerId(-1))
            .with_port(-1);
    }
    let node_id = state.coordinator_of(key);
    let address = state.brokers[node_id as usize - 1];
    coordinator
        .with_node_id(BrokerId(node_id))
        .with_host(StrBytes::from_string(address.ip().to_string()))
        .with_port(i32::from(address.port()))
}
