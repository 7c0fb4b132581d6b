//! How the figures of a row come about. Each contender finds its fastest way to wait and the number of events that fill the
//! time of a run. Then all contenders run in turn, round by round. Every run checks its answer.

use std::time::Duration;

use lapwing_lab_stats::median;

use crate::busy::BusyThreads;
use crate::contenders::Contender;
use crate::crew::Failure;
use crate::graphs::{Checksum, Graph, Load};
use crate::progress::Progress;

/// Events of the first pilot of a graph, and of a round trip: few, as a thread that spins on a busy machine may take a time
/// slice for each event.
const PILOTS: [f64; 2] = [1_000.0, 100.0];
/// A pilot that takes this part of the time of a run is long enough to extrapolate from.
const LONG_ENOUGH: f64 = 0.125;
/// Time of a run that compares ways to wait, as a part of the time of a run that counts.
const AUDITION: f64 = 0.3;

/// One row of the table: what is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) graph: Graph,
    pub(crate) slots: usize,
    /// Threads of another process that compute meanwhile.
    pub(crate) busy_threads: u32,
}

/// How many rounds count, and how long a run takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// An odd number, so that a median is a run.
    pub(crate) rounds: usize,
    pub(crate) run_time: Duration,
}

impl Pace {
    pub(crate) const USUAL: Self = Self { rounds: 7, run_time: Duration::from_millis(120) };

    /// Steps of a row, as progress counts them.
    pub(crate) const fn steps(self, contenders: usize) -> usize {
        contenders * (self.rounds + 2)
    }
}

/// One row of the table: for each contender its figures, or why it did not run.
pub(crate) type Row = Vec<Result<Figures, String>>;

/// The runs of one contender.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// Events per second of each round.
    pub(crate) speeds: Vec<f64>,
    /// The way to wait.
    pub(crate) wait: &'static str,
}

/// Measures one row.
///
/// # Errors
///
/// The first wrong answer, or busy threads that cannot be started.
pub(crate) fn row(
    case: &Case,
    contenders: &[Contender],
    pace: Pace,
    progress: &Progress,
) -> Result<Row, Failure> {
    let _busy = BusyThreads::start(case.busy_threads)?;
    let mut lanes =
        contenders.iter().map(|contender| Ok(Lane::new(case, contender))).collect::<Vec<_>>();
    each(&mut lanes, 0, progress, |lane| lane.settle(pace.run_time))?;
    each(&mut lanes, 0, progress, |lane| lane.run_and_fit(pace.run_time).map(drop))?;
    for round in 0..pace.rounds {
        each(&mut lanes, round, progress, |lane| {
            let speed = lane.run_and_fit(pace.run_time)?;
            lane.speeds.push(speed);
            Ok(())
        })?;
    }
    Ok(lanes.into_iter().map(|lane| lane.map(Lane::figures)).collect())
}

/// Lets each lane take one `step`, beginning with another one in each round. A lane that cannot run becomes its reason.
fn each(
    lanes: &mut [Result<Lane<'_>, String>],
    round: usize,
    progress: &Progress,
    step: impl Fn(&mut Lane<'_>) -> Result<(), Stop>,
) -> Result<(), Failure> {
    let count = lanes.len();
    for place in (0..count).map(|number| (number + round) % count) {
        let Ok(lane) = &mut lanes[place] else { continue };
        progress.step(lane.contender.name);
        match step(lane) {
            Ok(()) => {}
            Err(Stop::WrongAnswer(message)) => return Err(message.into()),
            Err(Stop::CannotRun(reason)) => {
                lanes[place] =
                    Err(format!("{}: {}: {reason}", lane.case.name, lane.contender.name));
            }
        }
    }
    Ok(())
}

/// Why a lane stops.
enum Stop {
    /// Ends the evaluation: a library that loses events has no speed.
    WrongAnswer(String),
    /// Ends the lane.
    CannotRun(Failure),
}

/// A contender in a row.
struct Lane<'a> {
    case: &'a Case,
    contender: &'a Contender,
    /// The setting that it runs with.
    chosen: usize,
    /// Events of a run, and the answers that must come out.
    events: u32,
    expected: Vec<Checksum>,
    speeds: Vec<f64>,
}

impl<'a> Lane<'a> {
    fn new(case: &'a Case, contender: &'a Contender) -> Self {
        Self { case, contender, chosen: 0, events: 1, expected: Vec::new(), speeds: Vec::new() }
    }

    /// Chooses the fastest setting, and the number of events that it moves in `run_time`.
    fn settle(&mut self, run_time: Duration) -> Result<(), Stop> {
        let mut best = (0, 0.0);
        let settings = self.contender.settings.len();
        for setting in 0..if settings > 1 { settings } else { 0 } {
            self.chosen = setting;
            let run_time = run_time.mul_f64(AUDITION);
            self.calibrate(run_time)?;
            let speeds = [(); 3].map(|()| self.run_and_fit(run_time));
            let speeds = speeds.into_iter().collect::<Result<Vec<_>, _>>()?;
            let speed = median(&speeds).unwrap_or(0.0);
            if speed > best.1 {
                best = (setting, speed);
            }
        }
        self.chosen = best.0;
        self.calibrate(run_time)
    }

    /// Finds the number of events that fill `run_time`.
    fn calibrate(&mut self, run_time: Duration) -> Result<(), Stop> {
        self.set_events(PILOTS[usize::from(self.case.graph == Graph::RoundTrip)]);
        loop {
            let part = self.run()?.0.div_duration_f64(run_time);
            let is_settled = part >= LONG_ENOUGH;
            // The start of the threads dominates a short pilot, so the next one has ten times as many events at most.
            let growth = if is_settled { 1.0 / part } else { (0.25 / part).clamp(2.0, 10.0) };
            self.set_events(f64::from(self.events) * growth);
            if is_settled || self.events == u32::MAX {
                return Ok(());
            }
        }
    }

    /// Runs once: the events per second. The next run has more or fewer events if the time of this one was far off.
    fn run_and_fit(&mut self, run_time: Duration) -> Result<f64, Stop> {
        let (elapsed, speed) = self.run()?;
        let part = elapsed.div_duration_f64(run_time);
        if !(0.5..1.5).contains(&part) {
            self.set_events(f64::from(self.events) / part.max(0.25));
        }
        Ok(speed)
    }

    /// Has runs of so many `events` from now on.
    fn set_events(&mut self, events: f64) {
        self.events = events.max(1.0) as u32; // saturates
        self.expected = self.case.graph.expected(self.events);
    }

    /// Runs once: how long it took, and the events per second.
    fn run(&self) -> Result<(Duration, f64), Stop> {
        let (setting, events) = (&self.contender.settings[self.chosen], self.events);
        let load = Load { events, slots: self.case.slots };
        let run = (setting.run)(self.case.graph, load).map_err(Stop::CannotRun)?;
        if run.answers != self.expected {
            return Err(Stop::WrongAnswer(format!(
                "wrong answer, so no figures: row={:?} contender={} wait={} events={events} expected={:x?} found={:x?}",
                self.case.name, self.contender.name, setting.wait, self.expected, run.answers
            )));
        }
        let elapsed = run.ended_at - run.started_at;
        Ok((elapsed, f64::from(events) / elapsed.as_secs_f64()))
    }

    fn figures(self) -> Figures {
        Figures { speeds: self.speeds, wait: self.contender.settings[self.chosen].wait }
    }
}
