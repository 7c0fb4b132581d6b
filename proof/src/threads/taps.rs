//! The tap of a stage: its readers get whole events, in order, and an exact count of those that they
//! missed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lapwing::tap::{self, TapReader, TapWriter};

use super::event::{Event, Payload};
use super::rules::must;

/// Readers of a tap.
const READERS: usize = 2;

/// The writing end, in the handler of a stage. It numbers what it writes.
pub(super) struct TapEnd {
    tap: TapWriter<Payload>,
    written: Arc<AtomicU64>,
}

impl TapEnd {
    /// Copies an event for the readers.
    pub(super) fn write(&mut self, event: &Event) {
        self.tap.write(self.tap.written(), &event.payload());
    }
}

impl Drop for TapEnd {
    fn drop(&mut self) {
        self.written.store(self.tap.written(), Ordering::Relaxed);
    }
}

impl fmt::Debug for TapEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapEnd").finish_non_exhaustive()
    }
}

/// A reader of a tap.
pub(super) struct Reader {
    tap: TapReader<Payload>,
    written: Arc<AtomicU64>,
    seed: u64,
}

/// Makes a tap with this number of slots, and its readers.
pub(super) fn tap(slots: usize, seed: u64) -> (TapEnd, Vec<Reader>) {
    let (tap, first) = tap::tap(slots).expect("the number of slots is a power of two");
    let written = Arc::new(AtomicU64::new(0));
    let reader = |_| Reader { tap: first.clone(), written: Arc::clone(&written), seed };
    let readers = (0..READERS).map(reader).collect();
    (TapEnd { tap, written }, readers)
}

impl Reader {
    /// Reads until the tap is closed. `count` is called for each event.
    ///
    /// # Errors
    ///
    /// Says which event is not whole, or which count is wrong.
    pub(super) fn read(mut self, mut count: impl FnMut()) -> Result<(), String> {
        let mut next = 0;
        for reading in self.tap.by_ref() {
            let payload: Payload = reading.event;
            must(payload.is_whole(self.seed), || format!("a tap shows a torn event: {payload:?}"))?;
            let expected = next + reading.missed;
            must(reading.sequence == expected, || {
                format!("a tap shows {} instead of {expected}", reading.sequence)
            })?;
            next = reading.sequence + 1;
            count();
        }
        // The writer counts before it closes, when both are dropped.
        let written = self.written.load(Ordering::Relaxed);
        let reported = self.tap.received() + self.tap.missed();
        must(reported == written, || format!("a tap reports {reported} events of {written}"))
    }
}
