//! The wait of a thread after a turn without work. A thread with its own CPU polls again at once.
//! Others yield. If roles share threads, a thread parks after a while, until a message arrives or a
//! due time comes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, Thread};
use std::time::Duration;

use super::Turn;

/// A thread yields for this long before it parks. Parking and waking cost about as much.
const YIELD_NS: u64 = 20_000;
/// A thread that must wake up earlier than this yields instead of sleeping, because a sleep is not
/// more precise.
const SHORTEST_SLEEP_NS: u64 = 100_000;
/// How much earlier than its due time a thread wakes up.
const WAKE_UP_NS: u64 = 60_000;
/// The longest sleep. After it, a thread notices an end that does not ring its bell.
const LONGEST_SLEEP_NS: u64 = 1_000_000;

/// Wakes one thread.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    /// Whether the thread is parked or about to park. The thread writes it, and its senders read
    /// it.
    parks: AtomicBool,
    /// The thread, once it runs.
    thread: OnceLock<Thread>,
}

impl Bell {
    /// Clears the flag of the thread. Relaxed: a sender that sees it late wakes a running thread,
    /// which is harmless.
    fn stay_awake(&self) {
        self.parks.store(false, Ordering::Relaxed);
    }

    /// Wakes the thread if it is parked. Called after a message was sent to it.
    fn ring(&self) {
        // SeqCst: the message comes before the read of the flag. `rest` has a fence between its
        // store of the flag and the last poll. So at least one of the two threads sees the other's
        // store.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in `rest`; carries the thread.
        if self.parks.load(Ordering::Acquire)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// The wait of a thread without work.
#[derive(Debug)]
pub(crate) enum Idle<'a> {
    /// It polls again at once.
    Spin,
    /// It yields the CPU and polls again.
    Yield,
    /// It yields for a moment, then parks.
    Park {
        /// Its own bell.
        own: &'a Bell,
        /// The bells of the threads that it sends to.
        receivers: Vec<&'a Bell>,
        /// The start of the time without work.
        idle_since: Option<u64>,
    },
}

impl<'a> Idle<'a> {
    /// Creates a wait that parks. `receivers` are the threads that it sends to.
    pub(crate) const fn park(own: &'a Bell, receivers: Vec<&'a Bell>) -> Self {
        Self::Park { own, receivers, idle_since: None }
    }

    /// Waits after `turn`, which began at `now`. Returns the time at which the thread should have
    /// continued. A long yield counts as a stall, a sleep only beyond its end.
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

/// Yields, then parks, as described at `Idle::wait`.
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
        // Release, then the fence that `Bell::ring` mentions: one more poll before it parks.
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

    const NOTHING_SOON: Turn = Turn { worked: false, next_at: u64::MAX };

    #[test]
    fn thread_looks_once_more_between_its_note_and_its_sleep() {
        let bell = Bell::default();
        let mut idle = Idle::park(&bell, Vec::new());
        idle.wait(NOTHING_SOON, 0);
        assert!(!bell.parks.load(Ordering::Relaxed), "it yields first");
        idle.wait(NOTHING_SOON, YIELD_NS);
        assert!(bell.parks.load(Ordering::Relaxed), "it notes that it will park, and does not yet");

        bell.ring(); // a message from now on keeps it awake
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
