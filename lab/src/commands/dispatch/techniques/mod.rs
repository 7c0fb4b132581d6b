//! The techniques, which carry orders at the contended hand-offs.
//!
//! ```text
//! OverQueues<Q>    submit, completion: Q, a queue with several senders; the other two hand-offs: rtrb
//!                  Q: StdMpsc, CrossbeamChannel, CrossbeamArrayQueue, SpscMux, LapwingRing
//! LapwingGraphs    two rings for all four hand-offs
//! ```
//!
//! Another queue implements [`Mpsc`] in `queues`, and has a [`TechniqueName`] and its arm in `play`.

mod lapwing; // a ring as a queue, and two rings for everything
mod over_queues; // a queue at both contended hand-offs, rtrb at the others
mod queues; // the original's queues
#[cfg(test)]
mod tests; // every technique returns every order; one that loses them is refused
mod wrong_answer; // a technique that confuses two orders

use clap::ValueEnum;

use self::lapwing::{LapwingGraphs, LapwingRing};
use self::over_queues::OverQueues;
use self::queues::{CrossbeamArrayQueue, CrossbeamChannel, SpscMux, StdMpsc};
use self::wrong_answer::WrongAnswer;
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
            Self::StdMpsc => sized::<OverQueues<StdMpsc>>(payload, setting),
            Self::CrossbeamChannel => sized::<OverQueues<CrossbeamChannel>>(payload, setting),
            Self::CrossbeamArrayQueue => sized::<OverQueues<CrossbeamArrayQueue>>(payload, setting),
            Self::SpscMux => sized::<OverQueues<SpscMux>>(payload, setting),
            Self::LapwingRing => sized::<OverQueues<LapwingRing>>(payload, setting),
            Self::LapwingGraphs => sized::<LapwingGraphs>(payload, setting),
            Self::WrongAnswer => sized::<OverQueues<WrongAnswer>>(payload, setting),
        }
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

/// A technique as it carries one direction of the pipeline: several senders, the orchestrator, several receivers.
pub(super) trait Technique<const PAD: usize> {
    /// The outlet of a sender.
    type Sender: Outlet<PAD>;
    /// The orchestrator between them.
    type Relay: Relay<PAD>;
    /// The inlet of a receiver.
    type Receiver<D: Destination>: Inlet<PAD>;

    /// Creates the hand-offs of one direction, whose memory has been touched.
    ///
    /// # Errors
    ///
    /// [`RunError::Build`] if one of them cannot be created.
    fn direction<D: Destination>(
        senders: usize,
        receivers: usize,
        config: &Config,
    ) -> Result<Direction<PAD, Self, D>, RunError>;
}

/// The ends of the hand-offs of one direction.
pub(super) struct Direction<const PAD: usize, T: Technique<PAD> + ?Sized, D: Destination> {
    /// For each sender.
    pub(super) senders: Vec<T::Sender>,
    /// For the orchestrator.
    pub(super) relay: T::Relay,
    /// For each receiver.
    pub(super) receivers: Vec<T::Receiver<D>>,
}

/// Which receivers a direction has.
pub(super) trait Destination: Send {
    /// Returns the receiver of `order`.
    fn of<const PAD: usize>(order: &Order<PAD>) -> u16;
}

/// Orders on their way to a venue.
pub(super) struct ToVenue;

impl Destination for ToVenue {
    #[inline]
    fn of<const PAD: usize>(order: &Order<PAD>) -> u16 {
        order.venue
    }
}

/// Orders on their way back.
pub(super) struct ToStrategy;

impl Destination for ToStrategy {
    #[inline]
    fn of<const PAD: usize>(order: &Order<PAD>) -> u16 {
        order.strategy
    }
}

/// A queue with several senders and one receiver: the tested hand-off.
trait Mpsc<const PAD: usize> {
    /// The end of one sender.
    type Sender: Outlet<PAD>;
    /// The end of the receiver.
    type Receiver: Inlet<PAD>;

    /// Creates a queue for `senders`: with `config.shared_cap` slots, or `config.spsc_cap` for each sender.
    ///
    /// # Errors
    ///
    /// [`RunError::Build`] if it cannot be created.
    fn build(senders: usize, config: &Config) -> Result<Queue<PAD, Self>, RunError>;
}

/// The ends of a queue.
type Queue<const PAD: usize, Q> = (Vec<<Q as Mpsc<PAD>>::Sender>, <Q as Mpsc<PAD>>::Receiver);
