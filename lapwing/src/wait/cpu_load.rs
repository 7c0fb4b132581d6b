//! Whether the threads of a ring need more CPUs than they get: oversubscription. No strategy of this library
//! then spins, except `BusySpin`, and `PhasedBackoff` in its first phase. Not here: how many threads may spin
//! otherwise (`spinner`).
//!
//! Each thread measures how long its own yields take, and records the result in a word of the ring. All
//! threads of the ring therefore know. A thread with a CPU to itself would otherwise spin there while two
//! others share the next CPU.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::protocol::control::Control;
use crate::sync::{Figure, Ordering, yield_now};

/// After a yield that let another thread run, this many must let none run before the oversubscription is
/// over: half a millisecond.
const YIELDS_ALONE: u64 = 1024;
/// One store records this many yields of one thread. All threads load that cache line: with a store for each
/// yield, every turn of every other thread waited for it.
const YIELDS_PER_STORE: u64 = 32;
/// A longer yield let another thread run; one that lets none run takes half a microsecond.
const LONG: Duration = Duration::from_nanos(1_500);
/// Two long yields of one thread within this time are oversubscription. A tick of the system clock also makes
/// a yield long, but comes at most once a millisecond.
const TOGETHER: Duration = Duration::from_micros(900);

thread_local! {
    /// The end of this thread's last long yield that was considered.
    static LAST_LONG: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Yields of this thread that let no other run and are not recorded yet.
    static UNNOTED: Cell<u64> = const { Cell::new(0) };
}

#[cfg(all(test, not(loom)))]
thread_local! {
    /// Yields of this thread.
    pub(super) static YIELDS: Cell<u64> = const { Cell::new(0) };
}

/// The result of a yield, and how long it took.
#[derive(Debug, Clone, Copy)]
pub(super) enum Yield {
    /// No other thread ran.
    Alone(Duration),
    /// Another thread ran.
    LetRun(Duration),
}

/// The oversubscription of one ring: the number of yields that must let no other thread run until it is over;
/// 0 for none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuLoad<'a>(&'a Figure);

impl<'a> CpuLoad<'a> {
    /// The load of the ring of `control`.
    pub(crate) fn of(control: &'a Control) -> Self {
        Self(&control.oversubscription)
    }

    /// The load that the word `yields_left` holds.
    #[cfg(all(test, not(loom)))]
    pub(super) fn by(yields_left: &'a Figure) -> Self {
        Self(yields_left)
    }

    /// Whether threads wait for a CPU.
    pub(super) fn is_oversubscribed(self) -> bool {
        self.left() > 0
    }

    /// Yields, and records whether another thread ran.
    pub(super) fn give_way(self) -> Yield {
        #[cfg(all(test, not(loom)))]
        YIELDS.set(YIELDS.get() + 1);
        let start = Instant::now();
        yield_now();
        self.note(start, Instant::now())
    }

    /// Records a yield. A single long one is not oversubscription.
    fn note(self, start: Instant, end: Instant) -> Yield {
        let time = end - start;
        if time <= LONG {
            self.saw_nobody();
            return Yield::Alone(time);
        }
        // Rarely stored, since the other threads load this line before each wait.
        if self.left() < YIELDS_ALONE / 2 {
            if !is_second(end) {
                return Yield::Alone(time);
            }
            self.saw_others();
        }
        Yield::LetRun(time)
    }

    /// Records that another thread ran.
    pub(super) fn saw_others(self) {
        UNNOTED.set(0);
        self.set(YIELDS_ALONE);
    }

    /// Records that a yield let no other thread run.
    pub(super) fn saw_nobody(self) {
        let left = self.left();
        if left == 0 {
            return;
        }
        let unnoted = UNNOTED.get() + 1;
        UNNOTED.set(unnoted % YIELDS_PER_STORE);
        if unnoted == YIELDS_PER_STORE {
            self.set(left.saturating_sub(unnoted));
        }
    }

    fn left(self) -> u64 {
        // O13, Relaxed: a figure. If a store of another thread overwrites one, the next corrects it.
        self.0.load(Ordering::Relaxed)
    }

    fn set(self, left: u64) {
        // O13, Relaxed: as in `left`.
        self.0.store(left, Ordering::Relaxed);
    }
}

/// Whether a long yield that has ended now came shortly after another one of this thread.
fn is_second(now: Instant) -> bool {
    let last = LAST_LONG.replace(Some(now));
    last.is_some_and(|last| now.saturating_duration_since(last) <= TOGETHER)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    /// Records a yield of the given nanoseconds, the given microseconds after `began`.
    fn note(ring: CpuLoad<'_>, began: Instant, (ns, after): (u64, u64)) {
        let start = began + Duration::from_micros(after);
        _ = ring.note(start, start + Duration::from_nanos(ns));
    }

    /// Whether there is oversubscription after these yields, the first of this thread.
    fn is_oversubscribed_after(yields: &[(u64, u64)]) -> bool {
        LAST_LONG.set(None);
        let (word, began) = (Figure::new(0), Instant::now());
        let ring = CpuLoad::by(&word);
        yields.iter().for_each(|&one| note(ring, began, one));
        ring.is_oversubscribed()
    }

    /// A tick of the system clock counted as oversubscription, for at least a thousand yields.
    #[test]
    fn two_yields_that_take_long_are_oversubscription_when_they_come_together() {
        assert!(!is_oversubscribed_after(&[(400, 10), (400, 20)]));
        assert!(!is_oversubscribed_after(&[(4_000, 0), (400, 20), (400, 30)]));
        assert!(is_oversubscribed_after(&[(4_000, 10), (400, 20), (2_000, 30)]));
        assert!(!is_oversubscribed_after(&[(4_000, 10), (4_000, 1_010), (4_000, 2_010)]), "ticks");
        assert!(is_oversubscribed_after(&[(4_000, 10), (4_000, 1_010), (4_000, 1_020)]));
    }

    #[test]
    fn yields_that_let_nobody_run_are_noted_many_at_a_time() {
        let word = Figure::new(0);
        let ring = CpuLoad::by(&word);
        ring.saw_others();
        let left_after = |yields: u64| {
            (0..yields).for_each(|_| ring.saw_nobody());
            ring.left()
        };
        let noted = thread::scope(|scope| {
            let yields = [YIELDS_PER_STORE - 1, 1, YIELDS_PER_STORE];
            scope.spawn(move || yields.map(left_after)).join().unwrap()
        });
        let after = |stores| YIELDS_ALONE - stores * YIELDS_PER_STORE;
        assert_eq!(noted, [after(0), after(1), after(2)]);
    }

    #[test]
    fn oversubscription_that_fades_is_not_renewed_by_a_tick() {
        LAST_LONG.set(None);
        let (word, began) = (Figure::new(0), Instant::now());
        let ring = CpuLoad::by(&word);
        let long = |after| note(ring, began, (4_000, after));
        long(10);
        long(20);
        assert_eq!(ring.left(), YIELDS_ALONE);
        (0..YIELDS_ALONE / 2 + YIELDS_PER_STORE).for_each(|_| ring.saw_nobody());
        long(1_020);
        assert_eq!(ring.left(), YIELDS_ALONE / 2 - YIELDS_PER_STORE);
        long(1_030);
        assert_eq!(ring.left(), YIELDS_ALONE);
    }
}
