//! The flags of `lapwing dispatch`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::config::Config;
use super::config_file::{self, ConfigError};
use super::layout;
use super::order::Payload;
use super::techniques::TechniqueName;
use crate::flags::values;

/// The flags of `lapwing dispatch`.
#[derive(Args, Debug)]
pub(crate) struct DispatchArguments {
    /// Settings: `key: value` lines with the keys of the original's `config.yaml`, and `mode`
    ///
    /// The keys: n_strategies, m_venues, orders_per_strategy, window_ms, d_min_us, d_max_us,
    /// repeats, shared_cap, spsc_cap, sample_us, orch_work_sweep, mode (auto, threads, shared).
    /// Keys that are not in the file have their default values. With a CPU for each of its 14
    /// threads, the default is the setup of the published results. Otherwise it is 2 strategies, 2
    /// venues, 20,000 orders per second and delays of 1 to 20 ms.
    #[arg(long, value_name = "FILE", value_parser = config)]
    config: Option<Config>,

    /// Techniques to run, separated by commas. Default: all six
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    technique: Vec<TechniqueName>,

    /// Size of an order
    #[arg(long, value_enum, default_value = "small")]
    pub(super) payload: Payload,

    /// Half a second per run and three runs per technique: less than a minute
    #[arg(long, conflicts_with = "config")]
    quick: bool,

    /// Writes the machine and every result to this JSON file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl DispatchArguments {
    /// Returns the settings.
    pub(super) fn config(&self) -> Config {
        match &self.config {
            Some(config) => config.clone(),
            None if self.quick => Config::quick(),
            None => Config::default_for(layout::cpus()),
        }
    }

    /// Returns the requested techniques, each once.
    pub(super) fn techniques(&self) -> Vec<TechniqueName> {
        values::each_once(&self.technique, &TechniqueName::ALL)
    }
}

/// Reads a file of settings.
fn config(path: &str) -> Result<Config, ConfigError> {
    config_file::read(Path::new(path), Config::default_for(layout::cpus()))
}
