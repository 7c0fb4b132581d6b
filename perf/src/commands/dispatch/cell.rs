//! One technique with one amount of work, which the harness runs once per round.

use super::order::Payload;
use super::play::Setting;
use super::record::Record;
use super::run::Run;
use super::techniques::TechniqueName;
use crate::measure::error::Error;
use crate::measure::harness::Timed;

/// A technique, a setting, and its runs.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    technique: TechniqueName,
    payload: Payload,
    setting: Setting<'a>,
    /// Counted runs.
    runs: Vec<Run>,
}

impl<'a> Cell<'a> {
    /// Creates a cell without runs.
    pub(super) const fn new(
        technique: TechniqueName,
        payload: Payload,
        setting: Setting<'a>,
    ) -> Self {
        Self { technique, payload, setting, runs: Vec::new() }
    }

    /// Returns the record of its runs, or `None` if there are none.
    pub(super) fn record(&self) -> Option<Record> {
        let Setting { config, layout, orch_work_ns, .. } = self.setting;
        let has_runs = !self.runs.is_empty();
        has_runs.then(|| {
            Record::new((self.technique, orch_work_ns), (config, layout), self.payload, &self.runs)
        })
    }

    /// Runs once and checks the answer.
    fn run(&self) -> Result<Run, Error> {
        let (topology, contender) = ("dispatch", self.technique.name());
        let failed = |source| Error::Run { topology, contender, source };
        let played = self.technique.play(self.payload, &self.setting).map_err(failed)?;
        Ok(Run::checked(contender, self.setting.config, &played)?)
    }
}

impl Timed for Cell<'_> {
    fn label(&self) -> String {
        format!("{} at {} ns", self.technique.name(), self.setting.orch_work_ns)
    }

    /// Does nothing, because the schedule is given.
    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn warm_up(&mut self) -> Result<(), Error> {
        self.run().map(drop)
    }

    fn measure(&mut self) -> Result<(), Error> {
        self.runs.push(self.run()?);
        Ok(())
    }
}
