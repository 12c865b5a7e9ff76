//! Broker processes: formatted, started, waited for, stopped, and never left behind.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What a cluster is to be like.
#[derive(Debug, Clone, Copy)]
pub struct ClusterOptions {
    /// Nodes, each broker and controller at once.
    pub nodes: usize,
    /// More lines for every `server.properties`.
    pub properties: &'static [&'static str],
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            nodes: 1,
            properties: &[],
        }
    }
}

/// Running brokers. Dropping it ends them and removes their data.
pub struct Cluster {
    /// The jars of the release.
    pub class_path: PathBuf,
    folder: TempDir,
    nodes: Vec<Node>,
}

struct Node {
    port: u16,
    process: Mutex<Option<Process>>,
}

struct Process {
    shell: Child,
    /// Closing it ends the broker; so does the death of the test process.
    lifeline: ChildStdin,
}

impl Cluster {
    /// Formats, starts and waits until every node answers.
    pub fn start(class_path: &Path, options: ClusterOptions) -> Result<Self, String> {
        let folder = TempDir::with_prefix("kdyno-kafka-").map_err(|e| e.to_string())?;
        let ports = free_ports(options.nodes * 2)?;
        let (brokers, controllers) = ports.split_at(options.nodes);
        fs::write(folder.path().join("log4j2.properties"), LOGGING).map_err(|e| e.to_string())?;
        for index in 0..options.nodes {
            let text = server_properties(index, brokers, controllers, folder.path(), &options);
            fs::write(properties_path(folder.path(), index), text).map_err(|e| e.to_string())?;
        }
        let cluster = Self {
            class_path: class_path.to_owned(),
            nodes: brokers
                .iter()
                .map(|port| Node {
                    port: *port,
                    process: Mutex::new(None),
                })
                .collect(),
            folder,
        };
        for index in 0..options.nodes {
            cluster.format(index)?;
        }
        for index in 0..options.nodes {
            cluster.start_node(index)?;
        }
        cluster.wait_until_ready(options.nodes)?;
        Ok(cluster)
    }

    /// `host:port` of every node, with commas.
    pub fn bootstrap(&self) -> String {
        let addresses: Vec<String> = self
            .nodes
            .iter()
            .map(|node| format!("127.0.0.1:{}", node.port))
            .collect();
        addresses.join(",")
    }

    /// A folder that lives as long as the cluster, for files of the tests.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where node `index` (from 0) keeps its logs.
    pub fn log_folder(&self, index: usize) -> PathBuf {
        self.folder.path().join(format!("data-{}", index + 1))
    }

    /// Starts node `index` (from 0); it answers some seconds later.
    pub fn start_node(&self, index: usize) -> Result<(), String> {
        let log = fs::File::create(self.folder.path().join(format!("node-{}.log", index + 1)))
            .map_err(|e| e.to_string())?;
        let mut shell = Command::new("sh")
            .arg("-c")
            .arg(r#"java "$@" </dev/null & p=$!; trap 'kill -9 $p' TERM; read -r how; if [ "$how" = stop ]; then kill $p; else kill -9 $p; fi; wait $p"#)
            .arg("sh")
            .args(["-Xms256m", "-Xmx640m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4"])
            .arg("-Djava.awt.headless=true")
            .arg(format!(
                "-Dlog4j2.configurationFile=file:{}",
                self.folder.path().join("log4j2.properties").display()
            ))
            .arg("-cp")
            .arg(self.class_path.join("*"))
            .arg("kafka.Kafka")
            .arg(properties_path(self.folder.path(), index))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("java: {e}"))?;
        let lifeline = shell.stdin.take().ok_or("no pipe to the broker's shell")?;
        *self.nodes[index]
            .process
            .lock()
            .map_err(|e| e.to_string())? = Some(Process { shell, lifeline });
        Ok(())
    }

    /// Ends node `index` (from 0) as a crash does: no good-bye to anybody.
    pub fn kill_node(&self, index: usize) {
        self.end_node(index, b"kill\n");
    }

    /// Ends node `index` (from 0) as an operator does: leadership is handed over first.
    pub fn stop_node(&self, index: usize) {
        self.end_node(index, b"stop\n");
    }

    fn end_node(&self, index: usize, how: &[u8]) {
        let process = self.nodes[index]
            .process
            .lock()
            .ok()
            .and_then(|mut p| p.take());
        if let Some(mut process) = process {
            process.lifeline.write_all(how).ok();
            process.shell.wait().ok();
        }
    }

    /// Waits until some node lists `count` brokers.
    pub fn wait_until_ready(&self, count: usize) -> Result<(), String> {
        let until = Instant::now() + Duration::from_secs(90);
        // The start of another process cannot be awaited but by asking it again and again.
        while Instant::now() < until {
            let ready = self
                .nodes
                .iter()
                .any(|node| broker_count(node.port).is_some_and(|found| found >= count));
            if ready {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let log = fs::read_to_string(self.folder.path().join("node-1.log")).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(5).collect();
        Err(format!("no answer within 90 s; its log ends {tail:?}"))
    }

    fn format(&self, index: usize) -> Result<(), String> {
        let output = Command::new("java")
            .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(self.class_path.join("*"))
            .args(["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c"])
            .arg(properties_path(self.folder.path(), index))
            .output()
            .map_err(|e| format!("java: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for index in 0..self.nodes.len() {
            self.kill_node(index);
        }
    }
}

const CLUSTER_ID: &str = "a2R5bm8tdGVzdC1jbHVzdA";

const LOGGING: &str = "status=warn
rootLogger.level=warn
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.target=SYSTEM_ERR
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d %p %m (%c)%n
";

fn properties_path(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("node-{}.properties", index + 1))
}

fn server_properties(
    index: usize,
    brokers: &[u16],
    controllers: &[u16],
    folder: &Path,
    options: &ClusterOptions,
) -> String {
    let id = index + 1;
    let voters: Vec<String> = (1..)
        .zip(controllers)
        .map(|(id, port)| format!("{id}@127.0.0.1:{port}"))
        .collect();
    let replicas = options.nodes.min(3);
    format!(
        "process.roles=broker,controller
node.id={id}
controller.quorum.voters={voters}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
num.partitions=1
default.replication.factor={replicas}
min.insync.replicas={min_isr}
offsets.topic.replication.factor={replicas}
offsets.topic.num.partitions=4
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=8388608
auto.create.topics.enable=false
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
{more}
",
        voters = voters.join(","),
        broker = brokers[index],
        controller = controllers[index],
        data = folder.join(format!("data-{id}")).display(),
        min_isr = replicas.min(2),
        more = options.properties.join("\n"),
    )
}

/// Ports nobody listens on now. They are told apart by being held all at once.
fn free_ports(count: usize) -> Result<Vec<u16>, String> {
    let held: Result<Vec<TcpListener>, _> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect();
    held.map_err(|e| e.to_string())?
        .iter()
        .map(|listener| Ok(listener.local_addr().map_err(|e| e.to_string())?.port()))
        .collect()
}

/// How many brokers the node at `port` lists, written by hand so that no code under test is used.
fn broker_count(port: u16) -> Option<usize> {
    // Size 15; Metadata (3) v1, correlation id 7, client id "t", null topics (= all).
    let request = [
        0, 0, 0, 15, 0, 3, 0, 1, 0, 0, 0, 7, 0, 1, b't', 0xff, 0xff, 0xff, 0xff,
    ];
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.write_all(&request).ok()?;
    let mut answer = [0u8; 12];
    stream.read_exact(&mut answer).ok()?;
    let count = i32::from_be_bytes([answer[8], answer[9], answer[10], answer[11]]);
    usize::try_from(count).ok()
}
