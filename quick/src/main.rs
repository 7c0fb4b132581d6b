//! A quick evaluation of Lapwing: eight rows, five libraries, one table. It takes a minute and a half and no arguments. The
//! full laboratory is the package `lapwing-lab`.
//!
//! ```text
//! main --> measure --> contenders --> crew      one run: threads that start together, and the clock
//!   |         |             \-------> graphs    what is computed, and the answers that must come out
//!   |         \--> busy                         threads of another process
//!   \--> table, progress, load
//! ```

mod busy; // threads of another process that compute without end
mod contenders; // the five libraries
mod crew; // the threads of one run, and the clock
mod graphs; // events, the work of each stage, the expected answers
mod load; // what other programs use of the CPUs
mod measure; // calibration, rounds, medians
mod progress; // what is shown while runs are under way
mod table; // what is printed
#[cfg(test)]
mod tests; // every contender over every graph, the form of the table

use std::env;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use crate::crew::Failure;
use crate::graphs::Graph;
use crate::measure::{Case, Pace};
use crate::progress::Progress;
use crate::table::Table;

/// The rows, in the order of the table. 65,536 slots are those of LMAX's own tests; 1,024 are those of a program.
const CASES: [Case; 8] = [
    Case { name: "unicast 1P-1C", graph: Graph::Unicast, slots: 65_536, busy_threads: 0 },
    Case { name: "pipeline 1P-3C", graph: Graph::Pipeline, slots: 65_536, busy_threads: 0 },
    Case { name: "sequencer 3P-1C", graph: Graph::Sequencer, slots: 65_536, busy_threads: 0 },
    Case { name: "multicast 1P-3C", graph: Graph::Multicast, slots: 65_536, busy_threads: 0 },
    Case { name: "diamond 1P-3C", graph: Graph::Diamond, slots: 65_536, busy_threads: 0 },
    Case { name: "channel 3P-1C", graph: Graph::Channel, slots: 1_024, busy_threads: 0 },
    Case { name: "one event, one way", graph: Graph::RoundTrip, slots: 1_024, busy_threads: 0 },
    Case { name: "multicast, busy CPUs", graph: Graph::Multicast, slots: 1_024, busy_threads: 2 },
];

/// Runs the evaluation, or the busy threads of one. Exit code 1 means an error: a wrong answer is one.
fn main() -> ExitCode {
    let arguments = env::args().skip(1).collect::<Vec<_>>();
    let outcome = match arguments.as_slice() {
        [] => evaluate(),
        [first, count] if first == busy::ARGUMENT => busy::serve(count),
        others => Err(refusal(others).into()),
    };
    match outcome {
        Err(error) if !is_broken_pipe(&error) => {
            let _unread = writeln!(io::stderr(), "lapwing-quick: {error}");
            ExitCode::FAILURE
        }
        // Also if the reader of the output has left, such as `head`.
        _ => ExitCode::SUCCESS,
    }
}

/// Measures row by row, and prints each row as soon as it is measured.
///
/// # Errors
///
/// A wrong answer, busy threads that cannot be started, or an output that cannot be written.
fn evaluate() -> Result<(), Failure> {
    let contenders = contenders::all();
    let table = Table { contenders: &contenders, width: table::width() };
    print(&table::introduction())?;
    if let Some(warning) = load::of_others().and_then(table::warning) {
        print(&warning)?;
    }
    let progress = Progress::new(CASES.len() * Pace::USUAL.steps(contenders.len()));
    let mut rows = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        progress.begin(number + 1, CASES.len(), case.name);
        let row = measure::row(case, &contenders, Pace::USUAL, &progress)?;
        let head = if number == 0 { table.head() } else { String::new() };
        progress.print(|| print(&format!("{head}{}", table.row(case, &row))))?;
        rows.push(row);
    }
    progress.end();
    print(&table::closing(&contenders, &rows))
}

/// What to run with `arguments`, which are those of the laboratory.
fn refusal(arguments: &[String]) -> String {
    format!(
        "the quick evaluation takes no arguments; for all benchmarks: {} {}",
        table::LABORATORY,
        arguments.join(" ")
    )
}

/// Prints `text` to standard output.
fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    writeln!(output, "{text}")?;
    Ok(output.flush()?)
}

/// Whether `error` says that the reader of the output has left.
fn is_broken_pipe(error: &Failure) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
