//! Progress on standard error: a bar on a terminal, otherwise one line per stage. It is drawn only
//! between runs. No timer ticks while the clock runs.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// The bar: progress, current run, remaining time.
const TEMPLATE: &str = "{prefix:<16} [{bar:30}] {pos}/{len}  {msg:<40} {eta} left";

/// Progress of one measurement.
pub(crate) enum Progress {
    /// On a terminal.
    Bar(ProgressBar),
    /// In a file or a pipe.
    Lines,
    /// In tests.
    #[cfg(test)]
    Silent,
}

impl Progress {
    /// Creates the progress of `steps` runs, in the form that suits standard error.
    pub(crate) fn new(steps: u64) -> Self {
        if !io::stderr().is_terminal() {
            return Self::Lines;
        }
        let style = ProgressStyle::with_template(TEMPLATE)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        Self::Bar(bar.with_style(style))
    }

    /// Starts a stage of the measurement: calibration, warm-up, or a round.
    pub(crate) fn stage(&self, name: &str) {
        match self {
            Self::Bar(bar) => bar.set_prefix(name.to_owned()),
            Self::Lines => output::note(name),
            #[cfg(test)]
            Self::Silent => {}
        }
    }

    /// Starts the next run.
    pub(crate) fn step(&self, label: &str) {
        if let Self::Bar(bar) = self {
            bar.set_message(label.to_owned());
            bar.inc(1);
        }
    }

    /// Removes the bar to make space for the report.
    pub(crate) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
