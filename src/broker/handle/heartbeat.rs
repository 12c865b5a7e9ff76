//! Heartbeat: a member says that it is there, and learns whether it has to join again.

use kafka_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::{Answer, Call, shown};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<HeartbeatRequest>() else {
        return Answer::Close;
    };
    let instance_id = request.group_instance_id.as_ref().map(shown);
    let member = (&*request.member_id, instance_id.as_deref());
    let (node_id, now) = (call.caller.node_id, call.caller.now);
    let heard = state.group(&request.group_id, node_id, |group| {
        group.heartbeat(member, request.generation_id, now)
    });
    let heard = heard.and_then(|known| known.unwrap_or(Err(BrokerError::UNKNOWN_MEMBER_ID)));
    let error = heard.err().unwrap_or(BrokerError::NONE);
    let response = HeartbeatResponse::default().with_error_code(error.0);
    call.answer::<HeartbeatRequest>(&response, out)
}
