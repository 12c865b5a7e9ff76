//! LeaveGroup: one member, or several at once.

use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::{GroupId, LeaveGroupRequest, LeaveGroupResponse};

use super::{Answer, Call, shown};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// The first version by which several leave.
const SEVERAL_FROM: i16 = 3;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<LeaveGroupRequest>() else {
        return Answer::Close;
    };
    let response = LeaveGroupResponse::default();
    let response = if call.header.version >= SEVERAL_FROM {
        let coordinator = state.group(&request.group_id, call.caller.node_id, |_| ());
        let members = request.members.iter().map(|member| {
            let error = leave(call, state, &request.group_id, member);
            MemberResponse::default()
                .with_member_id(member.member_id.clone())
                .with_group_instance_id(member.group_instance_id.clone())
                .with_error_code(error.0)
        });
        match coordinator {
            Ok(_) => response.with_members(members.collect()),
            Err(error) => response.with_error_code(error.0),
        }
    } else {
        let member = MemberIdentity::default().with_member_id(request.member_id.clone());
        response.with_error_code(leave(call, state, &request.group_id, &member).0)
    };
    call.answer::<LeaveGroupRequest>(&response, out)
}

fn leave(call: &Call<'_>, state: &mut State, id: &GroupId, member: &MemberIdentity) -> BrokerError {
    let instance_id = member.group_instance_id.as_ref().map(shown);
    let left = state.group(id, call.caller.node_id, |group| {
        group.leave(&member.member_id, instance_id.as_deref(), call.caller.now)
    });
    let left = left.and_then(|known| known.unwrap_or(Err(BrokerError::UNKNOWN_MEMBER_ID)));
    left.err().unwrap_or(BrokerError::NONE)
}
