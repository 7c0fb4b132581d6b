//! What is shown on standard error while runs are under way: a bar on a terminal, a line for each row otherwise. It is
//! drawn between runs only, so nothing ticks while the clock runs.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar: the row, how far the evaluation is, since when it runs, and what runs.
const TEMPLATE: &str = "{prefix} [{bar:30}] {percent:>3} %, {elapsed}: {msg}";

/// Progress of the evaluation.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Progress over `steps` runs.
    pub(crate) fn new(steps: usize) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let style = ProgressStyle::with_template(TEMPLATE);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
        Self(Some(bar.with_style(style)))
    }

    /// No progress.
    #[cfg(test)]
    pub(crate) fn hidden() -> Self {
        Self(Some(ProgressBar::hidden()))
    }

    /// A row begins.
    pub(crate) fn begin(&self, number: usize, rows: usize, name: &str) {
        match &self.0 {
            Some(bar) => bar.set_prefix(format!("{number}/{rows} {name}")),
            None => {
                // A reader that has left is no reason to stop.
                let _unread = writeln!(io::stderr(), "row {number} of {rows}: {name}");
            }
        }
    }

    /// A contender takes its next step.
    pub(crate) fn step(&self, contender: &'static str) {
        if let Some(bar) = &self.0 {
            bar.set_message(contender);
            bar.inc(1);
        }
    }

    /// Lets `print` print a row above the bar.
    pub(crate) fn print<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// The bar makes room for the last lines.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
