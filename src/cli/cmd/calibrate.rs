//! `kdyno calibrate`: the cases run, and what they say of this machine.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::calibrate::{CASES, Calibration, Figures, Plan, RECORD_POOL_BYTES, calibrate};
use crate::cli::Failure;
use crate::cli::args::Calibrate;
use crate::host::machine::Machine;

/// Ports that people want to fill, Gbit/s.
const PORTS_GBIT: [u32; 3] = [10, 25, 100];
/// A sink that uses this share of a core may be what limits a case.
const SINK_BUSY: f64 = 0.9;

/// Runs it; gives the exit code.
pub fn run(args: &Calibrate) -> Result<u8, Failure> {
    let known = |name: &String| CASES.iter().any(|case| case.name == *name);
    if let Some(unknown) = args.cases.iter().find(|name| !known(name)) {
        let names = CASES.map(|case| case.name).join(", ");
        return Err(Failure::Usage(format!(
            "--case {unknown}: one of {names} is wanted"
        )));
    }
    let plan = Plan {
        cases: args.cases.clone(),
        rounds: args.rounds,
    };
    let tell = |round: u32| {
        if !args.quiet {
            let line = format!("kdyno: round {} of {}\n", round + 1, args.rounds);
            // A closed standard error leaves nobody to tell.
            std::io::stderr().write_all(line.as_bytes()).ok();
        }
    };
    let calibration = calibrate(&plan, tell).map_err(Failure::Run)?;
    let machine = Machine::read();
    let text = match args.json {
        true => as_json(&calibration, &machine, args.rounds),
        false => as_text(&calibration, &machine, args.rounds),
    };
    let written = writeln!(std::io::stdout(), "{}", text.trim_end());
    written.map_err(|e| Failure::Run(format!("standard output: {e}")))?;
    Ok(0)
}

fn as_json(calibration: &Calibration, machine: &Machine, rounds: u32) -> String {
    let cases = calibration.cases.iter().map(|(name, figures)| {
        let figures = named(figures).into_iter();
        let present = figures.filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        ((*name).to_owned(), Value::Object(present.collect()))
    });
    let mut all = json!({
        "machine": {
            "cpu": machine.cpu,
            "cores": machine.cores,
            "kernel": machine.kernel,
            "congestion_control": machine.congestion_control,
            "congestion_control_of_the_cases": "cubic",
        },
        "rounds": rounds,
        "disturbed_rounds": calibration.disturbed,
        "payload_pool_bytes": RECORD_POOL_BYTES,
        "cases": cases.collect::<Map<String, Value>>(),
    });
    if let Some(stamp_ns) = calibration.stamp_ns {
        all["stamp_ns"] = json!(stamp_ns);
    }
    let ports = ports(calibration).into_iter().map(|(gbit, stamped, assembled)| {
        json!({ "gbit": gbit, "cores_stamped": stamped, "cores_assembled_1024": assembled })
    });
    all["ports_by_arithmetic"] = ports.collect();
    format!("{all:#}")
}

fn named(figures: &Figures) -> [(&'static str, Option<f64>); 10] {
    [
        ("records_per_cpu_s", figures.records_per_cpu_s),
        ("bytes_per_s", figures.bytes_per_s),
        ("cpu_s_per_gb", figures.cpu_s_per_gb),
        ("bytes_per_s_vs_raw", figures.bytes_per_s_vs_raw),
        ("cpu_per_byte_vs_raw", figures.cpu_per_byte_vs_raw),
        ("core_share", figures.core_share),
        ("sink_core_share", figures.sink_core_share),
        ("lag_p50_ns", figures.lag_p50_ns),
        ("lag_p99_ns", figures.lag_p99_ns),
        ("emitted_vs_due", figures.emitted_vs_due),
    ]
}

fn as_text(calibration: &Calibration, machine: &Machine, rounds: u32) -> String {
    let congestion = machine.congestion_control.as_deref().unwrap_or("unknown");
    let mut text = format!(
        "machine   {}, {} cores, {}; congestion control {congestion}, cubic in these cases\n\
         rounds    {rounds}, medians; {} disturbed by others; payload pool {} KiB\n\n",
        machine.cpu,
        machine.cores,
        machine.kernel,
        calibration.disturbed,
        RECORD_POOL_BYTES >> 10,
    );
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "case",
        "M rec/CPU-s",
        "GB/s",
        "CPU-s/GB",
        "GB/s ÷ raw",
        "CPU/B ÷ raw",
        "core",
        "sink",
        "lag p50 ms",
        "lag p99 ms",
        "emitted ÷ due",
    ]);
    for (name, figures) in &calibration.cases {
        table.add_row(row(name, figures));
    }
    text += &table.to_string();
    text += "\n";
    if calibration
        .cases
        .iter()
        .any(|(_, figures)| sink_is_busy(figures))
    {
        text += "* the sink was as busy as a core can be: it may be the limit\n";
    }
    if let Some(stamp_ns) = calibration.stamp_ns {
        text += &format!("\none prepared batch dated and numbered in {stamp_ns:.0} ns\n");
    }
    for (gbit, stamped, assembled) in ports(calibration) {
        let fits = |cores: f64| {
            if cores <= machine.cores as f64 {
                "can"
            } else {
                "can't"
            }
        };
        text += &format!(
            "{gbit} Gbit/s, by arithmetic from loopback: this box {} fill it with prepared batches \
             ({stamped:.1} cores), {} with records of 1 KiB ({assembled:.1} cores)\n",
            fits(stamped),
            fits(assembled),
        );
    }
    text
}

fn row(name: &str, figures: &Figures) -> Vec<String> {
    let shown = |value: Option<f64>, unit: f64, digits: usize| {
        value.map_or_else(String::new, |value| format!("{:.digits$}", value / unit))
    };
    let star = if sink_is_busy(figures) { "*" } else { "" };
    vec![
        name.to_owned(),
        shown(figures.records_per_cpu_s, 1e6, 1),
        shown(figures.bytes_per_s, 1e9, 2),
        shown(figures.cpu_s_per_gb, 1.0, 3),
        shown(figures.bytes_per_s_vs_raw, 1.0, 2),
        shown(figures.cpu_per_byte_vs_raw, 1.0, 2),
        shown(figures.core_share, 1.0, 2),
        shown(figures.sink_core_share, 1.0, 2) + star,
        shown(figures.lag_p50_ns, 1e6, 3),
        shown(figures.lag_p99_ns, 1e6, 3),
        shown(figures.emitted_vs_due, 1.0, 4),
    ]
}

fn sink_is_busy(figures: &Figures) -> bool {
    figures
        .sink_core_share
        .is_some_and(|share| share >= SINK_BUSY)
}

/// For each port how many cores its bytes take, with prepared batches and with records of 1 KiB;
/// nothing where the cases were not run.
fn ports(calibration: &Calibration) -> Vec<(u32, f64, f64)> {
    let cost = |name: &str| {
        let case = calibration.cases.iter().find(|(case, _)| *case == name);
        case.and_then(|(_, figures)| figures.cpu_s_per_gb)
    };
    let (Some(stamped), Some(assembled)) = (cost("stamped_1m"), cost("sink_1024")) else {
        return Vec::new();
    };
    let cores = |gbit: u32, cpu_s_per_gb: f64| f64::from(gbit) / 8.0 * cpu_s_per_gb;
    let port = |gbit: u32| (gbit, cores(gbit, stamped), cores(gbit, assembled));
    PORTS_GBIT.map(port).to_vec()
}
