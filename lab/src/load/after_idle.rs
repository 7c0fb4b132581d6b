//! Single events after long idle periods: the delay until the waiting threads have an event. By
//! then the threads are parked, and their CPUs can be idle.
//!
//! ```text
//! sender    silence .... | stamp, publish | silence .... | stamp, publish
//! listener  parked ................. | hears it | parked ........... | hears it
//! ```

use std::thread::{self, Thread};
use std::time::Duration;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::load::paced::{Clock, sleep_until};
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, Disconnected, RunError};

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterIdle {
    /// Threads that each receive every event, at least 1.
    pub(crate) listeners: usize,
    /// Events of the run, at least 1.
    pub(crate) events: u32,
    /// The idle period before each event.
    pub(crate) silence: Duration,
}

/// Sends the events.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    clock: Clock,
    run: AfterIdle,
}

/// Receives the events.
#[derive(Debug)]
pub(crate) struct Listener {
    clock: Clock,
    /// Nanoseconds from each event's stamp to its receipt.
    delays: Vec<u64>,
}

/// The result of a run: for each event, the delay of each listener, in nanoseconds, in ascending
/// order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    events: Vec<Vec<u64>>,
}

/// The mechanism of a bare wake-up: one word and no queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bare {
    /// The system's futex call, which waits for a word to change.
    #[cfg(target_os = "linux")]
    Futex,
    /// The standard library's `park` and `unpark`.
    Park,
}

/// The state that the sender and the listeners of a bare wake-up share.
struct Word {
    /// Events that were sent.
    sent: AtomicU32,
    /// The stamp of each.
    stamps: Vec<AtomicU64>,
    /// Listeners to unpark.
    parked: Mutex<Vec<Thread>>,
}

impl AfterIdle {
    /// Returns the caller of this run.
    pub(crate) fn caller(self, clock: &Clock) -> Caller {
        Caller { clock: clock.clone(), run: self }
    }

    /// Returns the listeners of this run.
    pub(crate) fn listeners(self, clock: &Clock) -> Vec<Listener> {
        let events = self.events as usize;
        let listener = |_| Listener { clock: clock.clone(), delays: Vec::with_capacity(events) };
        (0..self.listeners).map(listener).collect()
    }

    /// Runs over a bare word.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    pub(crate) fn bare(self, bare: Bare) -> Result<Heard, RunError> {
        let clock = Clock::new();
        let mut listeners = self.listeners(&clock);
        let word = Word {
            sent: AtomicU32::new(0),
            stamps: (0..self.events).map(|_| AtomicU64::new(0)).collect(),
            parked: Mutex::default(),
        };
        let (caller, shared) = (self.caller(&clock), &word);
        let mut crew = Crew::new(Placement::Free);
        crew.enlist("sender", move || {
            caller.run(|stamp| {
                shared.send(bare, stamp);
                Ok(())
            })?;
            Ok(Answers::new())
        });
        for listener in &mut listeners {
            crew.enlist("listener", move || {
                shared.hear_all(bare, listener);
                Ok(Answers::new())
            });
        }
        crew.run()?;
        Ok(Heard::of(listeners))
    }
}

impl Caller {
    /// Sends the stamp of each event by `send`, after its idle period.
    ///
    /// # Errors
    ///
    /// The error of `send`.
    pub(crate) fn run(
        &self,
        mut send: impl FnMut(u64) -> Result<(), Disconnected>,
    ) -> Result<(), Disconnected> {
        for _ in 0..self.run.events {
            let due = self.clock.now() + self.run.silence.as_nanos() as u64;
            sleep_until(&self.clock, due);
            send(self.clock.now())?;
        }
        Ok(())
    }
}

impl Listener {
    /// Records the receipt of the event with this `stamp`.
    #[inline]
    pub(crate) fn hear(&mut self, stamp: u64) {
        self.delays.push(self.clock.now().saturating_sub(stamp));
    }
}

impl Heard {
    /// Returns the delays at these listeners. An event that one of them missed does not count.
    pub(crate) fn of(listeners: Vec<Listener>) -> Self {
        let events = listeners.iter().map(|listener| listener.delays.len()).min().unwrap_or(0);
        let of_event = |event: usize| {
            let mut delays =
                listeners.iter().map(|listener| listener.delays[event]).collect::<Vec<_>>();
            delays.sort_unstable();
            delays
        };
        Self { events: (0..events).map(of_event).collect() }
    }

    /// Returns the number of events that all listeners received.
    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }

    /// Returns, for each event, the time at which half of the listeners had it.
    pub(crate) fn halves(&self) -> impl Iterator<Item = f64> {
        self.events.iter().map(|delays| delays[(delays.len() - 1) / 2] as f64)
    }

    /// Returns, for each event, the time at which the last listener had it.
    pub(crate) fn lasts(&self) -> impl Iterator<Item = f64> {
        self.events.iter().filter_map(|delays| delays.last().map(|last| *last as f64))
    }
}

impl Bare {
    /// All mechanisms of this system.
    pub(crate) const ALL: &[Self] = &[
        #[cfg(target_os = "linux")]
        Self::Futex,
        Self::Park,
    ];

    /// Returns the name in a report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            #[cfg(target_os = "linux")]
            Self::Futex => "futex",
            Self::Park => "park",
        }
    }
}

impl Word {
    /// Sends an event and wakes all listeners.
    fn send(&self, bare: Bare, stamp: u64) {
        // Relaxed suffices: no other thread writes the count, and its release store carries the
        // stamp.
        let event = self.sent.load(Ordering::Relaxed);
        self.stamps[event as usize].store(stamp, Ordering::Relaxed);
        // Release: pairs with the Acquire in `hear_new`.
        self.sent.store(event + 1, Ordering::Release);
        match bare {
            #[cfg(target_os = "linux")]
            Bare::Futex => futex::wake_all(&self.sent),
            Bare::Park => {
                let parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
                parked.iter().for_each(Thread::unpark);
            }
        }
    }

    /// Receives every event, parked until it comes.
    fn hear_all(&self, bare: Bare, listener: &mut Listener) {
        if bare == Bare::Park {
            // Registered before the first poll of the word. A sender that does not find this thread
            // has not sent yet.
            let mut parked = self.parked.lock().unwrap_or_else(PoisonError::into_inner);
            parked.push(thread::current());
        }
        let mut heard = 0;
        while (heard as usize) < self.stamps.len() {
            // Acquire: pairs with the Release in `send`.
            let sent = self.sent.load(Ordering::Acquire);
            while heard < sent {
                listener.hear(self.stamps[heard as usize].load(Ordering::Relaxed));
                heard += 1;
            }
            if (heard as usize) < self.stamps.len() {
                match bare {
                    #[cfg(target_os = "linux")]
                    Bare::Futex => futex::wait(&self.sent, heard),
                    Bare::Park => thread::park(),
                }
            }
        }
    }
}

/// The system's calls.
#[cfg(target_os = "linux")]
mod futex {
    use std::sync::atomic::AtomicU32;

    use rustix::thread::futex::{self, Flags};

    /// Parks while `word` is `seen`. A spurious wake-up is harmless: the caller polls again.
    pub(super) fn wait(word: &AtomicU32, seen: u32) {
        let _awake = futex::wait(word, Flags::PRIVATE, seen, None);
    }

    /// Wakes all threads parked on `word`.
    pub(super) fn wake_all(word: &AtomicU32) {
        // It fails only if `word` is not mapped memory.
        let _woken = futex::wake(word, Flags::PRIVATE, i32::MAX as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listener_hears_every_event() {
        for &bare in Bare::ALL {
            for listeners in [1, 3] {
                let run = AfterIdle { listeners, events: 5, silence: Duration::from_millis(1) };
                let heard = run.bare(bare).unwrap();
                assert_eq!(heard.events(), 5, "{bare:?}");
                assert!(heard.halves().zip(heard.lasts()).all(|(half, last)| half <= last));
            }
        }
    }

    #[test]
    fn an_event_that_one_listener_missed_is_none() {
        let clock = Clock::new();
        let run = AfterIdle { listeners: 2, events: 1, silence: Duration::ZERO };
        let mut listeners = run.listeners(&clock);
        listeners[0].hear(0);
        assert_eq!(Heard::of(listeners).events(), 0);
    }
}
