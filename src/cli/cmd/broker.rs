//! `kdyno broker`.

use std::io::Write;

use crate::broker::{self, BrokerOptions};
use crate::cli::Failure;
use crate::cli::args::Broker;

/// Serves until a signal ends the process.
pub fn run(args: &Broker) -> Result<u8, Failure> {
    let options = BrokerOptions {
        listen: vec![args.listen],
        partitions: args.partitions,
    };
    let running = broker::start(&options)
        .map_err(|e| Failure::Run(format!("can't listen on {}: {e}", args.listen)))?;
    let line = format!(
        "listening on {} ({} log)\n",
        running.addresses()[0],
        args.log
    );
    // A closed standard output leaves nobody to tell.
    std::io::stdout().write_all(line.as_bytes()).ok();
    running.wait();
    Ok(1)
}
