//! `lapwing-lab processes`: events from one process to others. How the contenders do it is in
//! `contenders::processes`, how results are shown in `tables`.

mod tables; // streams, round trips, idle processes

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use lapwing_lab_stats::{Percentiles, histogram};

use super::session::Session;
use crate::contenders::WaitName;
use crate::contenders::processes::{Across, Crew, EndWait, Place, Setup, Streamed};
use crate::flags::{ScheduleArguments, values};
use crate::load::processes::{Amount, Called, expected};
use crate::load::workload::{EventBytes, Publish};
use crate::machine::placement::Placement;
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::progress::Progress;
use crate::measure::runner::{self, Length, Measured, Row, Subject, known};
use crate::record::{Figures, Key, Record, compare, figure, named};
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
/// Slots of each direction of round trips. It never contains more than one event.
const SLOTS: usize = 1024;
/// Laps of the ring that a run sends before the clock starts: all memory has been touched by then.
const WARM_LAPS: u64 = 2;
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

    /// Slots of a stream, separated by commas; powers of two. A pipe has as many bytes, up to a MiB
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1024")]
    #[arg(value_parser = values::ring)]
    ring: Vec<usize>,

    /// Batching of writers: `one` event or `batch:N` events together. iceoryx2 always sends one by one
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

/// The work of a cell.
#[derive(Clone, Copy, Debug)]
enum Work {
    Stream { amount: Amount, publish: Publish, slots: usize, readers: usize },
    RoundTrips { amount: Amount, pause: Duration },
    Idle(Duration),
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

    /// Returns the rows: one for each contender in a stream, otherwise one for each of its waits.
    fn rows(&self) -> Vec<Row<ProcessRun>> {
        let contenders = values::each_once(&self.contender, &Across::ALL);
        let own = values::each_once(&self.wait, &[]);
        let placement = self.schedule.schedule().placement;
        let mut rows = Vec::new();
        for load in values::each_once(&self.load, Load::value_variants()) {
            for (work, bytes) in self.works(load) {
                for contender in &contenders {
                    let waits = contender.waits(&own);
                    let choices = match load {
                        Load::Stream => vec![waits],
                        _ => waits.into_iter().map(|wait| vec![wait]).collect(),
                    };
                    rows.extend(choices.into_iter().map(|waits| {
                        let contender = *contender;
                        let run =
                            ProcessRun { contender, waits, chosen: 0, work, bytes, placement };
                        Row::new(run, Length::Own)
                    }));
                }
            }
        }
        rows
    }
}

/// One contender in one cell.
struct ProcessRun {
    contender: Across,
    /// Its ways to wait, of which one is chosen.
    waits: Vec<EndWait>,
    chosen: usize,
    work: Work,
    bytes: EventBytes,
    placement: Placement,
}

impl ProcessRun {
    fn wait(&self) -> EndWait {
        self.waits[self.chosen]
    }

    /// Returns the slots and the readers.
    const fn shape(&self) -> (usize, usize) {
        match self.work {
            Work::Stream { slots, readers, .. } => (slots, readers),
            Work::RoundTrips { .. } | Work::Idle(_) => (SLOTS, 1),
        }
    }

    /// Returns the words of an event.
    const fn words(&self) -> usize {
        self.bytes.bytes() / size_of::<u64>()
    }

    fn setup(&self, place: &Place) -> Setup {
        let (slots, readers) = self.shape();
        let cpus = self.placement.cpus(1 + readers).iter().map(|cpu| cpu.id).collect();
        Setup {
            contender: self.contender,
            wait: self.wait(),
            words: self.words(),
            slots,
            readers,
            cpus,
            folder: place.folder().to_owned(),
            prefix: place.prefix().to_owned(),
        }
    }

    fn failed(&self, source: RunError) -> Error {
        Error::Run { topology: VIEW.experiment, contender: self.contender.name(), source }
    }

    /// Checks that each reader has computed the right answer.
    fn check(&self, streamed: &Streamed) -> Result<(), Error> {
        let events = streamed.sent.events;
        let (_, readers) = self.shape();
        let right = [events, expected(events, self.words() as u64)];
        let found = streamed.got.iter().flat_map(|got| [got.events, got.answer]);
        self.compare(events, right.repeat(readers), found.collect())
    }

    fn compare(&self, events: u64, expected: Vec<u64>, found: Vec<u64>) -> Result<(), Error> {
        if expected == found {
            return Ok(());
        }
        let (topology, contender) = (VIEW.experiment, self.contender.name());
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        Err(Error::WrongAnswer { topology, contender, events, expected, found })
    }

    fn stream(&self, crew: &mut Crew, amount: &Amount, slots: usize) -> Result<Measured, Error> {
        let warm = Amount::events(WARM_LAPS * slots as u64);
        let warmed = crew.stream(&warm).map_err(|source| self.failed(source))?;
        self.check(&warmed)?;
        let streamed = crew.stream(amount).map_err(|source| self.failed(source))?;
        self.check(&streamed)?;
        let Streamed { elapsed, cpu, sent, got } = streamed;
        let seconds = elapsed.as_secs_f64();
        let received = got.iter().map(|got| got.events as f64).sum::<f64>();
        let batches = got.iter().map(|got| got.batches as f64).sum::<f64>();
        let figures = known([
            (figure::PER_SECOND, Some(sent.events as f64 / seconds)),
            (figure::BATCH, Some(received / batches)),
            (figure::CPUS, Some(cpu.as_secs_f64() / seconds)),
        ]);
        Ok(Measured { elapsed, figures, delays: Vec::new() })
    }

    fn round_trips(
        &self,
        crew: &mut Crew,
        amount: &Amount,
        pause: Duration,
    ) -> Result<Measured, Error> {
        let called = crew.exchange(amount, pause).map_err(|source| self.failed(source))?;
        let Called { elapsed, exchanges, received, sum, halves } = called;
        let numbers = exchanges * exchanges.saturating_sub(1) / 2;
        let right = vec![exchanges, numbers.wrapping_mul(self.words() as u64)];
        self.compare(exchanges, right, vec![received, sum])?;
        let mut delays = histogram();
        halves.iter().for_each(|(half, count)| delays.saturating_record_n(*half, *count));
        let at = |quantile| Some(delays.value_at_quantile(quantile) as f64);
        let figures = known([
            (figure::PER_SECOND, Some(exchanges as f64 / elapsed.as_secs_f64())),
            (HALF_P50, at(0.5)),
            (HALF_P99, at(0.99)),
        ]);
        Ok(Measured { elapsed, figures, delays: vec![(HALF, delays)] })
    }

    fn idle(&self, crew: &mut Crew, window: Duration) -> Result<Measured, Error> {
        let idled = crew.idle(window).map_err(|source| self.failed(source))?;
        self.check(&idled.streamed)?;
        let percent = |cpu: &Duration| 100.0 * cpu.as_secs_f64() / window.as_secs_f64();
        let cpu = idled.cpu.iter().map(percent).collect::<Vec<_>>();
        let of_reader = cpu.get(1).copied();
        let figures = known([
            (IDLE_ALL, Some(cpu.iter().sum())),
            (IDLE_WRITER, of_reader.and(cpu.first().copied())),
            (IDLE_READER, of_reader),
        ]);
        Ok(Measured { elapsed: window, figures, delays: Vec::new() })
    }
}

impl Subject for ProcessRun {
    fn record(&self) -> Record {
        let (slots, readers) = self.shape();
        let polls = if self.wait().polls() { "polling" } else { "sleeping" };
        let record = Record::new(VIEW.experiment, self.contender.name(), 1 + readers)
            .in_cell(Key::EVENT_BYTES, self.bytes.bytes())
            .in_cell(Key::CONSUMERS, readers)
            .in_cell(Key::RING, slots)
            .with_fact(WAITS_BY, Some(polls));
        let mut record = match self.work {
            Work::Stream { publish, .. } => {
                record.in_cell(LOAD, "stream").in_cell(PUBLISH, publish.to_string())
            }
            Work::RoundTrips { pause, .. } => {
                let load = if pause.is_zero() { "back-to-back" } else { "pause" };
                record.in_cell(LOAD, load).in_cell(PAUSE_US, pause.as_micros() as u64)
            }
            Work::Idle(_) => record.in_cell(LOAD, "idle"),
        };
        record.wait = Some(self.wait().name().to_owned());
        record.pinned = self.placement.pins(1 + readers);
        record
    }

    fn settings(&self) -> usize {
        self.waits.len()
    }

    fn choose(&mut self, setting: usize) {
        self.chosen = setting;
    }

    /// Starts the processes, runs once, ends them, and counts the files that they leave.
    fn run(&self, _events: u32) -> Result<Measured, Error> {
        let place = Place::new().map_err(|error| {
            self.failed(RunError::Foreign(format!("there is no folder for its memory: {error}")))
        })?;
        let setup = self.setup(&place);
        let crew = match self.work {
            Work::RoundTrips { .. } => Crew::to_exchange(&setup),
            Work::Stream { .. } | Work::Idle(_) => Crew::to_stream(&setup),
        };
        let mut crew = crew.map_err(|source| self.failed(source))?;
        let mut measured = match self.work {
            Work::Stream { amount, slots, .. } => self.stream(&mut crew, &amount, slots)?,
            Work::RoundTrips { amount, pause } => self.round_trips(&mut crew, &amount, pause)?,
            Work::Idle(window) => self.idle(&mut crew, window)?,
        };
        crew.end().map_err(|source| self.failed(source))?;
        measured.figures.extend(Figures::from([(LEFT.to_owned(), place.files() as f64)]));
        Ok(measured)
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
    let runs = arguments.schedule.schedule().runs;
    let mut records = runner::measure(arguments.rows(), runs, Progress::new)?;
    for record in &mut records {
        record.delays = record.delays.drain(..).map(Percentiles::without_curve).collect();
    }
    compare(&mut records, named(BASELINE));
    session.end(&VIEW, records, Vec::new())
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
        arguments.rows().iter().map(Row::label).collect()
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
