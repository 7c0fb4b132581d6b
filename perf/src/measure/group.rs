//! Rows that are compared with each other. They run in turn within a round, seconds apart, beside
//! the same busy threads of another process.

use fastrand::Rng;

use crate::machine::busy_threads::BusyThreads;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::interrupt;

/// The seed of the order within a group. It is the same on every machine.
const ORDER_SEED: u64 = 0x6E16;

/// Rows that are compared with each other.
pub(crate) struct Group<R> {
    /// The rows, in the order of the report.
    pub(crate) rows: Vec<R>,
    /// Its name in a progress line.
    label: String,
    /// Busy threads of another process during the runs.
    busy_threads: u32,
    random: Rng,
}

impl<R: Timed> Group<R> {
    /// Creates a group whose rows have not run.
    pub(crate) fn new(label: String, rows: Vec<R>, busy_threads: u32) -> Self {
        Self { rows, label, busy_threads, random: Rng::with_seed(ORDER_SEED) }
    }

    /// Runs one `step` of every row, in a new order each time, until an interrupt.
    fn each(&mut self, step: impl Fn(&mut R) -> Result<(), Error>) -> Result<(), Error> {
        let _busy = BusyThreads::start(self.busy_threads).map_err(Error::BusyThreads)?;
        let mut order = (0..self.rows.len()).collect::<Vec<_>>();
        self.random.shuffle(&mut order);
        let mut order = order.into_iter().take_while(|_| !interrupt::requested());
        order.try_for_each(|index| step(&mut self.rows[index]))
    }
}

impl<R: Timed> Timed for Group<R> {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.each(Timed::settle)
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.each(Timed::warm_up)
    }

    fn measure(&mut self) -> Result<(), Error> {
        self.each(Timed::measure)
    }
}
