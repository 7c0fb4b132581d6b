//! `lapwing-lab all`: every benchmark, one after the other, into one folder, and the report over it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::measure::error::Error;
use crate::output;

/// Each benchmark: the name of its file, and its command line without what all have in common.
const BENCHMARKS: &[(&str, &[&str])] = &[
    ("contention", &["contention"]),
    ("limits", &["limits"]),
    ("ping-pong", &["ping-pong"]),
    ("throughput", &["throughput"]),
    ("throughput-pinned", &["throughput", "--pin", "--topology=unicast"]),
    ("latency", &["latency"]),
    ("sweep", &["sweep"]),
    ("oversubscribed", &["oversubscribed"]),
    ("channels", &["channels", "--payload=word"]),
    ("channels-tails", &["channels", "--tails", "--payload=word"]),
    ("async", &["async"]),
    ("neighbours", &["neighbours"]),
    ("idle", &["idle"]),
    #[cfg(target_os = "linux")]
    ("processes", &["processes"]),
    ("dispatch", &["dispatch"]),
    ("perftest", &["perftest"]),
];

/// The flags of `lapwing-lab all`.
#[derive(Args, Debug)]
pub(crate) struct CampaignArguments {
    /// Where the results and the report are written; made if it is not there
    folder: PathBuf,

    /// Short runs: about a quarter of an hour in all
    #[arg(long)]
    quick: bool,
}

/// Measures everything into the folder of `arguments` by `execute`, which runs one command line, and
/// reports. Ctrl-C ends the benchmark under way; what was measured until then is reported.
///
/// # Errors
///
/// The first wrong answer or failed run, or a file that cannot be written.
pub(crate) fn run(
    arguments: &CampaignArguments,
    execute: impl Fn(Vec<OsString>) -> Result<(), Error>,
) -> Result<(), Error> {
    let CampaignArguments { folder, quick } = arguments;
    fs::create_dir_all(folder).map_err(|source| Error::Json { path: folder.clone(), source })?;
    let measured = BENCHMARKS.iter().try_for_each(|(name, line)| {
        output::print(&format!("\n== lapwing {}", line.join(" ")))?;
        execute(command_line(name, line, folder, *quick))
    });
    if let Err(error) = &measured
        && !matches!(error, Error::Interrupted)
    {
        return measured;
    }
    let report = ["lapwing".into(), "report".into(), "--".into(), folder.clone().into_os_string()];
    execute(report.to_vec())?;
    measured
}

/// The command line of one benchmark.
fn command_line(name: &str, line: &[&str], folder: &Path, quick: bool) -> Vec<OsString> {
    let mut words = vec![OsString::from("lapwing")];
    words.extend(line.iter().map(OsString::from));
    words.push("--json".into());
    words.push(folder.join(format!("{name}.json")).into_os_string());
    if name == "latency" {
        words.push("--hgrm".into());
        words.push(folder.join("hgrm").into_os_string());
    }
    if quick {
        words.push("--quick".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_line_is_one_that_the_command_takes() {
        for (name, line) in BENCHMARKS {
            for quick in [false, true] {
                let line = command_line(name, line, Path::new("results"), quick);
                let parsed = Cli::try_parse_from(&line);
                assert!(parsed.is_ok(), "{line:?}: {}", parsed.unwrap_err());
            }
        }
    }
}
