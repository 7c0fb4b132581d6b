//! The file of `--json`: the machine and every record. `lapwing report` reads it back.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Record;
use crate::machine::Machine;
use crate::measure::error::Error;

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
    /// [`Error::Json`] if it cannot be written.
    pub(crate) fn check(path: &Path) -> Result<(), Error> {
        let opened = OpenOptions::new().append(true).create(true).open(path);
        opened.map(drop).map_err(|source| error(path, source))
    }

    /// Writes it to `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] if the system refuses.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let text =
            serde_json::to_string_pretty(self).map_err(|source| error(path, source.into()))?;
        fs::write(path, text + "\n").map_err(|source| error(path, source))
    }

    /// Reads the file `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Report`] with the path and the reason, if it cannot be read, is not of this form, or has a record that
    /// cannot be shown.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let refused = |reason: String| Error::Report(format!("{}: {reason}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let file: Self = serde_json::from_str(&text)
            .map_err(|error| refused(format!("not a report of lapwing: {error}")))?;
        let faulty = file
            .results
            .iter()
            .enumerate()
            .find_map(|(index, record)| Some((index, record.fault()?)));
        match faulty {
            None => Ok(file),
            Some((index, fault)) => Err(refused(format!("record {index}: {fault}"))),
        }
    }
}

/// Returns the error of writing to `path`.
fn error(path: &Path, source: io::Error) -> Error {
    Error::Json { path: path.to_owned(), source }
}
