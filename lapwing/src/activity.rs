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

use lapwing_core::{Padded, Placed, Sleeper, Words};

use crate::sync::{Figure, Ordering};

/// What a consumer is doing. The order is a part of the layout of a ring's file (`ring_file::VERSION`).
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

/// The words of one stage, on a cache line of their own. A clone is the same words. Only the stage's
/// consumer stores them, so it uses a load and a store instead of a read-modify-write. Monitors load
/// them.
///
/// A dynamic stage has one consumer after another. A consumer that gives its dynamic stage back
/// gets words that no monitor loads (`StageReader::leave`), and `DynamicStages` orders its last
/// store before the next consumer.
#[derive(Debug, Clone)]
pub(crate) struct Activity(Placed<ActivityWords>);

/// Its words: [`WORD`], [`PARKS`] and [`WAKES`].
pub(crate) type ActivityWords = Padded<[Figure; 3]>;

/// The word with the activity, and above it the number of finished batches.
const WORD: usize = 0;
/// The number of parks.
const PARKS: usize = 1;
/// The number of parks that ended with a wake-up.
const WAKES: usize = 2;

/// The values of an [`Activity`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) doing: Doing,
    pub(crate) batches: u64,
    pub(crate) parks: u64,
    pub(crate) wakes: u64,
}

impl Activity {
    /// Places the words of a stage.
    pub(crate) fn new(words: &mut Words) -> Self {
        Self(words.place(Padded::default()))
    }

    /// Has the words of a stage of another process.
    pub(crate) fn of(words: Placed<ActivityWords>) -> Self {
        Self(words)
    }

    /// Returns the words.
    pub(crate) fn words(&self) -> &ActivityWords {
        &self.0
    }

    /// Creates words that no monitor loads.
    pub(crate) fn unseen() -> Self {
        Self::new(&mut Words::private())
    }

    /// Records that a batch goes to user code.
    #[inline]
    pub(crate) fn begin_batch(&self) {
        self.set(Doing::Handling);
    }

    /// Records that the batch is finished.
    #[inline]
    pub(crate) fn end_batch(&self) {
        let batches = (load(&self.0[WORD]) >> DOING_BITS) + 1;
        store(&self.0[WORD], batches << DOING_BITS | Doing::Between as u64);
    }

    /// Records another activity.
    #[inline]
    pub(crate) fn set(&self, doing: Doing) {
        store(&self.0[WORD], load(&self.0[WORD]) & !DOING_MASK | doing as u64);
    }

    /// Clears the words for the next consumer of a dynamic stage. Only the caller may use the words
    /// at this time.
    pub(crate) fn reset(&self) {
        self.0.iter().for_each(|figure| store(figure, 0));
    }

    /// Returns the current values.
    pub(crate) fn figures(&self) -> Figures {
        let word = load(&self.0[WORD]);
        Figures {
            doing: Doing::ALL.get((word & DOING_MASK) as usize).copied().unwrap_or(Doing::Nothing),
            batches: word >> DOING_BITS,
            parks: load(&self.0[PARKS]),
            wakes: load(&self.0[WAKES]),
        }
    }
}

impl Sleeper for Activity {
    fn lie_down(&self) {
        store(&self.0[PARKS], load(&self.0[PARKS]) + 1);
        self.set(Doing::Parked);
    }

    fn get_up(&self, is_woken: bool) {
        store(&self.0[WAKES], load(&self.0[WAKES]) + u64::from(is_woken));
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
        let activity = Activity::unseen();
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
        let activity = Activity::unseen();
        for is_woken in [true, false, true] {
            activity.lie_down();
            assert_eq!(activity.figures().doing, Doing::Parked);
            activity.get_up(is_woken);
            assert_eq!(activity.figures().doing, Doing::Waiting);
        }
        assert_eq!((activity.figures().parks, activity.figures().wakes), (3, 2));
    }
}
