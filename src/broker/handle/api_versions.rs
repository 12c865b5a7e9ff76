//! ApiVersions: what is served; a version it doesn't know is refused in the form of version 0.

use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};

use super::{Answer, SERVED, answer};
use crate::wire::api::ApiKey;
use crate::wire::broker_error::BrokerError;
use crate::wire::control::decode_request;
use crate::wire::header::RequestHeader;

pub fn handle(header: &RequestHeader<'_>, fits: bool, body: &[u8], out: &mut Vec<u8>) -> Answer {
    let keys = SERVED.iter().map(|(api, range)| {
        // librdkafka takes a minimum above 2 for a broker without compression.
        let min = if *api == ApiKey::PRODUCE {
            0
        } else {
            range.min
        };
        ApiVersion::default()
            .with_api_key(api.0)
            .with_min_version(min)
            .with_max_version(range.max)
    });
    if !fits {
        let own = keys.filter(|key| key.api_key == ApiKey::API_VERSIONS.0);
        let response = ApiVersionsResponse::default()
            .with_error_code(BrokerError::UNSUPPORTED_VERSION.0)
            .with_api_keys(own.collect());
        return answer::<ApiVersionsRequest>(header, 0, &response, out);
    }
    if decode_request::<ApiVersionsRequest>(body, header.version).is_err() {
        return Answer::Close;
    }
    let response = ApiVersionsResponse::default().with_api_keys(keys.collect());
    answer::<ApiVersionsRequest>(header, header.version, &response, out)
}
