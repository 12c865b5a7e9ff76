//! SyncGroup: waits until the leader has shared.

use kafka_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::{Answer, Call, shown};
use crate::broker::group::Synced;
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// The first version that names the protocol.
const PROTOCOL_FROM: i16 = 5;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<SyncGroupRequest>() else {
        return Answer::Close;
    };
    let caller = call.caller;
    let instance_id = request.group_instance_id.as_ref().map(shown);
    let synced = state.group(&request.group_id, caller.node_id, |group| {
        let said = (
            request.protocol_type.as_deref(),
            request.protocol_name.as_deref(),
        );
        group.check_protocol(said)?;
        let assignments = request.assignments.iter();
        let assignments = assignments
            .map(|given| (given.member_id.to_string(), given.assignment.clone()))
            .collect();
        group.sync(
            (&request.member_id, instance_id.as_deref()),
            request.generation_id,
            assignments,
            caller.connection,
            caller.now,
        )
    });
    let response = SyncGroupResponse::default();
    let response =
        match synced.and_then(|known| known.unwrap_or(Err(BrokerError::UNKNOWN_MEMBER_ID))) {
            Ok(Synced::Wait(until)) => return Answer::Wait(until),
            Ok(Synced::Assignment(assignment)) => response.with_assignment(assignment),
            Err(error) => response.with_error_code(error.0),
        };
    let named = call.header.version >= PROTOCOL_FROM && response.error_code == 0;
    let response = response
        .with_protocol_type(request.protocol_type.filter(|_| named))
        .with_protocol_name(request.protocol_name.filter(|_| named));
    call.answer::<SyncGroupRequest>(&response, out)
}
