//! Drop-in front ends: Kafka's own command-line tools by their names, options, lines and exit codes.
//!
//! They read no `KDYNO_` variables and never start an embedded broker.

pub mod java_number;
pub mod producer_perf;
pub mod topics;

use std::ffi::OsString;
use std::io::Write;

/// The level of Apache Kafka whose tools are stood in for; what `--version` prints.
pub const KAFKA_LEVEL: &str = "4.4.0";

/// A tool that is stood in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `kafka-producer-perf-test`.
    ProducerPerf,
    /// `kafka-topics`.
    Topics,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dispatch {
    /// One of the tools, with its arguments.
    Tool(Tool, Vec<String>),
    /// `kafka-run-class` with nothing that can be run; why, for standard error. Exit code 1.
    NoClass(String),
}

/// What a whole command line asks for: by the name the program was called by, or by its subcommand.
/// `None` when it is none of Kafka's tools.
pub fn asked(command_line: impl Iterator<Item = OsString>) -> Option<Dispatch> {
    // Kafka's tools, like Java itself, take what is no text for question marks.
    let words: Vec<String> = command_line
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let (program, args) = words.split_first()?;
    dispatch(program, args).or_else(|| match args.split_first() {
        Some((name, args)) if !name.contains('/') => dispatch(name, args),
        _ => None,
    })
}

/// Runs what was asked for; gives its exit code.
pub fn run(asked: Dispatch) -> u8 {
    match asked {
        Dispatch::Tool(Tool::ProducerPerf, args) => producer_perf::run(&args),
        Dispatch::Tool(Tool::Topics, args) => topics::run(&args),
        Dispatch::NoClass(why) => {
            // A closed standard error leaves nobody to tell.
            writeln!(std::io::stderr(), "{why}").ok();
            1
        }
    }
}

/// The tool called by `name`: as a subcommand, or as the path of a link, with or without `.sh`.
///
/// `None` when it is none of Kafka's.
pub fn dispatch(name: &str, args: &[String]) -> Option<Dispatch> {
    let base = name.rsplit('/').next().unwrap_or(name);
    match base.strip_suffix(".sh").unwrap_or(base) {
        "kafka-producer-perf-test" => Some(Dispatch::Tool(Tool::ProducerPerf, args.to_vec())),
        "kafka-topics" => Some(Dispatch::Tool(Tool::Topics, args.to_vec())),
        "kafka-run-class" => Some(run_class(args)),
        _ => None,
    }
}

/// What `kafka-run-class.sh` does: options of its own, then a class, then the class's arguments.
fn run_class(args: &[String]) -> Dispatch {
    let mut rest = args;
    loop {
        match rest {
            [flag, _, tail @ ..] if flag == "-name" => rest = tail,
            [flag, tail @ ..] if flag == "-loggc" => rest = tail,
            [flag, ..] if flag == "-daemon" => {
                let said = "kafka-run-class: -daemon is not supported: run it in the background";
                return Dispatch::NoClass(said.to_owned());
            }
            [class, tail @ ..] => return by_class(class, tail),
            [] => {
                let said = "USAGE: kafka-run-class [-daemon] [-name servicename] [-loggc] \
                            classname [opts]";
                return Dispatch::NoClass(said.to_owned());
            }
        }
    }
}

fn by_class(class: &str, args: &[String]) -> Dispatch {
    match class {
        "org.apache.kafka.tools.ProducerPerformance" => {
            Dispatch::Tool(Tool::ProducerPerf, args.to_vec())
        }
        "org.apache.kafka.tools.TopicCommand" | "kafka.admin.TopicCommand" => {
            Dispatch::Tool(Tool::Topics, args.to_vec())
        }
        // Where it lived up to 0.8.2, with arguments by position; some scripts kept only the name.
        "org.apache.kafka.clients.tools.ProducerPerformance" => {
            match producer_perf::from_positions(args) {
                Ok(args) => Dispatch::Tool(Tool::ProducerPerf, args),
                Err(usage) => Dispatch::NoClass(usage),
            }
        }
        _ => Dispatch::NoClass(format!(
            "kafka-run-class: kdyno has no class {class}: it stands in for {}",
            CLASSES.join(" and ")
        )),
    }
}

const CLASSES: [&str; 3] = [
    "org.apache.kafka.tools.TopicCommand",
    "org.apache.kafka.tools.ProducerPerformance",
    "org.apache.kafka.clients.tools.ProducerPerformance",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_ascii_whitespace().map(str::to_owned).collect()
    }

    fn run_class(line: &str) -> Dispatch {
        dispatch("/opt/kafka/bin/kafka-run-class.sh", &words(line)).unwrap()
    }

    #[test]
    fn a_link_by_the_tools_name_is_the_tool_with_or_without_sh() {
        for name in [
            "kafka-producer-perf-test",
            "/usr/bin/kafka-producer-perf-test",
            "./kafka-producer-perf-test.sh",
        ] {
            let tool = Dispatch::Tool(Tool::ProducerPerf, words("--topic t"));
            assert_eq!(dispatch(name, &words("--topic t")), Some(tool));
        }
        assert_eq!(dispatch("kdyno", &[]), None);
        assert_eq!(
            dispatch("/usr/bin/kafka-producer-perf-test/kdyno", &[]),
            None
        );
    }

    #[test]
    fn the_class_of_today_takes_its_arguments_as_they_are() {
        let class = "-name x -loggc org.apache.kafka.tools.ProducerPerformance --topic t -name y";
        let tool = Dispatch::Tool(Tool::ProducerPerf, words("--topic t -name y"));
        assert_eq!(run_class(class), tool);
    }

    #[test]
    fn the_oldest_class_takes_its_arguments_by_position() {
        let class = "org.apache.kafka.clients.tools.ProducerPerformance";
        let line = format!("{class} t 5000 100 -1 acks=1 bootstrap.servers=h:9092");
        let Dispatch::Tool(Tool::ProducerPerf, args) = run_class(&line) else {
            panic!("{line}");
        };
        let perf = producer_perf::parse(&args).unwrap();
        assert_eq!((perf.topic.as_str(), perf.num_records), ("t", 5_000));
        assert!(perf.notices.is_empty());
        let Dispatch::NoClass(said) = run_class(&format!("{class} t 5000")) else {
            panic!("too few");
        };
        assert!(said.starts_with("USAGE:"));
        let named = run_class(&format!("{class} --topic t"));
        assert_eq!(
            named,
            Dispatch::Tool(Tool::ProducerPerf, words("--topic t"))
        );
    }

    #[test]
    fn an_unknown_class_or_none_is_refused_by_name() {
        let Dispatch::NoClass(said) = run_class("kafka.tools.MirrorMaker --x") else {
            panic!("unknown");
        };
        assert!(said.contains("kafka.tools.MirrorMaker"));
        assert!(matches!(run_class(""), Dispatch::NoClass(_)));
        assert!(matches!(run_class("-daemon x"), Dispatch::NoClass(_)));
    }
}
