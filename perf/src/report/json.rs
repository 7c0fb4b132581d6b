//! The file of `--json`: the machine and every record, for programs and for later comparison.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::machine::Machine;

/// The whole file.
#[derive(Serialize)]
struct Report<'a, R> {
    /// Where the numbers were measured.
    machine: &'a Machine,
    /// What was measured.
    results: &'a [R],
}

/// Checks that `path` can be written, before minutes are spent on what it should hold. An existing
/// file keeps its content.
///
/// # Errors
///
/// [`Error::Json`] if it cannot.
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
    results: &[impl Serialize],
) -> Result<(), Error> {
    let text = text(machine, results).map_err(|source| error(path, source.into()))?;
    fs::write(path, text).map_err(|source| error(path, source))
}

/// The report as text.
pub(crate) fn text(machine: &Machine, results: &[impl Serialize]) -> serde_json::Result<String> {
    let report = Report { machine, results };
    serde_json::to_string_pretty(&report).map(|text| text + "\n")
}

/// The error of writing to `path`.
fn error(path: &Path, source: io::Error) -> Error {
    Error::Json { path: path.to_owned(), source }
}
