//! What a thread does between turns in which there was nothing to do. A thread with a CPU of its
//! own asks again at once. Others yield, and where roles share threads they park after a while,
//! until something is sent to them or something is due.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, Thread};
use std::time::Duration;

use super::Turn;

/// A thread yields for this long before it parks: sleeping and waking cost as much.
const YIELD_NS: u64 = 20_000;
/// A thread that is to wake up in less yields until then: sleep is not more precise.
const SHORTEST_SLEEP_NS: u64 = 100_000;
/// How much earlier than due a thread asks to be woken.
const WAKE_UP_NS: u64 = 60_000;
/// The longest sleep: an end without a bell is noticed after it.
const LONGEST_SLEEP_NS: u64 = 1_000_000;

/// Wakes one thread.
#[derive(Debug, Default)]
pub(in crate::commands::dispatch) struct Bell {
    /// Whether the thread parks or is about to. Written by it, read by those who send to it.
    parks: AtomicBool,
    /// The thread, once it runs.
    thread: OnceLock<Thread>,
}

impl Bell {
    /// The thread takes back its note. Relaxed: who sees it late wakes a thread that is awake.
    fn stay_awake(&self) {
        self.parks.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread if it parks. Called after something was sent to it.
    fn ring(&self) {
        // SeqCst: what was sent comes before the look; `Idle::wait` has the fence between its note
        // and its look at what was sent. So one of the two sees the other.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in `rest`; carries the thread.
        if self.parks.load(Ordering::Acquire)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// How a thread passes idle time.
#[derive(Debug)]
pub(in crate::commands::dispatch) enum Idle<'a> {
    /// It asks again.
    Spin,
    /// It lets others run, and asks again.
    Yield,
    /// It yields for a moment, then parks.
    Park {
        /// Its own bell.
        own: &'a Bell,
        /// Those of the threads that it sends to.
        receivers: Vec<&'a Bell>,
        /// Since when there was nothing to do.
        idle_since: Option<u64>,
    },
}

impl<'a> Idle<'a> {
    /// Parks; `receivers` are the threads that it sends to.
    pub(in crate::commands::dispatch) const fn park(
        own: &'a Bell,
        receivers: Vec<&'a Bell>,
    ) -> Self {
        Self::Park { own, receivers, idle_since: None }
    }

    /// Passes the time after `turn`, which began at `now`; returns when the thread was to go on. A
    /// yield that takes long counts as being kept from its roles, a sleep only beyond its end.
    pub(super) fn wait(&mut self, turn: Turn, now: u64) -> u64 {
        match self {
            Self::Spin => {}
            Self::Yield if turn.worked => {}
            Self::Yield => thread::yield_now(),
            Self::Park { own, receivers, idle_since } => {
                if turn.worked {
                    *idle_since = None;
                    own.stay_awake();
                    receivers.iter().for_each(|bell| bell.ring());
                    return now;
                }
                return rest(own, idle_since, turn, now);
            }
        }
        now
    }
}

/// Yields, then parks, as `Idle::wait`.
fn rest(own: &Bell, idle_since: &mut Option<u64>, turn: Turn, now: u64) -> u64 {
    let idle_for = now - *idle_since.get_or_insert(now);
    let wake_at = turn.next_at.saturating_sub(WAKE_UP_NS).min(now + LONGEST_SLEEP_NS);
    let sleep = wake_at.saturating_sub(now);
    if idle_for < YIELD_NS || sleep < SHORTEST_SLEEP_NS {
        own.stay_awake();
        thread::yield_now();
        return now;
    }
    // Relaxed: only this thread writes it.
    if !own.parks.load(Ordering::Relaxed) {
        own.thread.get_or_init(thread::current);
        // Release, then the fence that `Bell::ring` speaks of: one more look before it parks.
        own.parks.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        return now;
    }
    thread::park_timeout(Duration::from_nanos(sleep));
    own.stay_awake();
    wake_at
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING_SOON: Turn = Turn { worked: false, next_at: u64::MAX, done: false };

    #[test]
    fn thread_looks_once_more_between_its_note_and_its_sleep() {
        let bell = Bell::default();
        let mut idle = Idle::park(&bell, Vec::new());
        idle.wait(NOTHING_SOON, 0);
        assert!(!bell.parks.load(Ordering::Relaxed), "it yields first");
        idle.wait(NOTHING_SOON, YIELD_NS);
        assert!(bell.parks.load(Ordering::Relaxed), "it notes that it will park, and does not yet");

        bell.ring(); // what comes now does not let it sleep
        idle.wait(NOTHING_SOON, YIELD_NS);
        assert!(!bell.parks.load(Ordering::Relaxed));
    }

    #[test]
    fn thread_that_is_wanted_soon_does_not_park() {
        let bell = Bell::default();
        let mut idle = Idle::park(&bell, Vec::new());
        let soon = Turn { next_at: YIELD_NS + SHORTEST_SLEEP_NS, ..NOTHING_SOON };
        for now in [0, YIELD_NS, YIELD_NS + 1] {
            idle.wait(soon, now);
            assert!(!bell.parks.load(Ordering::Relaxed), "now={now}");
        }
    }
}
