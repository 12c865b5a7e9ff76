//! The options of `kafka-topics`: which one action on which topics, or why none.

use clap::{Args, CommandFactory, FromArgMatches};

/// What was typed.
#[derive(Debug, Default, Args)]
pub struct TopicsArgs {
    /// The Kafka server to connect to
    #[arg(long)]
    pub bootstrap_server: Option<String>,
    /// Property file containing configs to be passed to the admin client
    #[arg(long)]
    pub command_config: Option<String>,
    /// List all available topics
    #[arg(long)]
    pub list: bool,
    /// Create a new topic
    #[arg(long)]
    pub create: bool,
    /// Delete a topic
    #[arg(long)]
    pub delete: bool,
    /// Give a topic more partitions
    #[arg(long)]
    pub alter: bool,
    /// List details for the given topics
    #[arg(long)]
    pub describe: bool,
    /// The topic; a regular expression except with --create
    #[arg(long)]
    pub topic: Option<String>,
    /// The topic's id, with --describe only
    #[arg(long)]
    pub topic_id: Option<String>,
    /// A topic configuration override for the topic being created, name=value
    #[arg(long)]
    pub config: Vec<String>,
    /// The number of partitions
    #[arg(long, allow_negative_numbers = true)]
    pub partitions: Option<i32>,
    /// The replication factor
    #[arg(long, allow_negative_numbers = true)]
    pub replication_factor: Option<i16>,
    /// Brokers of each partition: b1:b2,b3:b4
    #[arg(long)]
    pub replica_assignment: Option<String>,
    /// Only under-replicated partitions
    #[arg(long)]
    pub under_replicated_partitions: bool,
    /// Only partitions whose leader is not available
    #[arg(long)]
    pub unavailable_partitions: bool,
    /// Only partitions with fewer in-sync replicas than the minimum
    #[arg(long)]
    pub under_min_isr_partitions: bool,
    /// Only partitions with just the minimum of in-sync replicas
    #[arg(long)]
    pub at_min_isr_partitions: bool,
    /// Only topics that have overridden configs
    #[arg(long)]
    pub topics_with_overrides: bool,
    /// Act only if the topic exists
    #[arg(long)]
    pub if_exists: bool,
    /// Act only if the topic does not exist
    #[arg(long)]
    pub if_not_exists: bool,
    /// Leave out internal topics
    #[arg(long)]
    pub exclude_internal: bool,
    /// Partitions asked for at once
    #[arg(long)]
    pub partition_size_limit_per_response: Option<i32>,
    /// Print usage information
    #[arg(long)]
    pub help: bool,
    /// Print the level of Kafka that is stood in for
    #[arg(long)]
    pub version: bool,
}

#[derive(Debug, clap::Parser)]
#[command(
    name = "kafka-topics",
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    max_term_width = 100
)]
struct CommandLine {
    #[command(flatten)]
    topics: TopicsArgs,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// `--list`.
    List,
    /// `--create`.
    Create,
    /// `--delete`.
    Delete,
    /// `--alter`.
    Alter,
    /// `--describe`.
    Describe,
}

/// The usage, for standard error.
pub fn usage() -> String {
    CommandLine::command().render_help().to_string()
}

/// Reads the tool's arguments, its own name not among them.
///
/// # Errors
/// What is wrong with them, in one line.
pub fn parse(args: &[String]) -> Result<TopicsArgs, String> {
    let words = std::iter::once("kafka-topics").chain(args.iter().map(String::as_str));
    let matches = CommandLine::command().try_get_matches_from(words);
    let read = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    let typed = read.map_err(|e| {
        let text = e.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_owned()
    })?;
    Ok(typed.topics)
}

impl TopicsArgs {
    /// The one action that is asked for.
    ///
    /// # Errors
    /// When it is none, or more than one, or when something is missing for it or has no place in it.
    pub fn action(&self) -> Result<Action, String> {
        let asked = [
            (self.list, Action::List),
            (self.describe, Action::Describe),
            (self.create, Action::Create),
            (self.alter, Action::Alter),
            (self.delete, Action::Delete),
        ];
        let mut actions = asked.iter().filter(|(asked, _)| *asked);
        let (Some((_, action)), None) = (actions.next(), actions.next()) else {
            return Err(
                "Command must include exactly one action: --list, --describe, --create, --alter \
                 or --delete"
                    .to_owned(),
            );
        };
        self.check(*action)?;
        Ok(*action)
    }

    fn check(&self, action: Action) -> Result<(), String> {
        if self.bootstrap_server.is_none() {
            return Err("Missing required argument \"[bootstrap-server]\"".to_owned());
        }
        let named = self.topic.is_some() || (action == Action::Describe && self.topic_id.is_some());
        let must_name = matches!(action, Action::Create | Action::Delete | Action::Alter);
        if must_name && !named {
            return Err("Missing required argument \"[topic]\"".to_owned());
        }
        if action == Action::Alter && self.partitions.is_none() {
            return Err("Missing required argument \"[partitions]\"".to_owned());
        }
        for (given, option, allowed) in self.placed() {
            if given && !allowed.contains(&action) {
                let action = format!("{action:?}").to_lowercase();
                return Err(format!(
                    "Option \"[{action}]\" can't be used with option \"[{option}]\""
                ));
            }
        }
        let counted = self.partitions.is_some() || self.replication_factor.is_some();
        if action == Action::Create && self.replica_assignment.is_some() && counted {
            return Err(
                "Option \"[replica-assignment]\" can't be used with option \"[partitions]\" or \
                 \"[replication-factor]\""
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Options that have a place with some actions only.
    fn placed(&self) -> [(bool, &'static str, &'static [Action]); 11] {
        use Action::{Alter, Create, Delete, Describe, List};
        let filter: &[Action] = &[Describe];
        [
            (!self.config.is_empty(), "config", &[Create]),
            (
                self.replication_factor.is_some(),
                "replication-factor",
                &[Create],
            ),
            (
                self.replica_assignment.is_some(),
                "replica-assignment",
                &[Create, Alter],
            ),
            (self.partitions.is_some(), "partitions", &[Create, Alter]),
            (
                self.under_replicated_partitions,
                "under-replicated-partitions",
                filter,
            ),
            (
                self.unavailable_partitions,
                "unavailable-partitions",
                filter,
            ),
            (
                self.under_min_isr_partitions,
                "under-min-isr-partitions",
                filter,
            ),
            (self.at_min_isr_partitions, "at-min-isr-partitions", filter),
            (self.topics_with_overrides, "topics-with-overrides", filter),
            (self.if_not_exists, "if-not-exists", &[Create]),
            (
                self.exclude_internal,
                "exclude-internal",
                &[List, Describe, Alter, Delete],
            ),
        ]
    }
}

/// Brokers of each partition, from `b1:b2,b3:b4`.
///
/// # Errors
/// What is no broker's id, or when partitions differ in their number of brokers.
pub fn assignment(text: &str) -> Result<Vec<Vec<i32>>, String> {
    let brokers = |partition: &str| -> Result<Vec<i32>, String> {
        let ids = partition.split(':').map(|id| {
            let id = id.trim();
            id.parse().map_err(|_| format!("{id} is no broker id"))
        });
        ids.collect()
    };
    let partitions: Vec<Vec<i32>> = text.split(',').map(brokers).collect::<Result<_, _>>()?;
    let count = partitions.first().map_or(0, Vec::len);
    for (index, partition) in partitions.iter().enumerate() {
        let mut sorted = partition.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != partition.len() {
            return Err(format!("Partition {index} names a broker twice"));
        }
        if partition.len() != count {
            return Err(format!(
                "Partition {index} has a different replication factor"
            ));
        }
    }
    Ok(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(line: &str) -> Result<Action, String> {
        let args: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
        parse(&args)?.action()
    }

    #[test]
    fn one_action_is_wanted_with_what_it_needs() {
        let at = "--bootstrap-server h:1";
        assert_eq!(action(&format!("{at} --list")), Ok(Action::List));
        assert_eq!(action("--bootstrap-s h:1 --desc"), Ok(Action::Describe));
        assert!(
            action(at)
                .unwrap_err()
                .starts_with("Command must include exactly one action")
        );
        assert!(action(&format!("{at} --list --create")).is_err());
        assert!(action("--list").unwrap_err().contains("[bootstrap-server]"));
        assert!(
            action(&format!("{at} --create"))
                .unwrap_err()
                .contains("[topic]")
        );
        let alter = action(&format!("{at} --alter --topic t"));
        assert!(alter.unwrap_err().contains("[partitions]"));
        let misplaced = action(&format!("{at} --delete --topic t --config a=b"));
        assert_eq!(
            misplaced.unwrap_err(),
            "Option \"[delete]\" can't be used with option \"[config]\""
        );
        assert!(action(&format!("{at} --nonsense")).is_err());
    }

    #[test]
    fn an_assignment_is_read_partition_by_partition() {
        assert_eq!(assignment("1:2,2:3"), Ok(vec![vec![1, 2], vec![2, 3]]));
        assert!(assignment("1:2,2").is_err());
        assert!(assignment("1:1").is_err());
        assert!(assignment("a").is_err());
    }
}
