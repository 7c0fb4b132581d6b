//! The flags for the length of a run of which the rate is given. A command with another length or default says so with
//! `mut_arg`.

use std::time::Duration;

use clap::Args;

use super::values;

/// The length of one run.
#[derive(Args, Debug)]
pub(crate) struct LengthArguments {
    /// Length of one run, in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = values::seconds)]
    seconds_per_run: Duration,

    /// Runs a fifth of a second each
    #[arg(long, conflicts_with = "seconds_per_run")]
    quick: bool,
}

impl LengthArguments {
    /// Returns the length of one run, which is `quick` with `--quick`.
    pub(crate) const fn run_time(&self, quick: Duration) -> Duration {
        if self.quick { quick } else { self.seconds_per_run }
    }
}
