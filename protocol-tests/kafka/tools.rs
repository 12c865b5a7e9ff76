//! Apache Kafka's own command-line tools, run against a cluster.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::Cluster;

/// Runs the tool of class `class` with `args`, however it ends.
pub fn java(class_path: &Path, logging: Option<&Path>, class: &str, args: &[&str]) -> Output {
    let logging = logging.map(|file| format!("-Dlog4j2.configurationFile=file:{}", file.display()));
    Command::new("java")
        .args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .args(logging)
        .arg("-cp")
        .arg(class_path.join("*"))
        .arg(class)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("java was there when its version was asked for")
}

impl Cluster {
    /// Runs the tool of class `class` with `args` and gives its standard output.
    ///
    /// # Panics
    /// When it ends with another code than 0.
    pub fn tool(&self, class: &str, args: &[&str]) -> String {
        let output = self.tool_output(class, args);
        assert!(
            output.status.success(),
            "{class} {args:?} ended with {}: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the tool of class `class` with `args`, however it ends.
    pub fn tool_output(&self, class: &str, args: &[&str]) -> Output {
        let logging = self.folder().join("log4j2.properties");
        java(&self.class_path, Some(&logging), class, args)
    }

    /// Makes a topic with Kafka's own tool; `configs` are `key=value`.
    pub fn create_topic(&self, topic: &str, partitions: u32, configs: &[&str]) {
        let bootstrap = self.bootstrap();
        let partitions = partitions.to_string();
        let mut args = vec![
            "--bootstrap-server",
            &bootstrap,
            "--create",
            "--topic",
            topic,
            "--partitions",
            &partitions,
        ];
        for config in configs {
            args.extend(["--config", config]);
        }
        self.tool("org.apache.kafka.tools.TopicCommand", &args);
    }

    /// Every record of `topic` as Kafka's own console consumer prints it, one line each:
    /// `CreateTime:<ms>|Partition:<p>|Offset:<o>|<headers>|<key>|<value>`.
    pub fn read_all(&self, topic: &str, count: usize) -> Vec<String> {
        self.read("--topic", topic, count)
    }

    /// Every record of all topics that the regular expression `topics` names, as [`Self::read_all`].
    pub fn read_matching(&self, topics: &str, count: usize) -> Vec<String> {
        self.read("--include", topics, count)
    }

    fn read(&self, by: &str, topics: &str, count: usize) -> Vec<String> {
        let mut config = tempfile::NamedTempFile::new_in(self.folder()).expect("a writable folder");
        writeln!(config, "check.crcs=true\nisolation.level=read_committed").expect("room on disk");
        let text = self.tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            &[
                "--bootstrap-server",
                &self.bootstrap(),
                by,
                topics,
                "--from-beginning",
                "--max-messages",
                &count.to_string(),
                "--timeout-ms",
                "20000",
                "--consumer.config",
                &config.path().to_string_lossy(),
                "--property",
                "print.timestamp=true",
                "--property",
                "print.partition=true",
                "--property",
                "print.offset=true",
                "--property",
                "print.headers=true",
                "--property",
                "print.key=true",
                "--property",
                "key.separator=|",
            ],
        );
        // Newer releases say on standard output that the names all releases know are old.
        text.lines()
            .filter(|line| !line.starts_with("Option --"))
            .map(str::to_owned)
            .collect()
    }

    /// End offset of every partition of `topic`, by Kafka's own tool.
    pub fn end_offsets(&self, topic: &str) -> Vec<(i32, i64)> {
        let text = self.tool(
            "org.apache.kafka.tools.GetOffsetShell",
            &["--bootstrap-server", &self.bootstrap(), "--topic", topic],
        );
        text.lines()
            .filter_map(|line| {
                let mut words = line.rsplitn(3, ':');
                let offset = words.next()?.parse().ok()?;
                let partition = words.next()?.parse().ok()?;
                Some((partition, offset))
            })
            .collect()
    }

    /// Records of every topic whose name begins with `prefix`, by Kafka's own tool.
    pub fn end_offset_sums(&self, prefix: &str) -> BTreeMap<String, i64> {
        let text = self.tool(
            "org.apache.kafka.tools.GetOffsetShell",
            &["--bootstrap-server", &self.bootstrap()],
        );
        let mut sums = BTreeMap::new();
        for line in text.lines().filter(|line| line.starts_with(prefix)) {
            let mut words = line.rsplitn(3, ':');
            let offset: Option<i64> = words.next().and_then(|word| word.parse().ok());
            let topic = words.nth(1);
            if let (Some(offset), Some(topic)) = (offset, topic) {
                *sums.entry(topic.to_owned()).or_default() += offset;
            }
        }
        sums
    }

    /// What `kafka-dump-log --deep-iteration` says of the log of one partition on node `node` (from 0).
    pub fn dump_log(&self, node: usize, topic: &str, partition: i32) -> String {
        let file = self
            .log_folder(node)
            .join(format!("{topic}-{partition}"))
            .join("00000000000000000000.log");
        let args = ["--deep-iteration", "--files", &file.to_string_lossy()];
        // The tool moved to Java, and to another package, with 4.3.
        let moved = self.tool_output("org.apache.kafka.tools.DumpLogSegments", &args);
        if moved.status.success() {
            return String::from_utf8_lossy(&moved.stdout).into_owned();
        }
        self.tool("kafka.tools.DumpLogSegments", &args)
    }
}
