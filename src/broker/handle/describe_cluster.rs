//! DescribeCluster: the brokers.

use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::{BrokerId, DescribeClusterRequest, DescribeClusterResponse};

use super::{Answer, CLUSTER_ID, Call, text};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// Who listens, as asked for from version 1 on: brokers.
const BROKERS: i8 = 1;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<DescribeClusterRequest>() else {
        return Answer::Close;
    };
    let response = DescribeClusterResponse::default().with_cluster_id(text(CLUSTER_ID));
    let response = if request.endpoint_type == BROKERS {
        let brokers = (1..).zip(&state.brokers).map(|(id, address)| {
            DescribeClusterBroker::default()
                .with_broker_id(BrokerId(id))
                .with_host(text(&address.ip().to_string()))
                .with_port(i32::from(address.port()))
        });
        response
            .with_controller_id(BrokerId(1))
            .with_brokers(brokers.collect())
    } else {
        let why = "only brokers listen here";
        response
            .with_error_code(BrokerError::MISMATCHED_ENDPOINT_TYPE.0)
            .with_error_message(Some(text(why)))
    };
    call.answer::<DescribeClusterRequest>(&response, out)
}
