//! The techniques, which carry orders at the contended hand-offs.
//!
//! ```text
//! OverQueues<Q>    submit, completion: Q, a queue with several senders; inboxes, returns: rtrb
//!                  Q: std_mpsc, crossbeam_channel, crossbeam_array_queue, spsc_mux, lapwing_ring
//! LapwingGraphs    two rings for all four hand-offs
//! ```
//!
//! Another queue needs one file that implements [`Mpsc`], a [`TechniqueName`] and its arm in
//! `play`.

mod crossbeam_array_queue; // one lock-free ring
mod crossbeam_channel; // a bounded channel
mod lapwing_graphs; // two rings, everything in place
mod lapwing_ring; // a ring as a queue
mod over_queues; // a queue at both contended hand-offs, rtrb at the others
mod spsc; // rtrb, a ring with one sender
mod spsc_mux; // a ring for each sender
mod std_mpsc; // an unbounded channel
#[cfg(test)]
mod tests; // every technique returns every order; one that loses them is refused
mod wrong_answer; // a technique that confuses two orders

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use self::over_queues::OverQueues;
use super::config::Config;
use super::hand_off::{Inlet, Outlet, Relay};
use super::order::{LARGE, Order, Payload, SMALL};
use super::play::{self, Played, Setting};
use crate::measure::crew::RunError;

/// A technique on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TechniqueName {
    /// `std::sync::mpsc::channel`, unbounded
    StdMpsc,
    /// `crossbeam_channel::bounded`
    CrossbeamChannel,
    /// `crossbeam_queue::ArrayQueue`: one lock-free ring
    #[value(name = "crossbeam-arrayqueue")]
    CrossbeamArrayQueue,
    /// An `rtrb` ring for each sender; the receiver polls them in turn
    SpscMux,
    /// Lapwing in place of a queue: a ring with several producers and one poller
    LapwingRing,
    /// Lapwing's graphs: two rings for all hand-offs, orders changed in place
    LapwingGraphs,
    /// Confuses two orders, to test that the error is found
    #[value(hide = true)]
    WrongAnswer,
}

impl TechniqueName {
    /// The techniques of a whole table, in order: the original's, and Lapwing's.
    pub(super) const ALL: [Self; 6] = [
        Self::StdMpsc,
        Self::CrossbeamChannel,
        Self::CrossbeamArrayQueue,
        Self::SpscMux,
        Self::LapwingRing,
        Self::LapwingGraphs,
    ];

    /// Returns the name on the command line and in every report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::StdMpsc => "std-mpsc",
            Self::CrossbeamChannel => "crossbeam-channel",
            Self::CrossbeamArrayQueue => "crossbeam-arrayqueue",
            Self::SpscMux => "spsc-mux",
            Self::LapwingRing => "lapwing-ring",
            Self::LapwingGraphs => "lapwing-graphs",
            Self::WrongAnswer => "wrong-answer",
        }
    }

    /// Runs `setting` once. The answer is not checked yet.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a hand-off could not be built, a thread could not start, or a thread
    /// panicked.
    pub(super) fn play(self, payload: Payload, setting: &Setting<'_>) -> Result<Played, RunError> {
        match self {
            Self::StdMpsc => sized::<OverQueues<std_mpsc::StdMpsc>>(payload, setting),
            Self::CrossbeamChannel => {
                sized::<OverQueues<crossbeam_channel::CrossbeamChannel>>(payload, setting)
            }
            Self::CrossbeamArrayQueue => {
                sized::<OverQueues<crossbeam_array_queue::CrossbeamArrayQueue>>(payload, setting)
            }
            Self::SpscMux => sized::<OverQueues<spsc_mux::SpscMux>>(payload, setting),
            Self::LapwingRing => sized::<OverQueues<lapwing_ring::LapwingRing>>(payload, setting),
            Self::LapwingGraphs => sized::<lapwing_graphs::LapwingGraphs>(payload, setting),
            Self::WrongAnswer => sized::<OverQueues<wrong_answer::WrongAnswer>>(payload, setting),
        }
    }
}

impl Serialize for TechniqueName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Runs `setting` with orders of the requested size.
fn sized<T>(payload: Payload, setting: &Setting<'_>) -> Result<Played, RunError>
where
    T: Technique<SMALL> + Technique<LARGE>,
{
    match payload {
        Payload::Small => play::play::<SMALL, T>(setting),
        Payload::Large => play::play::<LARGE, T>(setting),
    }
}

/// All hand-offs of the pipeline.
pub(super) trait Technique<const PAD: usize> {
    /// The outlet of a strategy.
    type Submit: Outlet<Order<PAD>>;
    /// The inlet through which a strategy receives its orders.
    type Returned: Inlet<Order<PAD>>;
    /// The orchestrator's direction from the strategies to the gateways.
    type Dispatch: Relay<Order<PAD>>;
    /// The orchestrator's direction from the gateways to the strategies.
    type Return: Relay<Order<PAD>>;
    /// The inlet through which a gateway receives its orders.
    type Inbox: Inlet<Order<PAD>>;
    /// The outlet of a gateway.
    type Complete: Outlet<Order<PAD>>;

    /// Creates the hand-offs for `config`, whose memory has been touched.
    ///
    /// # Errors
    ///
    /// [`RunError::Build`] if one of them cannot be created.
    fn build(config: &Config) -> Result<Ends<PAD, Self>, RunError>;
}

/// The ends of the hand-offs of one pipeline.
pub(super) struct Ends<const PAD: usize, T: Technique<PAD> + ?Sized> {
    /// For each strategy.
    pub(super) strategies: Vec<(T::Submit, T::Returned)>,
    /// For the orchestrator: towards the gateways.
    pub(super) dispatch: T::Dispatch,
    /// For the orchestrator: the way back to the strategies.
    pub(super) returning: T::Return,
    /// For each gateway.
    pub(super) gateways: Vec<(T::Inbox, T::Complete)>,
}

/// A queue with several senders and one receiver: the tested hand-off.
trait Mpsc<const PAD: usize> {
    /// The end of one sender.
    type Sender: Outlet<Order<PAD>>;
    /// The end of the receiver.
    type Receiver: Inlet<Order<PAD>>;

    /// Creates a queue for `senders`: with `config.shared_cap` slots, or `config.spsc_cap` for each
    /// sender.
    ///
    /// # Errors
    ///
    /// [`RunError::Build`] if it cannot be created.
    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError>;
}

/// The ends of a queue.
type Queue<const PAD: usize, Q> = (Vec<<Q as Mpsc<PAD>>::Sender>, <Q as Mpsc<PAD>>::Receiver);

/// Passes the results of `next` to `each`, at most `most` times, and returns the number of calls.
#[inline]
fn take<T>(most: usize, mut next: impl FnMut() -> Option<T>, mut each: impl FnMut(T)) -> usize {
    for taken in 0..most {
        match next() {
            Some(message) => each(message),
            None => return taken,
        }
    }
    most
}
