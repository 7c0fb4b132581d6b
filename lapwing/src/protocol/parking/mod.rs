//! Parking: a thread blocks until another one advances a word. While no thread is parked, this
//! costs the advancing thread one load.
//!
//! ```text
//! Awaited         what a thread waits for, and where it parks
//! event_count     a waiter marks it, and a thread that advances the sequence checks the mark
//! word            the word of an event count: an epoch, a mark and two flags
//! asymmetric      the fences between a sequence that advances and the mark
//! released        the two event counts of a stage: any release, and a quarter of the ring
//! watch           which idle worker an event wakes, when an event is for one of several
//! places          where producers park that wait for other producers
//! futex           blocks a thread, on Linux
//! portable        blocks a thread, on other systems and in models
//! ```
//!
//! Not here: how long a thread spins or yields before it parks (`wait`).

pub(crate) mod asymmetric;
pub(crate) mod event_count;
#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
mod futex;
pub(crate) mod places;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
mod portable;
pub(crate) mod released;
pub(crate) mod watch;
mod word;

use std::time::Duration;

use event_count::EventCount;
#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
use futex::Futex as Sleepers;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
use portable::Portable as Sleepers;
use watch::Turn;

/// What a thread waits for: a publication, upstream stages, or the gate of a full ring.
pub(crate) trait Awaited {
    /// Whether the wait is over, because the sequence is reached or never will be.
    fn is_over(&self) -> bool;

    /// A cheaper check, for a thread that polls. True means that the wait is over. False means that
    /// it was not over a moment ago. Before it parks, a thread calls [`is_over`](Self::is_over).
    fn seems_over(&self) -> bool {
        self.is_over()
    }

    /// Returns where to park: the event count of something that is behind at present. A thread that
    /// has marked an event count calls this again, and parks only if it gets the same one. `None`
    /// means that nothing is behind, and the thread checks again.
    fn event_count(&self) -> Option<&EventCount>;

    /// Returns the turn of this thread, if several threads wait for an event that is for one of
    /// them.
    fn turn(&self) -> Option<Turn<'_>> {
        None
    }

    /// Returns the longest time to stay parked, for a thread that another one may not wake in time.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }
}
