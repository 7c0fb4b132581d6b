//! The errors that end the command with exit code 1, with the details that a reader needs to find
//! the cause.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

use crate::measure::crew::RunError;
use crate::measure::interrupt;

/// The exit code for what cannot run here.
const TOOL_MISSING: u8 = 77;

/// The reason why there is no result.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The answer of a consumer differs from that of the plain loop. Such a run has no speed.
    #[error(
        "wrong answer, so no speed: topology={topology} contender={contender} events={events} \
         expected={expected:x?} found={found:x?}"
    )]
    WrongAnswer {
        /// The topology that was run.
        topology: &'static str,
        /// The contender whose answer is wrong.
        contender: &'static str,
        /// Events of the run.
        events: u32,
        /// The answers of the plain loop.
        expected: Vec<u64>,
        /// The answers of the consumers.
        found: Vec<u64>,
    },
    /// A run did not complete.
    #[error("run failed: topology={topology} contender={contender}: {source}")]
    Run {
        /// The topology that was run.
        topology: &'static str,
        /// The contender whose run failed.
        contender: &'static str,
        /// The cause.
        source: RunError,
    },
    /// Orders of the dispatch pipeline did not all come back once.
    #[error("{0}")]
    WrongOrders(String),
    /// A journal cannot be read, or is damaged.
    #[error("{0}")]
    Journal(String),
    /// The benchmark of `lapwing-aeron` has failed.
    #[error("{0}")]
    Aeron(String),
    /// A tool is missing. The script that needs it has said which.
    #[error("not measured: a tool is missing, see above")]
    ToolMissing,
    /// The process with the busy threads did not start.
    #[error("cannot start busy threads: {0}")]
    BusyThreads(io::Error),
    /// The report cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Json {
        /// The file named on the command line.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// `lapwing-lab report` has no data, or cannot use it.
    #[error("{0}")]
    Report(String),
    /// Standard output refuses the report. It is no error if the reader of the output has exited.
    #[error("cannot print the report: {0}")]
    Print(#[from] io::Error),
    /// Ctrl-C.
    #[error("interrupted: the report contains the results so far")]
    Interrupted,
}

impl Error {
    /// Returns the exit code of the process.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted => interrupt::EXIT_CODE.into(),
            Self::ToolMissing => TOOL_MISSING.into(),
            _ => ExitCode::FAILURE,
        }
    }
}
