//! Ctrl-C: the first lets the run under way come to its end and reports what was measured; the second ends
//! the process at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

/// Exit code of a command that was interrupted, as a shell gives it.
pub(crate) const EXIT_CODE: u8 = 130;

/// Whether somebody asked for the end.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on. A system that refuses leaves Ctrl-C as it is: it ends the process.
pub(crate) fn listen() {
    let _refused = ctrlc::set_handler(|| {
        // Relaxed suffices: the flag orders nothing.
        if REQUESTED.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(EXIT_CODE));
        }
        output::note("interrupted: this run ends, then what was measured is reported");
    });
}

/// Whether somebody asked for the end.
pub(crate) fn requested() -> bool {
    // Relaxed suffices: as in `listen`.
    REQUESTED.load(Ordering::Relaxed)
}
