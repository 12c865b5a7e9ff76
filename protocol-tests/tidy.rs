//! The house rules that a machine can check: doors between rooms, headers, who prints, who unwraps.

use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms a room may import, as `src/lib.rs` says; `cli` may import all.
const DOORS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("host", &["base"]),
    ("wire", &["base"]),
    ("records", &["base", "wire"]),
    ("measure", &["base"]),
    ("auth", &["base", "wire"]),
    ("fault", &["base", "wire"]),
    ("net", &["base", "wire", "auth", "host"]),
    ("cluster", &["base", "wire", "net"]),
    (
        "client",
        &["base", "wire", "records", "auth", "net", "cluster"],
    ),
    (
        "load",
        &[
            "base", "wire", "records", "measure", "host", "net", "cluster", "client",
        ],
    ),
    (
        "scenario",
        &["base", "measure", "cluster", "client", "load"],
    ),
    ("report", &["base", "measure", "scenario"]),
    ("broker", &["base", "wire", "records", "auth", "fault"]),
    (
        "calibrate",
        &[
            "base", "host", "wire", "records", "measure", "net", "cluster", "client", "load",
            "broker",
        ],
    ),
];

/// Rooms that take time as an argument and touch nothing.
const PURE: &[&str] = &[
    "wire", "records", "measure", "auth", "fault", "client", "scenario",
];

struct Source {
    path: PathBuf,
    room: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of ours") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let within = path.strip_prefix(&root).expect("it is below");
                let room = within.iter().next().expect("a name").to_string_lossy();
                sources.push(Source {
                    room: room.trim_end_matches(".rs").to_owned(),
                    text: fs::read_to_string(&path).expect("text"),
                    path,
                });
            }
        }
    }
    sources
}

/// The lines of a file before its tests, with their numbers.
fn code(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let is_test_file = source
        .path
        .file_name()
        .is_some_and(|name| name == "tests.rs");
    let lines = source
        .text
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"));
    let lines = (1..).zip(lines);
    lines.filter(move |(_, line)| !is_test_file && !line.trim_start().starts_with("//"))
}

fn complain(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn rooms_import_only_through_their_doors() {
    let mut faults = Vec::new();
    for source in sources() {
        let Some((_, doors)) = DOORS.iter().find(|(room, _)| *room == source.room) else {
            continue;
        };
        for (number, line) in code(&source) {
            for part in line.split("crate::").skip(1) {
                let room: String = part
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                    .collect();
                let known = DOORS.iter().any(|(name, _)| *name == room) || room == "cli";
                if known && room != source.room && !doors.contains(&room.as_str()) {
                    faults.push(format!(
                        "{}:{number}: {} may not import {room}",
                        source.path.display(),
                        source.room
                    ));
                }
            }
        }
    }
    complain(&faults);
}

#[test]
fn every_file_begins_by_saying_what_it_is() {
    let headless: Vec<String> = sources()
        .iter()
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| source.path.display().to_string())
        .collect();
    complain(&headless);
}

#[test]
fn nothing_prints_exits_unwraps_or_reads_the_environment_where_it_must_not() {
    let mut faults = Vec::new();
    for source in sources() {
        let outside_cli = source.room != "cli" && source.room != "main";
        let pure = PURE.contains(&source.room.as_str());
        for (number, line) in code(&source) {
            let mut forbid = |when: bool, words: &[&str]| {
                for word in words.iter().filter(|word| when && line.contains(*word)) {
                    faults.push(format!("{}:{number}: {word}", source.path.display()));
                }
            };
            // Unfinished marks and dbg! are lints of Cargo.toml already.
            forbid(true, &[".unwrap()"]);
            forbid(
                outside_cli,
                &[
                    "println!",
                    "eprintln!",
                    "process::exit",
                    "env::var",
                    "env::args",
                ],
            );
            forbid(
                pure,
                &[
                    "Instant::now",
                    "SystemTime",
                    "clock::now",
                    "thread::sleep",
                    "tokio::",
                    "fastrand",
                ],
            );
        }
    }
    complain(&faults);
}
