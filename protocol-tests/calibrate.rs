//! `kdyno calibrate` from outside: every case measures what its name says.

use std::process::{Command, Output};

use serde_json::Value;

fn calibrate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kdyno"))
        .args(["calibrate", "--rounds", "1", "-q"])
        .args(arguments)
        .output()
        .expect("the binary was built for this test")
}

#[test]
fn cases_have_the_figures_that_mean_something_for_them() {
    let names = [
        "raw_256k",
        "stamped_256k",
        "assembled_100",
        "sink_100",
        "pacing_1m",
    ];
    let chosen = names.iter().flat_map(|name| ["--case", name]);
    let output = calibrate(&chosen.chain(["--json"]).collect::<Vec<_>>());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON text");
    let figure = |case: &str, name: &str| result["cases"][case][name].as_f64();
    for name in names {
        assert!(figure(name, "core_share") > Some(0.0), "{result}");
    }
    assert_eq!(figure("raw_256k", "bytes_per_s_vs_raw"), Some(1.0));
    assert_eq!(figure("raw_256k", "records_per_cpu_s"), None);
    for name in ["stamped_256k", "assembled_100", "sink_100"] {
        assert!(figure(name, "records_per_cpu_s") > Some(1e4), "{result}");
        assert!(figure(name, "cpu_per_byte_vs_raw") > Some(0.1), "{result}");
        assert_eq!(figure(name, "lag_p50_ns"), None);
    }
    assert!(
        figure("sink_100", "sink_core_share") > Some(0.0),
        "{result}"
    );
    assert_eq!(figure("assembled_100", "sink_core_share"), None);
    let emitted = figure("pacing_1m", "emitted_vs_due").expect("a ratio");
    assert!((0.9..1.1).contains(&emitted), "{result}");
    assert_eq!(figure("pacing_1m", "bytes_per_s"), None);
}

#[test]
fn a_case_that_nobody_knows_is_refused_with_those_there_are() {
    let output = calibrate(&["--case", "raw"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("raw_256k"), "{errors}");
}
