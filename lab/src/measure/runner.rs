//! Interleaved rounds, which make runs comparable. A round visits the cells in a new order, and runs every row of a
//! cell once, again in a new order, so that rows that are compared with each other run within seconds. The first round
//! only warms up. A wrong answer ends the measurement. Ctrl-C ends it and keeps the results so far.
//!
//! ```text
//! settle each row | warm-up round | round 1 | round 2 | ..    a round: every row once, shuffled
//! ```
//!
//! To settle a row means to choose the fastest of its settings and the number of events of a run. Threads and the
//! clock are in `crew`, the judgement of a pilot run in `calibration`.

use std::time::Duration;

use fastrand::Rng;
use hdrhistogram::Histogram;
use lapwing_lab_stats::{Percentiles, median};

use crate::machine::BusyThreads;
use crate::machine::switches::Switches;
use crate::measure::calibration::{self, Verdict};
use crate::measure::error::Error;
use crate::measure::interrupt;
use crate::measure::progress::Progress;
use crate::measure::run::Pass;
use crate::record::{Figures, Key, Record, figure};

/// The seed of the orders. It is the same on every machine, so that a report can be repeated.
const ORDER_SEED: u64 = 0x1A97;
/// Runs of a setting in its trial, and what their length is divided by: a rival can have eight settings.
const TRIAL_RUNS: usize = 3;
const TRIAL_PART: u32 = 3;
/// A run that is this many times as long as it should be, or as short, changes the number of events of the next one.
const TOLERANCE: f64 = 2.0;
/// The largest increase of that number by one run, and the smallest number.
const MAX_GROWTH: u32 = 10;
const FEWEST_EVENTS: u32 = 100;
/// Events of the first pilot of a row that follows its speed: a spinning contender can need a time slice for each lap
/// of a small ring.
const FIRST_PILOT: u32 = 500;

/// What a row runs.
pub(crate) trait Subject {
    /// Returns its record without runs: the cell, the contender with its chosen setting, the threads.
    fn record(&self) -> Record;

    /// Returns the number of settings, such as wait strategies. The best of them is measured.
    fn settings(&self) -> usize {
        1
    }

    /// Selects the setting of this index for all later runs.
    fn choose(&mut self, _setting: usize) {}

    /// Returns how good a setting is by a run of it.
    fn merit(&self, run: &Measured) -> f64 {
        run.figures.get(figure::PER_SECOND).copied().unwrap_or(0.0)
    }

    /// Prepares for runs of so many events.
    fn prepare(&mut self, _events: u32) {}

    /// Returns whether the settled row takes part in the rounds.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn takes_part(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    /// Returns the number of busy threads of another process beside all runs of its cell.
    fn busy_threads(&self) -> u32 {
        0
    }

    /// Runs once and checks the answer.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn run(&self, events: u32) -> Result<Measured, Error>;
}

/// What one run measured.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The time from the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// Its figures.
    pub(crate) figures: Figures,
    /// Its delays, by the parts of the path.
    pub(crate) delays: Vec<(&'static str, Histogram<u64>)>,
}

/// How the number of events of a run is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// It is given.
    Events(u32),
    /// Pilot runs find the number that takes so long. It stays the same in all rounds.
    Time(Duration),
    /// As `Time`, but the number follows the speed from run to run: beside busy threads, one run can be a thousand
    /// times as fast as the next.
    Following(Duration),
    /// The subject ends its runs by itself.
    Own,
}

/// A subject and its runs.
pub(crate) struct Row<S> {
    subject: S,
    length: Length,
    /// Events of one run.
    events: u32,
    takes_part: bool,
    runs: Vec<Figures>,
    delays: Vec<(&'static str, Histogram<u64>)>,
}

impl Measured {
    /// Returns the speed of a run of `events`, each of which counts for so many operations.
    pub(crate) fn speed(pass: &Pass, events: u32, operations_per_event: u32) -> Self {
        let seconds = pass.elapsed.as_secs_f64();
        let operations = f64::from(events) * f64::from(operations_per_event);
        let cpus = pass.cpu_time.map(|time| time.as_secs_f64() / seconds);
        let figures = [
            (figure::PER_SECOND, Some(operations / seconds)),
            (figure::BATCH, Some(pass.events_per_batch)),
            (figure::CPUS, cpus),
        ];
        Self { elapsed: pass.elapsed, figures: known(figures), delays: Vec::new() }
    }
}

/// Returns those of `figures` that are known.
pub(crate) fn known<'a>(figures: impl IntoIterator<Item = (&'a str, Option<f64>)>) -> Figures {
    let named = |(name, value): (&str, Option<f64>)| Some((name.to_owned(), value?));
    figures.into_iter().filter_map(named).collect()
}

/// Returns the context switches of this process per second, over a run that began with `before`.
pub(crate) fn switches(before: Option<Switches>, elapsed: Duration) -> Figures {
    let rates = Switches::rates(before, elapsed);
    known([
        (figure::VOLUNTARY, rates.map(|rates| rates.voluntary)),
        (figure::INVOLUNTARY, rates.map(|rates| rates.involuntary)),
    ])
}

impl<S: Subject> Row<S> {
    /// Creates a row that has not run.
    pub(crate) fn new(subject: S, length: Length) -> Self {
        let (runs, delays) = (Vec::new(), Vec::new());
        Self { subject, length, events: 0, takes_part: true, runs, delays }
    }

    /// Returns its record, or `None` if it has not run.
    pub(crate) fn record(&self) -> Option<Record> {
        if self.runs.is_empty() {
            return None;
        }
        let events = (self.events > 0).then_some(self.events);
        let mut record = self.subject.record().with_fact(Key::EVENTS, events);
        record.runs.clone_from(&self.runs);
        let delays = self.delays.iter().map(|(name, delays)| Percentiles::of(name, delays));
        record.delays = delays.collect();
        Some(record)
    }

    /// Returns the delays of all its runs together, by the parts of the path.
    pub(crate) fn delays(&self) -> &[(&'static str, Histogram<u64>)] {
        &self.delays
    }

    fn set_events(&mut self, events: u32) {
        if self.events != events {
            self.events = events;
            self.subject.prepare(events);
        }
    }

    fn pass(&self) -> Result<Measured, Error> {
        self.subject.run(self.events)
    }

    /// Selects the best setting, and the number of events of a run.
    fn settle(&mut self) -> Result<(), Error> {
        let settings = self.subject.settings();
        if settings > 1 {
            let mut best = (0, f64::NEG_INFINITY);
            for setting in 0..settings {
                self.subject.choose(setting);
                let merit = self.trial()?;
                if merit > best.1 {
                    best = (setting, merit);
                }
            }
            self.subject.choose(best.0);
        }
        self.calibrate(1)?;
        self.takes_part = self.subject.takes_part()?;
        Ok(())
    }

    /// Returns the median merit of the selected setting over a few short runs.
    fn trial(&mut self) -> Result<f64, Error> {
        // Beside busy threads, a short run may end before the system takes the CPU away from it.
        let part = if self.subject.busy_threads() > 0 { 1 } else { TRIAL_PART };
        self.calibrate(part)?;
        let runs = if matches!(self.length, Length::Time(_) | Length::Following(_)) {
            TRIAL_RUNS
        } else {
            1
        };
        let merits = (0..runs).map(|_| Ok(self.subject.merit(&self.pass()?)));
        Ok(median(merits.collect::<Result<Vec<_>, Error>>()?).unwrap_or(0.0))
    }

    /// Determines the number of events that fill this part of the length of a run.
    fn calibrate(&mut self, part: u32) -> Result<(), Error> {
        let (time, first) = match self.length {
            Length::Events(events) => {
                self.set_events(events);
                return Ok(());
            }
            Length::Own => return Ok(()),
            Length::Time(time) => (time / part, calibration::PILOT_EVENTS),
            Length::Following(time) => (time / part, FIRST_PILOT),
        };
        let fewest = if matches!(self.length, Length::Following(_)) { FEWEST_EVENTS } else { 1 };
        self.set_events(first);
        loop {
            let elapsed = self.pass()?.elapsed;
            match calibration::judge(self.events, elapsed, time) {
                Verdict::Again(events) => self.set_events(events),
                Verdict::Settled(events) => {
                    self.set_events(events.max(fewest));
                    return Ok(());
                }
            }
        }
    }

    /// Runs once without counting. Pilots are short, and a contender can slow down when its queue fills or its threads
    /// outnumber the CPUs, so a run that took too long has fewer events from now on.
    fn warm_up(&mut self) -> Result<(), Error> {
        let elapsed = self.pass()?.elapsed;
        match self.length {
            Length::Time(time) if elapsed > time => {
                self.set_events(calibration::fitted(self.events, elapsed, time));
            }
            _ => self.follow(elapsed),
        }
        Ok(())
    }

    /// Runs once and keeps the figures.
    fn measure(&mut self) -> Result<(), Error> {
        let Measured { elapsed, figures, delays } = self.pass()?;
        self.runs.push(figures);
        for (name, run) in delays {
            match self.delays.iter_mut().find(|(own, _)| *own == name) {
                Some((_, all)) => all.add(run).expect("all histograms have the same bounds"),
                None => self.delays.push((name, run)),
            }
        }
        self.follow(elapsed);
        Ok(())
    }

    /// Changes the number of events if the last run was far too long or far too short.
    fn follow(&mut self, elapsed: Duration) {
        let Length::Following(time) = self.length else { return };
        let times = elapsed.as_secs_f64() / time.as_secs_f64();
        if !(1.0 / TOLERANCE..=TOLERANCE).contains(&times) {
            let fitted = calibration::fitted(self.events, elapsed, time);
            let most = self.events.saturating_mul(MAX_GROWTH);
            self.set_events(fitted.min(most).max(FEWEST_EVENTS));
        }
    }

    /// Returns the labels of its cell in the order of their names, its contender and its setting.
    pub(crate) fn label(&self) -> String {
        let record = self.subject.record();
        let cell = record.cell.values().map(ToString::to_string);
        let words = cell.chain([record.contender.clone(), record.setting()]);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Runs each of `rows` once in each of `rounds`, after a round that does not count, and returns the records of those
/// that have run. After an interrupt, rows can lack runs.
///
/// # Errors
///
/// The first wrong answer or failed run. No results are reported in this case.
pub(crate) fn measure<S: Subject>(
    rows: Vec<Row<S>>,
    rounds: u32,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Record>, Error> {
    Ok(run(rows, rounds, progress)?.iter().filter_map(Row::record).collect())
}

/// Runs `rows` as [`measure`] does, and returns them: they have the histograms of their delays, which a record does
/// not have.
///
/// # Errors
///
/// The first wrong answer or failed run.
pub(crate) fn run<S: Subject>(
    mut rows: Vec<Row<S>>,
    rounds: u32,
    progress: impl FnOnce(u64) -> Progress,
) -> Result<Vec<Row<S>>, Error> {
    let progress = progress(rows.len() as u64 * (u64::from(rounds) + 2));
    let mut cells = cells(&rows);
    progress.stage("calibrating");
    for cell in &cells {
        each(&mut rows, cell, &progress, Row::settle)?;
    }
    let mut random = Rng::with_seed(ORDER_SEED);
    for round in 0..=rounds {
        if interrupt::requested() {
            break;
        }
        let (name, step): (_, fn(&mut Row<S>) -> _) = match round {
            0 => ("warm-up round".to_owned(), Row::warm_up),
            _ => (format!("round {round} of {rounds}"), Row::measure),
        };
        progress.stage(&name);
        random.shuffle(&mut cells);
        for cell in &mut cells {
            random.shuffle(cell);
            each(&mut rows, cell, &progress, step)?;
        }
    }
    progress.finish();
    Ok(rows)
}

/// Returns the indices of the rows of each cell.
fn cells<S: Subject>(rows: &[Row<S>]) -> Vec<Vec<usize>> {
    let mut cells = Vec::<(_, Vec<usize>)>::new();
    for (index, row) in rows.iter().enumerate() {
        let cell = row.subject.record().cell;
        match cells.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, indices)) => indices.push(index),
            None => cells.push((cell, vec![index])),
        }
    }
    cells.into_iter().map(|(_, indices)| indices).collect()
}

/// Runs one `step` of each row of a cell, beside the busy threads of the cell, until an interrupt.
fn each<S: Subject>(
    rows: &mut [Row<S>],
    cell: &[usize],
    progress: &Progress,
    step: impl Fn(&mut Row<S>) -> Result<(), Error>,
) -> Result<(), Error> {
    let busy = cell.iter().map(|index| rows[*index].subject.busy_threads()).max().unwrap_or(0);
    let _busy = BusyThreads::start(busy).map_err(Error::BusyThreads)?;
    for index in cell.iter().take_while(|_| !interrupt::requested()) {
        let row = &mut rows[*index];
        progress.step(&row.label());
        if row.takes_part {
            step(row)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A subject that takes a microsecond for each event in its second setting, and two in its first.
    struct Clocked<'a> {
        cell: &'static str,
        setting: usize,
        log: &'a RefCell<Vec<&'static str>>,
        longest: &'a Cell<u32>,
        takes_part: bool,
    }

    impl Subject for Clocked<'_> {
        fn record(&self) -> Record {
            Record::new("test", "clocked", 1)
                .in_cell(Key::new("cell"), self.cell)
                .with_fact(Key::new("setting"), Some(self.setting))
        }

        fn settings(&self) -> usize {
            2
        }

        fn choose(&mut self, setting: usize) {
            self.setting = setting;
        }

        fn takes_part(&mut self) -> Result<bool, Error> {
            Ok(self.takes_part)
        }

        fn run(&self, events: u32) -> Result<Measured, Error> {
            self.log.borrow_mut().push(self.cell);
            self.longest.set(self.longest.get().max(events));
            let elapsed = Duration::from_micros(1) * events * (2 - self.setting as u32);
            let per_second = f64::from(events) / elapsed.as_secs_f64();
            let figures = known([(figure::PER_SECOND, Some(per_second)), (figure::CPUS, None)]);
            Ok(Measured { elapsed, figures, delays: Vec::new() })
        }
    }

    fn rows<'a>(
        cells: &[&'static str],
        (log, longest): (&'a RefCell<Vec<&'static str>>, &'a Cell<u32>),
        length: Length,
    ) -> Vec<Row<Clocked<'a>>> {
        let clocked = |cell: &&'static str| Clocked {
            cell,
            setting: 0,
            log,
            longest,
            takes_part: *cell != "out",
        };
        cells.iter().map(|cell| Row::new(clocked(cell), length)).collect()
    }

    #[test]
    fn an_event_counts_for_its_operations() {
        let pass = Pass {
            elapsed: Duration::from_secs(2),
            cpu_time: Some(Duration::from_secs(3)),
            answers: Vec::new(),
            events_per_batch: 1.0,
        };
        let run = Measured::speed(&pass, 10, 2);
        assert_eq!((run.figures[figure::PER_SECOND], run.figures[figure::CPUS]), (10.0, 1.5));
        assert_eq!(Measured::speed(&pass, 10, 1).figures[figure::PER_SECOND], 5.0);
    }

    #[test]
    fn a_run_has_the_fastest_setting_and_the_requested_length() {
        let (log, longest) = Default::default();
        let rows = rows(&["a"], (&log, &longest), Length::Time(Duration::from_millis(400)));
        let records = measure(rows, 3, |_| Progress::Silent).unwrap();
        assert_eq!(records[0].number(Key::new("setting")), Some(1.0));
        assert_eq!(records[0].number(Key::EVENTS), Some(400_000.0));
        assert_eq!((records[0].runs.len(), records[0].rate().round()), (3, 1e6));
        assert_eq!(records[0].median(figure::CPUS), None);
    }

    #[test]
    fn rows_of_a_cell_run_in_turn_in_every_round() {
        let (log, longest) = Default::default();
        let rows = rows(&["a", "b", "a", "b"], (&log, &longest), Length::Events(10));
        measure(rows, 2, |_| Progress::Silent).unwrap();
        let log = log.into_inner();
        let rounds = &log[log.len() - 12..];
        for pair in rounds.chunks(2) {
            assert_eq!(pair[0], pair[1], "{rounds:?}");
        }
        for round in rounds.chunks(4) {
            assert_ne!(round[0], round[2], "{rounds:?}");
        }
    }

    #[test]
    fn a_row_that_does_not_take_part_has_no_record() {
        let (log, longest) = Default::default();
        let rows = rows(&["a", "out"], (&log, &longest), Length::Events(10));
        assert_eq!(measure(rows, 1, |_| Progress::Silent).unwrap().len(), 1);
    }
}
