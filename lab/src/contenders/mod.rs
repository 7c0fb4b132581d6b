//! The contenders, one adapter each. A new rival with a queue implements [`Queue`](crate::load::queue::Queue) in
//! `queues`, and has one line in [`ContenderName::enlist`]. Every topology then runs over it.
//!
//! ```text
//! Contender --+-- OneRing                this project, tuned or plain: one ring for the whole graph
//!             +-- OverQueues<Q: Queue>   one queue for each arc: queues, bounded_queue,
//!             |                          crossbeam_array_queue
//!             +-- Disruptor              another ring for the whole graph
//!             +-- OverRings<R: Rings>    one ring for each stage that sends: photon_ring, rtrb,
//!             |                          and Lapwing twice more: its rings, its channels
//!             +-- Foreign                a process in Java or C++
//!             +-- WrongAnswer            proves that a wrong answer is refused
//! ```
//!
//! Channels under load carry values of any type for a fixed time. They are in `channels`.

mod bounded_queue; // the paper's baseline: a ring in a mutex with two condition variables
pub(crate) mod channels; // bounded channels under load
mod contender; // the interface of a contender
mod crossbeam_array_queue; // lock-free ring, spinning on both sides
mod disruptor; // another ring for the whole graph
mod foreign; // rivals in other languages
mod lapwing; // Lapwing
mod lapwing_plain; // Lapwing without its tuning
mod over_queues; // a rival queue at every arc
mod over_rings; // one ring per sending stage
mod photon_ring; // stamped slots, several readers
pub(crate) mod queues; // the queues of other libraries
mod roster; // the contenders that take part, and those that cannot
mod rtrb; // a wait-free ring for two threads
#[cfg(test)]
mod tests; // every topology over every contender; loss of a peer
mod wrong_answer; // a contender with wrong answers

use clap::ValueEnum;

pub(crate) use self::contender::{Contender, Shares};
pub(crate) use self::lapwing::{PlacementName, Setting, WaitName, parallel, ping_pong};
use self::over_queues::OverQueues;
pub(crate) use self::roster::{Entry, Roster};

/// The baseline of all ratios: the queue of the paper.
pub(crate) const BASELINE: &str = "bounded-queue";

/// A contender on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContenderName {
    /// Lapwing: one ring for the whole graph.
    Lapwing,
    /// Lapwing with one ring per sending stage, and so one per producer.
    LapwingRings,
    /// Lapwing's channel on each arc. Values are moved through it.
    LapwingChannel,
    /// Lapwing without its tuning, as `--cfg lapwing_plain` builds it. Runs only if it is named.
    LapwingPlain,
    /// The baseline: a ring in a mutex with two condition variables, on each arc.
    BoundedQueue,
    /// `std::sync::mpsc::sync_channel` for each arc.
    StdMpsc,
    /// `crossbeam_channel::bounded` for each arc.
    CrossbeamChannel,
    /// `crossbeam_queue::ArrayQueue` on each arc; yields if it is full or empty.
    #[value(name = "crossbeam-arrayqueue")]
    CrossbeamArrayQueue,
    /// `flume::bounded` for each arc.
    Flume,
    /// `kanal::bounded` for each arc.
    Kanal,
    /// The crate `disruptor`: one ring for the whole graph.
    Disruptor,
    /// The crate `photon-ring`: one ring per sending stage.
    PhotonRing,
    /// `rtrb::RingBuffer` for each arc.
    Rtrb,
    /// The LMAX Disruptor 4, in Java: one ring for the whole graph.
    Lmax,
    /// Java's `ArrayBlockingQueue` for each arc.
    ArrayBlockingQueue,
    /// A ring in a mutex with two condition variables on each arc, in C++.
    CppMutexQueue,
    /// Boost.Lockfree for each arc, in C++.
    BoostLockfree,
    /// moodycamel's queues on each arc, in C++.
    Moodycamel,
    /// Computes a wrong answer, to test that the error is found.
    #[value(hide = true)]
    WrongAnswer,
}

impl ContenderName {
    /// The contenders of a full comparison, in the order of the columns of a table.
    pub(crate) const ALL: [Self; 17] = [
        Self::Lapwing,
        Self::BoundedQueue,
        Self::StdMpsc,
        Self::CrossbeamChannel,
        Self::CrossbeamArrayQueue,
        Self::Flume,
        Self::Kanal,
        Self::Disruptor,
        Self::PhotonRing,
        Self::Rtrb,
        Self::LapwingRings,
        Self::LapwingChannel,
        Self::Lmax,
        Self::ArrayBlockingQueue,
        Self::CppMutexQueue,
        Self::BoostLockfree,
        Self::Moodycamel,
    ];

    /// Those of a short comparison of many cells.
    pub(crate) const FEW: &[Self] = &[
        Self::Lapwing,
        Self::BoundedQueue,
        Self::StdMpsc,
        Self::CrossbeamChannel,
        Self::CrossbeamArrayQueue,
    ];

    /// Returns the settings of the contender of this name: Lapwing, tuned or plain, once for each
    /// of `settings`, any other contender once.
    ///
    /// # Errors
    ///
    /// The reason why it cannot take part: a tool is missing.
    pub(crate) fn enlist(self, settings: &[Setting]) -> Result<Vec<Entry>, String> {
        let only = |contender: Box<dyn Contender>| Ok(vec![Entry::only(contender)]);
        match self {
            Self::Lapwing => {
                let entry = |setting: &Setting| Entry::only(lapwing::contender(*setting));
                Ok(settings.iter().map(entry).collect())
            }
            Self::LapwingPlain => {
                let entry = |setting: &Setting| Entry::only(lapwing_plain::contender(*setting));
                Ok(settings.iter().map(entry).collect())
            }
            Self::BoundedQueue => only(Box::new(OverQueues(bounded_queue::BoundedQueue))),
            Self::StdMpsc => only(Box::new(OverQueues(queues::StdMpsc))),
            Self::CrossbeamChannel => only(Box::new(OverQueues(queues::CrossbeamChannel))),
            Self::CrossbeamArrayQueue => {
                only(Box::new(OverQueues(crossbeam_array_queue::CrossbeamArrayQueue)))
            }
            Self::Flume => only(Box::new(OverQueues(queues::Flume))),
            Self::Kanal => only(Box::new(OverQueues(queues::Kanal))),
            Self::Disruptor => Ok(vec![disruptor::entry()]),
            Self::PhotonRing => Ok(vec![photon_ring::entry()]),
            Self::Rtrb => Ok(vec![rtrb::entry()]),
            Self::LapwingRings => Ok(vec![lapwing::rings::entry()]),
            Self::LapwingChannel => Ok(vec![lapwing::channel::entry()]),
            Self::Lmax => foreign::lmax(),
            Self::ArrayBlockingQueue => foreign::array_blocking_queue(),
            Self::CppMutexQueue => foreign::cpp_mutex_queue(),
            Self::BoostLockfree => foreign::boost_lockfree(),
            Self::Moodycamel => foreign::moodycamel(),
            Self::WrongAnswer => only(Box::new(wrong_answer::WrongAnswer)),
        }
    }

    /// Returns whether it is a program in another language.
    pub(crate) const fn is_process(self) -> bool {
        matches!(
            self,
            Self::Lmax
                | Self::ArrayBlockingQueue
                | Self::CppMutexQueue
                | Self::BoostLockfree
                | Self::Moodycamel
        )
    }

    /// Returns the name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
