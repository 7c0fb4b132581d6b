//! How often a row runs, how long, and where its threads are.

use std::time::Duration;

use crate::machine::placement::Placement;

/// How many runs, how long, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Rounds that count.
    pub(crate) runs: u32,
    /// Time that one run should take, if `events` is not given.
    pub(crate) run_time: Duration,
    /// Events of one run; none to calibrate each row.
    pub(crate) events: Option<u32>,
    /// Where the threads are.
    pub(crate) placement: Placement,
}

#[cfg(test)]
impl Schedule {
    /// Runs of a few events, for tests.
    pub(crate) fn short(runs: u32, events: u32) -> Self {
        let run_time = Duration::from_millis(1);
        Self { runs, run_time, events: Some(events), placement: Placement::Free }
    }
}
