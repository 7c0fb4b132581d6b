//! Which of several idle workers an event wakes, when an event is for one of them. Not here: the
//! event count that this worker parks on (`wait::waiting`).
//!
//! ```text
//! vacant ──> a worker takes the watch ──> it parks on the publication, or the upstream stage
//!    ^                                                     │ woken, or spuriously
//!    └── no follower to wake <──── it hands on the watch <─┘
//!                                       │ wakes one follower
//!                                       v
//!                            that one takes the watch
//! ```
//!
//! An event is for one worker, so it wakes only one: the worker that has the *watch*. The other
//! idle workers *follow*: each parks on an event count of its own until it is handed the watch. The
//! woken worker hands the watch on before it polls for an event. The next event then finds a worker
//! with the watch while this one is being handled. A worker that finds more events than it can
//! claim has also woken the next worker.

use std::mem;
use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::event_count::EventCount;
use crate::sync::{AtomicU32, Ordering};

/// Which of several waiters has the watch; empty for a stage without workers.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// 1 while a waiter has the watch, else 0.
    is_taken: AtomicU32,
    /// For each waiter, the event count on which it parks while it follows. No other thread parks
    /// there.
    followers: Box<[EventCount]>,
}

impl Watch {
    /// Creates the watch of `count` waiters.
    pub(crate) fn new(count: usize) -> Self {
        let followers = (0..count).map(|_| EventCount::default()).collect();
        Self { is_taken: AtomicU32::new(0), followers }
    }

    /// Returns the turn of one waiter.
    pub(crate) fn turn(&self, waiter: usize) -> Turn<'_> {
        Turn { watch: self, waiter }
    }

    /// Wakes all followers, which have marked their event counts, so that they check again. The
    /// caller has stored what they must see and then run the light fence (O6).
    pub(crate) fn wake_all(&self) {
        for follower in &self.followers {
            follower.notify();
        }
    }

    fn is_vacant(&self) -> bool {
        // O29, Relaxed: ordered after the mark of the follower by the heavy fence.
        self.is_taken.load(Ordering::Relaxed) == 0
    }
}

/// One waiter's access to the watch.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    watch: &'a Watch,
    waiter: usize,
}

impl<'a> Turn<'a> {
    /// Takes the watch if it is vacant.
    pub(crate) fn take_watch(self) -> bool {
        let is_taken = &self.watch.is_taken;
        // O29, Relaxed: one modification order decides which thread was first.
        is_taken.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Parks while another waiter has the watch. Returns whether this one has the watch now. If
    /// not, `time_left` has passed, it `is_over`, or the wake-up was spurious.
    pub(crate) fn follow(
        self,
        fence: AsymmetricFence,
        time_left: impl Fn() -> Option<Duration>,
        is_over: impl Fn() -> bool,
    ) -> bool {
        let place = &self.watch.followers[self.waiter];
        loop {
            let following = Following { turn: self, fence };
            place.park(fence, &time_left, || is_over() || self.watch.is_vacant());
            mem::forget(following);
            if place.take_mark() {
                return false;
            }
            // A woken follower must make sure that some waiter has the watch.
            if self.take_watch() {
                return true;
            }
        }
    }

    /// Returns a guard of the watch, which this waiter has taken.
    pub(crate) fn watching(self, fence: AsymmetricFence) -> Watching<'a> {
        Watching { turn: self, fence }
    }

    /// Gives up the watch and wakes one follower.
    pub(crate) fn hand_on_watch(self, fence: AsymmetricFence) {
        // O29, Relaxed: ordered before the check for followers by the light fence.
        self.watch.is_taken.store(0, Ordering::Relaxed);
        // O29: between the store of the watch and the check for followers.
        fence.light();
        let _ = self.watch.followers.iter().any(EventCount::notify);
    }
}

/// The watch of a waiter. It hands the watch on when it is dropped, also if the waiter panics: the
/// followers would sleep for ever beside a watch that no thread has.
#[derive(Debug)]
pub(crate) struct Watching<'a> {
    turn: Turn<'a>,
    fence: AsymmetricFence,
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.turn.hand_on_watch(self.fence);
    }
}

/// A follower that may panic while it parks. Dropped only then.
struct Following<'a> {
    turn: Turn<'a>,
    fence: AsymmetricFence,
}

impl Drop for Following<'_> {
    #[cold]
    fn drop(&mut self) {
        let Self { turn, fence } = *self;
        // Its mark would use up the next wake-up. If it is woken already, another follower is next.
        if !turn.watch.followers[turn.waiter].take_mark() && turn.take_watch() {
            turn.hand_on_watch(fence);
        }
    }
}
