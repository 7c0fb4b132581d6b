//! Whether the threads of a ring want more CPUs than they get: then none of them spins, but for who was told to for as long as it
//! takes (`BusySpin`) or for a time (`PhasedBackoff`). Each finds out by
//! the time that its own yields take, and all know of it: who has a CPU to itself just now would
//! otherwise spin there while two others share the next.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::sync::{Figure, Ordering, yield_now};

/// After a yield that let somebody else run, so many have to let nobody run before the crowd is gone:
/// half a millisecond.
const YIELDS_ALONE: u64 = 1024;
/// So many of one thread are noted by one store. The line is everybody's: a store for each made every turn of every other
/// thread wait for it.
const YIELDS_PER_STORE: u64 = 32;
/// A yield that takes longer than this let somebody else run; one that lets nobody run takes half a
/// microsecond.
const CROWDED: Duration = Duration::from_nanos(1_500);
/// Two of those of one thread within this time are a crowd. A tick of the system's clock makes a yield take as long, but comes
/// once in a millisecond at most.
const TOGETHER: Duration = Duration::from_micros(900);

thread_local! {
    /// When the last yield of this thread ended that took long and was noted.
    static LAST_LONG: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Yields of this thread that let nobody run and are not noted yet.
    static UNNOTED: Cell<u64> = const { Cell::new(0) };
}

#[cfg(all(test, not(loom)))]
thread_local! {
    /// Yields of this thread.
    pub(super) static YIELDS: Cell<u64> = const { Cell::new(0) };
}

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
        #[cfg(all(test, not(loom)))]
        YIELDS.set(YIELDS.get() + 1);
        let start = Instant::now();
        yield_now();
        self.note(start, Instant::now())
    }

    /// Notes a yield. One alone that takes long makes no crowd.
    fn note(&self, start: Instant, end: Instant) -> Yield {
        let time = end - start;
        if time <= CROWDED {
            self.saw_nobody();
            return Yield::Alone(time);
        }
        // Seldom, since the others look at this line before each of their waits.
        if self.left() < YIELDS_ALONE / 2 {
            if !is_second(end) {
                return Yield::Alone(time);
            }
            self.saw_others();
        }
        Yield::LetRun(time)
    }

    /// Others run.
    pub(super) fn saw_others(&self) {
        UNNOTED.set(0);
        self.set(YIELDS_ALONE);
    }

    /// A yield let nobody run.
    pub(super) fn saw_nobody(&self) {
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

    fn left(&self) -> u64 {
        // O13, Relaxed: a figure. One that is lost to another thread's is made good by the next.
        self.yields_left.load(Ordering::Relaxed)
    }

    fn set(&self, left: u64) {
        // O13, Relaxed: as in `left`.
        self.yields_left.store(left, Ordering::Relaxed);
    }
}

/// Whether a yield that took long, and has ended now, came shortly after another one of this thread.
fn is_second(now: Instant) -> bool {
    let last = LAST_LONG.replace(Some(now));
    last.is_some_and(|last| now.saturating_duration_since(last) <= TOGETHER)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    /// Notes a yield of so many nanoseconds, so many microseconds after `began`.
    fn note(crowd: &Crowd, began: Instant, (ns, after): (u64, u64)) {
        let start = began + Duration::from_micros(after);
        _ = crowd.note(start, start + Duration::from_nanos(ns));
    }

    /// Whether there is a crowd after these yields of a thread that has made no others.
    fn is_crowd_after(yields: &[(u64, u64)]) -> bool {
        LAST_LONG.set(None);
        let (crowd, began) = (Crowd::default(), Instant::now());
        yields.iter().for_each(|&one| note(&crowd, began, one));
        crowd.is_there()
    }

    /// A tick of the system's clock was a crowd, for at least a thousand yields.
    #[test]
    fn yields_that_take_long_are_a_crowd_when_there_are_two_of_them_together() {
        assert!(!is_crowd_after(&[(400, 10), (400, 20)]));
        assert!(!is_crowd_after(&[(4_000, 0), (400, 20), (400, 30)]));
        assert!(is_crowd_after(&[(4_000, 10), (400, 20), (2_000, 30)]));
        assert!(!is_crowd_after(&[(4_000, 10), (4_000, 1_010), (4_000, 2_010)]), "ticks");
        assert!(is_crowd_after(&[(4_000, 10), (4_000, 1_010), (4_000, 1_020)]));
    }

    #[test]
    fn yields_that_let_nobody_run_are_noted_many_at_a_time() {
        let crowd = Crowd::default();
        crowd.saw_others();
        let left_after = |yields: u64| {
            (0..yields).for_each(|_| crowd.saw_nobody());
            crowd.left()
        };
        let noted = thread::scope(|scope| {
            let yields = [YIELDS_PER_STORE - 1, 1, YIELDS_PER_STORE];
            scope.spawn(move || yields.map(left_after)).join().unwrap()
        });
        let after = |stores| YIELDS_ALONE - stores * YIELDS_PER_STORE;
        assert_eq!(noted, [after(0), after(1), after(2)]);
    }

    #[test]
    fn a_crowd_that_fades_is_not_renewed_by_a_tick() {
        LAST_LONG.set(None);
        let (crowd, began) = (Crowd::default(), Instant::now());
        let long = |after| note(&crowd, began, (4_000, after));
        long(10);
        long(20);
        assert_eq!(crowd.left(), YIELDS_ALONE);
        (0..YIELDS_ALONE / 2 + YIELDS_PER_STORE).for_each(|_| crowd.saw_nobody());
        long(1_020);
        assert_eq!(crowd.left(), YIELDS_ALONE / 2 - YIELDS_PER_STORE);
        long(1_030);
        assert_eq!(crowd.left(), YIELDS_ALONE);
    }
}
