//! The book in which workers enter their events, and which checks them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::{hint, thread};

use crate::common::wait_until;
use crate::feed::{KEYS, Trade};
use crate::group::Sharing;
use crate::handlers::Turn;
use lapwing::Sequence;

/// What has happened to each event and to each key. Checks the claims of the library whenever a
/// worker makes an entry. All accesses are relaxed, so that the book orders nothing that the
/// library should order.
pub(crate) struct Book {
    sharing: Sharing,
    pub(super) first: Sequence,
    pub(super) lines: Vec<Line>,
    keys: [Account; KEYS as usize],
    keys_may_move: AtomicBool,
    finished: AtomicU64,
    faults: Mutex<Vec<String>>,
}

/// What has happened to an event.
#[derive(Default)]
pub(super) struct Line {
    pub(super) is_published: AtomicBool,
    tries: AtomicU64,
    pub(super) finished: AtomicU64,
    pub(super) skipped: AtomicU64,
    rewinds: AtomicU64,
}

/// What has happened to the events of a key.
#[derive(Default)]
struct Account {
    next_number: AtomicU64,
    /// One more than the worker that had the last event; zero at first.
    owner: AtomicUsize,
    is_in_a_handler: AtomicBool,
}

/// Holds the key of an event while a worker has the event.
pub(super) struct Alone<'a> {
    book: &'a Book,
    account: &'a Account,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.account.is_in_a_handler.store(false, Relaxed);
        if thread::panicking() {
            self.book.keys_may_move(); // the policy may end the worker
        }
    }
}

impl Book {
    pub(super) fn new(sharing: Sharing, first: Sequence, events: u64) -> Self {
        Self {
            sharing,
            first,
            lines: (0..events).map(|_| Line::default()).collect(),
            keys: Default::default(),
            keys_may_move: AtomicBool::new(false),
            finished: AtomicU64::new(0),
            faults: Mutex::default(),
        }
    }

    /// From now on, a key may get another worker.
    pub(crate) fn keys_may_move(&self) {
        self.keys_may_move.store(true, Relaxed);
    }

    /// Returns how many events are finished.
    pub(crate) fn finished(&self) -> u64 {
        self.finished.load(Relaxed)
    }

    pub(crate) fn wait_for(&self, finished: u64) {
        wait_until(|| self.finished() == finished);
    }

    /// Returns how many times a worker was given the event.
    pub(crate) fn tries(&self, sequence: Sequence) -> u64 {
        self.line(sequence).tries.load(Relaxed)
    }

    #[track_caller]
    pub(crate) fn assert_no_faults(&self) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "{:?}: {:#?}", self.sharing, &faults[..faults.len().min(5)]);
    }

    pub(crate) fn publishes(&self, sequence: Sequence) {
        self.line(sequence).is_published.store(true, Relaxed);
    }

    pub(super) fn line(&self, sequence: Sequence) -> &Line {
        &self.lines[(sequence - self.first) as usize]
    }

    /// Notes a fault instead of panicking, which a policy of the group would hide.
    pub(super) fn check(&self, is_right: bool, fault: impl FnOnce() -> String) {
        if !is_right {
            self.faults.lock().unwrap().push(fault());
        }
    }

    pub(super) fn begin(&self, event: &Trade, turn: &Turn) -> Alone<'_> {
        let (line, account) = (self.line(turn.sequence), &self.keys[event.key as usize]);
        line.tries.fetch_add(1, Relaxed);
        self.check(line.is_published.load(Relaxed), || format!("not published: {turn:?}"));
        self.check(line.finished.load(Relaxed) == 0, || format!("handled twice: {turn:?}"));
        let is_rewound = line.rewinds.load(Relaxed) > 0;
        let word = if is_rewound { !turn.sequence } else { turn.sequence };
        self.check(event.words == [word; 4], || format!("another event: {event:?}, {turn:?}"));
        let is_in_a_handler = account.is_in_a_handler.swap(true, Relaxed);
        if self.sharing == Sharing::ByKey {
            self.check(!is_in_a_handler, || format!("two workers at once: {turn:?}"));
            let next = account.next_number.load(Relaxed);
            self.check(next <= event.number, || format!("not {next}, out of order: {turn:?}"));
            let owner = account.owner.swap(turn.worker + 1, Relaxed);
            let is_owner = [0, turn.worker + 1].contains(&owner);
            let is_right = is_owner || self.keys_may_move.load(Relaxed);
            self.check(is_right, || format!("another worker than {owner}: {turn:?}"));
        }
        Alone { book: self, account }
    }

    pub(super) fn finish(&self, event: &mut Trade, turn: &Turn) {
        let before = event.words;
        (0..turn.sequence % 3 * 10).for_each(|_| hint::spin_loop());
        self.check(event.words == before, || format!("overwritten: {event:?}, {turn:?}"));
        event.words.fill(!turn.sequence);
        self.keys[event.key as usize].next_number.store(event.number + 1, Relaxed);
        self.line(turn.sequence).finished.fetch_add(1, Relaxed);
        self.finished.fetch_add(1, Relaxed);
    }

    pub(super) fn skip(&self, turn: &Turn) {
        self.line(turn.sequence).skipped.fetch_add(1, Relaxed);
    }

    /// The worker will get these events again.
    pub(super) fn rewind(&self, batch: &[Turn]) {
        for turn in batch.iter().rev() {
            let line = self.line(turn.sequence);
            line.finished.fetch_sub(1, Relaxed);
            line.rewinds.fetch_add(1, Relaxed);
            self.finished.fetch_sub(1, Relaxed);
            self.keys[turn.key as usize].next_number.store(turn.number, Relaxed);
        }
    }
}
