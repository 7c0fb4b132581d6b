//! A list of records that belong to the ends of a ring. A record stays in the list as long as its
//! end keeps it.
//!
//! Nothing is allocated or freed while the lock is held: a global allocator may publish, and
//! publishing may take a lock of the ring.

// The standard library's types also in models, none of which depends on such a list.
use std::sync::{Arc, PoisonError, Weak};
use std::{fmt, mem};

use crate::sync::threads::{Mutex, MutexGuard};

/// Weak references to records that their ends own.
pub(crate) struct Registry<T>(Mutex<Vec<Weak<T>>>);

impl<T> Registry<T> {
    /// Locks the list. It may contain dropped records until the next one is added.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Weak<T>>> {
        // Nothing panics under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the list once `room` has capacity for it and one more record.
    fn lock_with_room(&self, room: &mut Vec<Weak<T>>) -> MutexGuard<'_, Vec<Weak<T>>> {
        loop {
            let entries = self.lock();
            let wanted = entries.len() + 1;
            if room.capacity() >= wanted {
                return entries;
            }
            drop(entries);
            *room = Vec::with_capacity(wanted);
        }
    }

    /// Adds a record, and removes dropped ones.
    pub(crate) fn add(&self, record: &Arc<T>) {
        let added = Arc::downgrade(record);
        let mut kept = Vec::new();
        let mut entries = self.lock_with_room(&mut kept);
        let there = entries.iter_mut().filter(|entry| entry.strong_count() > 0);
        kept.extend(there.map(mem::take));
        kept.push(added);
        mem::swap(&mut *entries, &mut kept);
        // Unlocks before `kept` frees the old list.
        drop(entries);
    }
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}
