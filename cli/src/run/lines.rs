//! `--json`: a line for each ring and interval, until each ring was dropped or its process has ended.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::once::complain;
use super::rings::{Ring, Rings};
use crate::error::Result;
use crate::json;

/// Prints lines until no ring is in use. A ring has its first line once it has rates.
///
/// # Errors
///
/// [`Error`](crate::error::Error).
pub(super) fn print(rings: &mut Rings, interval: Duration) -> Result<()> {
    rings.all().iter().filter(|ring| ring.figures().is_none()).for_each(complain);
    // The rings whose last line is printed.
    let mut finished: HashSet<PathBuf> = HashSet::new();
    loop {
        let mut output = io::stdout().lock();
        for ring in rings.all() {
            let figures = ring.figures().filter(|_| !finished.contains(ring.path()));
            let is_complete = |figures: &_| ring.has_ended() || has_rates(figures);
            if let Some(figures) = figures.filter(|figures| is_complete(figures)) {
                writeln!(output, "{}", json::line(figures))?;
            }
        }
        output.flush()?;
        drop(output);
        let ended = rings.all().iter().filter(|ring| ring.has_ended());
        finished.extend(ended.map(Ring::path_buf));
        if rings.all().iter().all(|ring| ring.has_ended() || ring.figures().is_none()) {
            return Ok(());
        }
        rings.forget_gone(|_| false);
        thread::sleep(interval);
        rings.refresh()?;
    }
}

fn has_rates(figures: &crate::figures::Figures) -> bool {
    figures.interval.is_some()
}
