//! ApiVersions: what is served; a version it doesn't know is refused in the form of version 0.

use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};

use super::{Answer, Call, Served, offered};
use crate::broker::state::State;
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;

pub fn handle(call: &Call<'_>, state: &mut State, out: &mut Vec<u8>) -> Answer {
    if call.decode::<ApiVersionsRequest>().is_none() {
        return Answer::Close;
    }
    let keys = offered(state.topics.keeps()).map(versions).collect();
    let response = ApiVersionsResponse::default().with_api_keys(keys);
    call.answer::<ApiVersionsRequest>(&response, out)
}

/// Answers a version that is not served.
pub fn refuse(call: &Call<'_>, out: &mut Vec<u8>) -> Answer {
    let own = offered(false).filter(|served| served.api == ApiKey::API_VERSIONS);
    let response = ApiVersionsResponse::default()
        .with_error_code(BrokerError::UNSUPPORTED_VERSION.0)
        .with_api_keys(own.map(versions).collect());
    call.answer_as::<ApiVersionsRequest>(0, &response, out)
}

fn versions(served: &Served) -> ApiVersion {
    // librdkafka takes a minimum above 2 for a broker without compression.
    let min = match served.api {
        ApiKey::PRODUCE => 0,
        _ => served.versions.min,
    };
    ApiVersion::default()
        .with_api_key(served.api.0)
        .with_min_version(min)
        .with_max_version(served.versions.max)
}
