//! Events through Aeron, with rings at both ends and without: builds and runs the benchmark of `lapwing-aeron`. That
//! crate is in a workspace of its own, since its build needs clang and CMake.

use std::path::Path;
use std::process::Command;

use clap::Args;

use crate::measure::error::Error;

/// What the scripts of `aeron/` exit with if a tool is missing. They say which.
const CANNOT_RUN: i32 = 77;

/// The flags of `aeron`.
#[derive(Debug, Args)]
pub(crate) struct AeronArguments {
    /// Rounds. Each has a run of each contender at full speed and one at a steady rate
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

/// Runs the command.
pub(crate) fn run(arguments: &AeronArguments) -> Result<(), Error> {
    let aeron = Path::new(env!("CARGO_MANIFEST_DIR")).join("../aeron");
    let mut benchmark = Command::new("bash");
    benchmark.arg(aeron.join("tools.sh")).args([
        "cargo",
        "run",
        "--release",
        "--quiet",
        "--manifest-path",
    ]);
    benchmark.arg(aeron.join("Cargo.toml")).args([
        "--package",
        "lapwing-aeron",
        "--example",
        "speed",
        "--",
    ]);
    let status = benchmark.arg(arguments.rounds.to_string()).status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => Ok(()),
        Ok(Some(CANNOT_RUN)) => Err(Error::ToolMissing),
        Ok(_) => Err(Error::Aeron("the benchmark of lapwing-aeron has failed: see above".into())),
        Err(error) => Err(Error::Aeron(format!("cannot run bash: {error}"))),
    }
}
