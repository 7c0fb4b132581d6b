//! Tasks that wait where threads park: their wakers. Not here: the mark that a task sets before it checks
//! what it waits for (`event_count`).
//!
//! A thread that wakes the threads of an event count takes all wakers and calls them. A task that is
//! woken and still has to wait registers again. So no wake-up is ever for one task only, and a task
//! that is dropped has none to pass on.

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

use crate::sync::{Mutex, MutexGuard};

/// The tasks that wait at one event count.
#[derive(Debug, Default)]
pub(super) struct Tasks(Arc<List>);

#[derive(Debug, Default)]
struct List(Mutex<Waiting>);

/// A waker with the key of its registration.
type Keyed = (u64, Waker);

#[derive(Debug, Default)]
struct Waiting {
    /// The key of the next registration.
    next_key: u64,
    /// The wakers that were not called yet, in the order of their keys.
    wakers: VecDeque<Keyed>,
    /// Whether the other side is sure to see each mark of a task.
    are_seen: bool,
}

/// The place of a task among those that wait at one event count, until it is woken. Dropping it gives it
/// up.
#[derive(Debug)]
pub struct TaskPlace {
    list: Arc<List>,
    key: u64,
}

impl Tasks {
    /// Registers `waker`. Also returns whether the other side is sure to see the mark that the caller
    /// sets next. `make_seen` sees to that, and is called until it returns true.
    pub(super) fn register(
        &self,
        waker: &Waker,
        make_seen: impl FnOnce() -> bool,
    ) -> (TaskPlace, bool) {
        let waker = waker.clone();
        let mut waiting = self.0.lock_with_room();
        // Under the lock: a task that finds it done relies on it.
        waiting.are_seen = waiting.are_seen || make_seen();
        let key = waiting.next_key;
        waiting.next_key += 1;
        waiting.wakers.push_back((key, waker));
        (TaskPlace { list: Arc::clone(&self.0), key }, waiting.are_seen)
    }

    /// Calls all wakers. A panic of one is caught: the caller has published or released something, and
    /// the other tasks must learn of it.
    #[cold]
    pub(super) fn wake(&self) {
        // A task that registers meanwhile waits for the next wake-up.
        let end = self.0.lock().next_key;
        while let Some(waker) = self.0.take_first(end) {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                mem::forget(payload); // its drop could panic as well
            }
        }
    }
}

/// Wakers are code of a runtime, and the allocator is code of the program. Both may use the ring, so
/// neither runs under this lock.
impl List {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().expect("no code panics under this lock")
    }

    /// Locks the list once it has room for one more waker.
    fn lock_with_room(&self) -> MutexGuard<'_, Waiting> {
        loop {
            let waiting = self.lock();
            let (len, capacity) = (waiting.wakers.len(), waiting.wakers.capacity());
            if len < capacity {
                return waiting;
            }
            drop(waiting);
            self.move_to(VecDeque::with_capacity(2 * capacity + 1));
        }
    }

    /// Moves the wakers to `room`, unless another thread has already given them more.
    fn move_to(&self, mut room: VecDeque<Keyed>) {
        let mut waiting = self.lock();
        if waiting.wakers.capacity() < room.capacity() {
            room.append(&mut waiting.wakers);
            mem::swap(&mut waiting.wakers, &mut room);
        }
        // Unlocks before `room` frees the old list.
        drop(waiting);
    }

    /// Removes the first waker, if its key is below `end`.
    fn take_first(&self, end: u64) -> Option<Waker> {
        let mut waiting = self.lock();
        let is_due = waiting.wakers.front().is_some_and(|&(key, _)| key < end);
        if is_due { waiting.wakers.pop_front().map(|(_, waker)| waker) } else { None }
    }

    /// Removes the waker with this key, if it was not called yet. Does not go through the list, since
    /// each of a thousand tasks that are woken gives its place up.
    fn remove(&self, key: u64) -> Option<Waker> {
        let mut waiting = self.lock();
        let index = waiting.wakers.binary_search_by_key(&key, |&(key, _)| key).ok()?;
        waiting.wakers.remove(index).map(|(_, waker)| waker)
    }
}

impl Drop for TaskPlace {
    fn drop(&mut self) {
        drop(self.list.remove(self.key));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;

    /// Counts its calls.
    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Count {
        fn get(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }
    }

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("on purpose");
        }
    }

    fn register(tasks: &Tasks, waker: &Waker) -> TaskPlace {
        tasks.register(waker, || true).0
    }

    fn waker_of(count: &Arc<Count>) -> Waker {
        Waker::from(Arc::clone(count))
    }

    #[test]
    fn each_task_is_woken_once_until_it_registers_again() {
        let (tasks, counts) = (Tasks::default(), [(); 3].map(|()| Arc::<Count>::default()));
        let mut places = [const { None }; 3];
        for _ in 0..2 {
            for (count, place) in counts.iter().zip(&mut places) {
                *place = Some(register(&tasks, &waker_of(count)));
                *place = Some(register(&tasks, &waker_of(count))); // replaces its own waker
            }
            tasks.wake();
            tasks.wake();
        }
        assert_eq!(counts.map(|count| count.get()), [2; 3]);
    }

    #[test]
    fn a_task_that_is_gone_is_not_woken_and_leaves_its_waker_nowhere() {
        for gone in 0..3 {
            let (tasks, counts) = (Tasks::default(), [(); 3].map(|()| Arc::<Count>::default()));
            let mut places = [const { None }; 3];
            for (count, place) in counts.iter().zip(&mut places) {
                *place = Some(register(&tasks, &waker_of(count)));
            }
            places[gone] = None;
            assert_eq!(Arc::strong_count(&counts[gone]), 1);
            tasks.wake();
            let woken: Vec<_> = counts.iter().map(|count| count.get()).collect();
            assert_eq!(woken, [0, 1, 2].map(|task| u32::from(task != gone)));
        }
    }

    #[test]
    fn a_task_has_one_place() {
        let (one, other, count) = (Tasks::default(), Tasks::default(), Arc::<Count>::default());
        let mut place = Some(register(&one, &waker_of(&count)));
        drop(place.replace(register(&other, &waker_of(&count))));
        one.wake();
        assert_eq!(count.get(), 0);
        other.wake();
        assert_eq!(count.get(), 1);
    }

    #[test]
    fn a_waker_that_panics_holds_up_no_other() {
        let (tasks, count) = (Tasks::default(), Arc::<Count>::default());
        let _one = register(&tasks, &Waker::from(Arc::new(Panics)));
        let _other = register(&tasks, &waker_of(&count));
        tasks.wake();
        assert_eq!(count.get(), 1);
    }

    /// A waker that registers a task, as one does that polls it at once, would be called for ever.
    #[test]
    fn a_task_that_registers_while_it_is_woken_waits_for_the_next_wake_up() {
        struct Again(Arc<Tasks>, Mutex<Option<TaskPlace>>, Count);
        impl Wake for Again {
            fn wake(self: Arc<Self>) {
                self.2.0.fetch_add(1, Ordering::Relaxed);
                let place = register(&self.0, &Waker::from(Arc::clone(&self)));
                drop(self.1.lock().unwrap().replace(place));
            }
        }
        let tasks = Arc::<Tasks>::default();
        let again = Arc::new(Again(Arc::clone(&tasks), Default::default(), Count::default()));
        *again.1.lock().unwrap() = Some(register(&tasks, &Waker::from(Arc::clone(&again))));
        tasks.wake();
        assert_eq!(again.2.get(), 1);
        tasks.wake();
        assert_eq!(again.2.get(), 2);
        *again.1.lock().unwrap() = None;
    }
}
