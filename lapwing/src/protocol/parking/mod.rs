//! Sleeping until another thread advances a word, at no cost to that thread but one load while none sleeps.
//!
//! ```text
//! Awaited         what a thread waits for, and where it sleeps until then
//! event_count     a place to sleep: marked by a sleeper, looked at by whatever advances the word
//! word            the word of such a place: an epoch, a mark and two flags
//! asymmetric      the fences between the word that advances and the mark
//! released        the two places of a stage: anything released, and room for a producer
//! watch           one place for several sleepers, one of whom an event is for
//! ```
//!
//! Not here: how long to spin or to yield before a thread sleeps (`wait`).

pub(crate) mod asymmetric;
pub(crate) mod event_count;
#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
mod futex;
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

/// What a thread waits for: a publication, stages before it, or the gate of a full ring.
pub(crate) trait Awaited {
    /// Whether it is there, or will never come.
    fn is_over(&self) -> bool;

    /// A cheaper look, for a thread that looks again and again. If true, the wait is over; if false, it is not, or has been
    /// for a moment only. A thread that is about to sleep asks [`is_over`](Self::is_over).
    fn seems_over(&self) -> bool {
        self.is_over()
    }

    /// Where to sleep: the place of something that is behind just now. A thread that has marked the place asks again, and
    /// sleeps only if the answer is still the same place. `None` if nothing is behind: then the thread looks again.
    fn event_count(&self) -> Option<&EventCount>;

    /// The thread's turn to sleep there, if it is one of several and an event is for one of them.
    fn turn(&self) -> Option<Turn<'_>> {
        None
    }

    /// Longest sleep there at a time, for a thread that another one may not wake in time.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }
}
