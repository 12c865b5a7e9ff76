//! `kdyno topic`: topics made, listed, described and deleted.

use std::io::Write;

use serde_json::json;

use crate::cli::Failure;
use crate::cli::args::{Topic, TopicAction, TopicCreate, TopicDelete, TopicDescribe, TopicList};
use crate::cli::compat::topics::topic_id;
use crate::cli::connect::Target;
use crate::client::admin::configs::Setting;
use crate::client::admin::describe::TopicShape;
use crate::client::admin::topics::NewTopic;
use crate::client::admin::{Admin, AdminError};
use crate::client::profile::Profile;
use crate::wire::broker_error::BrokerError;

/// Runs it; gives the exit code.
pub fn run(topic: &Topic) -> Result<u8, Failure> {
    let cluster = match &topic.action {
        TopicAction::Create(args) => &args.cluster,
        TopicAction::List(args) => &args.cluster,
        TopicAction::Describe(args) => &args.cluster,
        TopicAction::Delete(args) => &args.cluster,
    };
    let target = Target::of(cluster, Profile::Java4)?;
    let plan = match &topic.action {
        TopicAction::Create(args) => Some(new_topics(args)?),
        _ => None,
    };
    let control = target.control()?;
    let admin = Admin::new(&control);
    match &topic.action {
        TopicAction::Create(args) => create(args, &plan.unwrap_or_default(), admin),
        TopicAction::List(args) => list(args, admin),
        TopicAction::Describe(args) => describe(args, admin),
        TopicAction::Delete(args) => delete(args, admin),
    }
    .map(|()| 0)
}

fn new_topics(args: &TopicCreate) -> Result<Vec<NewTopic>, Failure> {
    let configs = configs(&args.configs)?;
    let topics = args.names.iter().map(|name| NewTopic {
        name: name.clone(),
        partitions: args.partitions,
        replication_factor: args.replication_factor,
        assignment: Vec::new(),
        configs: configs.clone(),
    });
    Ok(topics.collect())
}

/// Settings of topics as they are typed, NAME=VALUE each.
pub fn configs(typed: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let configs = typed.iter().map(|config| match config.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Failure::Usage(format!("{config}: NAME=VALUE is wanted"))),
    });
    configs.collect()
}

fn create(args: &TopicCreate, topics: &[NewTopic], admin: Admin<'_>) -> Result<(), Failure> {
    for topic in topics {
        match admin.create_topic(topic) {
            Ok(()) => {}
            Err(error) if args.if_not_exists && exists(&error) => {
                say(&format!("topic {} is there already", topic.name));
                continue;
            }
            Err(error) => return Err(failed(error)),
        }
        admin
            .await_topics(std::slice::from_ref(&topic.name))
            .map_err(failed)?;
        say(&format!("topic {} is made", topic.name));
    }
    Ok(())
}

fn exists(error: &AdminError) -> bool {
    error.broker_error() == Some(BrokerError::TOPIC_ALREADY_EXISTS)
}

fn failed(error: AdminError) -> Failure {
    Failure::Run(error.to_string())
}

fn say(line: &str) {
    // A closed standard output leaves nobody to tell.
    writeln!(std::io::stdout(), "{line}").ok();
}

fn delete(args: &TopicDelete, admin: Admin<'_>) -> Result<(), Failure> {
    for name in &args.names {
        match admin.delete_topic(name) {
            Ok(()) => say(&format!("topic {name} is deleted")),
            Err(error)
                if args.if_exists
                    && error.broker_error() == Some(BrokerError::UNKNOWN_TOPIC_OR_PARTITION) =>
            {
                say(&format!("there is no topic {name}"));
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

fn list(args: &TopicList, admin: Admin<'_>) -> Result<(), Failure> {
    let topics = admin.all_topics().map_err(failed)?.into_iter();
    let topics: Vec<TopicShape> = topics
        .filter(|topic| args.internal || !topic.internal)
        .collect();
    if args.json {
        let names: Vec<&str> = topics.iter().map(|topic| topic.name.as_str()).collect();
        say(&json!({ "topics": names }).to_string());
        return Ok(());
    }
    topics.iter().for_each(|topic| say(&topic.name));
    Ok(())
}

fn describe(args: &TopicDescribe, admin: Admin<'_>) -> Result<(), Failure> {
    let mut topics = Vec::new();
    for name in &args.names {
        let found = admin.topic(name).map_err(failed)?;
        let found = found.ok_or_else(|| Failure::Run(format!("there is no topic {name}")))?;
        topics.push(found);
    }
    if args.names.is_empty() {
        topics = admin.all_topics().map_err(failed)?;
    }
    let mut described = Vec::new();
    for topic in topics {
        let settings = admin.topic_settings(&topic.name).map_err(failed)?;
        described.push((topic, settings));
    }
    if args.json {
        let all: Vec<_> = described
            .iter()
            .map(|(topic, of)| as_json(topic, of))
            .collect();
        say(&json!({ "topics": all }).to_string());
        return Ok(());
    }
    for (topic, settings) in &described {
        say(&as_text(topic, settings));
    }
    Ok(())
}

/// What was set on the topic itself.
fn own(settings: &[Setting]) -> impl Iterator<Item = (&str, &str)> {
    let own = settings.iter().filter(|setting| setting.of_topic);
    own.map(|setting| {
        (
            setting.name.as_str(),
            setting.value.as_deref().unwrap_or("?"),
        )
    })
}

fn as_json(topic: &TopicShape, settings: &[Setting]) -> serde_json::Value {
    let partitions = topic.partitions.iter().map(|partition| {
        json!({
            "partition": partition.index,
            "leader": partition.leader,
            "replicas": partition.replicas,
            "isr": partition.isr,
            "offline": partition.offline,
        })
    });
    json!({
        "name": topic.name,
        "topic_id": topic_id(&topic.id),
        "internal": topic.internal,
        "replication_factor": topic.replication_factor(),
        "configs": own(settings).collect::<std::collections::BTreeMap<_, _>>(),
        "partitions": partitions.collect::<Vec<_>>(),
    })
}

fn as_text(topic: &TopicShape, settings: &[Setting]) -> String {
    let mut text = format!(
        "{}   {} partitions × {}   id {}",
        topic.name,
        topic.partitions.len(),
        topic.replication_factor(),
        topic_id(&topic.id),
    );
    for (name, value) in own(settings) {
        text += &format!("   {name}={value}");
    }
    let ids = |ids: &[i32]| {
        let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
        ids.join(",")
    };
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["partition", "leader", "replicas", "in sync", "offline"]);
    for partition in &topic.partitions {
        table.add_row([
            partition.index.to_string(),
            partition
                .leader
                .map_or("none".to_owned(), |leader| leader.to_string()),
            ids(&partition.replicas),
            ids(&partition.isr),
            ids(&partition.offline),
        ]);
    }
    format!("{text}\n{}", table.trim_fmt())
}
