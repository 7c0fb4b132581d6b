//! The errors of a report, each with the file and the reason.

use std::io;
use std::path::{Path, PathBuf};

use crate::measure::error::Error;
use plotters::drawing::DrawingAreaErrorKind;

/// The reason why there is no report. Nothing is written unless everything can be read and drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder contains no report of any command.
    #[error(
        "no report to show: write one with `lapwing throughput --json {}`: folder={}",
        folder.join("throughput.json").display(),
        folder.display()
    )]
    Empty {
        /// The folder named on the command line.
        folder: PathBuf,
    },
    /// A file is not JSON, or does not have the format of a report.
    #[error("not a report of lapwing: {}: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// A record cannot be used.
    #[error("bad record in {}: {reason}: record={index}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Position of the record in `results`.
        index: usize,
        /// The error.
        reason: String,
    },
    /// A plot cannot be drawn.
    #[error("cannot draw a plot: {0}")]
    Plot(#[from] DrawingAreaErrorKind<io::Error>),
    /// The template cannot be filled.
    #[error("cannot fill the template: {0}")]
    Page(#[from] minijinja::Error),
    /// A file of the report cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        Self::Report(error.to_string())
    }
}

impl ReportError {
    /// Returns the error of reading `path`.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    /// Returns the error of a file that is not a report.
    pub(crate) fn form(path: &Path, reason: impl ToString) -> Self {
        Self::Form { path: path.to_owned(), reason: reason.to_string() }
    }

    /// Returns the error of writing `path`.
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}
