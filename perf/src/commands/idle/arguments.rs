//! The flags of `lapwing idle`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::Plan;
use crate::contenders::{ContenderName, WaitName};
use crate::flags::{SettingArguments, values};

/// Loads: nothing, little, much.
const RATES: [u32; 3] = [0, 1_000, 1_000_000];
/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(200);

/// The flags of `lapwing idle`.
#[derive(Args, Debug)]
pub(crate) struct IdleArguments {
    /// Loads in events per second, separated by commas. Default: 0, 1,000 and 1,000,000
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    #[arg(value_parser = value_parser!(u32).range(0..=i64::from(values::MAX_RATE)))]
    rate: Vec<u32>,

    /// Wait strategies of Lapwing, separated by commas; each adds a row. Default: all six
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    wait: Vec<WaitName>,

    #[command(flatten)]
    setting: SettingArguments,

    /// Contenders, separated by commas; each of their waits adds a row
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", default_value = "lapwing")]
    contender: Vec<ContenderName>,

    /// Runs N parallel readers instead of three stages in a row; only Lapwing
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=64))]
    consumers: Option<u8>,

    /// Length of one run, in seconds, after a fifth of a second that does not count
    #[arg(long, value_name = "S", default_value = "1", value_parser = values::seconds)]
    seconds_per_run: Duration,

    /// Runs a fifth of a second each
    #[arg(long, conflicts_with = "seconds_per_run")]
    quick: bool,

    /// Counted runs of each row
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = value_parser!(u32).range(1..=1_000))]
    runs: u32,

    /// Slots of the ring and of every queue; a power of two
    #[arg(long, value_name = "N", default_value_t = 8_192, value_parser = values::ring)]
    ring: usize,

    /// Writes the machine and every run to this JSON file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl IdleArguments {
    /// Returns the measured cases, and the number of runs.
    pub(super) fn plan(&self) -> Plan {
        Plan {
            rates: values::each_once(&self.rate, &RATES),
            settings: self.setting.with(&values::each_once(&self.wait, &WaitName::ALL)),
            contenders: values::each_once(&self.contender, &[]),
            readers: self.consumers.map(usize::from),
            window: if self.quick { QUICK_RUN } else { self.seconds_per_run },
            runs: self.runs,
            ring: self.ring,
        }
    }
}
