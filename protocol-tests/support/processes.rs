//! Processes that tests start, signal and end.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A broker in a process of its own, ended when it is dropped.
pub struct OwnBroker {
    process: Child,
    /// Where it listens.
    pub address: String,
}

impl OwnBroker {
    /// The embedded sink, on a port of the system's choice.
    pub fn start() -> Self {
        Self::with(&["--log", "sink"])
    }

    /// An embedded broker with these options, on ports of the system's choice.
    pub fn with(options: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_kdyno"))
            .args(["broker", "--listen", "127.0.0.1:0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary was built for this test");
        let stdout = process.stdout.take().expect("it was piped");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("it says where it listens");
        let address = line.split(' ').nth(2).expect("an address").to_owned();
        Self { process, address }
    }

    /// Sends it the signal called `name`, as in `-STOP`.
    pub fn signal(&self, name: &str) {
        signal(self.process.id(), name);
    }
}

impl Drop for OwnBroker {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Sends `process` the signal called `name`, as in `-INT`.
pub fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(sent.expect("kill is everywhere").success());
}
