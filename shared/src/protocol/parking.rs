//! How a thread sleeps until another one advances what it waits for, whichever process that runs in.

use std::time::{Duration, Instant};

use super::Shared;
use crate::deadline::left;
use crate::event_count::EventCount;
use crate::fences::{Fences, heavy};
use crate::sync::Ordering;

/// Longest sleep of a thread that the other side may not see: 50 µs. With its default timer slack,
/// Linux makes shorter ones about as long.
const UNSEEN_SLEEP: Duration = Duration::from_micros(50);

/// Parks at `place` until a thread that advances wakes this one, until `deadline`, or
/// spuriously. Returns at once if the wait `is_over`. `relies` says whether a process on the other
/// side relies on `membarrier`.
pub(crate) fn park(
    place: &EventCount,
    deadline: Option<Instant>,
    relies: impl FnOnce() -> bool,
    is_over: impl FnOnce() -> bool,
) {
    let seen = place.mark();
    let is_seen = heavy(relies);
    if is_over() {
        return;
    }
    let unseen = (!is_seen).then_some(UNSEEN_SLEEP);
    let time = [left(deadline), unseen].into_iter().flatten().min();
    place.sleep(seen, time);
}

/// Sleeps at `place` for `time`, unless the wait `is_over`. An advance does not wake the thread, so it
/// costs the other side nothing.
pub(crate) fn sleep(place: &EventCount, time: Duration, is_over: impl FnOnce() -> bool) {
    // P6: loaded before the check. A thread that wakes all others stores before it advances the epoch.
    let seen = place.current();
    if !is_over() {
        place.sleep(seen, Some(time));
    }
}

impl Shared<'_> {
    /// Whether any writer relies on `membarrier`.
    pub(crate) fn does_a_writer_rely(self) -> bool {
        // P5, Relaxed: a fence precedes.
        let alone = self.words.life.0.writer_fences.load(Ordering::Relaxed);
        let others = self.writers.iter().map(|seat| seat.holder.0.fences());
        [alone].into_iter().chain(others).any(Fences::is_registered)
    }

    /// Whether any reader relies on `membarrier`.
    pub(crate) fn does_a_reader_rely(self) -> bool {
        self.seats.iter().any(|seat| Fences::is_registered(seat.holder.0.fences()))
    }
}
