//! The choices before the counted runs: the fastest of several settings, and the number of events
//! of a run. `calibration` evaluates a pilot.

use std::time::Duration;

use crate::measure::calibration::{self, Verdict};
use crate::measure::error::Error;
use crate::measure::statistics::median;

/// Runs of a candidate in its trial.
const AUDITION_RUNS: usize = 3;
/// Divides the length of trial runs, because a rival can have eight candidates.
const AUDITION_PART: u32 = 3;

/// A row whose runs have a number of events.
pub(crate) trait Settling {
    /// Returns the number of settings, such as wait strategies. The fastest of them is measured.
    fn candidates(&self) -> usize;

    /// Selects the setting of this index for all later runs.
    fn choose(&mut self, candidate: usize);

    /// Returns the events of the first pilot.
    fn pilot_events(&self) -> u32;

    /// Returns the events of one run.
    fn events(&self) -> u32;

    /// Sets the number of events for all later runs.
    fn set_events(&mut self, events: u32);

    /// Returns the number of events of a run, if it is given.
    fn given_events(&self) -> Option<u32>;

    /// Runs once. Returns the length of the run and the speed.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn pilot(&self) -> Result<(Duration, f64), Error>;

    /// Selects the fastest candidate, and the number of events that fill `run_time`.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
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

    /// Determines the number of events that fill `run_time`.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
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

    /// Returns the median speed of the selected candidate over a few runs.
    ///
    /// # Errors
    ///
    /// A wrong answer, or a run that failed.
    fn audition(&mut self, run_time: Duration) -> Result<f64, Error> {
        self.calibrate(run_time / AUDITION_PART)?;
        let speeds = (0..AUDITION_RUNS).map(|_| self.pilot().map(|(_, speed)| speed));
        Ok(median(speeds.collect::<Result<Vec<_>, _>>()?).unwrap_or(0.0))
    }
}
