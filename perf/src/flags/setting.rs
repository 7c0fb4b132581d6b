//! The flag that says which of Lapwing's consumers share a thread.

use clap::Args;

use super::values;
use crate::contenders::{PlacementName, Setting, WaitName};

/// Which of Lapwing's consumers share a thread.
#[derive(Args, Debug)]
pub(crate) struct SettingArguments {
    /// Which of Lapwing's consumers share a thread, separated by commas: a row for each. `own` is a thread
    /// for each consumer, `auto` as many threads as there are CPUs without those of the producers, and a
    /// number so many threads
    #[arg(long, value_delimiter = ',', value_name = "own|auto|N,..", default_value = "own")]
    pub(crate) placement: Vec<PlacementName>,
}

impl SettingArguments {
    /// The rows of Lapwing: each of `waits` with each placement.
    pub(crate) fn with(&self, waits: &[WaitName]) -> Vec<Setting> {
        Setting::each(waits, &values::each_once(&self.placement, &[]))
    }
}
