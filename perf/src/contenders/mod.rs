//! The rivals, one adapter each. A new rival that is a queue is one file that implements [`Queue`]
//! and one line in [`ContenderName::enlist`]; every topology then runs over it.
//!
//! ```text
//! Contender --+-- Lapwing                one ring for the whole graph
//!             +-- OverQueues<Q: Queue>   one queue for each arc: bounded_queue, std_mpsc,
//!             |                          crossbeam_channel, crossbeam_array_queue
//!             +-- WrongAnswer            proves that a wrong answer is refused
//! ```

mod bounded_queue; // the paper's baseline: a ring in a mutex with two condition variables
mod crossbeam_array_queue; // lock-free ring, spinning on both sides
mod crossbeam_channel; // lock-free ring with parking
mod lapwing; // this project
mod queue; // what a rival queue must offer
mod std_mpsc; // the standard library's bounded channel
#[cfg(test)]
mod tests; // every topology over every contender; loss of a neighbour
mod wrong_answer; // a contender that lies

use std::time::Duration;

use clap::ValueEnum;

use crate::crew::{Answers, RunError};
use crate::topologies::Topology;
use crate::workload::Workload;

pub(crate) use self::lapwing::WaitName;
pub(crate) use self::queue::{Queue, Receiver, Sender};

/// The contender that every ratio is relative to: the paper's baseline.
pub(crate) const BASELINE: &str = "bounded-queue";

/// One run of one contender that came to its end; its answers are not checked yet.
#[derive(Debug)]
pub(crate) struct Pass {
    /// From the release of all threads to the end of the last one.
    pub(crate) elapsed: Duration,
    /// The answers of the consumers, in the order of [`Topology::expected`].
    pub(crate) answers: Answers,
    /// Mean number of events that a consumer was handed at once.
    pub(crate) events_per_batch: f64,
}

/// A rival that can run every topology.
pub(crate) trait Contender {
    /// The name on the command line and in every report.
    fn name(&self) -> &'static str;

    /// How its threads wait, in one word.
    fn wait(&self) -> &'static str;

    /// Runs `topology` once.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not come to its end.
    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError>;
}

/// A contender on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContenderName {
    /// This project: one ring for the whole graph.
    Lapwing,
    /// The baseline: a ring in a mutex with two condition variables, for each arc.
    BoundedQueue,
    /// `std::sync::mpsc::sync_channel` for each arc.
    StdMpsc,
    /// `crossbeam_channel::bounded` for each arc.
    CrossbeamChannel,
    /// `crossbeam_queue::ArrayQueue` for each arc, yielding on full and on empty.
    #[value(name = "crossbeam-arrayqueue")]
    CrossbeamArrayQueue,
    /// Computes a wrong answer, to show that it is refused.
    #[value(hide = true)]
    WrongAnswer,
}

impl ContenderName {
    /// The rivals of a full comparison, in the order of the columns of a table.
    pub(crate) const ALL: [Self; 5] = [
        Self::Lapwing,
        Self::BoundedQueue,
        Self::StdMpsc,
        Self::CrossbeamChannel,
        Self::CrossbeamArrayQueue,
    ];

    /// The contenders of this name: Lapwing once for each of `waits`, any other once.
    pub(crate) fn enlist(self, waits: &[WaitName]) -> Vec<Box<dyn Contender>> {
        match self {
            Self::Lapwing => waits.iter().map(|wait| lapwing::contender(*wait)).collect(),
            Self::BoundedQueue => vec![queue::contender::<bounded_queue::BoundedQueue>()],
            Self::StdMpsc => vec![queue::contender::<std_mpsc::StdMpsc>()],
            Self::CrossbeamChannel => {
                vec![queue::contender::<crossbeam_channel::CrossbeamChannel>()]
            }
            Self::CrossbeamArrayQueue => {
                vec![queue::contender::<crossbeam_array_queue::CrossbeamArrayQueue>()]
            }
            Self::WrongAnswer => vec![Box::new(wrong_answer::WrongAnswer)],
        }
    }
}
