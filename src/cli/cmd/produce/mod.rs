//! `kdyno produce`: what was asked, run, judged and shown.

mod content;
mod plan;

use std::io::{IsTerminal, Write};

use crate::cli::Failure;
use crate::cli::args::Produce;
use crate::cli::drive::drive;
use crate::cli::outcome::outcome;
use crate::cli::progress::Progress;
use crate::client::properties::Outcome as Properties;
use crate::client::properties::classes::Class;
use crate::measure::promise::Promise;
use crate::measure::verdict::exit_code;
use crate::report::file::Output;
use crate::report::json::to_json;
use crate::report::text::{Style, dial};
use crate::scenario::figures::unit_of;
use crate::scenario::judge::{Asked, judge};
use crate::scenario::outcome::Outcome;

/// Runs it; gives the exit code.
pub fn run(args: &Produce) -> Result<u8, Failure> {
    let plan = plan::plan(args)?;
    let promises = args.promises.iter().map(|text| promise(text));
    let promises = promises.collect::<Result<Vec<Promise>, Failure>>()?;
    let outputs = args.outputs.iter().map(|path| Output::parse(path));
    let outputs = outputs.collect::<Result<Vec<Output>, _>>();
    let outputs = outputs.map_err(|e| Failure::Usage(e.to_string()))?;
    if !args.quiet {
        talk(&plan.properties, args.verbose);
    }
    let shown = !args.quiet && !args.no_progress;
    let progress = shown.then(|| Progress::start(&plan.workload));
    let driven = drive(&plan, |thread| progress.as_ref()?.witness(thread));
    if let Some(progress) = progress {
        progress.end();
    }
    let driven = driven?;
    let mut outcome = outcome(&plan, driven);
    let asked = Asked {
        promises: &promises,
        errors_allowed: args.allow_errors,
    };
    judge(&mut outcome, &asked);
    show(args, &outputs, &outcome)?;
    Ok(exit_code(&outcome.exit_reasons))
}

/// Says what people should know of their properties: those that nobody knows, and all when asked.
fn talk(properties: &Properties, all: bool) {
    let mut lines = properties.warnings.clone();
    if all {
        lines.extend(properties.properties.iter().map(|property| {
            let class = match &property.class {
                Class::Honoured => "honoured",
                Class::Mapped => "mapped",
                Class::Ignored => "ignored",
                Class::Refused(_) => "refused",
                Class::Unknown(_) => "unknown",
            };
            let origin = match (property.given, property.deviates) {
                (true, _) => "given",
                (false, true) => "implied",
                (false, false) => "default",
            };
            format!("{class:8} {origin:7} {}={}", property.name, property.value)
        }));
    }
    let mut stderr = std::io::stderr().lock();
    for line in lines {
        // A closed standard error leaves nobody to tell.
        writeln!(stderr, "kdyno: {line}").ok();
    }
}

fn promise(text: &str) -> Result<Promise, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::Usage(format!("--slo '{text}': {e}"));
    let promise = Promise::parse(text, false).map_err(|e| usage(&e))?;
    let unit = unit_of(&promise.figure).map_err(|e| usage(&e))?;
    promise.fits(unit).map_err(|e| usage(&e))
}

/// Prints the result and writes the files asked for; one that fails does not keep the others back.
fn show(args: &Produce, outputs: &[Output], outcome: &Outcome) -> Result<(), Failure> {
    let stdout = std::io::stdout();
    let text = if args.json {
        to_json(outcome).map_err(|e| Failure::Run(e.to_string()))?
    } else {
        let style = Style {
            grouped: stdout.is_terminal(),
        };
        dial(outcome, style)
    };
    let mut failed = Vec::new();
    if let Err(error) = writeln!(&stdout, "{}", text.trim_end()) {
        failed.push(format!("standard output: {error}"));
    }
    for output in outputs {
        if let Err(error) = output.write(outcome) {
            failed.push(error.to_string());
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Run(failed.join("; "))),
    }
}
