//! Real Apache Kafka, provisioned by the tests themselves: the last word on every byte.

mod cluster;
mod embedded;
mod faults;
mod jars;
mod perf_tool;
mod produce;
mod smoke;
mod tools;
mod topics;

use std::sync::{Arc, Mutex, Weak};

pub use cluster::{Cluster, ClusterOptions};

/// The release every test runs on.
pub const CURRENT: &str = "4.4.0";
/// The oldest release that is tested against.
pub const OLDEST: &str = "3.9.1";

/// One single-node cluster per release, shared by the tests that run at the same time.
///
/// `None` where Java or Maven is missing; one line says so. With `KDYNO_REQUIRE_KAFKA=1` a missing
/// broker fails the test instead.
pub fn shared(version: &'static str) -> Option<Arc<Cluster>> {
    type Running = Vec<(&'static str, Weak<Cluster>)>;
    static RUNNING: Mutex<Running> = Mutex::new(Vec::new());
    let mut running = RUNNING.lock().expect("no test panics while it provisions");
    running.retain(|(_, cluster)| cluster.strong_count() > 0);
    if let Some(cluster) = running
        .iter()
        .find(|(of, _)| *of == version)
        .and_then(|(_, cluster)| cluster.upgrade())
    {
        return Some(cluster);
    }
    let cluster = Arc::new(start(version, ClusterOptions::default())?);
    running.push((version, Arc::downgrade(&cluster)));
    Some(cluster)
}

/// A cluster of its own, for tests that stop brokers.
pub fn start(version: &'static str, options: ClusterOptions) -> Option<Cluster> {
    let class_path = jars::class_path(version);
    required(
        version,
        class_path.and_then(|path| Cluster::start(&path, options)),
    )
}

/// What was to be had of `version`; where it wasn't, one line says why, unless it has to be.
fn required<T>(version: &str, found: Result<T, String>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(why) if std::env::var_os("KDYNO_REQUIRE_KAFKA").is_some_and(|v| v == "1") => {
            panic!("Apache Kafka {version} is required here: {why}")
        }
        Err(why) => {
            eprintln!("skipped: no Apache Kafka {version} ({why})");
            None
        }
    }
}
