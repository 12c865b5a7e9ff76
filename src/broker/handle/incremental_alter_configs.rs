//! IncrementalAlterConfigs: settings of topics are changed, all of a topic or none.

use kafka_protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use kafka_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};

use super::{Answer, Call, TOPIC, text};
use crate::broker::config::{Change, Refusal};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<IncrementalAlterConfigsRequest>() else {
        return Answer::Close;
    };
    let responses = request.resources.iter().map(|wanted| {
        let (error, why) = match alter(state, wanted, request.validate_only) {
            Ok(()) => (BrokerError::NONE, None),
            Err((error, why)) => (error, Some(text(&why))),
        };
        AlterConfigsResourceResponse::default()
            .with_resource_type(wanted.resource_type)
            .with_resource_name(wanted.resource_name.clone())
            .with_error_code(error.0)
            .with_error_message(why)
    });
    let response = IncrementalAlterConfigsResponse::default().with_responses(responses.collect());
    call.answer::<IncrementalAlterConfigsRequest>(&response, out)
}

fn alter(
    state: &mut State,
    wanted: &AlterConfigsResource,
    only_check: bool,
) -> Result<(), Refusal> {
    if wanted.resource_type != TOPIC {
        let why = "only settings of topics can be changed here".to_owned();
        return Err((BrokerError::INVALID_REQUEST, why));
    }
    let mut changes = Vec::new();
    for config in &wanted.configs {
        let value = config.value.as_deref();
        let change = match (config.config_operation, value) {
            (0, Some(value)) => Change::Set(value),
            (1, _) => Change::Delete,
            (2, Some(value)) => Change::Append(value),
            (3, Some(value)) => Change::Subtract(value),
            (operation, _) => {
                let why = format!("operation {operation} on {}", &*config.name);
                return Err((BrokerError::INVALID_REQUEST, why));
            }
        };
        changes.push((&*config.name, change));
    }
    let name = &wanted.resource_name;
    state
        .topics
        .configure(name, changes.into_iter(), only_check)
}
