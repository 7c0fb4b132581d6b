//! `lapwing channels`: bounded channels under load, on an idle machine, beside busy threads of
//! another process, and on one CPU.

mod arguments; // the flags
mod case; // one cell of the table
pub(crate) mod one_cpu; // a run in a process that has one CPU
mod record; // the record of a row
mod row; // one contender in one cell
mod table; // the table
#[cfg(test)]
mod tests; // whole measurements, a wrong answer, the format of the JSON and of the tables

use std::time::Duration;

pub(crate) use self::arguments::ChannelsArguments;
use self::case::Case;
use self::record::Record;
use self::row::Row;
use crate::commands::old_session::Session;
use crate::contenders::channels::Channel;
use crate::measure::error::Error;
use crate::measure::group::Group;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::report::Missing;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "channels";

/// The measured cases, and the number of runs.
#[derive(Clone, Debug)]
struct Plan {
    /// The cells.
    cases: Vec<Case>,
    /// The contenders. Each runs in each cell that it supports.
    channels: Vec<Channel>,
    /// Time of one run.
    run_time: Duration,
    /// Counted rounds.
    rounds: u32,
}

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ChannelsArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.timed.json.as_deref())?;
    let plan = arguments.plan();
    let missing = plan.missing();
    let records = measure(&plan, Progress::new)?;
    session.end(&records, &missing, |machine| table::of(&records, &missing, machine))
}

/// Runs each channel in each cell of `plan`.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(plan: &Plan, progress: impl FnOnce(u64) -> Progress) -> Result<Vec<Record>, Error> {
    let mut cells = plan.cases.iter().map(|case| plan.cell(*case)).collect::<Vec<_>>();
    let progress = progress(harness::steps(cells.len(), plan.rounds));
    harness::measure(&mut cells, plan.rounds, &progress)?;
    Ok(Record::of_cells(&cells))
}

impl Plan {
    /// Returns the cell of `case`, with the contenders that support it.
    fn cell(&self, case: Case) -> Group<Row> {
        let takes_part = |channel: &&Channel| self.refusal(**channel, &case).is_none();
        let row = |channel: &Channel| Row::new(*channel, case, self.run_time);
        let rows = self.channels.iter().filter(takes_part).map(row).collect();
        Group::new(case.to_string(), rows, case.busy_threads)
    }

    fn refusal(&self, channel: Channel, case: &Case) -> Option<&'static str> {
        channel.refusal(case.load(self.run_time).shape, case.capacity)
    }

    /// Returns the contenders that do not support some cell, with the first reason of each.
    fn missing(&self) -> Vec<Missing> {
        let mut missing: Vec<Missing> = Vec::new();
        for &channel in &self.channels {
            let reason = self.cases.iter().find_map(|case| self.refusal(channel, case));
            missing.extend(reason.map(|reason| Missing {
                contender: channel.name.name().to_owned(),
                reason: reason.to_owned(),
            }));
        }
        missing
    }
}
