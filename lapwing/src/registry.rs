//! A list of records of the ends of a ring. Each one is in the list as long as its end keeps it.
//!
//! Nothing is allocated or freed while the lock is held: a global allocator may publish, and so ask for a lock of the
//! ring.

// The standard library's in a model as well: no model is about such a list.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{fmt, mem};

/// Records that others keep.
pub(crate) struct Registry<T>(Mutex<Vec<Weak<T>>>);

impl<T> Registry<T> {
    /// The list. It may have records that are gone, until the next one is added.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Weak<T>>> {
        // Nothing panics under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the list, once `room` has a capacity of at least `more` beyond its length.
    fn lock_with_room<U>(&self, room: &mut Vec<U>, more: usize) -> MutexGuard<'_, Vec<Weak<T>>> {
        loop {
            let entries = self.lock();
            let wanted = entries.len() + more;
            if room.capacity() >= wanted {
                return entries;
            }
            drop(entries);
            *room = Vec::with_capacity(wanted);
        }
    }

    /// Adds a record, and removes those that are gone.
    pub(crate) fn add(&self, record: &Arc<T>) {
        let added = Arc::downgrade(record);
        let mut kept = Vec::new();
        let mut entries = self.lock_with_room(&mut kept, 1);
        let there = entries.iter_mut().filter(|entry| entry.strong_count() > 0);
        kept.extend(there.map(mem::take));
        kept.push(added);
        mem::swap(&mut *entries, &mut kept);
        // Before `kept`, which has those that are gone.
        drop(entries);
    }

    /// The records that are not gone.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let mut records = Vec::new();
        let entries = self.lock_with_room(&mut records, 0);
        records.extend(entries.iter().filter_map(Weak::upgrade));
        drop(entries);
        records
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
