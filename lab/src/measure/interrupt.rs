//! Ctrl-C. The first one lets the current run complete and reports the results so far. The second
//! one ends the process at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

/// The exit code of an interrupted command, as a shell reports it.
pub(crate) const EXIT_CODE: u8 = 130;

/// Whether Ctrl-C was pressed.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C from now on. If the system refuses, Ctrl-C ends the process.
pub(crate) fn listen() {
    let _refused = ctrlc::set_handler(|| {
        // Relaxed suffices: the flag orders nothing.
        if REQUESTED.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(EXIT_CODE));
        }
        output::note(
            "interrupted: the current run completes, then the results so far are reported",
        );
    });
}

/// Returns whether Ctrl-C was pressed.
pub(crate) fn requested() -> bool {
    // Relaxed suffices: the flag orders nothing.
    REQUESTED.load(Ordering::Relaxed)
}
