//! The activity of a stage's consumer, for monitors. No decision of the library depends on it.
//!
//! ```text
//! word = batches << 4 | doing        one word, so that a monitor reads both at the same moment
//!
//! nothing ──> handling <──> between batches      a batch: two stores to a cache line of its own
//!                 ^               │
//!                 └── waiting <───┘              a wait: one store
//!                       ^ v
//!                      parked                    a park: four stores
//! ```

use lapwing_core::Sleeper;

use crate::sync::{Figure, Ordering};

/// What a consumer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Nothing yet: its code has not begun, or its poller has not been polled.
    Nothing,
    /// Between two batches.
    Between,
    /// Waiting for events, by its strategy.
    Waiting,
    /// Parked or about to park.
    Parked,
    /// Sleeping before it retries a failed event.
    Pausing,
    /// In user code: in a handler, or a batch of its poller is alive.
    Handling,
    /// Has finished every event of a closed ring.
    Drained,
    /// Stopped because the ring is halted.
    Halted,
    /// Failed: its code panicked, or it never ran.
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
    /// Returns the activity that a group shows if two of its workers have these.
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

/// Number of bits of the word that hold the activity.
const DOING_BITS: u32 = Doing::ALL.len().next_power_of_two().trailing_zeros();
const DOING_MASK: u64 = (1 << DOING_BITS) - 1;

/// The words of one stage, on a cache line of their own. Only the stage's consumer stores them, so
/// it uses a load and a store instead of a read-modify-write. Monitors load them.
///
/// A dynamic stage has one consumer after another. A consumer that gives its dynamic stage back
/// gets words that no monitor loads (`StageReader::leave`), and `DynamicStages` orders its last
/// store before the next consumer.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// The activity, and above it the number of finished batches.
    word: Figure,
    /// Number of parks.
    parks: Figure,
    /// Number of parks that ended with a wake-up.
    wakes: Figure,
}

/// The values of an [`Activity`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) doing: Doing,
    pub(crate) batches: u64,
    pub(crate) parks: u64,
    pub(crate) wakes: u64,
}

impl Activity {
    /// Records that a batch goes to user code.
    #[inline]
    pub(crate) fn begin_batch(&self) {
        self.set(Doing::Handling);
    }

    /// Records that the batch is finished.
    #[inline]
    pub(crate) fn end_batch(&self) {
        let batches = (load(&self.word) >> DOING_BITS) + 1;
        store(&self.word, batches << DOING_BITS | Doing::Between as u64);
    }

    /// Records another activity.
    #[inline]
    pub(crate) fn set(&self, doing: Doing) {
        store(&self.word, load(&self.word) & !DOING_MASK | doing as u64);
    }

    /// Clears the words for the next consumer of a dynamic stage. Only the caller may use the words
    /// at this time.
    pub(crate) fn reset(&self) {
        [&self.word, &self.parks, &self.wakes].into_iter().for_each(|figure| store(figure, 0));
    }

    /// Returns the current values.
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
    // O13, Relaxed: a figure, or the thread's own word.
    figure.load(Ordering::Relaxed)
}

#[inline]
fn store(figure: &Figure, value: u64) {
    // O13, Relaxed: a figure for monitors; it carries nothing.
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
