//! `--output FILE`: the kind by its ending, written beside its name and then renamed, so that
//! nothing half-written ever replaces a good file.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{csv, hdr, json};
use crate::measure::recorder::Arrivals;
use crate::scenario::outcome::Outcome;

/// A file to be written with the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    path: PathBuf,
    kind: Kind,
}

/// What is written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Csv,
    Hgrm,
    Hlog,
}

/// Why an output can't be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// The name says no kind that kdyno writes.
    #[error("--output {path}: the ending says what to write, and this is none of {ENDINGS}{hint}")]
    UnknownEnding {
        /// As given.
        path: String,
        /// A hint that begins with a separator, or nothing.
        hint: &'static str,
    },
    /// The folder it should stand in isn't there.
    #[error("--output {path}: there is no folder {folder}")]
    NoFolder {
        /// As given.
        path: String,
        /// The missing folder.
        folder: String,
    },
}

/// Writing a file failed; whatever stood there before still does.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {cause}")]
pub struct WriteError {
    /// The file.
    pub path: String,
    /// What went wrong.
    #[source]
    pub cause: io::Error,
}

const ENDINGS: &str = ".json, .csv, .hgrm, .hlog";

impl Output {
    /// Reads `--output`, so that a mistake is known before the run.
    pub fn parse(path: &str) -> Result<Self, OutputError> {
        let ending = Path::new(path)
            .extension()
            .and_then(|ending| ending.to_str());
        let kind = match ending {
            Some("json") => Kind::Json,
            Some("csv") => Kind::Csv,
            Some("hgrm") => Kind::Hgrm,
            Some("hlog") => Kind::Hlog,
            _ => {
                let path = path.to_owned();
                let hint = hint(&path);
                return Err(OutputError::UnknownEnding { path, hint });
            }
        };
        let folder = Path::new(path)
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(OutputError::NoFolder {
                path: path.to_owned(),
                folder: folder.display().to_string(),
            });
        }
        Ok(Self {
            path: PathBuf::from(path),
            kind,
        })
    }

    /// Where it will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `outcome` into it.
    pub fn write(&self, outcome: &Outcome) -> Result<(), WriteError> {
        let written = self
            .render(outcome)
            .and_then(|bytes| replace(&self.path, &bytes));
        written.map_err(|cause| WriteError {
            path: self.path.display().to_string(),
            cause,
        })
    }

    fn render(&self, outcome: &Outcome) -> io::Result<Vec<u8>> {
        match self.kind {
            Kind::Json => json::to_json(outcome)
                .map(String::into_bytes)
                .map_err(io::Error::from),
            Kind::Csv => csv::intervals(outcome)
                .map(String::into_bytes)
                .map_err(io::Error::from),
            Kind::Hgrm => {
                let clocks = &outcome.recording.clocks;
                let clock = match outcome.load.arrivals {
                    Arrivals::FlatOut => &clocks.send,
                    Arrivals::Scheduled => &clocks.response,
                };
                Ok(hdr::percentile_table(clock).into_bytes())
            }
            Kind::Hlog => hdr::interval_log(outcome),
        }
    }
}

/// Writes `bytes` beside `path` and renames them there.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = OsString::from(path.as_os_str());
    beside.push(format!(".{}.part", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = write_all(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What went wrong is told; that the rest of it could not be removed would only hide that.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_all(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn hint(path: &str) -> &'static str {
    match path {
        "earliest" | "latest" => "; did you mean --offset?",
        number if number.parse::<i64>().is_ok() => "; did you mean --offset?",
        page if page.ends_with(".html") || page.ends_with(".md") => {
            "; pages are not written by this version"
        }
        omb if omb.starts_with("omb:") => "; OMB's JSON is not written by this version",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_ending_is_refused_by_name() {
        for (path, said) in [
            ("result.xml", "result.xml"),
            ("result", ".json, .csv, .hgrm, .hlog"),
            ("earliest", "did you mean --offset?"),
            ("-5", "did you mean --offset?"),
            ("page.html", "not written by this version"),
            ("omb:result.json2", "OMB"),
        ] {
            let error = Output::parse(path).expect_err(path).to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_missing_folder_is_known_before_the_run() {
        let error = Output::parse("no/such/folder/r.json").expect_err("no folder");
        assert!(error.to_string().contains("no/such/folder"), "{error}");
        assert!(Output::parse("r.json").is_ok());
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("r.json");
        replace(&path, b"old").expect("written");
        replace(&path, b"new").expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert!(replace(&folder.path().join("gone/r.json"), b"x").is_err());
        let left = fs::read_dir(folder.path()).expect("there").count();
        assert_eq!(left, 1);
    }
}
