//! `lapwing-lab processes`: events from one process to others. How the contenders do it is in
//! `contenders::processes`, how results are shown in `tables`.

mod row; // what a row runs
mod tables; // streams, round trips, idle processes

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use lapwing_lab_stats::Percentiles;

use self::row::{ProcessRun, Work};
use super::session::Session;
use crate::contenders::WaitName;
use crate::contenders::processes::{Across, Entry, Place};
use crate::flags::{ScheduleArguments, values};
use crate::load::processes::Amount;
use crate::load::workload::{EventBytes, Publish};
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Row};
use crate::record::{Key, Missing, compare, named};
use crate::view::View;

/// How its records are shown.
pub(super) const VIEW: View = View {
    experiment: "processes",
    title: "Between processes",
    lead: "Events from one process to each of some others. Streams: events per second until the \
           last reader has the last event. Round trips of single events, back to back and each \
           after a pause: the time of one way is half of a round trip, with the wake-ups of both \
           ends. Idle: the CPU time of processes that are attached and wait. lapwing is the ring \
           of the library between threads of one process, for comparison.",
    tables: tables::of,
    charts: tables::charts,
    notes: tables::notes,
};

/// The contender that all others are compared with.
const BASELINE: &str = "lapwing-shared";
/// A run of round trips with pauses is so many times as long as others, so that it has some hundred.
const PAUSED_TIMES: u32 = 4;
/// The largest ring, in bytes. `iceoryx2` needs a buffer of this size for each reader.
const MAX_RING_BYTES: usize = 1 << 28;
/// How long processes are idle in a run with `--quick`.
const QUICK_IDLE: Duration = Duration::from_millis(100);
/// The label of what is measured.
const LOAD: Key = Key::new("load");
/// The label of how events are published.
const PUBLISH: Key = Key::new("publish");
/// The label of the pause before a single event, in microseconds.
const PAUSE_US: Key = Key::new("pause_us");
/// The fact of whether a reader without events takes a CPU.
const WAITS_BY: Key = Key::new("waits_by");
/// Half of a round trip, in nanoseconds: the median and the 99th percentile of a run.
const HALF_P50: &str = "half_round_trip_p50_ns";
const HALF_P99: &str = "half_round_trip_p99_ns";
/// The delays of all runs.
const HALF: &str = "half-round-trip";
/// CPU time of idle processes, in percent of one CPU.
const IDLE_WRITER: &str = "idle_writer_percent";
const IDLE_READER: &str = "idle_reader_percent";
const IDLE_ALL: &str = "idle_percent";
/// Files that were left when all processes had ended in order.
const LEFT: &str = "files_left";

/// The flags of `lapwing-lab processes`.
#[derive(Args, Debug)]
#[command(mut_arg("runs", |runs| runs.default_value("3")))]
#[command(mut_arg("seconds_per_run", |seconds| seconds.default_value("0.1").help(LENGTH_HELP)))]
#[command(mut_arg("events", |events| events.help(EVENTS_HELP)))]
pub(crate) struct ProcessesArguments {
    /// What to measure, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    load: Vec<Load>,

    /// Contenders to run, separated by commas. Default: all
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    contender: Vec<Across>,

    /// Wait strategies of lapwing-shared and lapwing, separated by commas. A stream has the fastest
    /// of them, and round trips and idle processes have a row for each
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    #[arg(default_value = "adaptive")]
    wait: Vec<WaitName>,

    /// Bytes of an event of a stream, separated by commas. Round trips have the first of them
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    #[arg(default_value = "8,64,256")]
    event_bytes: Vec<EventBytes>,

    /// Readers of a stream, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,3")]
    #[arg(value_parser = value_parser!(u32).range(1..=16))]
    readers: Vec<u32>,

    /// Slots of a stream, separated by commas; powers of two. A pipe has as many bytes, up to a MiB.
    /// Half of a term of aeron-ipc has room for as many events at least
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1024")]
    #[arg(value_parser = values::ring)]
    ring: Vec<usize>,

    /// Batching of writers: `one` event or `batch:N` events together. iceoryx2 and aeron-ipc always
    /// send one by one
    #[arg(long, value_name = "one|batch:N", default_value = "one")]
    publish: Publish,

    /// The pause before each single event, in microseconds
    #[arg(long, value_name = "US", default_value_t = 1_000)]
    #[arg(value_parser = value_parser!(u64).range(1..=10_000_000))]
    pause_us: u64,

    /// How long processes are idle in one run, in seconds
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = values::seconds)]
    idle_seconds: Duration,

    #[command(flatten)]
    schedule: ScheduleArguments,
}

/// The help of `--seconds-per-run`.
const LENGTH_HELP: &str =
    "Length of one run, in seconds; four times as long for round trips with pauses";
/// The help of `--events`.
const EVENTS_HELP: &str = "Most events of one run. Default: as many as its length permits";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Load {
    /// Many events one way
    Stream,
    /// Single events there and back, one after the other
    BackToBack,
    /// Single events there and back, each after a pause
    Pause,
    /// No events
    Idle,
}

impl ProcessesArguments {
    /// Checks that a batch fits each ring, and each ring the memory.
    ///
    /// # Errors
    ///
    /// A message with the value that does not fit and with the limit.
    pub(crate) fn check(&self) -> Result<(), String> {
        let largest = self.event_bytes.iter().map(|size| size.bytes()).max().unwrap_or(1);
        let most = MAX_RING_BYTES / largest;
        if let Some(ring) = self.ring.iter().find(|ring| **ring > most) {
            return Err(format!("`--ring {ring}`: at most {most} slots of {largest} bytes"));
        }
        let Publish::Batch(size) = self.publish else { return Ok(()) };
        match self.ring.iter().find(|ring| size.get() > **ring) {
            Some(ring) => Err(format!(
                "`--publish batch:{size}` does not fit `--ring {ring}`: a batch has 1..={ring} \
                 events"
            )),
            None => Ok(()),
        }
    }

    /// Returns how much a writer sends in one run.
    fn amount(&self) -> Amount {
        let schedule = self.schedule.schedule();
        let batch = match self.publish {
            Publish::One => 1,
            Publish::Batch(size) => size.get() as u64,
        };
        match schedule.events {
            Some(events) => Amount { batch, ..Amount::events(events.into()) },
            None => Amount { batch, time: schedule.run_time, ..Amount::events(u64::MAX - 1) },
        }
    }

    /// Returns the work of each cell of a load, and the bytes of its events.
    fn works(&self, load: Load) -> Vec<(Work, EventBytes)> {
        let amount = self.amount();
        let sizes = values::each_once(&self.event_bytes, &[]);
        let first = sizes.first().copied().unwrap_or(EventBytes::B8);
        match load {
            Load::Stream => {
                let mut works = Vec::new();
                for slots in values::each_once(&self.ring, &[]) {
                    for readers in values::each_once(&self.readers, &[]) {
                        let (publish, readers) = (self.publish, readers as usize);
                        let work = Work::Stream { amount, publish, slots, readers };
                        works.extend(sizes.iter().map(|bytes| (work, *bytes)));
                    }
                }
                works
            }
            Load::BackToBack => vec![(Work::RoundTrips { amount, pause: Duration::ZERO }, first)],
            Load::Pause => {
                let time = amount.time.saturating_mul(PAUSED_TIMES);
                let amount = Amount { time, ..amount };
                let pause = Duration::from_micros(self.pause_us);
                vec![(Work::RoundTrips { amount, pause }, first)]
            }
            Load::Idle => {
                let is_quick = self.schedule.is_quick();
                vec![(Work::Idle(if is_quick { QUICK_IDLE } else { self.idle_seconds }), first)]
            }
        }
    }

    /// Returns the contenders that can run, and those that cannot.
    fn entries(&self) -> (Vec<Entry>, Vec<Missing>) {
        let (mut entries, mut missing) = (Vec::new(), Vec::new());
        for contender in values::each_once(&self.contender, &Across::ALL) {
            match Entry::of(contender) {
                Ok(entry) => entries.push(entry),
                Err(reason) => {
                    let contender = contender.name().to_owned();
                    missing.push(Missing { contender, reason });
                }
            }
        }
        (entries, missing)
    }

    /// Returns the rows: one for each of `entries` in a stream, otherwise one for each of its waits.
    fn rows(&self, entries: &[Entry]) -> Vec<Row<ProcessRun>> {
        let own = values::each_once(&self.wait, &[]);
        let placement = self.schedule.schedule().placement;
        let mut rows = Vec::new();
        for load in values::each_once(&self.load, Load::value_variants()) {
            for (work, bytes) in self.works(load) {
                for entry in entries {
                    let waits = entry.contender().waits(&own);
                    let choices = match load {
                        Load::Stream => vec![waits],
                        _ => waits.into_iter().map(|wait| vec![wait]).collect(),
                    };
                    rows.extend(choices.into_iter().map(|waits| {
                        let entry = entry.clone();
                        let run = ProcessRun { entry, waits, chosen: 0, work, bytes, placement };
                        Row::new(run, Length::Own)
                    }));
                }
            }
        }
        rows
    }
}

/// Runs the experiment as `arguments` request, and prints its report.
///
/// # Errors
///
/// A wrong answer, a failed run, or a report that cannot be written.
pub(crate) fn run(arguments: &ProcessesArguments) -> Result<(), Error> {
    let session = Session::begin(arguments.schedule.json.as_deref())?;
    Place::sweep();
    let (entries, missing) = arguments.entries();
    let runs = arguments.schedule.schedule().runs;
    let mut records = runner::measure(arguments.rows(&entries), runs, Progress::new)?;
    for record in &mut records {
        record.delays = record.delays.drain(..).map(Percentiles::without_curve).collect();
    }
    compare(&mut records, named(BASELINE));
    session.end(&VIEW, records, missing)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn rows(flags: &str) -> Vec<String> {
        let line = format!("lapwing processes {flags}");
        let Command::Processes(arguments) = Cli::parse_from(line.split_whitespace()).command else {
            panic!("it is another command")
        };
        arguments.rows(&arguments.entries().0).iter().map(Row::label).collect()
    }

    #[test]
    fn a_stream_has_a_row_for_each_contender_and_other_loads_one_for_each_wait() {
        let flags = "--contender lapwing-shared,ringfire --wait adaptive,blocking";
        let streams = rows(&format!("--load stream {flags}"));
        assert_eq!(streams.len(), 2 * 3 * 2); // numbers of readers, sizes, contenders
        let idle = rows(&format!("--load idle {flags}"));
        let waits = ["lapwing-shared adaptive", "lapwing-shared blocking", "ringfire spin"];
        let waits = waits.into_iter().chain(["ringfire yield", "ringfire sleep"]);
        assert!(idle.len() == 5 && idle.iter().zip(waits).all(|(row, wait)| row.ends_with(wait)));
    }
}
