//! What all commands have in common: the machine, the watch over its other users, the report and its file.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::machine::Machine;
use crate::machine::neighbours::Neighbours;
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
    /// Begins: checks that the report can be written to `json`, names the machine, watches its other
    /// users, and listens to Ctrl-C.
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

    /// Ends: prints what `tables` makes of the machine, and writes `records` and who is `missing`.
    ///
    /// # Errors
    ///
    /// A report that cannot be printed or written; [`Error::Interrupted`], after the report, if
    /// somebody asked for the end.
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
