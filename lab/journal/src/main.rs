//! The journal beside other logs and beside bare system calls.
//!
//! ```text
//! main
//! ├── appends            batches of 1, 64 and 1,024 events, synced and not
//! │   ├── logs           each log that appends, the bare system calls among them
//! │   └── chronicle      Chronicle Queue
//! │       └── java       a process that answers a line with a line
//! └── delays             until an event is acknowledged, at a steady rate
//!     ├── commits        the ways to commit at that rate
//!     │   └── logs
//!     └── chronicle
//! ```
//!
//! A module uses those below it in this picture, and `arguments` and `failure`, which use none.
//!
//! Runs of all logs are interleaved in rounds, in a shuffled order; the first round warms up. Each
//! log is then read, and must have each event once. Chronicle Queue runs in a Java process, if Java and
//! Maven are installed.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod failure;

mod java;
mod logs;

mod chronicle;
mod commits;

mod appends;
mod delays;

use std::fs;
use std::process::ExitCode;

use clap::Parser;
use lapwing_lab_stats::{Machine, Neighbours};
use serde_json::json;

use arguments::{Arguments, Part};
use chronicle::Chronicle;
use failure::Failure;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("journal-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder)
        .map_err(|error| format!("--folder {} cannot be used: {error}", folder.display()))?;
    let mut machine = Machine::detect();
    let neighbours = Neighbours::watch();
    let (mut chronicle, missing) = match Chronicle::start(&arguments.cache) {
        Ok(rival) => (Some(rival), None),
        Err(reason) => (None, Some(format!("Chronicle Queue: skipped: {reason}"))),
    };
    let mut results = Vec::new();
    if arguments.only != Some(Part::Delays) {
        results.extend(appends::run(&arguments, &mut chronicle)?);
    }
    if arguments.only != Some(Part::Appends) {
        results.extend(delays::run(&arguments, &mut chronicle)?);
    }
    // Its CPU time belongs to this measurement, once it has ended.
    drop(chronicle);
    if let Some(reason) = &missing {
        println!("{reason}");
    }
    machine.cpus_used_by_others = neighbours.cpus_used();
    let Some(file) = &arguments.json else { return Ok(()) };
    let Arguments { rounds, seconds, rate, segment_mib, .. } = arguments;
    let report = json!({
        "machine": machine,
        "settings": {
            "rounds": rounds,
            "seconds": seconds,
            "events_per_second": rate,
            "segment_mib": segment_mib,
        },
        "missing": missing.as_slice(),
        "complete": true,
        "results": results,
    });
    Ok(fs::write(file, format!("{report:#}\n"))?)
}
