//! Order flow: a market's order messages pass through one stage that changes them and four parallel
//! readers. A plain loop over the same input must give the same figures.
//!
//! ```text
//!                                       ┌──> journal
//! producer ──> [ring] ──> parse (&mut) ─┼──> book
//!                                       ├──> tape
//!                                       └──> bad lines
//! ```
//!
//! ```text
//! cargo run --release -p exchange --example order_flow -- [PATH] [--journal FILE]
//! ```
//!
//! This file contains the arguments, the input and the output. `graph.rs` contains the graph.

#[path = "mod.rs"]
mod order_flow;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use clap::Parser;

use order_flow::figures::Comparison;
use order_flow::flow::Flow;
use order_flow::journal::Journal;
use order_flow::{graph, plain};

/// Runs a market's order messages through a ring and through a plain loop, and compares the results.
#[derive(Parser)]
struct Arguments {
    /// File of order messages: time,type,order id,size,price,direction [default: a seeded flow]
    path: Option<PathBuf>,
    /// Write the journal to this file, and replace its content [default: a temporary file]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Length of the seeded flow
    #[arg(long, default_value_t = 100_000, value_name = "COUNT", conflicts_with = "path")]
    messages: u64,
    /// Seed of the seeded flow
    #[arg(long, default_value_t = 1, conflicts_with = "path")]
    seed: u64,
}

impl Arguments {
    /// Opens the input at its beginning: once for the graph, once for the plain loop.
    fn open_input(&self) -> Result<Box<dyn BufRead>, String> {
        let Some(path) = &self.path else {
            return Ok(Box::new(BufReader::new(Flow::new(self.seed, self.messages))));
        };
        // Checked before the file is opened, because opening a pipe would wait for its writer.
        let metadata = fs::metadata(path).map_err(|error| about(path, &error))?;
        if !metadata.is_file() {
            return Err(about(path, &"not a regular file, and it is read twice"));
        }
        let file = File::open(path).map_err(|error| about(path, &error))?;
        Ok(Box::new(BufReader::new(file)))
    }

    /// Whether the journal would overwrite the input.
    fn journal_is_input(&self) -> bool {
        match (&self.path, &self.journal) {
            (Some(input), Some(journal)) => {
                // A journal that does not exist cannot be the input.
                matches!((input.canonicalize(), journal.canonicalize()), (Ok(a), Ok(b)) if a == b)
            }
            _ => false,
        }
    }
}

/// The path of the journal. Dropping it removes a temporary journal.
struct JournalPath {
    path: PathBuf,
    temporary: bool,
}

impl JournalPath {
    /// Creates the requested file, or a temporary one.
    fn create(asked_for: Option<&Path>) -> Result<(Self, File), String> {
        let (path, file) = match asked_for {
            Some(path) => (path.to_owned(), File::create(path)),
            None => {
                let path =
                    std::env::temp_dir().join(format!("order_flow-{}.journal", process::id()));
                let file = File::create_new(&path);
                (path, file)
            }
        };
        let file = file.map_err(|error| about(&path, &error))?;
        Ok((Self { path, temporary: asked_for.is_none() }, file))
    }
}

impl Drop for JournalPath {
    fn drop(&mut self) {
        if self.temporary {
            // An error is ignored: the program could do nothing about it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn about(path: &Path, what: &dyn std::fmt::Display) -> String {
    format!("{}: {what}", path.display())
}

/// Runs the graph and the loop, prints both results, and returns whether they are identical.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    if arguments.journal_is_input() {
        return Err("the journal must not be the input".into());
    }
    let input = arguments.open_input()?;
    let (journal_path, file) = JournalPath::create(arguments.journal.as_deref())?;

    let mut journal = Journal::new(file);
    let by_ring = graph::run(input, &mut journal)?;
    let by_loop = plain::run(arguments.open_input()?, &mut Journal::new(io::sink()))?;

    eprint!("{}", by_ring.bad_lines);
    let comparison = Comparison { ring: &by_ring, plain: &by_loop };
    writeln!(io::stdout(), "{comparison}")?;
    journal
        .finish()
        .map_err(|error| about(&journal_path.path, &format!("journal failed: {error}")))?;
    Ok(comparison.is_identical())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
