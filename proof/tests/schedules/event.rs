//! An event that notices misuse of its slot, and records of who was to see what.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing::Sequence;
use shuttle::thread;

/// The events that a producer published or a consumer saw: sequence and value of each, in order.
pub(crate) type Seen = Vec<(Sequence, u64)>;

/// Lets the scheduler choose another thread.
pub(crate) fn switch() {
    thread::sleep(Duration::ZERO);
}

/// An event. Each access takes a while and fails if a second thread writes meanwhile.
///
/// The standard library's atomics are not seen by the scheduler.
#[derive(Debug, Default)]
pub(crate) struct Event {
    value: AtomicU64,
    /// Threads that read, or -1 while one writes.
    users: AtomicI32,
}

impl Event {
    /// Replaces the value.
    pub(crate) fn write(&mut self, value: u64) {
        self.change(|_| value);
    }

    /// Replaces the value by one that is computed from it.
    pub(crate) fn change(&mut self, change: impl FnOnce(u64) -> u64) {
        let users = self.users.swap(-1, Ordering::Relaxed);
        assert_eq!(users, 0, "an event is written while another thread has it");
        let old = self.value.load(Ordering::Relaxed);
        switch();
        self.value.store(change(old), Ordering::Relaxed);
        let users = self.users.swap(0, Ordering::Relaxed);
        assert_eq!(users, -1, "an event is read while another thread writes it");
    }

    /// The value.
    pub(crate) fn read(&self) -> u64 {
        let users = self.users.fetch_add(1, Ordering::Relaxed);
        assert!(users >= 0, "an event is read while another thread writes it");
        let value = self.value.load(Ordering::Relaxed);
        switch();
        let users = self.users.fetch_sub(1, Ordering::Relaxed);
        assert!(users > 0, "an event is written while another thread reads it");
        assert_eq!(self.value.load(Ordering::Relaxed), value);
        value
    }
}

/// What one consumer saw, and whatever else it is told to note. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Seen>>);

impl Log {
    pub(crate) fn note(&self, sequence: Sequence, value: u64) {
        self.0.lock().unwrap().push((sequence, value));
    }

    /// A handler that notes each event.
    pub(crate) fn reader(&self) -> impl FnMut(&Event, Sequence, bool) + Send + 'static {
        let log = self.clone();
        move |event, sequence, _| log.note(sequence, event.read())
    }

    pub(crate) fn seen(&self) -> Seen {
        self.0.lock().unwrap().clone()
    }
}

/// What all of `parts` have, in the order of the sequences.
pub(crate) fn in_order(parts: impl IntoIterator<Item = Seen>) -> Seen {
    let mut all: Seen = parts.into_iter().flatten().collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0), "one sequence twice: {all:?}");
    all
}
