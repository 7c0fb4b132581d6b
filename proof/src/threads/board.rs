//! What all threads of the soak share: progress, faults, the rings that run, and the first
//! violation.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::monitor::Monitor;

use super::faults::{Counts, Fault};

/// A count with one writer. It is stored, not added to: an atomic addition would be a full fence
/// and would hide a missing one in the library.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Count(AtomicU64);

impl Count {
    /// Adds to the count. Relaxed suffices: a figure.
    #[inline]
    pub(super) fn add(&self, events: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) + events, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of a ring that runs.
#[derive(Debug, Default)]
struct Gauges {
    published: Vec<Arc<Count>>,
    handled: Vec<Arc<Count>>,
}

/// A ring that runs, for a report of a hang.
#[derive(Debug)]
struct Alive {
    id: u64,
    topology: &'static str,
    /// How to repeat it.
    description: Arc<str>,
    monitor: Option<Monitor>,
    gauges: Gauges,
}

/// Events and rings until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events that producers were told are accepted.
    pub published: u64,
    /// Events that consumers have checked.
    pub handled: u64,
    /// Rings and channels that were built.
    pub rings: u64,
}

/// What a thread sees that watches for stalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// A number that grows with each batch that is published or handled.
    pub progress: u64,
    /// A number that grows with the beginning and the end of each fault that explains a stall.
    pub excuses: u64,
    /// Whether such a fault is in effect.
    pub is_excused: bool,
    /// Whether threads have fewer CPUs than the machine has: one CPU, or busy threads beside them.
    pub is_crowded: bool,
}

/// What all threads of the soak share.
#[derive(Debug, Default)]
pub struct Board {
    /// How often each fault was injected.
    pub faults: Counts,
    alive: Mutex<Vec<Alive>>,
    /// Those of rings that have ended, and how many rings were built.
    ended: Mutex<Totals>,
    /// Published events of rings that have ended, by topology.
    by_topology: Mutex<BTreeMap<&'static str, u64>>,
    /// Beginnings and ends of faults that explain a stall.
    excuses: AtomicU64,
    /// Such faults in effect.
    excused: AtomicU64,
    /// Faults in effect that take CPUs away.
    crowding: AtomicU64,
    /// The first violation, and in which ring.
    violation: Mutex<Option<String>>,
}

/// Locks, also after a panic of another thread.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// Registers a ring until the returned guard is dropped.
    pub(super) fn enter(self: &Arc<Self>, topology: &'static str, description: String) -> Entry {
        let mut ended = locked(&self.ended);
        ended.rings += 1;
        let id = ended.rings;
        drop(ended);
        let gauges = Gauges::default();
        let (description, monitor) = (Arc::from(description), None);
        let own = Arc::clone(&description);
        locked(&self.alive).push(Alive { id, topology, description, monitor, gauges });
        Entry { board: Arc::clone(self), id, description: own }
    }

    /// Returns the sums over all rings.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let alive = locked(&self.alive);
        let mut totals = *locked(&self.ended);
        alive.iter().for_each(|ring| ring.gauges.add_to(&mut totals));
        totals
    }

    /// Returns the published events of rings that have ended, by topology.
    #[must_use]
    pub fn by_topology(&self) -> BTreeMap<String, u64> {
        let events = locked(&self.by_topology);
        events.iter().map(|(topology, events)| ((*topology).to_owned(), *events)).collect()
    }

    /// Returns what the watching thread needs.
    #[must_use]
    pub fn seen(&self) -> Seen {
        let Totals { published, handled, rings } = self.totals();
        let is_on = |count: &AtomicU64| count.load(Ordering::Relaxed) > 0;
        Seen {
            progress: published + handled + rings,
            excuses: self.excuses.load(Ordering::Relaxed),
            is_excused: is_on(&self.excused),
            is_crowded: is_on(&self.crowding),
        }
    }

    /// Says that nothing may move until the guard is dropped.
    fn excuse(&self) -> Excuse<'_> {
        self.excused.fetch_add(1, Ordering::Relaxed);
        Excuse(self)
    }

    /// Does nothing for `time`, which explains a stall.
    pub(super) fn stall(&self, time: Duration) {
        let _excuse = self.excuse();
        let end = Instant::now() + time;
        // A sleep takes 50 µs at least.
        if time > Duration::from_micros(100) {
            thread::sleep(time);
        }
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }

    /// Notes that CPUs are taken away, or given back.
    pub fn set_crowded(&self, is_crowded: bool) {
        let change = if is_crowded { 1 } else { u64::MAX };
        self.crowding.fetch_add(change, Ordering::Relaxed); // wraps to subtract
    }

    /// Counts a fault.
    pub fn injected(&self, fault: Fault) {
        self.faults.add(fault);
    }

    /// Keeps the first violation, and in which ring it was found.
    pub fn refuse(&self, violation: &str, whence: &str) {
        locked(&self.violation).get_or_insert_with(|| format!("{violation}; found by {whence}"));
    }

    /// Returns the first violation.
    #[must_use]
    pub fn violation(&self) -> Option<String> {
        locked(&self.violation).clone()
    }

    /// Returns the rings that run, each with a snapshot of its monitor.
    #[must_use]
    pub fn snapshots(&self) -> String {
        let alive = locked(&self.alive);
        let ring = |ring: &Alive| {
            let snapshot = ring.monitor.as_ref().map(|monitor| {
                let stall = monitor.stall().or_else(|| monitor.stall());
                let stall = stall.map_or_else(String::new, |stall| format!("\n{stall}"));
                format!("{}{stall}", monitor.snapshot())
            });
            format!("{}\n{}", ring.description, snapshot.as_deref().unwrap_or("no monitor"))
        };
        alive.iter().map(ring).collect::<Vec<_>>().join("\n")
    }
}

impl Gauges {
    fn add_to(&self, totals: &mut Totals) {
        let sum = |counts: &[Arc<Count>]| counts.iter().map(|count| count.get()).sum::<u64>();
        totals.published += sum(&self.published);
        totals.handled += sum(&self.handled);
    }
}

/// A fault in effect that explains a stall.
#[derive(Debug)]
struct Excuse<'a>(&'a Board);

impl Drop for Excuse<'_> {
    fn drop(&mut self) {
        self.0.excuses.fetch_add(1, Ordering::Relaxed);
        self.0.excused.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A ring on the board.
#[derive(Debug)]
pub(super) struct Entry {
    board: Arc<Board>,
    id: u64,
    description: Arc<str>,
}

impl Entry {
    /// How to repeat the ring.
    pub(super) fn description(&self) -> &str {
        &self.description
    }

    /// Returns a count of published events.
    pub(super) fn publisher(&self) -> Arc<Count> {
        let count = Arc::new(Count::default());
        self.with(|alive| alive.gauges.published.push(Arc::clone(&count)));
        count
    }

    /// Returns a count of handled events.
    pub(super) fn handler(&self) -> Arc<Count> {
        let count = Arc::new(Count::default());
        self.with(|alive| alive.gauges.handled.push(Arc::clone(&count)));
        count
    }

    /// Lets a report of a hang ask this monitor.
    pub(super) fn set_monitor(&self, monitor: Monitor) {
        self.with(|alive| alive.monitor = Some(monitor));
    }

    fn with<T>(&self, change: impl FnOnce(&mut Alive) -> T) -> T {
        let mut alive = locked(&self.board.alive);
        let ring = alive.iter_mut().find(|ring| ring.id == self.id);
        change(ring.expect("a ring is on the board until its entry is dropped"))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut alive = locked(&self.board.alive);
        if let Some(place) = alive.iter().position(|ring| ring.id == self.id) {
            let ring = alive.swap_remove(place);
            let mut own = Totals::default();
            ring.gauges.add_to(&mut own);
            *locked(&self.board.by_topology).entry(ring.topology).or_default() += own.published;
            ring.gauges.add_to(&mut locked(&self.board.ended));
        }
    }
}
