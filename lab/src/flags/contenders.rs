//! The flags that choose the contenders of a comparison, and the settings of Lapwing in it. A command whose rows differ
//! says so with `mut_arg`, which replaces the help or the default of a flag.

use clap::Args;

use super::SettingArguments;
use super::values::each_once;
use crate::contenders::{ContenderName, Roster, Setting, WaitName};

/// The contenders, and the settings of Lapwing.
#[derive(Args, Debug)]
pub(crate) struct ContenderArguments {
    /// Contenders to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) contender: Vec<ContenderName>,

    /// Wait strategies of Lapwing, separated by commas; each adds a row
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "adaptive"
    )]
    pub(crate) wait: Vec<WaitName>,

    #[command(flatten)]
    pub(crate) setting: SettingArguments,
}

impl ContenderArguments {
    /// Returns the requested contenders, each once, or `all` if none is named.
    pub(crate) fn names(&self, all: &[ContenderName]) -> Vec<ContenderName> {
        each_once(&self.contender, all)
    }

    /// Returns the rows of Lapwing: each strategy with each placement.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        self.setting.with(&each_once(&self.wait, &[]))
    }

    /// Returns the requested contenders with their settings; all of a full comparison if none is named.
    pub(crate) fn roster(&self) -> Roster {
        Roster::of(&self.names(&ContenderName::all()), &self.settings())
    }
}
