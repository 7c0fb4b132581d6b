//! What is shown while runs are under way, on standard error: a bar on a terminal, one plain line
//! for each stage otherwise. It is drawn between runs only; nothing ticks while the clock runs.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// The bar: how far, what is running, how long it will still take.
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
    /// Progress over `steps` runs, in the form that suits standard error.
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

    /// A stage of the measurement begins: calibration, warm-up, a round.
    pub(crate) fn stage(&self, name: &str) {
        match self {
            Self::Bar(bar) => bar.set_prefix(name.to_owned()),
            Self::Lines => output::note(name),
            #[cfg(test)]
            Self::Silent => {}
        }
    }

    /// The next run begins.
    pub(crate) fn step(&self, label: &str) {
        if let Self::Bar(bar) = self {
            bar.set_message(label.to_owned());
            bar.inc(1);
        }
    }

    /// Everything has run: the bar makes room for the report.
    pub(crate) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
