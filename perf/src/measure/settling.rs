//! What is settled before the runs that count: the fastest of several settings, and the number of events of a run. Not
//! here: what a pilot says of that number (`calibration`).

use std::time::Duration;

use crate::measure::calibration::{self, Verdict};
use crate::measure::error::Error;
use crate::measure::statistics::median;

/// Runs of a candidate in its audition.
const AUDITION_RUNS: usize = 3;
/// How much shorter they are than those that count: a rival may have eight candidates.
const AUDITION_PART: u32 = 3;

/// A row whose runs have a number of events.
pub(crate) trait Settling {
    /// Its settings, such as wait strategies, of which the fastest is to be measured.
    fn candidates(&self) -> usize;

    /// Runs with the setting of this index from now on.
    fn choose(&mut self, candidate: usize);

    /// Events of the first pilot.
    fn pilot_events(&self) -> u32;

    /// Events of one run.
    fn events(&self) -> u32;

    /// Has runs of `events` from now on.
    fn set_events(&mut self, events: u32);

    /// The number of events of a run, if it is given.
    fn given_events(&self) -> Option<u32>;

    /// Runs once; how long it took, and the speed.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn pilot(&self) -> Result<(Duration, f64), Error>;

    /// Chooses the fastest candidate, and the number of events that it moves in `run_time`.
    ///
    /// # Errors
    ///
    /// As [`pilot`](Self::pilot).
    fn settle_for(&mut self, run_time: Duration) -> Result<(), Error> {
        if self.candidates() > 1 {
            let mut best = (0, 0.0);
            for candidate in 0..self.candidates() {
                self.choose(candidate);
                let speed = self.audition(run_time)?;
                if speed > best.1 {
                    best = (candidate, speed);
                }
            }
            self.choose(best.0);
        }
        self.calibrate(run_time)
    }

    /// Settles the number of events of a run, which should take `run_time`.
    ///
    /// # Errors
    ///
    /// As [`pilot`](Self::pilot).
    fn calibrate(&mut self, run_time: Duration) -> Result<(), Error> {
        if let Some(events) = self.given_events() {
            self.set_events(events);
            return Ok(());
        }
        self.set_events(self.pilot_events());
        loop {
            let (elapsed, _) = self.pilot()?;
            match calibration::judge(self.events(), elapsed, run_time) {
                Verdict::Again(events) => self.set_events(events),
                Verdict::Settled(events) => {
                    self.set_events(events);
                    return Ok(());
                }
            }
        }
    }

    /// The median speed of the candidate that is chosen now, over a few runs.
    ///
    /// # Errors
    ///
    /// As [`pilot`](Self::pilot).
    fn audition(&mut self, run_time: Duration) -> Result<f64, Error> {
        self.calibrate(run_time / AUDITION_PART)?;
        let speeds = (0..AUDITION_RUNS).map(|_| self.pilot().map(|(_, speed)| speed));
        Ok(median(speeds.collect::<Result<Vec<_>, _>>()?).unwrap_or(0.0))
    }
}
