//! The timed work: one contender in one cell.

use std::time::Duration;

use super::case::{Beside, Case};
use super::one_cpu;
use crate::contenders::channels::Channel;
use crate::measure::error::Error;
use crate::measure::harness::Timed;
use crate::measure::sample::Sample;

/// One contender in one cell.
pub(super) struct Row {
    pub(super) channel: Channel,
    pub(super) case: Case,
    run_time: Duration,
    /// The counted runs, one per round.
    pub(super) runs: Vec<Sample>,
}

impl Row {
    /// Creates a row that has not run.
    pub(super) const fn new(channel: Channel, case: Case, run_time: Duration) -> Self {
        Self { channel, case, run_time, runs: Vec::new() }
    }

    /// Runs once, and checks that every value arrived.
    fn pass(&self) -> Result<Sample, Error> {
        let (topology, contender) = (super::BENCHMARK, self.channel.name.name());
        let load = self.case.load(self.run_time);
        let traffic = match self.case.beside {
            Beside::OneCpu => one_cpu::run(self.channel, &load),
            Beside::Quiet | Beside::Busy => self.channel.run(&load),
        };
        let traffic = traffic.map_err(|source| Error::Run { topology, contender, source })?;
        if traffic.sent == traffic.received {
            return Ok(traffic.sample);
        }
        let events = u32::try_from(traffic.sent[0]).unwrap_or(u32::MAX);
        let (expected, found) = (traffic.sent.to_vec(), traffic.received.to_vec());
        Err(Error::WrongAnswer { topology, contender, events, expected, found })
    }
}

impl Timed for Row {
    fn label(&self) -> String {
        format!("{} {} {}", self.case, self.channel.name.name(), self.channel.wait())
    }

    /// Does nothing, because the length of a run is fixed.
    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.pass().map(drop)
    }

    fn measure(&mut self) -> Result<(), Error> {
        let sample = self.pass()?;
        self.runs.push(sample);
        Ok(())
    }
}
