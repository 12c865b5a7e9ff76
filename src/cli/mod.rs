//! The only part that prints, exits or reads the environment.

mod args;
mod cmd;
pub mod compat;
mod connect;
mod drive;
mod outcome;
mod plan;
mod progress;
mod properties;
mod signal;
mod topic_life;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// A run that could not be made.
#[derive(Debug)]
enum Failure {
    /// What the user asked for can't be: exit code 2.
    Usage(String),
    /// It could not be done: exit code 1.
    Run(String),
}

/// Runs the program named by the command line and gives its exit code.
pub fn main() -> ExitCode {
    if let Some(asked) = compat::asked(std::env::args_os()) {
        return ExitCode::from(compat::run(asked));
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // A closed terminal leaves nobody to tell.
            error.print().ok();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let result = match args.command {
        Command::Produce(produce) => cmd::produce::run(&produce),
        Command::Broker(broker) => cmd::broker::run(&broker),
        Command::Topic(topic) => cmd::topic::run(&topic),
        Command::Calibrate(calibrate) => cmd::calibrate::run(&calibrate),
        Command::Completions { shell } => cmd::completions::run(shell),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Usage(why)) => fail(&why, 2),
        Err(Failure::Run(why)) => fail(&why, 1),
    }
}

fn fail(why: &str, code: u8) -> ExitCode {
    // A closed standard error leaves nobody to tell.
    writeln!(std::io::stderr(), "kdyno: {why}").ok();
    ExitCode::from(code)
}
