//! Which of several idle workers sleeps where an event wakes it, when an event is for one of them. Not here:
//! which event count that is (`waiting`).
//!
//! ```text
//! vacant ──> a worker takes the watch ──> it sleeps on the publication, or the stage before
//!    ^                                                     │ woken, or spuriously
//!    └── no follower to wake <──── it hands on the watch <─┘
//!                                       │ wakes one follower
//!                                       v
//!                            that one takes the watch
//! ```
//!
//! An event is for one worker, so it wakes one: the watcher. The others follow: each sleeps on an event count
//! of its own until it is handed the watch. The watcher hands it on before it looks for an event. The next
//! event then finds a watcher while this one is handled, and a worker that finds more than it can claim has
//! woken the next.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::event_count::EventCount;
use crate::sync::{AtomicU32, Ordering};

/// Which of several waiters watches; empty where there are none.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// 1 while a waiter has the watch, else 0.
    is_taken: AtomicU32,
    /// For each waiter, where it sleeps while it follows. No other thread sleeps there.
    benches: Box<[EventCount]>,
}

impl Watch {
    /// The watch of `count` waiters.
    pub(crate) fn new(count: usize) -> Self {
        let benches = (0..count).map(|_| EventCount::default()).collect();
        Self { is_taken: AtomicU32::new(0), benches }
    }

    /// The turn of one waiter.
    pub(crate) fn turn(&self, waiter: usize) -> Turn<'_> {
        Turn { watch: self, waiter }
    }

    /// Wakes all followers, each of which has marked its event count, to check again. The caller has stored
    /// what they must see and then run the light fence (O6).
    pub(crate) fn wake_all(&self) {
        for bench in &self.benches {
            bench.notify();
        }
    }

    fn is_vacant(&self) -> bool {
        // O29, Relaxed: ordered after the mark of the follower by the heavy fence.
        self.is_taken.load(Ordering::Relaxed) == 0
    }
}

/// The part of one waiter in the watch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    watch: &'a Watch,
    waiter: usize,
}

impl Turn<'_> {
    /// Takes the watch if it is vacant.
    pub(crate) fn take_watch(self) -> bool {
        let is_taken = &self.watch.is_taken;
        // O29, Relaxed: one modification order decides which thread was first.
        is_taken.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Sleeps while another waiter watches. Returns whether this one now has the watch. If not, `time_left`
    /// has passed, it `is_over`, or the wake was spurious.
    pub(crate) fn follow(
        self,
        fence: AsymmetricFence,
        time_left: impl Fn() -> Option<Duration>,
        is_over: impl Fn() -> bool,
    ) -> bool {
        let bench = &self.watch.benches[self.waiter];
        loop {
            bench.park(fence, &time_left, || is_over() || self.watch.is_vacant());
            if bench.take_mark() {
                return false;
            }
            // A woken follower must make sure that some waiter watches.
            if self.take_watch() {
                return true;
            }
        }
    }

    /// Gives up the watch and wakes one follower.
    pub(crate) fn hand_on_watch(self, fence: AsymmetricFence) {
        // O29, Relaxed: ordered before the check for followers by the light fence.
        self.watch.is_taken.store(0, Ordering::Relaxed);
        // O29: between the watch and the check for followers.
        fence.light();
        let _ = self.watch.benches.iter().any(EventCount::notify);
    }
}
