//! What a row of `lapwing-lab processes` runs: the processes of a contender, and one kind of work.

use std::time::Duration;

use lapwing_lab_stats::histogram;

use super::{
    HALF, HALF_P50, HALF_P99, IDLE_ALL, IDLE_READER, IDLE_WRITER, LEFT, LOAD, PAUSE_US, PUBLISH,
    VIEW, WAITS_BY,
};
use crate::contenders::processes::{Crew, EndWait, Entry, Place, Setup, Streamed};
use crate::load::processes::{Amount, Called, expected};
use crate::load::workload::{EventBytes, Publish};
use crate::machine::placement::Placement;
use crate::measure::crew::RunError;
use crate::measure::error::Error;
use crate::measure::runner::{Measured, Subject, known};
use crate::record::{Figures, Key, Record, figure};

/// Slots of each direction of round trips. It never contains more than one event.
const SLOTS: usize = 1024;
/// Laps of the ring that a run sends before the clock starts: all memory has been touched by then.
const WARM_LAPS: u64 = 2;

/// How long processes that compile their code while they run are warmed up before the clock starts,
/// and with how many times the events of the run at most: a run of few events measures nothing.
const UNTIL_COMPILED: Duration = Duration::from_secs(1);
const WARM_TIMES: u64 = 40;

/// The work of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Stream { amount: Amount, publish: Publish, slots: usize, readers: usize },
    RoundTrips { amount: Amount, pause: Duration },
    Idle(Duration),
}

/// One contender in one cell.
pub(super) struct ProcessRun {
    pub(super) entry: Entry,
    /// Its ways to wait, of which one is chosen.
    pub(super) waits: Vec<EndWait>,
    pub(super) chosen: usize,
    pub(super) work: Work,
    pub(super) bytes: EventBytes,
    pub(super) placement: Placement,
}

impl ProcessRun {
    fn wait(&self) -> EndWait {
        self.waits[self.chosen]
    }

    const fn name(&self) -> &'static str {
        self.entry.contender().name()
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
            contender: self.entry.contender(),
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
        Error::Run { topology: VIEW.experiment, contender: self.name(), source }
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
        let (topology, contender) = (VIEW.experiment, self.name());
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        Err(Error::WrongAnswer { topology, contender, events, expected, found })
    }

    fn stream(&self, crew: &mut Crew, amount: &Amount, slots: usize) -> Result<Measured, Error> {
        let laps = Amount::events(WARM_LAPS * slots as u64);
        let compiled = self.entry.compiles_late().then(|| until_compiled(amount));
        for warm in [laps].into_iter().chain(compiled) {
            let warmed = crew.stream(&warm).map_err(|source| self.failed(source))?;
            self.check(&warmed)?;
        }
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
        if self.entry.compiles_late() {
            self.exchange(crew, &until_compiled(amount), Duration::ZERO)?;
        }
        let Called { elapsed, exchanges, halves, .. } = self.exchange(crew, amount, pause)?;
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

    /// Exchanges events, and checks those that came back.
    fn exchange(&self, crew: &mut Crew, amount: &Amount, pause: Duration) -> Result<Called, Error> {
        let called = crew.exchange(amount, pause).map_err(|source| self.failed(source))?;
        let exchanges = called.exchanges;
        let numbers = exchanges * exchanges.saturating_sub(1) / 2;
        let right = vec![exchanges, numbers.wrapping_mul(self.words() as u64)];
        self.compare(exchanges, right, vec![called.received, called.sum])?;
        Ok(called)
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

/// Returns what is sent before a run of `amount`, until all code is compiled.
fn until_compiled(amount: &Amount) -> Amount {
    let events = amount.events.saturating_mul(WARM_TIMES);
    Amount { events, time: UNTIL_COMPILED, ..*amount }
}

impl Subject for ProcessRun {
    fn record(&self) -> Record {
        let (slots, readers) = self.shape();
        let polls = if self.wait().polls() { "polling" } else { "sleeping" };
        let record = Record::new(VIEW.experiment, self.name(), 1 + readers)
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
            Work::RoundTrips { .. } => Crew::to_exchange(&self.entry, &setup),
            Work::Stream { .. } | Work::Idle(_) => Crew::to_stream(&self.entry, &setup),
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
