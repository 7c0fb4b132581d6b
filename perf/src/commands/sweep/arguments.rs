//! The flags of `lapwing sweep`.

use std::time::Duration;

use clap::{Args, value_parser};

use crate::flags::{PacedArguments, values};
use crate::load::paced::Pace;

/// The length of one run with `--quick`.
const QUICK_RUN: Duration = Duration::from_millis(40);
/// Loads in events per second, from idle to more than any contender takes.
const RATES: [u32; 12] = [
    1_000, 10_000, 100_000, 300_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000,
    24_000_000, 32_000_000, 64_000_000,
];

/// The flags of `lapwing sweep`.
#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// Loads in events per second, separated by commas. Default: a dozen from 1,000 to 64,000,000
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(values::MAX_RATE)))]
    rates: Vec<u32>,

    /// Length of one run, in seconds
    #[arg(long, value_name = "S", default_value = "0.15", value_parser = values::seconds)]
    seconds_per_run: Duration,

    /// Runs a twenty-fifth of a second each
    #[arg(long, conflicts_with = "seconds_per_run")]
    quick: bool,

    #[command(flatten)]
    pub(super) paced: PacedArguments,
}

impl SweepArguments {
    /// Returns the loads, from the smallest.
    pub(super) fn paces(&self) -> Vec<Pace> {
        let mut rates = values::each_once(&self.rates, &RATES);
        rates.sort_unstable();
        let time = if self.quick { QUICK_RUN } else { self.seconds_per_run };
        rates.into_iter().map(|rate| self.paced.pace(rate, time)).collect()
    }
}
