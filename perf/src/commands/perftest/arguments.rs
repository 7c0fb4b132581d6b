//! The flags of `lapwing perftest`.

use clap::Args;

use super::catalogue;
use super::test::PerfTest;
use crate::flags::{ScheduleArguments, values};

/// The flags of `lapwing perftest`.
#[derive(Args, Debug)]
pub(crate) struct PerftestArguments {
    /// Tests to run, by the names of LMAX's classes, separated by commas. Default: all
    #[arg(long, value_delimiter = ',', value_name = "LIST", ignore_case = true)]
    #[arg(value_parser = catalogue::parser())]
    test: Vec<&'static PerfTest>,

    /// Runs as many events as LMAX's tests: from 1 million to 2 billion
    #[arg(long, conflicts_with_all = ["events", "seconds_per_run", "quick"])]
    pub(super) full: bool,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

impl PerftestArguments {
    /// Returns the requested tests, each once.
    pub(super) fn tests(&self) -> Vec<&'static PerfTest> {
        values::each_once(&self.test, &catalogue::ALL)
    }
}
