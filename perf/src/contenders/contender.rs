//! What a rival must be able to do to be compared.

use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;
use crate::report::settings;

/// A rival that can run every topology.
pub(crate) trait Contender {
    /// The name on the command line and in every report.
    fn name(&self) -> &'static str;

    /// How its threads wait, in one word.
    fn wait(&self) -> &'static str;

    /// Which of its consumers share a thread, as on the command line; none if it is not Lapwing, whose
    /// consumers alone can.
    fn placement(&self) -> Option<String> {
        None
    }

    /// Both in one cell.
    fn setting(&self) -> String {
        settings::setting(self.wait(), self.placement().as_deref())
    }

    /// Threads of a run with so many `producers` and `consumers`, all told.
    fn threads(&self, producers: usize, consumers: usize) -> usize {
        producers + consumers
    }

    /// The fewest slots of a ring that it takes for `topology`.
    fn fewest_slots(&self, _topology: Topology) -> usize {
        1
    }

    /// Runs `topology` once.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not come to its end.
    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError>;

    /// Sends the numbers of `exchange` to another thread, which sends each back before the next one
    /// comes. The answer is their sum.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError>;

    /// Sends timed events through three stages in a row.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    fn paced(&self, pace: &Pace) -> Result<Paced, RunError>;

    /// How it shares events among consumers; none if that is not measured.
    fn sharing(&self) -> Option<&dyn Shares> {
        None
    }
}

/// A rival that can hand each event to one of several consumers.
pub(crate) trait Shares {
    /// The fewest slots of a ring that it takes.
    fn fewest_slots(&self) -> usize {
        1
    }

    /// Shares events once. The answers are those of all consumers together.
    ///
    /// # Errors
    ///
    /// As [`Contender::run`].
    fn share(&self, sharing: &Sharing) -> Result<Pass, RunError>;
}
