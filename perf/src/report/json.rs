//! The file of `--json`: the machine and every record, for programs and for later comparison.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::machine::Machine;
use crate::measure::error::Error;
use crate::report::Missing;

/// The whole file.
#[derive(Serialize)]
struct Report<'a, R> {
    /// The machine.
    machine: &'a Machine,
    /// Requested contenders that could not take part.
    missing: &'a [Missing],
    /// Whether the measurement completed. It did not if it was interrupted.
    complete: bool,
    /// The records.
    results: &'a [R],
}

/// Checks that `path` can be written, before a measurement of several minutes. An existing file
/// keeps its content.
///
/// # Errors
///
/// [`Error::Json`] if it cannot be written.
pub(crate) fn check(path: &Path) -> Result<(), Error> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|source| error(path, source))
}

/// Writes the report to `path`.
///
/// # Errors
///
/// [`Error::Json`] if the system refuses.
pub(crate) fn write(
    path: &Path,
    machine: &Machine,
    missing: &[Missing],
    complete: bool,
    results: &[impl Serialize],
) -> Result<(), Error> {
    let text = text(&Report { machine, missing, complete, results })
        .map_err(|source| error(path, source.into()))?;
    fs::write(path, text).map_err(|source| error(path, source))
}

/// Returns the report as text.
fn text(report: &Report<'_, impl Serialize>) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}

/// Returns the report of a whole measurement here, as a reader finds it.
#[cfg(test)]
pub(crate) fn read_back(results: &[impl Serialize]) -> serde_json::Value {
    let machine = &Machine::detect();
    let text = text(&Report { machine, missing: &[], complete: true, results });
    serde_json::from_str(&text.expect("it has a text")).expect("the text is JSON")
}

/// Returns the error of writing to `path`.
fn error(path: &Path, source: io::Error) -> Error {
    Error::Json { path: path.to_owned(), source }
}
