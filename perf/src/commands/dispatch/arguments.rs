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
    /// What the file does not say is as without a file: the setup of the published results where
    /// there is a CPU for each of its 14 threads, otherwise 2 strategies, 2 venues, 20,000 orders a
    /// second and delays of 1 to 20 ms.
    #[arg(long, value_name = "FILE", value_parser = config)]
    config: Option<Config>,

    /// Techniques to run, separated by commas; all six if absent
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    technique: Vec<TechniqueName>,

    /// Size of an order
    #[arg(long, value_enum, default_value = "small")]
    pub(super) payload: Payload,

    /// Half a second for each run, three runs for each technique: less than a minute
    #[arg(long, conflicts_with = "config")]
    quick: bool,

    /// Writes the machine and every result to this file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl DispatchArguments {
    /// The settings.
    pub(super) fn config(&self) -> Config {
        match &self.config {
            Some(config) => config.clone(),
            None if self.quick => Config::quick(),
            None => Config::default_for(layout::cpus()),
        }
    }

    /// The techniques asked for, each once.
    pub(super) fn techniques(&self) -> Vec<TechniqueName> {
        values::each_once(&self.technique, &TechniqueName::ALL)
    }
}

/// Reads a file of settings.
fn config(path: &str) -> Result<Config, ConfigError> {
    config_file::read(Path::new(path), Config::default_for(layout::cpus()))
}
