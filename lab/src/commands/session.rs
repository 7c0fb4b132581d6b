//! The common parts of all experiments: the machine, the CPU time of other processes, the tables and the file.

use std::io;
use std::path::{Path, PathBuf};

use crate::machine::{Machine, Neighbours};
use crate::measure::error::Error;
use crate::measure::interrupt;
use crate::output;
use crate::record::{File, Missing, Record};
use crate::view::{View, terminal};

/// One experiment under way.
pub(crate) struct Session {
    machine: Machine,
    neighbours: Neighbours,
    json: Option<PathBuf>,
}

impl Session {
    /// Starts a session: checks that the report can be written to `json`, detects the machine, starts to measure the
    /// CPU time of other processes, and handles Ctrl-C.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] if `json` cannot be written, [`Error::Print`] if standard output refuses.
    pub(crate) fn begin(json: Option<&Path>) -> Result<Self, Error> {
        if let Some(path) = json {
            File::check(path).map_err(|source| unwritable(path, source))?;
        }
        let machine = Machine::detect();
        output::print(&machine.to_string())?;
        interrupt::listen();
        let json = json.map(Path::to_owned);
        Ok(Self { machine, neighbours: Neighbours::watch(), json })
    }

    /// Ends a session: prints `results` as `view` shows them, and writes them with the `missing` contenders.
    ///
    /// # Errors
    ///
    /// A report that cannot be printed or written, or [`Error::Interrupted`] after the report if Ctrl-C was pressed.
    pub(crate) fn end(
        mut self,
        view: &View,
        results: Vec<Record>,
        missing: Vec<Missing>,
    ) -> Result<(), Error> {
        self.machine.cpus_used_by_others = self.neighbours.cpus_used();
        let complete = !interrupt::requested();
        if complete || !results.is_empty() {
            output::print(&terminal::render(view, &results, &missing, &self.machine))?;
        }
        if let Some(path) = &self.json {
            let file = File { machine: self.machine, missing, complete, results };
            file.write(path).map_err(|source| unwritable(path, source))?;
        }
        if complete { Ok(()) } else { Err(Error::Interrupted) }
    }
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Json { path: path.to_owned(), source }
}
