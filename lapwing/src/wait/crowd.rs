//! Whether the threads of a ring want more CPUs than they get: then none of them spins. Each finds out by
//! the time that its own yields take, and all know of it: who has a CPU to itself just now would
//! otherwise spin there while two others share the next.

use std::time::{Duration, Instant};

use crate::sync::{Figure, Ordering, yield_now};

/// After a yield that let somebody else run, so many have to let nobody run before the crowd is gone:
/// half a millisecond.
const YIELDS_ALONE: u64 = 1024;
/// A yield that takes longer than this let somebody else run; one that lets nobody run takes half a
/// microsecond.
const CROWDED: Duration = Duration::from_nanos(1_500);

/// What came of a yield, and how long it took.
#[derive(Debug, Clone, Copy)]
pub(super) enum Yield {
    /// Nobody else ran.
    Alone(Duration),
    /// Somebody did.
    LetRun(Duration),
}

/// The crowd of one ring.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    /// Number of yields that have to let nobody run; 0 for no crowd.
    yields_left: Figure,
}

impl Crowd {
    /// Whether threads wait for a CPU.
    pub(super) fn is_there(&self) -> bool {
        self.left() > 0
    }

    /// Lets others run, and notes whether there are any.
    pub(super) fn give_way(&self) -> Yield {
        let start = Instant::now();
        yield_now();
        let time = start.elapsed();
        if time <= CROWDED {
            self.saw_nobody();
            Yield::Alone(time)
        } else {
            self.saw_others();
            Yield::LetRun(time)
        }
    }

    /// A yield let somebody else run.
    pub(super) fn saw_others(&self) {
        // Seldom, since the others look at this line before each of their waits.
        if self.left() < YIELDS_ALONE / 2 {
            self.set(YIELDS_ALONE);
        }
    }

    /// A yield let nobody run.
    pub(super) fn saw_nobody(&self) {
        let left = self.left();
        if left > 0 {
            self.set(left - 1);
        }
    }

    fn left(&self) -> u64 {
        // O13, Relaxed: a figure. One that is lost to another thread's is made good by the next.
        self.yields_left.load(Ordering::Relaxed)
    }

    fn set(&self, left: u64) {
        // O13, Relaxed: as in `left`.
        self.yields_left.store(left, Ordering::Relaxed);
    }
}
