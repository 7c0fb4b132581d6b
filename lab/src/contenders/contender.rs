//! The interface of a contender, and a contender with its settings.

use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::sharing::Sharing;
use crate::load::topologies::Topology;
use crate::load::workload::Workload;
use crate::machine::switches::Switches;
use crate::measure::crew::RunError;
use crate::measure::run::Pass;
use crate::record::{Missing, Record};

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

    /// Returns the context switches of the process of its threads so far, or `None` if they are not known.
    fn switches(&self) -> Option<Switches> {
        Switches::so_far()
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

/// A contender that takes part, with its only setting or with several. The fastest of several is
/// measured.
pub(crate) struct Entry {
    /// Its settings: at least one.
    pub(crate) candidates: Vec<Box<dyn Contender>>,
}

impl Entry {
    /// Creates a contender with one setting.
    pub(crate) fn only(contender: Box<dyn Contender>) -> Self {
        Self { candidates: vec![contender] }
    }

    /// Creates a contender of which the fastest setting is measured.
    pub(crate) fn fastest_of(candidates: Vec<Box<dyn Contender>>) -> Self {
        Self { candidates }
    }

    /// Returns the reason why it does not take part in `topology` with a ring of this many slots,
    /// if there is one.
    pub(crate) fn refusal(&self, topology: Topology, ring: usize) -> Option<Missing> {
        let too_small = |contender: &dyn Contender| {
            let fewest = contender.fewest_slots(topology);
            (ring < fewest).then(|| Missing {
                contender: format!("{} in {}", contender.name(), topology.name()),
                reason: format!("its ring has at least {fewest} slots: slots={ring}"),
            })
        };
        self.candidates.iter().find_map(|contender| too_small(contender.as_ref()))
    }
}
