//! Who of the idle workers of a group sleeps where an event wakes it. Not here: how they sleep (`wait`).
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

use super::Group;
use crate::padded::Padded;
use crate::sync::{AtomicU32, Ordering};

/// Whether somebody watches.
#[derive(Debug, Default)]
pub(super) struct Watch(Padded<AtomicU32>);

impl Watch {
    /// Takes the watch, if nobody has it.
    fn take(&self) -> bool {
        // O29, Relaxed: one modification order says who was the first.
        self.0.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn is_vacant(&self) -> bool {
        // O29, Relaxed: ordered after the mark of the follower by the heavy fence.
        self.0.load(Ordering::Relaxed) == 0
    }

    fn leave(&self) {
        // O29, Relaxed: ordered before the look for followers by the light fence.
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The place of one worker among those of its group that have nothing to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(super) group: &'a Group,
    pub(super) worker: usize,
}

impl Turn<'_> {
    /// Takes the watch, if nobody has it.
    pub(crate) fn take_watch(self) -> bool {
        self.group.watch.take()
    }

    /// Sleeps while another one watches. Returns whether it has the watch now; if not, `time_left` has
    /// passed or it `is_over`, or for no reason.
    pub(crate) fn follow(
        self,
        time_left: impl Fn() -> Option<Duration>,
        is_over: impl Fn() -> bool,
    ) -> bool {
        let Group { control, watch, .. } = self.group;
        let bench = &control.stages[self.group.word_of(self.worker)].bench;
        while bench.park_alone(control.fence, &time_left, || is_over() || watch.is_vacant()) {
            // Whoever was woken has to see to it that somebody watches.
            if watch.take() {
                return true;
            }
        }
        false
    }

    /// Gives up the watch, and wakes one of those who follow.
    pub(crate) fn hand_on_watch(self) {
        let Group { control, watch, .. } = self.group;
        watch.leave();
        // O29: between the watch and the look for followers.
        control.fence.light();
        let followers = self.group.words_of_workers().iter();
        let _ = followers.copied().any(|word| control.stages[word].bench.notify());
    }
}

impl Group {
    /// Where `worker` stands among those that have nothing to do.
    pub(crate) fn turn_of(&self, worker: usize) -> Turn<'_> {
        Turn { group: self, worker }
    }
}
