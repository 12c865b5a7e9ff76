//! JoinGroup: waits until the members of the next generation are known.

use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::{JoinGroupRequest, JoinGroupResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Answer, Call, shown, text};
use crate::broker::group::{Join, Joined, Refused};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// The first version whose members come again with the id they are given (KIP-394).
const ID_FIRST_FROM: i16 = 4;
/// The first version that tells a leader that it has nothing to share.
const SKIP_FROM: i16 = 9;
/// The first version whose protocol may be null.
const NULL_PROTOCOL_FROM: i16 = 7;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<JoinGroupRequest>() else {
        return Answer::Close;
    };
    let (caller, version) = (call.caller, call.header.version);
    let joined = state.group_made(&request.group_id, caller.node_id, |group| {
        if !caller.again {
            return group.join(wish(call, &request), caller.now);
        }
        group
            .joined(caller.connection, caller.now)
            .map_err(|error| refused(&request, error))
    });
    let joined = joined.unwrap_or_else(|error| Err(refused(&request, error)));
    let response = match joined {
        Ok(Joined::Wait(until)) => return Answer::Wait(until),
        Ok(member) => accepted(member, &request, version),
        Err(refused) => JoinGroupResponse::default()
            .with_error_code(refused.error.0)
            .with_generation_id(-1)
            .with_member_id(text(&refused.member_id))
            .with_protocol_name((version < NULL_PROTOCOL_FROM).then(StrBytes::default)),
    };
    call.answer::<JoinGroupRequest>(&response, out)
}

fn refused(request: &JoinGroupRequest, error: BrokerError) -> Refused {
    Refused {
        error,
        member_id: request.member_id.to_string(),
    }
}

fn wish(call: &Call<'_>, request: &JoinGroupRequest) -> Join {
    let protocols = request.protocols.iter();
    // Version 0 has one time-out for both.
    let rebalance_timeout_ms = match call.header.version {
        0 => request.session_timeout_ms,
        _ => request.rebalance_timeout_ms,
    };
    Join {
        member_id: request.member_id.to_string(),
        instance_id: request.group_instance_id.as_ref().map(shown),
        client_id: call.header.client_id.unwrap_or_default().to_owned(),
        id_first: call.header.version >= ID_FIRST_FROM,
        session_timeout_ms: request.session_timeout_ms,
        rebalance_timeout_ms,
        protocol_type: request.protocol_type.to_string(),
        protocols: protocols
            .map(|protocol| (protocol.name.to_string(), protocol.metadata.clone()))
            .collect(),
        connection: call.caller.connection,
    }
}

fn accepted(member: Joined, request: &JoinGroupRequest, version: i16) -> JoinGroupResponse {
    let response = JoinGroupResponse::default();
    let Joined::Member {
        member_id,
        generation,
        protocol,
        leader,
        skip_assignment,
        members,
    } = member
    else {
        return response;
    };
    let response = response
        .with_generation_id(generation)
        .with_protocol_name(Some(text(&protocol)))
        .with_member_id(text(&member_id));
    if skip_assignment && version < SKIP_FROM {
        // A leader that does not know better would share anew: it is not told that it leads.
        return response;
    }
    let members = members.into_iter().map(|(id, instance_id, metadata)| {
        JoinGroupResponseMember::default()
            .with_member_id(text(&id))
            // The field is there from version 5 on.
            .with_group_instance_id(instance_id.filter(|_| version >= 5).as_deref().map(text))
            .with_metadata(metadata)
    });
    let response = response
        .with_leader(text(&leader))
        .with_skip_assignment(skip_assignment)
        .with_members(members.collect());
    match version {
        NULL_PROTOCOL_FROM.. => response.with_protocol_type(Some(request.protocol_type.clone())),
        _ => response,
    }
}
