//! The crate `photon-ring`: rings with several readers. The readers hold their sender back here
//! (`channel_bounded`, or `event_channel` with events in place), because a lossy ring has no right
//! answer.
//!
//! Its limits, and what its users do instead:
//! - A reader cannot change an event, so a stage sends a copy into the next ring, as its `topology`
//!   does. That builder makes lossy rings only, so the stages are threads of the laboratory, as in
//!   the crate's diamond example.
//! - Its ring for several producers is lossy. So each producer has a ring, and the consumer reads
//!   the rings in turn, as in the same example.
//! - It carries types with an `unsafe` promise, or arrays of words. The laboratory uses arrays.
//! - It does not tell readers that the sender is gone. A last event does ([`end`]).
//! - It has no batches if readers hold the sender back: `publish_batch` then sends one by one.
//! - It spins in all waits. `try_` calls with a yield of the CPU are another candidate, because
//!   threads can outnumber CPUs.

mod bounded; // copies in and out
mod end; // the mark after the last event
mod in_place; // events stay in their slots

use std::hint;

use crossbeam_utils::Backoff;
use photon_ring::WaitStrategy;

use self::bounded::Bounded;
use self::in_place::InPlace;
use super::contender::Entry;
use super::over_rings;

/// The name of both kinds of ring.
const NAME: &str = "photon-ring";
/// The minimum number of slots of a ring.
pub(super) const FEWEST_SLOTS: usize = 2;

/// The wait of both ends of a ring.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// A strategy of the crate for empty readers; full senders spin.
    Own(WaitStrategy),
    /// Spins for a moment, then yields the CPU.
    Yield,
}

impl Wait {
    /// Runs one iteration of a wait outside of the crate.
    #[inline]
    fn turn(self, backoff: &Backoff) {
        match self {
            Self::Own(WaitStrategy::BusySpin) => {}
            Self::Own(_) => hint::spin_loop(),
            Self::Yield => backoff.snooze(),
        }
    }
}

/// Returns every kind of bounded channel.
fn bounded() -> [Bounded; 6] {
    [
        Wait::Own(WaitStrategy::BusySpin),
        Wait::Own(WaitStrategy::YieldSpin),
        Wait::Own(WaitStrategy::BackoffSpin),
        Wait::Own(WaitStrategy::default()), // adaptive
        Wait::Own(WaitStrategy::MonitorWaitFallback),
        Wait::Yield,
    ]
    .map(Bounded)
}

/// Returns every kind of event channel.
fn in_place() -> [InPlace; 2] {
    [Wait::Own(WaitStrategy::YieldSpin), Wait::Yield].map(InPlace)
}

/// Returns the contender with each of its rings and waits.
pub(super) fn entry() -> Entry {
    let copied = bounded().into_iter().map(over_rings::contender);
    let in_place = in_place().into_iter().map(over_rings::contender);
    Entry::fastest_of(copied.chain(in_place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_learns_that_its_sender_is_gone() {
        bounded().into_iter().for_each(over_rings::assert_end_is_seen);
        in_place().into_iter().for_each(over_rings::assert_end_is_seen);
    }
}
