//! An event that notices if its slot is misused.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use shuttle::thread;

/// Lets the scheduler choose another thread.
pub(crate) fn switch() {
    thread::sleep(Duration::ZERO);
}

/// A number. Each access lets other threads run, and fails if one of them accesses the event too,
/// unless both only read.
///
/// The atomics are those of the standard library, so no access to them is a step of the schedule.
#[derive(Debug, Default)]
pub(crate) struct Event {
    value: AtomicU64,
    /// How many threads read; -1 while one writes.
    users: AtomicI32,
}

impl Event {
    pub(crate) fn write(&mut self, value: u64) {
        self.change(|_| value);
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(u64) -> u64) {
        let users = self.users.swap(-1, Ordering::Relaxed);
        assert_eq!(users, 0, "an event is written while another thread has it");
        let old = self.value.load(Ordering::Relaxed);
        switch();
        self.value.store(change(old), Ordering::Relaxed);
        let users = self.users.swap(0, Ordering::Relaxed);
        assert_eq!(users, -1, "another thread has an event while it is written");
    }

    pub(crate) fn read(&self) -> u64 {
        let users = self.users.fetch_add(1, Ordering::Relaxed);
        assert!(users >= 0, "an event is read while another thread writes it");
        let value = self.value.load(Ordering::Relaxed);
        switch();
        let users = self.users.fetch_sub(1, Ordering::Relaxed);
        assert!(users > 0, "another thread writes an event while it is read");
        value
    }
}
