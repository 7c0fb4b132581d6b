//! What ends the command with exit code 1, each with what a reader needs to find the cause.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

use crate::measure::crew::RunError;
use crate::measure::interrupt;

/// Why there is no result.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// A consumer's answer differs from the plain loop's: such a run has no speed.
    #[error(
        "wrong answer, so no speed: topology={topology} contender={contender} events={events} \
         expected={expected:x?} found={found:x?}"
    )]
    WrongAnswer {
        /// The topology that was run.
        topology: &'static str,
        /// Whose answer is wrong.
        contender: &'static str,
        /// Events of the run.
        events: u32,
        /// The answers of the plain loop.
        expected: Vec<u64>,
        /// The answers of the consumers.
        found: Vec<u64>,
    },
    /// A run did not come to its end.
    #[error("run failed: topology={topology} contender={contender}: {source}")]
    Run {
        /// The topology that was run.
        topology: &'static str,
        /// Whose run failed.
        contender: &'static str,
        /// What went wrong.
        source: RunError,
    },
    /// Orders of the dispatch pipeline did not come back as they should have.
    #[error("{0}")]
    WrongOrders(String),
    /// The process beside which runs were to be is not there.
    #[error("cannot start busy threads: {0}")]
    BusyThreads(io::Error),
    /// The report cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Json {
        /// The file named on the command line.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// `lapwing report` has nothing to show, or cannot show it.
    #[error("{0}")]
    Report(String),
    /// Standard output refuses what is printed. That its reader has left is no error.
    #[error("cannot print the report: {0}")]
    Print(#[from] io::Error),
    /// Ctrl-C.
    #[error("interrupted: what was measured until then is reported")]
    Interrupted,
}

impl Error {
    /// What a shell is told.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted => interrupt::EXIT_CODE.into(),
            _ => ExitCode::FAILURE,
        }
    }
}
