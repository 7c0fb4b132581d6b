//! The number, length and placement of the runs of a row.

use std::time::Duration;

use crate::machine::placement::Placement;
use crate::measure::runner::Length;

/// The number, length and placement of runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Counted rounds.
    pub(crate) runs: u32,
    /// The length of one run, if `events` is not given.
    pub(crate) run_time: Duration,
    /// Events of one run, or `None` to calibrate each row.
    pub(crate) events: Option<u32>,
    /// The placement of the threads.
    pub(crate) placement: Placement,
}

impl Schedule {
    /// Returns how the number of events of a run is found.
    pub(crate) fn length(&self) -> Length {
        self.events.map_or(Length::Time(self.run_time), Length::Events)
    }
}

#[cfg(test)]
impl Schedule {
    /// Returns a schedule with runs of a few events, for tests.
    pub(crate) fn short(runs: u32, events: u32) -> Self {
        let run_time = Duration::from_millis(1);
        Self { runs, run_time, events: Some(events), placement: Placement::Free }
    }
}
