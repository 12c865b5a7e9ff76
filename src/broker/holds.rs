//! What is held back on purpose, and how long it really was.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use super::options::Holding;
use crate::base::clock::Nanos;

/// How long things are held, and the log of it.
#[derive(Debug)]
pub struct Holds {
    /// How long every answer is held.
    pub answers: Nanos,
    /// How long records that were appended can't be read.
    pub appends: Nanos,
    log: Option<BufWriter<File>>,
}

impl Holds {
    /// Opens the log.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn open(holding: &Holding) -> io::Result<Self> {
        let create = |path: &PathBuf| {
            File::create(path)
                .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
        };
        let log = holding.log.as_ref().map(create).transpose()?;
        let mut log = log.map(BufWriter::new);
        if let Some(log) = &mut log {
            log.write_all(b"what,asked_ns,held_ns\n")?;
            log.flush()?;
        }
        Ok(Self {
            answers: holding.answers,
            appends: holding.appends,
            log,
        })
    }

    /// Takes note that an answer was held for `held`.
    pub fn answered(&mut self, held: Nanos) {
        self.note("answer", self.answers, held);
    }

    /// Takes note that records could not be read for `held`.
    pub fn revealed(&mut self, held: Nanos) {
        self.note("append", self.appends, held);
    }

    fn note(&mut self, what: &str, asked: Nanos, held: Nanos) {
        let Some(log) = &mut self.log else {
            return;
        };
        // A full disk ends the log, not the broker.
        if writeln!(log, "{what},{asked},{held}").is_err() {
            self.log = None;
        }
    }

    /// Writes out what was noted: the process may be ended at any time.
    pub fn flush(&mut self) {
        if let Some(log) = &mut self.log
            && !log.buffer().is_empty()
            && log.flush().is_err()
        {
            self.log = None;
        }
    }
}
