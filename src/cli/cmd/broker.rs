//! `kdyno broker`.

use std::io::Write;
use std::net::SocketAddr;

use crate::broker::{self, BrokerOptions, Holding, LogKind};
use crate::cli::Failure;
use crate::cli::args::{Broker, BrokerLog};

/// Serves until a signal ends the process.
pub fn run(args: &Broker) -> Result<u8, Failure> {
    let (log, words) = match args.log {
        BrokerLog::Sink => (LogKind::Sink, "sink"),
        BrokerLog::Memory => (
            LogKind::Memory {
                retention_bytes: args.retention_bytes,
            },
            "memory log",
        ),
    };
    let options = BrokerOptions {
        listen: addresses(args)?,
        partitions: args.partitions,
        log,
        holds: holds(args)?,
        initial_rebalance_delay: args.initial_rebalance_delay,
    };
    let running = broker::start(&options).map_err(|e| Failure::Run(e.to_string()))?;
    let addresses = running.addresses().iter().map(SocketAddr::to_string);
    let addresses: Vec<String> = addresses.collect();
    let line = format!("listening on {} ({words})\n", addresses.join(","));
    // A closed standard output leaves nobody to tell.
    std::io::stdout().write_all(line.as_bytes()).ok();
    running.wait();
    Ok(1)
}

fn holds(args: &Broker) -> Result<Holding, Failure> {
    if args.append_delay > 0 && args.log == BrokerLog::Sink {
        return Err(Failure::Usage(
            "--append-delay: of a sink nothing can be read anyway".to_owned(),
        ));
    }
    if args.hold_log.is_some() && args.delay == 0 && args.append_delay == 0 {
        return Err(Failure::Usage(
            "--hold-log: nothing is held without --delay or --append-delay".to_owned(),
        ));
    }
    Ok(Holding {
        answers: args.delay,
        appends: args.append_delay,
        log: args.hold_log.clone(),
    })
}

/// Where each broker listens: port 0 is a free one for each, any other the first of a row.
fn addresses(args: &Broker) -> Result<Vec<SocketAddr>, Failure> {
    let first = args.listen.port();
    let each = (0..args.brokers).map(|index| {
        let port = match first {
            0 => Some(0),
            _ => first.checked_add(index),
        };
        port.map(|port| SocketAddr::new(args.listen.ip(), port))
    });
    each.collect::<Option<_>>().ok_or_else(|| {
        Failure::Usage(format!(
            "--brokers {}: the ports behind {first} end at {}",
            args.brokers,
            u16::MAX
        ))
    })
}
