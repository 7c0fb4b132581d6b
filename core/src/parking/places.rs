//! Where producers park that wait for other producers, each at a place of its own. Not here: which
//! of them waits, and which one is woken (`lapwing`).
//!
//! Both sides are rare, so both run the full fence.

use std::time::Duration;

use super::asymmetric::AsymmetricFence;
use super::event_count::EventCount;
use crate::sync::IS_CHECKED;

/// The number of places in a ring with several producers.
const PLACES: usize = if IS_CHECKED { 1 } else { 256 };

/// The places of one ring; none if it has one producer.
#[derive(Debug)]
pub struct Places(Box<[EventCount]>);

impl Places {
    /// Creates the places of a ring with one producer, or with `several`.
    pub(crate) fn new(several: bool) -> Self {
        let places = if several { PLACES } else { 0 };
        Self((0..places).map(|_| EventCount::default()).collect())
    }

    /// Returns the number of places.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Parks at `place` until woken, until `is_over`, for `longest`, or spuriously.
    ///
    /// # Panics
    ///
    /// If there is no such place.
    pub fn park(&self, place: usize, longest: Option<Duration>, is_over: impl FnOnce() -> bool) {
        self.0[place].park(AsymmetricFence::Full, || longest, is_over);
    }

    /// Wakes the producers at `place`. The caller has stored what they wait for.
    ///
    /// # Panics
    ///
    /// If there is no such place.
    pub fn wake(&self, place: usize) {
        AsymmetricFence::Full.light();
        self.0[place].notify();
    }

    /// Wakes all producers at all places. The caller has stored that the ring has ended.
    pub(crate) fn wake_all(&self) {
        if self.len() > 0 {
            // O6: between the caller's store and the check for parked producers.
            AsymmetricFence::Full.light();
            self.0.iter().for_each(|place| _ = place.notify());
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::thread;

    use super::Places;
    use crate::sync::{Arc, AtomicU64, Ordering};

    /// O6: a producer that is called, and another one whose ticket has the same place. Both wait for
    /// the word of that place, and one call wakes both.
    #[test]
    fn loom_two_producers_wait_at_one_place() {
        loom::model(|| {
            let shared = Arc::new((Places::new(true), AtomicU64::new(1)));
            let wait = |shared: Arc<(Places, AtomicU64)>| {
                move || {
                    let (places, queued) = &*shared;
                    // O13, Relaxed: like the queue of turns.
                    while queued.load(Ordering::Relaxed) == 1 {
                        places.park(0, None, || queued.load(Ordering::Relaxed) == 0);
                    }
                }
            };
            let others = [(); 2].map(|()| thread::spawn(wait(Arc::clone(&shared))));
            let (places, queued) = &*shared;
            queued.store(0, Ordering::Relaxed); // O13, Relaxed: like the queue of turns
            places.wake(0);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }
}
