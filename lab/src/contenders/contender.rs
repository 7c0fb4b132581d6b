//! The interface of a contender.

use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;
use crate::record::Record;

/// A rival that can run every topology.
pub(crate) trait Contender {
    /// Returns the name on the command line and in every report.
    fn name(&self) -> &'static str;

    /// Returns the wait of its threads, in one word.
    fn wait(&self) -> &'static str;

    /// Returns the placement of its consumers on threads, as on the command line. `None` for
    /// rivals, which have no such choice.
    fn placement(&self) -> Option<String> {
        None
    }

    /// Returns its record in `experiment`, with its setting and no runs.
    fn record(&self, experiment: &str, threads: usize) -> Record {
        let mut record = Record::new(experiment, self.name(), threads);
        record.wait = Some(self.wait().to_owned());
        record.placement = self.placement();
        record
    }

    /// Returns the total threads of a run with this many `producers` and `consumers`.
    fn threads(&self, producers: usize, consumers: usize) -> usize {
        producers + consumers
    }

    /// Returns the minimum number of slots of its ring for `topology`.
    fn fewest_slots(&self, _topology: Topology) -> usize {
        1
    }

    /// Runs `topology` once.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError>;

    /// Sends the numbers of `exchange` to another thread, which sends each back before the next one
    /// comes. The answer is their sum.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError>;

    /// Sends timed events through a pipeline of three stages.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    fn paced(&self, pace: &Pace) -> Result<Paced, RunError>;

    /// Returns its way to share events among consumers, or `None` if that is not measured.
    fn sharing(&self) -> Option<&dyn Shares> {
        None
    }
}

/// A contender that can hand each event to one of several consumers.
pub(crate) trait Shares {
    /// Returns the minimum number of slots of its ring.
    fn fewest_slots(&self) -> usize {
        1
    }

    /// Shares events once. The answers are those of all consumers together.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError>;
}
