//! `kafka-topics`: topics made, listed, described, widened and deleted, by its options and lines.

mod args;
mod lines;

use std::io::Write;

use regex::Regex;

use crate::cli::Failure;
use crate::cli::compat::KAFKA_LEVEL;
use crate::cli::connect::start;
use crate::cli::properties::from_file;
use crate::client::admin::configs::Setting;
use crate::client::admin::describe::{PAGE, PartitionShape, TopicShape};
use crate::client::admin::topics::NewTopic;
use crate::client::admin::{Admin, AdminError};
use crate::client::profile::Profile;
use crate::client::properties::{Given, read};
use crate::net::address::Address;
use crate::net::versions::Pins;
use args::{Action, TopicsArgs, assignment, parse, usage};
pub use lines::topic_id;
use lines::{partition_line, topic_line};

/// Runs the tool with its arguments; gives its exit code.
pub fn run(args: &[String]) -> u8 {
    let typed = match parse(args) {
        Ok(typed) if typed.help => {
            return refuse("This tool helps to create, delete, describe, or change a topic.");
        }
        Ok(typed) if typed.version => {
            print(KAFKA_LEVEL);
            complain(&format!("kdyno {}", env!("CARGO_PKG_VERSION")));
            return 0;
        }
        Ok(_) if args.is_empty() => return refuse("Create, delete, describe, or change a topic."),
        Ok(typed) => typed,
        Err(why) => return refuse(&why),
    };
    let action = match typed.action() {
        Ok(action) => action,
        Err(why) => return refuse(&why),
    };
    match perform(&typed, action) {
        Ok(()) => 0,
        Err(why) => {
            // Kafka's tool says so on standard output.
            print(&format!("Error while executing topic command : {why}"));
            1
        }
    }
}

fn refuse(why: &str) -> u8 {
    complain(why);
    complain(&usage());
    1
}

fn print(line: &str) {
    // Kafka's tool goes on when nobody reads it.
    writeln!(std::io::stdout(), "{line}").ok();
}

fn complain(line: &str) {
    writeln!(std::io::stderr(), "{line}").ok();
}

fn perform(typed: &TopicsArgs, action: Action) -> Result<(), String> {
    let failed = |failure| match failure {
        Failure::Usage(why) | Failure::Run(why) => why,
    };
    let mut given = match &typed.command_config {
        Some(path) => from_file(path)?,
        None => Vec::new(),
    };
    given.push(Given {
        origin: "--bootstrap-server".to_owned(),
        name: "bootstrap.servers".to_owned(),
        value: typed.bootstrap_server.clone().unwrap_or_default(),
    });
    let properties = read(Profile::Java4, &given).map_err(|e| e.to_string())?;
    for warning in &properties.warnings {
        complain(warning);
    }
    let settings = properties.settings;
    let servers = settings.bootstrap.as_deref().unwrap_or_default();
    let bootstrap = Address::parse_list(servers).map_err(|e| e.to_string())?;
    let options = settings.control(&bootstrap, &Pins::default());
    let control = start(options).map_err(failed)?;
    let admin = Admin::new(&control);
    match action {
        Action::Create => create(typed, admin),
        Action::List => list(typed, admin),
        Action::Delete => delete(typed, admin),
        Action::Alter => alter(typed, admin),
        Action::Describe => describe(typed, admin),
    }
}

fn create(typed: &TopicsArgs, admin: Admin<'_>) -> Result<(), String> {
    let name = typed.topic.clone().unwrap_or_default();
    let configs = typed.config.iter().map(|config| match config.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(format!("Invalid topic config: all configs to be added must be in the format \"key=val\": {config}")),
    });
    let positive = |option: &str, number: Option<i64>| match number {
        Some(number) if number < 1 => Err(format!("The {option} must be greater than 0")),
        number => Ok(number),
    };
    let partitions = positive("partitions", typed.partitions.map(i64::from))?;
    let replicas = positive(
        "replication factor",
        typed.replication_factor.map(i64::from),
    )?;
    if name.contains(['.', '_']) {
        print(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore \
             ('_') could collide. To avoid issues it is best to use either, but not both.",
        );
    }
    let topic = NewTopic {
        partitions: partitions.map(|n| n as u32),
        replication_factor: replicas.map(|n| n as u16),
        assignment: match &typed.replica_assignment {
            Some(text) => assignment(text)?,
            None => Vec::new(),
        },
        configs: configs.collect::<Result<_, _>>()?,
        name,
    };
    match admin.create_topic(&topic) {
        Ok(()) => print(&format!("Created topic {}.", topic.name)),
        Err(error) if typed.if_not_exists && exists(&error) => {}
        Err(error) => return Err(words(error)),
    }
    Ok(())
}

fn exists(error: &AdminError) -> bool {
    use crate::wire::broker_error::BrokerError;
    error.broker_error() == Some(BrokerError::TOPIC_ALREADY_EXISTS)
}

/// An error as Kafka's tool says it: the broker's own words where it has some.
fn words(error: AdminError) -> String {
    match error {
        AdminError::Refused {
            message: Some(message),
            ..
        } => message,
        other => other.to_string(),
    }
}

fn list(typed: &TopicsArgs, admin: Admin<'_>) -> Result<(), String> {
    for topic in chosen(typed, admin)? {
        print(&topic.name);
    }
    Ok(())
}

fn delete(typed: &TopicsArgs, admin: Admin<'_>) -> Result<(), String> {
    for topic in named(typed, admin)? {
        admin.delete_topic(&topic.name).map_err(words)?;
    }
    Ok(())
}

fn alter(typed: &TopicsArgs, admin: Admin<'_>) -> Result<(), String> {
    let partitions = typed.partitions.unwrap_or_default();
    if partitions < 1 {
        return Err("The partitions must be greater than 0".to_owned());
    }
    for topic in named(typed, admin)? {
        let assigned = match &typed.replica_assignment {
            // The partitions there already come first.
            Some(text) => {
                let all = assignment(text)?;
                all.get(topic.partitions.len()..)
                    .unwrap_or_default()
                    .to_vec()
            }
            None => Vec::new(),
        };
        admin
            .add_partitions(&topic.name, partitions as u32, &assigned)
            .map_err(words)?;
    }
    Ok(())
}

fn describe(typed: &TopicsArgs, admin: Admin<'_>) -> Result<(), String> {
    let mut page = typed.partition_size_limit_per_response.unwrap_or(PAGE);
    if page < 1 {
        page = PAGE;
    }
    for mut topic in described(typed, admin)? {
        admin.add_elr(&mut topic, page).map_err(words)?;
        let settings = admin.topic_settings(&topic.name).map_err(words)?;
        let overridden = settings.iter().any(|setting| !setting.of_default);
        if typed.topics_with_overrides && !overridden {
            continue;
        }
        if !typed.filters_partitions() {
            print(&topic_line(&topic, &settings));
        }
        if typed.topics_with_overrides {
            continue;
        }
        let partitions = topic.partitions.iter();
        for partition in partitions.filter(|partition| typed.shows(partition, &settings)) {
            print(&partition_line(&topic.name, partition));
        }
    }
    Ok(())
}

impl TopicsArgs {
    fn filters_partitions(&self) -> bool {
        self.under_replicated_partitions
            || self.unavailable_partitions
            || self.under_min_isr_partitions
            || self.at_min_isr_partitions
    }

    fn shows(&self, partition: &PartitionShape, settings: &[Setting]) -> bool {
        let in_sync = partition.isr.len();
        let mut settings = settings.iter();
        let least = settings.find(|setting| setting.name == "min.insync.replicas");
        let least = least.and_then(|setting| setting.value.as_ref()?.parse().ok());
        let least: usize = least.unwrap_or(1);
        !self.filters_partitions()
            || (self.under_replicated_partitions && in_sync < partition.replicas.len())
            || (self.unavailable_partitions && partition.leader.is_none())
            || (self.under_min_isr_partitions && in_sync < least)
            || (self.at_min_isr_partitions && in_sync == least)
    }
}

/// The topics that are to be described; one that is named has to be there.
fn described(typed: &TopicsArgs, admin: Admin<'_>) -> Result<Vec<TopicShape>, String> {
    let Some(id) = &typed.topic_id else {
        return match typed.topic {
            Some(_) => named(typed, admin),
            None => chosen(typed, admin),
        };
    };
    let all = admin.all_topics().map_err(words)?.into_iter();
    let found: Vec<TopicShape> = all.filter(|topic| topic_id(&topic.id) == *id).collect();
    match found.is_empty() && !typed.if_exists {
        true => Err(format!("TopicId '{id}' does not exist as expected")),
        false => Ok(found),
    }
}

/// The topics that are named; there has to be one, or `--if-exists`.
fn named(typed: &TopicsArgs, admin: Admin<'_>) -> Result<Vec<TopicShape>, String> {
    let found = chosen(typed, admin)?;
    if found.is_empty() && !typed.if_exists {
        let name = typed.topic.as_deref().unwrap_or_default();
        return Err(format!("Topic '{name}' does not exist as expected"));
    }
    Ok(found)
}

/// The topics whose names match, of all there are.
fn chosen(typed: &TopicsArgs, admin: Admin<'_>) -> Result<Vec<TopicShape>, String> {
    let regex = match &typed.topic {
        // A comma stands for "or", as in all of Kafka's tools.
        Some(text) => {
            let text = text.trim().replace(',', "|");
            let regex = Regex::new(&format!("^(?:{text})$"));
            Some(regex.map_err(|_| format!("{text} is an invalid regex."))?)
        }
        None => None,
    };
    let all = admin.all_topics().map_err(words)?.into_iter();
    let chosen = all.filter(|topic| {
        let named = regex
            .as_ref()
            .is_none_or(|regex| regex.is_match(&topic.name));
        named && !(typed.exclude_internal && topic.internal)
    });
    Ok(chosen.collect())
}
