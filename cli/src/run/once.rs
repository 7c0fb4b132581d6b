//! `--once`: two looks, and the result as text or JSON.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use super::rings::{Ring, Rings};
use crate::error::Result;
use crate::{json, text};

/// Prints all rings.
///
/// # Errors
///
/// [`Error::Terminal`](crate::error::Error::Terminal).
pub(super) fn print(rings: &mut Rings, interval: Duration, is_json: bool) -> Result<()> {
    // The last figures of a process that has ended need no second look.
    if !rings.all().iter().all(Ring::has_ended) {
        thread::sleep(interval);
        rings.look();
    }
    let mut output = io::stdout().lock();
    let mut is_first = true;
    for ring in rings.all() {
        let Some(figures) = ring.figures() else {
            complain(ring);
            continue;
        };
        if is_json {
            writeln!(output, "{}", json::line(figures))?;
        } else {
            let space = if is_first { "" } else { "\n" };
            write!(output, "{space}{}", text::report(figures))?;
        }
        is_first = false;
    }
    Ok(output.flush()?)
}

/// Says why a ring is not shown.
pub(super) fn complain(ring: &Ring) {
    let (name, pid, reason) = (ring.name(), ring.pid(), ring.reason());
    eprintln!("lapwing: cannot read ring {name:?} of process {pid}: {reason}");
}
