//! Who sleeps where an event wakes it, of several that wait for an event that is for one of them: the idle
//! workers of a group. Not here: where that is (`waiting`).
//!
//! ```text
//! vacant ──> a worker takes the watch ──> it sleeps with the publication, or the stage before
//!    ^                                                     │ woken, or for no reason
//!    └── nobody to hand it to <── it hands the watch on <──┘
//!                                       │ wakes one of those who follow
//!                                       v
//!                            that one takes the watch
//! ```
//!
//! An event is for one worker, so it wakes one: the watcher. The others follow: each sleeps on a bench of
//! its own until it is handed the watch. The watcher hands it on before it looks for its event, so that
//! the next event finds a watcher while this one is handled; a worker that finds more than it can have
//! thereby wakes the next.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::event_count::EventCount;
use crate::sync::{AtomicU32, Ordering};

/// Who of several watches; empty where there are none.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Whether somebody does.
    is_taken: AtomicU32,
    /// Where each of them sleeps who does not. Nobody else ever does.
    benches: Box<[EventCount]>,
}

impl Watch {
    /// That of `count` waiters.
    pub(crate) fn new(count: usize) -> Self {
        let benches = (0..count).map(|_| EventCount::default()).collect();
        Self { is_taken: AtomicU32::new(0), benches }
    }

    /// The part of one of them.
    pub(crate) fn turn(&self, waiter: usize) -> Turn<'_> {
        Turn { watch: self, waiter }
    }

    /// Wakes all that follow, to look again. The caller has run the light fence after what they are to
    /// see (O6): all of them are marked.
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

/// The part of one of those who wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    watch: &'a Watch,
    waiter: usize,
}

impl Turn<'_> {
    /// Takes the watch, if nobody has it.
    pub(crate) fn take_watch(self) -> bool {
        let is_taken = &self.watch.is_taken;
        // O29, Relaxed: one modification order says who was the first.
        is_taken.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Sleeps while another one watches. Returns whether it has the watch now; if not, `time_left` has
    /// passed or it `is_over`, or for no reason.
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
            // Whoever was woken has to see to it that somebody watches.
            if self.take_watch() {
                return true;
            }
        }
    }

    /// Gives up the watch, and wakes one of those who follow.
    pub(crate) fn hand_on_watch(self, fence: AsymmetricFence) {
        // O29, Relaxed: ordered before the look for followers by the light fence.
        self.watch.is_taken.store(0, Ordering::Relaxed);
        // O29: between the watch and the look for followers.
        fence.light();
        let _ = self.watch.benches.iter().any(EventCount::notify);
    }
}
