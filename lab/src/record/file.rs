//! The file of `--json`: the machine and every record. `lapwing-lab report` reads it back.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Record;
use crate::machine::Machine;

/// The whole file.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct File {
    /// The machine.
    pub(crate) machine: Machine,
    /// Contenders that could not take part.
    pub(crate) missing: Vec<Missing>,
    /// Whether the measurement completed. It did not if it was interrupted.
    pub(crate) complete: bool,
    /// The records, in the order of the tables.
    pub(crate) results: Vec<Record>,
}

/// A contender that cannot take part.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Missing {
    /// Its name.
    pub(crate) contender: String,
    /// The reason, in a few words.
    pub(crate) reason: String,
}

impl File {
    /// Checks that `path` can be written, before a measurement of several minutes. An existing file keeps its content.
    ///
    /// # Errors
    ///
    /// That of the system, if it cannot be written.
    pub(crate) fn check(path: &Path) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(path).map(drop)
    }

    /// Writes it to `path`.
    ///
    /// # Errors
    ///
    /// That of the system.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads the file `path`.
    ///
    /// # Errors
    ///
    /// The path and the reason, if it cannot be read, is not of this form, or has a record that cannot be shown.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let refused = |reason: String| format!("{}: {reason}", path.display());
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let file: Self = serde_json::from_str(&text)
            .map_err(|error| refused(format!("not a report of lapwing: {error}")))?;
        let mut records = file.results.iter().enumerate();
        match records.find_map(|(index, record)| Some((index, record.fault()?))) {
            None => Ok(file),
            Some((index, fault)) => Err(refused(format!("record {index}: {fault}"))),
        }
    }
}
