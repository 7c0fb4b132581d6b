//! The timed work: one contender in one cell.

use crate::contenders::{Contender, Entry, Shares};
use crate::load::sharing::{Crowd, Sharing};
use crate::measure::crew::{Answers, RunError};
use crate::measure::error::Error;
use crate::measure::row::Subject;
use crate::measure::run::Pass;

/// One contender in one cell.
pub(super) struct Lane<'a> {
    /// The contender.
    pub(super) entry: &'a Entry,
    /// The setting that it runs with.
    chosen: usize,
    /// The shared work. Calibration sets the number of events.
    pub(super) sharing: Sharing,
    /// The right answers.
    expected: Answers,
}

impl<'a> Lane<'a> {
    /// Creates a row that has not run.
    pub(super) fn new(entry: &'a Entry, sharing: Sharing) -> Self {
        Self { entry, chosen: 0, sharing, expected: Answers::new() }
    }

    /// Returns the cell.
    pub(super) const fn crowd(&self) -> Crowd {
        self.sharing.crowd
    }

    /// Returns the contender with its setting.
    pub(super) fn contender(&self) -> &dyn Contender {
        self.entry.candidates[self.chosen].as_ref()
    }
}

impl Subject for Lane<'_> {
    fn label(&self) -> String {
        let contender = self.contender();
        format!("{} {} {}", self.crowd(), contender.name(), contender.setting())
    }

    fn threads(&self) -> usize {
        let Crowd { producers, consumers } = self.crowd();
        self.contender().threads(producers as usize, consumers as usize)
    }

    fn candidates(&self) -> usize {
        self.entry.candidates.len()
    }

    fn choose(&mut self, candidate: usize) {
        self.chosen = candidate;
    }

    /// Computes the answers of `events`.
    fn prepare(&mut self, events: u32) {
        if self.sharing.events != events || self.expected.is_empty() {
            self.sharing.events = events;
            self.expected = self.sharing.expected();
        }
    }

    fn run(&self, events: u32) -> Result<Pass, Error> {
        let (topology, contender) = (super::BENCHMARK, self.contender().name());
        let failed = |source| Error::Run { topology, contender, source };
        let cannot = || RunError::Build(super::CANNOT.to_owned());
        let shares = self.contender().sharing().ok_or_else(cannot).map_err(failed)?;
        let pass = Shares::share(shares, &self.sharing).map_err(failed)?;
        pass.checked(topology, contender, events, &self.expected)
    }
}
