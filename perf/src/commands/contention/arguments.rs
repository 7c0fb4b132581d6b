//! The flags of `lapwing contention`.

use clap::Args;

use crate::flags::{ScheduleArguments, values};
use crate::load::increments::Case;

/// The flags of `lapwing contention`.
#[derive(Args, Debug)]
pub(crate) struct ContentionArguments {
    /// Cases to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    case: Vec<Case>,

    #[command(flatten)]
    pub(crate) schedule: ScheduleArguments,
}

impl ContentionArguments {
    /// Returns the requested cases, each once.
    pub(crate) fn cases(&self) -> Vec<Case> {
        values::each_once(&self.case, &Case::ALL)
    }
}
