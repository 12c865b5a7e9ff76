//! The configuration of topics, as brokers tell it.

use kafka_protocol::messages::DescribeConfigsRequest;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;

use super::{Admin, AdminError, check, text, unsettled};
use crate::cluster::control::Node;

/// One setting of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value; none where brokers keep it to themselves.
    pub value: Option<String>,
    /// Whether it was set on this topic, and is not the broker's or Kafka's default.
    pub of_topic: bool,
    /// Whether it is Kafka's own default, set nowhere.
    pub of_default: bool,
}

impl Admin<'_> {
    /// All settings of a topic, in the broker's order.
    ///
    /// # Errors
    /// When the cluster refuses, or nobody answers.
    pub fn topic_settings(&self, name: &str) -> Result<Vec<Setting>, AdminError> {
        let mut resource = DescribeConfigsResource::default();
        resource.resource_type = TOPIC;
        resource.resource_name = text(name);
        resource.configuration_keys = None;
        let mut request = DescribeConfigsRequest::default();
        request.resources = vec![resource];
        let what = format!("configuration of topic {name}");
        let persisted = self.control.persist(Node::Any, &request, |response| {
            response
                .results
                .iter()
                .any(|result| unsettled(result.error_code))
        })?;
        let Some(result) = persisted.response.results.first() else {
            return Err(AdminError::Silent(what));
        };
        check(&what, result.error_code, result.error_message.as_ref())?;
        let settings = result.configs.iter().map(|config| Setting {
            name: config.name.to_string(),
            value: config.value.as_ref().map(ToString::to_string),
            of_topic: config.config_source == DYNAMIC_TOPIC_CONFIG,
            of_default: config.config_source == DEFAULT_CONFIG,
        });
        Ok(settings.collect())
    }
}

const TOPIC: i8 = 2;
const DYNAMIC_TOPIC_CONFIG: i8 = 1;
const DEFAULT_CONFIG: i8 = 5;
