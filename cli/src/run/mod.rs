//! What the command does: text once, JSON, or the terminal.

mod rings;

mod once;

mod lines;
mod terminal;

use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::cli::Top;
use crate::error::{Error, Result};
use rings::Rings;

/// The duration from which on a part that stands still is called stalled. A batch may take as long.
const STALL_AFTER: Duration = Duration::from_secs(1);

/// Shows what the arguments ask for.
///
/// # Errors
///
/// [`Error`].
pub(crate) fn top(arguments: &Top) -> Result<()> {
    let is_once = arguments.once || !(arguments.json || io::stdout().is_terminal());
    // Two snapshots that are less apart show no longer duration.
    let stall_after = if is_once { STALL_AFTER.min(arguments.interval) } else { STALL_AFTER };
    let mut rings = Rings::open(arguments.wanted(), stall_after)?;
    let result = match (is_once, arguments.json) {
        (true, is_json) => once::print(&mut rings, arguments.interval, is_json),
        (false, true) => lines::print(&mut rings, arguments.interval),
        (false, false) => terminal::show(rings, arguments.interval),
    };
    match result {
        // Whoever reads the output has seen enough.
        Err(Error::Terminal(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
