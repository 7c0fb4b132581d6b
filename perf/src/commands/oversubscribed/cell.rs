//! One cell of the table. Its contenders run in turn, so that compared contenders run within
//! seconds of each other.

use fastrand::Rng;

use super::lane::Lane;
use crate::contenders::Entry;
use crate::load::sharing::{Crowd, Sharing};
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::interrupt;
use crate::measure::row::Row;
use crate::measure::schedule::Schedule;

/// The seed of the order within a cell. It is the same on every machine.
const ORDER_SEED: u64 = 0xCE11;

/// A number of producers and a number of consumers.
pub(super) struct Cell<'a> {
    crowd: Crowd,
    /// Its contenders, in the order of the roster.
    pub(super) rows: Vec<Row<Lane<'a>>>,
    random: Rng,
}

impl<'a> Cell<'a> {
    /// Creates a cell in which no contender has run.
    pub(super) fn new(entries: &'a [Entry], sharing: Sharing, schedule: Schedule) -> Self {
        let lanes = entries.iter().map(|entry| Lane::new(entry, sharing));
        let rows = lanes.map(|lane| Row::new(lane, schedule)).collect();
        Self { crowd: sharing.crowd, rows, random: Rng::with_seed(ORDER_SEED) }
    }

    /// Runs one `step` of every contender, in a new order each time, until an interrupt.
    fn each(
        &mut self,
        step: impl Fn(&mut Row<Lane<'a>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut order = (0..self.rows.len()).collect::<Vec<_>>();
        self.random.shuffle(&mut order);
        let mut order = order.into_iter().take_while(|_| !interrupt::requested());
        order.try_for_each(|index| step(&mut self.rows[index]))
    }
}

impl Timed for Cell<'_> {
    fn label(&self) -> String {
        self.crowd.to_string()
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.each(Row::settle)
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.each(Row::warm_up)
    }

    fn measure(&mut self) -> Result<(), Error> {
        self.each(Row::measure)
    }
}
