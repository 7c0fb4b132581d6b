//! What the consumer of a stage is doing, for those who look from outside. Nothing in the library
//! is decided by it.
//!
//! ```text
//! word = batches << 4 | doing        one word, so that a look sees both of one moment
//!
//! nothing ──> handling <──> between batches      a batch: two stores to a line of its own
//!                 ^               │
//!                 └── waiting <───┘              a wait: one store
//!                       ^ v
//!                      parked                    a park: four
//! ```

use crate::sync::{Figure, Ordering};

/// What a consumer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Nothing yet: its code has not begun, or its poller was not asked.
    Nothing,
    /// It is between two batches.
    Between,
    /// It waits for events, by its strategy.
    Waiting,
    /// It is parked, or about to be.
    Parked,
    /// It sleeps before it tries again what has failed.
    Pausing,
    /// It is in the user's code: in a handler, or a batch is in somebody's hand.
    Handling,
    /// It has finished every event of a closed ring.
    Drained,
    /// It has stopped, since the ring is halted.
    Halted,
    /// It has stopped: its code panicked, or it never ran.
    Failed,
}

impl Doing {
    const ALL: [Self; 9] = [
        Self::Nothing,
        Self::Between,
        Self::Waiting,
        Self::Parked,
        Self::Pausing,
        Self::Handling,
        Self::Drained,
        Self::Halted,
        Self::Failed,
    ];
}

impl Doing {
    /// Of what two workers of one group do, that by which the group is known.
    pub(crate) fn busier(self, other: Self) -> Self {
        let rank = |doing: Self| match doing {
            Self::Nothing => 0,
            Self::Drained => 1,
            Self::Halted => 2,
            Self::Parked => 3,
            Self::Waiting => 4,
            Self::Between => 5,
            Self::Pausing => 6,
            Self::Handling => 7,
            Self::Failed => 8,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Bits of the word that hold what the consumer is doing.
const DOING_BITS: u32 = Doing::ALL.len().next_power_of_two().trailing_zeros();
const DOING_MASK: u64 = (1 << DOING_BITS) - 1;

/// Words of one stage, on a line of their own. Written by its consumer alone, hence a load and a
/// store, never a read-modify-write; read by monitors.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// What it is doing, and above that the number of batches that it has finished.
    word: Figure,
    /// How many times it lay down to sleep.
    parks: Figure,
    /// How many times it was woken by whom it waited for.
    wakes: Figure,
}

/// What a look at [`Activity`] sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) doing: Doing,
    pub(crate) batches: u64,
    pub(crate) parks: u64,
    pub(crate) wakes: u64,
}

impl Activity {
    /// A batch goes to the user's code.
    #[inline]
    pub(crate) fn begin_batch(&self) {
        self.set(Doing::Handling);
    }

    /// The batch is done.
    #[inline]
    pub(crate) fn end_batch(&self) {
        let batches = (load(&self.word) >> DOING_BITS) + 1;
        store(&self.word, batches << DOING_BITS | Doing::Between as u64);
    }

    /// The consumer does something else.
    #[inline]
    pub(crate) fn set(&self, doing: Doing) {
        store(&self.word, load(&self.word) & !DOING_MASK | doing as u64);
    }

    /// Forgets whoever had the words before. Nobody has them now but the caller.
    pub(crate) fn reset(&self) {
        [&self.word, &self.parks, &self.wakes].into_iter().for_each(|figure| store(figure, 0));
    }

    /// What there is to see now.
    pub(crate) fn figures(&self) -> Figures {
        let word = load(&self.word);
        Figures {
            doing: Doing::ALL[(word & DOING_MASK) as usize],
            batches: word >> DOING_BITS,
            parks: load(&self.parks),
            wakes: load(&self.wakes),
        }
    }
}

/// Whoever is told that its thread sleeps: a stage, or all that share the thread.
pub(crate) trait Sleeper {
    /// The thread is about to sleep.
    fn lie_down(&self);

    /// The thread sleeps no more.
    fn get_up(&self, is_woken: bool);
}

impl Sleeper for Activity {
    fn lie_down(&self) {
        store(&self.parks, load(&self.parks) + 1);
        self.set(Doing::Parked);
    }

    fn get_up(&self, is_woken: bool) {
        store(&self.wakes, load(&self.wakes) + u64::from(is_woken));
        self.set(Doing::Waiting);
    }
}

#[inline]
fn load(figure: &Figure) -> u64 {
    // O13, Relaxed: a look, or the thread's own word.
    figure.load(Ordering::Relaxed)
}

#[inline]
fn store(figure: &Figure, value: u64) {
    // O13, Relaxed: a figure to look at; nothing comes with it.
    figure.store(value, Ordering::Relaxed);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Activity, Doing, Sleeper};

    #[test]
    fn each_thing_done_is_seen_as_itself_and_the_batches_stay() {
        let activity = Activity::default();
        for (batches, doing) in (1..).zip(Doing::ALL) {
            activity.begin_batch();
            assert_eq!(activity.figures().doing, Doing::Handling);
            activity.end_batch();
            assert_eq!(activity.figures().doing, Doing::Between);
            activity.set(doing);
            assert_eq!((activity.figures().doing, activity.figures().batches), (doing, batches));
        }
    }

    #[test]
    fn a_park_counts_once_and_a_wake_only_if_somebody_woke_it() {
        let activity = Activity::default();
        for is_woken in [true, false, true] {
            activity.lie_down();
            assert_eq!(activity.figures().doing, Doing::Parked);
            activity.get_up(is_woken);
            assert_eq!(activity.figures().doing, Doing::Waiting);
        }
        assert_eq!((activity.figures().parks, activity.figures().wakes), (3, 2));
    }
}
