//! DescribeConfigs: of topics, and a little of brokers.

use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult,
};
use kafka_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};

use super::create_topics::{FROM_DEFAULT, FROM_TOPIC};
use super::{Answer, BROKER, Call, TOPIC, text};
use crate::broker::config::{Kind, OF_TOPICS, Refusal};
use crate::broker::state::State;
use crate::wire::broker_error::BrokerError;

/// Where a setting comes from, as the answer numbers it: the broker was started with it.
const FROM_BROKER: i8 = 4;
/// The first version with types.
const TYPES_FROM: i16 = 3;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    let Some(request) = call.decode::<DescribeConfigsRequest>() else {
        return Answer::Close;
    };
    let results = request.resources.iter().map(|wanted| {
        let result = DescribeConfigsResult::default()
            .with_resource_type(wanted.resource_type)
            .with_resource_name(wanted.resource_name.clone());
        match settings(call, state, wanted) {
            Ok(configs) => result.with_configs(configs),
            Err((error, why)) => result
                .with_error_code(error.0)
                .with_error_message(Some(text(&why))),
        }
    });
    let response = DescribeConfigsResponse::default().with_results(results.collect());
    call.answer::<DescribeConfigsRequest>(&response, out)
}

fn settings(
    call: &Call<'_>,
    state: &State,
    wanted: &DescribeConfigsResource,
) -> Result<Vec<DescribeConfigsResourceResult>, Refusal> {
    let name = &*wanted.resource_name;
    let all = match wanted.resource_type {
        TOPIC => of_topic(call, state, name)?,
        BROKER => of_broker(call, state, name)?,
        other => {
            let why = format!("resources of type {other} have no settings here");
            return Err((BrokerError::INVALID_REQUEST, why));
        }
    };
    Ok(match &wanted.configuration_keys {
        None => all,
        Some(names) => all
            .into_iter()
            .filter(|setting| names.contains(&setting.name))
            .collect(),
    })
}

fn of_topic(
    call: &Call<'_>,
    state: &State,
    name: &str,
) -> Result<Vec<DescribeConfigsResourceResult>, Refusal> {
    let topic = state.topics.get(name).ok_or_else(|| {
        let why = format!("there is no topic {name}");
        (BrokerError::UNKNOWN_TOPIC_OR_PARTITION, why)
    })?;
    let settings = OF_TOPICS.iter().map(|setting| {
        let (value, set) = setting.value(topic.configs());
        let source = if set { FROM_TOPIC } else { FROM_DEFAULT };
        shown(call, (setting.name, value), setting.kind, source)
    });
    Ok(settings.collect())
}

fn of_broker(
    call: &Call<'_>,
    state: &State,
    name: &str,
) -> Result<Vec<DescribeConfigsResourceResult>, Refusal> {
    let id = name.parse::<usize>().ok();
    if name.is_empty() {
        // What is set for all brokers: nothing.
        return Ok(Vec::new());
    }
    if !id.is_some_and(|id| (1..=state.brokers.len()).contains(&id)) {
        return Err((
            BrokerError::INVALID_REQUEST,
            format!("there is no broker {name}"),
        ));
    }
    let partitions = state.topics.usual_partitions().to_string();
    let settings = [
        ("auto.create.topics.enable", "true", Kind::Boolean),
        ("broker.id", name, Kind::Int),
        ("default.replication.factor", "1", Kind::Int),
        ("message.max.bytes", "1048588", Kind::Int),
        ("node.id", name, Kind::Int),
        ("num.partitions", &partitions, Kind::Int),
    ];
    let settings = settings.map(|(name, value, kind)| {
        shown(call, (name, value), kind, FROM_BROKER).with_read_only(true)
    });
    Ok(settings.to_vec())
}

fn shown(
    call: &Call<'_>,
    (name, value): (&str, &str),
    kind: Kind,
    source: i8,
) -> DescribeConfigsResourceResult {
    let setting = DescribeConfigsResourceResult::default()
        .with_name(text(name))
        .with_value(Some(text(value)))
        .with_config_source(source);
    match call.header.version {
        TYPES_FROM.. => setting.with_config_type(kind as i8),
        _ => setting,
    }
}
