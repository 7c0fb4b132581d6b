//! Parking: a thread blocks until another one advances a word. While no thread is parked, this
//! costs the advancing thread one load.
//!
//! ```text
//! Awaited         what a thread waits for, and where it parks
//! event_count     a waiter marks it, and a thread that advances the sequence checks the mark
//! word            the word of an event count: an epoch, a mark and two flags
//! asymmetric      the fences between a sequence that advances and the mark
//! released        the two event counts of a stage: any release, and a quarter of the ring
//! places          where producers park that wait for other producers
//! tasks           the wakers of tasks that wait where threads park
//! watch           which idle worker an event wakes, when an event is for one of several
//! futex           blocks a thread, on Linux
//! portable        blocks a thread, on other systems and in models
//! ```
//!
//! Not here: the steps of a thread that parks (`control::waiting`), and how long a thread spins or
//! yields before it parks (`lapwing::wait`).

pub(crate) mod asymmetric;
#[cfg(not(any(loom, miri, lapwing_portable, not(target_os = "linux"))))]
mod futex;
#[cfg(any(loom, miri, lapwing_portable, not(target_os = "linux")))]
mod portable;

mod tasks;
mod word;

pub(crate) mod event_count;

mod places;
pub(crate) mod released;
pub(crate) mod watch;

use asymmetric::AsymmetricFence;
pub use event_count::EventCount;
pub use places::Places;
pub use tasks::TaskPlace;
pub use watch::Turn;

use crate::padded::Padded;

/// What a thread waits for: a publication, upstream stages, or the gate of a full ring.
pub trait Awaited {
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
    ///
    /// The event count is one of the ring in which the thread waits. Nothing in that ring wakes a
    /// thread that parks on one of another ring.
    fn event_count(&self) -> Option<&EventCount>;

    /// Returns the turn of this thread, if several threads wait for an event that is for one of
    /// them.
    fn turn(&self) -> Option<Turn<'_>> {
        None
    }
}

/// A party that records the parks of a thread.
pub trait Sleeper {
    /// Records that the thread is about to park.
    fn lie_down(&self);

    /// Records that the thread runs again.
    fn get_up(&self, is_woken: bool);
}

/// How the threads of a ring wait.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waits {
    /// Whether any thread of the ring may park. Threads that advance a word then check for parked
    /// threads.
    pub parks: bool,
    /// Whether a thread may run several stages, and park until any of them has something to do.
    pub shares_threads: bool,
}

/// The event count of publications, and which threads check for parked threads.
#[derive(Debug)]
pub(crate) struct Parking {
    /// The event count of stages that wait for a publication, and of threads that run several
    /// stages, which wait for any advance. Its flags tell producers that the ring has ended, or
    /// that the slow path is needed.
    published: Padded<EventCount>,
    /// Where producers park that wait for other producers. The end of the ring wakes them.
    places: Places,
    fence: AsymmetricFence,
    /// Whether any waiter of this ring may park. Threads that advance a word then check for parked
    /// threads.
    is_signalled: bool,
    /// Whether a thread runs several stages. Threads that release events then check for it.
    shares_threads: bool,
}

impl Parking {
    pub(crate) fn new(is_multi: bool, waits: Waits) -> Self {
        let Waits { parks: is_signalled, shares_threads } = waits;
        let (places, fence) = (Places::new(is_multi), AsymmetricFence::detect());
        let published = Padded(EventCount::with_tasks());
        Self { published, places, fence, is_signalled, shares_threads }
    }

    /// The places of producers that wait for others.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// The event count of publications.
    #[inline]
    pub(crate) fn published(&self) -> &EventCount {
        &self.published
    }

    #[inline]
    pub(crate) fn fence(&self) -> AsymmetricFence {
        self.fence
    }

    /// Sets the kind of fence, for a test.
    #[cfg(all(test, not(any(loom, miri))))]
    pub(crate) fn set_fence(&mut self, fence: AsymmetricFence) {
        self.fence = fence;
    }

    #[inline]
    pub(crate) fn is_signalled(&self) -> bool {
        self.is_signalled
    }

    #[inline]
    pub(crate) fn shares_threads(&self) -> bool {
        self.shares_threads
    }

    /// Wakes the threads that wait for a publication. The caller has run the light fence after its
    /// publication (O6). In a ring where no thread parks, this costs as little as a test of
    /// `is_signalled`.
    #[inline]
    pub(crate) fn notify_published(&self) {
        self.published.notify();
    }

    /// Wakes the threads that run several stages.
    #[inline]
    pub(crate) fn notify_shared_threads(&self) {
        if self.shares_threads {
            self.notify_published();
        }
    }
}
