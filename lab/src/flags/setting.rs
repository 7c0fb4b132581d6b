//! The flag that assigns consumers of Lapwing to threads.

use clap::Args;

use super::values;
use crate::contenders::{PlacementName, Setting, WaitName};

/// Assignment of consumers of Lapwing to threads.
#[derive(Args, Debug)]
pub(crate) struct SettingArguments {
    /// Threads of Lapwing's consumers, separated by commas; each value adds a row. `own`: one
    /// thread per consumer. `auto`: as many threads as there are CPUs without those of the
    /// producers. N: N threads
    #[arg(long, value_delimiter = ',', value_name = "own|auto|N,..", default_value = "own")]
    pub(crate) placement: Vec<PlacementName>,
}

impl SettingArguments {
    /// Returns the rows of Lapwing: each of `waits` with each placement.
    pub(crate) fn with(&self, waits: &[WaitName]) -> Vec<Setting> {
        Setting::each(waits, &values::each_once(&self.placement, &[]))
    }
}
