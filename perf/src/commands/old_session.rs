//! The common parts of all commands: the machine, the CPU time of other processes, the report and
//! its file.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::machine::{Machine, Neighbours};
use crate::measure::error::Error;
use crate::measure::interrupt;
use crate::output;
use crate::report::{Missing, json};

/// One command under way.
pub(crate) struct Session {
    machine: Machine,
    neighbours: Neighbours,
    json: Option<PathBuf>,
}

impl Session {
    /// Starts a session: checks that the report can be written to `json`, detects the machine,
    /// starts to measure the CPU time of other processes, and handles Ctrl-C.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] if `json` cannot be written, [`Error::Print`] if standard output refuses.
    pub(crate) fn begin(json: Option<&Path>) -> Result<Self, Error> {
        json.map_or(Ok(()), json::check)?;
        let machine = Machine::detect();
        output::print(&machine.to_string())?;
        interrupt::listen();
        let json = json.map(Path::to_owned);
        Ok(Self { machine, neighbours: Neighbours::watch(), json })
    }

    /// Ends a session: prints the result of `tables` for the machine, and writes `records` and the
    /// `missing` contenders.
    ///
    /// # Errors
    ///
    /// A report that cannot be printed or written, or [`Error::Interrupted`] after the report if
    /// Ctrl-C was pressed.
    pub(crate) fn end(
        mut self,
        records: &[impl Serialize],
        missing: &[Missing],
        tables: impl FnOnce(&Machine) -> String,
    ) -> Result<(), Error> {
        self.machine.cpus_used_by_others = self.neighbours.cpus_used();
        let interrupted = interrupt::requested();
        if !interrupted || !records.is_empty() {
            output::print(&tables(&self.machine))?;
        }
        if let Some(path) = &self.json {
            json::write(path, &self.machine, missing, !interrupted, records)?;
        }
        if interrupted { Err(Error::Interrupted) } else { Ok(()) }
    }
}
