//! The event, the marks that each stage leaves on it, and what each consumer records.

use std::hint;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use lapwing::{Action, Sequence};

use crate::common::Lcg;
use crate::plan::{Bits, Kind, Plan};

/// The stamp of a slot without an event: new, or given up.
const UNUSED: Bits = 1 << 63;
/// The stamp of an event that was cleared.
const CLEARED: Bits = 1 << 62;

/// Number of keys.
pub(crate) const KEYS: usize = 5;

/// An event with a unique stamp.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) stamp: u64,
    /// The stages that wrote to it, in plain memory.
    written: Bits,
    /// The stages that have finished it. Relaxed throughout: the ring provides the order.
    marks: AtomicU64,
}

impl Event {
    pub(crate) fn new() -> Self {
        Self { stamp: 0, written: 0, marks: AtomicU64::new(UNUSED) }
    }

    /// Makes it the event of `stamp`. All of `lasting` must have finished the event one lap before.
    pub(crate) fn fill(&mut self, stamp: u64, lasting: Bits) {
        let marks = *self.marks.get_mut();
        let is_done = marks & UNUSED != 0 || marks & lasting == lasting;
        assert!(is_done, "overwritten before all stages have finished it: marks={marks:b}");
        *self = Self { stamp, written: 0, marks: AtomicU64::new(0) };
    }

    /// Marks the slot as given up.
    pub(crate) fn give_up(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn clear(&mut self) {
        *self.marks.get_mut() |= CLEARED;
    }

    pub(crate) fn write(&mut self, bit: Bits) {
        self.written |= bit;
    }

    pub(crate) fn key(&self) -> u64 {
        self.stamp % KEYS as u64
    }
}

/// An event as a consumer saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    pub(crate) sequence: Sequence,
    pub(crate) stamp: u64,
}

/// The logs of the consumers that share the events of a stage.
pub(crate) type Logs = Mutex<Vec<Vec<Seen>>>;

/// What one consumer has seen, and what it must find.
pub(crate) struct Recorder<'a> {
    /// Its own mark; 0 for a guest.
    pub(crate) bit: Bits,
    /// The stages that must have finished the event before it, and those that must not have.
    before: Bits,
    behind: Bits,
    writers: Bits,
    /// The last event of each key, for a group by key.
    pub(crate) keys: Option<&'a [AtomicU64; KEYS]>,
    clears: bool,
    /// Whether other consumers share its events. Then it finds its own mark where another one set
    /// it.
    is_shared: bool,
    draw: Lcg,
    log: Vec<Seen>,
    /// One past the last event that it has marked.
    marked: Sequence,
    /// Number of entries of `log` that are released. This is not a sequence, because a worker that
    /// takes over the events of another one goes back.
    released: usize,
    /// The event that it wants to get again.
    again: Option<Sequence>,
    logs: &'a Logs,
}

impl<'a> Recorder<'a> {
    /// The recorder of worker `worker` of the stage `id`.
    pub(crate) fn of_stage(plan: &Plan, id: usize, worker: usize, logs: &'a Logs) -> Self {
        let stage = &plan.stages[id];
        let lasting = plan.lasting();
        Self {
            bit: 1 << id,
            before: stage.before & lasting,
            behind: stage.behind | CLEARED,
            writers: plan.writers(),
            keys: None,
            clears: false,
            is_shared: matches!(stage.kind, Kind::Workers { .. }),
            draw: plan.lcg(100 + 10 * id as u64 + worker as u64),
            log: Vec::new(),
            marked: 0,
            released: 0,
            again: None,
            logs,
        }
    }

    pub(crate) fn of_guest(plan: &Plan, number: u64, logs: &'a Logs) -> Self {
        Self {
            bit: 0,
            before: plan.before_guests() & plan.lasting(),
            behind: 0,
            writers: plan.writers(),
            keys: None,
            clears: plan.clears,
            is_shared: false,
            draw: plan.lcg(1_000 + number),
            log: Vec::new(),
            marked: 0,
            released: 0,
            again: None,
            logs,
        }
    }

    /// Records an event, and returns a handler's result.
    pub(crate) fn handle(&mut self, event: &Event, sequence: Sequence, is_last: bool) -> Action {
        self.expect(event, sequence);
        match self.draw.below(80) {
            0 => {
                self.released = self.log.len();
                self.again = Some(sequence);
                return Action::Retry(Duration::from_micros(self.draw.below(2) * 20));
            }
            // By key, the order would be that of the second time.
            1 if self.keys.is_none() => {
                let first = self.log.get(self.released).map_or(sequence, |seen| seen.sequence);
                self.again = Some(first);
                self.log.truncate(self.released);
                return Action::Rewind(Duration::ZERO);
            }
            2 => {
                self.done(event, sequence);
                self.released = self.log.len();
                return Action::ReleaseNow;
            }
            3 => thread::yield_now(),
            4 => (0..self.draw.below(500)).for_each(|_| hint::spin_loop()),
            _ => {}
        }
        self.done(event, sequence);
        if is_last {
            self.released = self.log.len();
        }
        Action::Continue
    }

    /// Like [`handle`](Self::handle), for a caller that returns no result.
    pub(crate) fn see(&mut self, event: &Event, sequence: Sequence) {
        self.expect(event, sequence);
        if self.draw.below(40) == 0 {
            thread::yield_now();
        }
        self.done(event, sequence);
    }

    /// Removes the last event, which was reported as not finished.
    pub(crate) fn forget_last(&mut self) {
        self.log.pop();
    }

    /// Returns the number of events that it has seen.
    pub(crate) fn count(&self) -> u64 {
        self.log.len() as u64
    }

    pub(crate) fn draw(&mut self, bound: u64) -> u64 {
        self.draw.below(bound)
    }

    /// Records that it waits for the event `next` or a later one.
    pub(crate) fn has_nothing(&self, next: Sequence) {
        assert!(next >= self.marked, "a timeout while events are available: next={next}");
    }

    fn expect(&mut self, event: &Event, sequence: Sequence) {
        if let Some(again) = self.again.take() {
            assert_eq!(sequence, again, "the same event must come again");
        }
        let last = self.log.last().map(|seen| seen.sequence);
        let is_later = self.is_shared || last < Some(sequence);
        assert!(is_later, "out of order: sequence={sequence} after {last:?}");
        let marks = event.marks.load(Ordering::Relaxed);
        let at = || format!("sequence={sequence} marks={marks:b} bit={:b}", self.bit);
        assert!(marks & UNUSED == 0, "no event: {}", at());
        assert_eq!(marks & self.before, self.before, "not done by those before: {}", at());
        assert_eq!(marks & self.behind, 0, "done by those behind: {}", at());
        assert_eq!(marks & CLEARED != 0, self.clears, "cleared or not: {}", at());
        let writers = self.before & self.writers;
        assert_eq!(event.written & writers, writers, "not written: {}", at());
        if !self.is_shared && sequence >= self.marked {
            assert_eq!(marks & self.bit, 0, "done before: {}", at());
        }
    }

    fn done(&mut self, event: &Event, sequence: Sequence) {
        event.marks.fetch_or(self.bit, Ordering::Relaxed);
        self.marked = self.marked.max(sequence + 1);
        self.log.push(Seen { sequence, stamp: event.stamp });
        if let Some(keys) = self.keys {
            let last = keys[event.key() as usize].swap(sequence + 1, Ordering::Relaxed);
            assert!(last <= sequence, "a key out of order: {last} before {sequence}");
        }
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        let log = std::mem::take(&mut self.log);
        self.logs.lock().expect("no thread panics while it holds the lock").push(log);
    }
}
