//! `lapwing perftest`: LMAX's own performance tests, by their names and with their parameters,
//! written for Lapwing as a user of LMAX's Disruptor would write them.
//!
//! The sizes of rings and batches, the wait strategies of consumers, the definition of an operation
//! and the sums are those of version 4.0. LMAX's tests of queues are missing, because `throughput`
//! has rivals. Its tests of immutable events are missing, because LMAX does not time them.

mod arguments; // the flags
mod catalogue; // every test, by its name
mod graphs; // one producer, three consumers
mod large; // large events
mod many; // three producers
mod ping_pong; // round trips
mod raw; // sequences without events
mod record; // the record of a test
mod table; // the tables
mod test; // the definition of a test
#[cfg(test)]
mod tests; // the format of the JSON and of the tables, a wrong sum
mod trial; // a test that is timed
mod value; // one producer, one consumer, events of one number

pub(crate) use self::arguments::PerftestArguments;
use self::record::Record;
use self::test::PerfTest;
use self::trial::Bench;
use crate::commands::old_session::Session;
use crate::measure::error::Error;
use crate::measure::harness;
use crate::measure::progress::Progress;
use crate::measure::schedule::Schedule;

/// The name of this benchmark in a report.
const BENCHMARK: &str = "perftest";
/// Events per claim in the tests of batches.
const BATCH: usize = 10;

/// Runs the benchmark as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &PerftestArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    let schedule = arguments.schedule.schedule();
    let scheduled = |test: &PerfTest| match arguments.full {
        true => Schedule { events: Some(test.lmax_events), ..schedule },
        false => schedule,
    };
    let benches = arguments.tests().into_iter().map(|test| Bench::new(test, scheduled(test)));
    let records = measure(benches.collect(), schedule.runs, Progress::new)?;
    session.end(&records, &[], |machine| table::of(&records, machine))
}

/// Runs each of `benches` once in each of `rounds`.
///
/// # Errors
///
/// The first wrong answer or failed run.
fn measure(
    mut benches: Vec<Bench>,
    rounds: u32,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    let progress = progress(harness::steps(benches.len(), rounds));
    harness::measure(&mut benches, rounds, &progress)?;
    Ok(benches.iter().filter(|bench| !bench.row.runs.is_empty()).map(Record::new).collect())
}
