//! Tasks that wait where threads park: their wakers. Not here: the mark that a task sets before it checks
//! what it waits for (`event_count`).
//!
//! A thread that wakes the threads of an event count takes all wakers and calls them. A task that is
//! woken and still has to wait registers again. So no wake-up is ever for one task only, and a task
//! that is dropped has none to pass on.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

use crate::sync::Mutex;

/// The tasks that wait at one event count.
#[derive(Debug, Default)]
pub(super) struct Tasks(Arc<List>);

#[derive(Debug, Default)]
struct List(Mutex<Waiting>);

/// The waker of the task with this key.
type Keyed = (u64, Waker);

#[derive(Debug, Default)]
struct Waiting {
    /// The key of the next task.
    next_key: u64,
    /// One task needs no memory on the heap. Most event counts never have a second one.
    first: Option<Keyed>,
    others: Vec<Keyed>,
}

/// The place of a task among those that wait at one event count. Dropping it gives it up.
#[derive(Debug)]
pub struct TaskPlace {
    list: Arc<List>,
    key: u64,
}

impl Tasks {
    /// Registers `waker` at `place`, or replaces the waker that the task has there. If the task has a
    /// place at another event count, it gives that up.
    pub(super) fn register(&self, place: &mut Option<TaskPlace>, waker: &Waker) {
        let (list, waker) = (&self.0, waker.clone());
        let key =
            place.as_ref().filter(|place| Arc::ptr_eq(&place.list, list)).map(|place| place.key);
        let (mut waker, mut room) = (Some(waker), Vec::new());
        let key_now = loop {
            match list.with(|waiting| waiting.put(key, &mut waker, &mut room)) {
                Ok(key) => break key,
                Err(wanted) => room = Vec::with_capacity(wanted),
            }
        };
        drop((waker, room)); // the waker that was replaced, and the room that was too small
        if key.is_none() {
            *place = Some(TaskPlace { list: Arc::clone(list), key: key_now });
        }
    }

    /// Calls all wakers. A panic of one is caught: the caller has published or released something, and
    /// the other tasks must learn of it.
    #[cold]
    pub(super) fn wake(&self) {
        let (first, others) = self.0.with(Waiting::take);
        for (_, waker) in first.into_iter().chain(others) {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                mem::forget(payload); // its drop could panic as well
            }
        }
    }
}

impl List {
    /// Runs `change` under the lock. Wakers are code of a runtime, and the allocator is code of the
    /// program. Both may use the ring, so they run without the lock.
    fn with<R>(&self, change: impl FnOnce(&mut Waiting) -> R) -> R {
        change(&mut self.0.lock().expect("no code panics under this lock"))
    }
}

impl Waiting {
    /// Stores `waker`, that of the task with `key` or of a new one, and leaves the one that was there
    /// in its place. Returns the key. Takes `room` if it needs that, and leaves its own.
    ///
    /// # Errors
    ///
    /// How much `room` it needs, if there is too little.
    fn put(
        &mut self,
        key: Option<u64>,
        waker: &mut Option<Waker>,
        room: &mut Vec<Keyed>,
    ) -> Result<u64, usize> {
        if let Some(key) = key
            && let Some((_, own)) = self.all().find(|(other, _)| *other == key)
        {
            if let Some(waker) = waker {
                mem::swap(own, waker);
            }
            return Ok(key);
        }
        let others = self.others.len();
        if self.first.is_some() && others == self.others.capacity() {
            if room.capacity() <= others {
                return Err(2 * others + 4);
            }
            room.append(&mut self.others);
            mem::swap(room, &mut self.others);
        }
        let key = key.unwrap_or(self.next_key);
        self.next_key = self.next_key.max(key + 1);
        let keyed = waker.take().map(|waker| (key, waker));
        if self.first.is_none() {
            self.first = keyed;
        } else {
            self.others.extend(keyed);
        }
        Ok(key)
    }

    /// Removes the waker of the task with `key`, if it is still there.
    fn remove(&mut self, key: u64) -> Option<Waker> {
        let is_first = self.first.as_ref().is_some_and(|(first, _)| *first == key);
        if is_first {
            return self.first.take().map(|(_, waker)| waker);
        }
        let index = self.others.iter().position(|(other, _)| *other == key)?;
        Some(self.others.swap_remove(index).1)
    }

    /// Removes all wakers.
    fn take(&mut self) -> (Option<Keyed>, Vec<Keyed>) {
        (self.first.take(), mem::take(&mut self.others))
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Keyed> {
        self.first.iter_mut().chain(&mut self.others)
    }
}

impl Drop for TaskPlace {
    fn drop(&mut self) {
        drop(self.list.with(|waiting| waiting.remove(self.key)));
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

    fn waker_of(count: &Arc<Count>) -> Waker {
        Waker::from(Arc::clone(count))
    }

    #[test]
    fn each_task_is_woken_once_until_it_registers_again() {
        let (tasks, counts) = (Tasks::default(), [(); 3].map(|()| Arc::<Count>::default()));
        let mut places = [const { None }; 3];
        for _ in 0..2 {
            for (count, place) in counts.iter().zip(&mut places) {
                tasks.register(place, &waker_of(count));
                tasks.register(place, &waker_of(count)); // replaces its own waker
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
                tasks.register(place, &waker_of(count));
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
        let mut place = None;
        one.register(&mut place, &waker_of(&count));
        other.register(&mut place, &waker_of(&count));
        one.wake();
        assert_eq!(count.get(), 0);
        other.wake();
        assert_eq!(count.get(), 1);
    }

    #[test]
    fn a_waker_that_panics_holds_up_no_other() {
        let (tasks, count) = (Tasks::default(), Arc::<Count>::default());
        let (mut one, mut other) = (None, None);
        tasks.register(&mut one, &Waker::from(Arc::new(Panics)));
        tasks.register(&mut other, &waker_of(&count));
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
                let mut place = self.1.lock().unwrap();
                self.0.register(&mut place, &Waker::from(Arc::clone(&self)));
            }
        }
        let tasks = Arc::<Tasks>::default();
        let again = Arc::new(Again(Arc::clone(&tasks), Default::default(), Count::default()));
        tasks.register(&mut again.1.lock().unwrap(), &Waker::from(Arc::clone(&again)));
        tasks.wake();
        assert_eq!(again.2.get(), 1);
        tasks.wake();
        assert_eq!(again.2.get(), 2);
        *again.1.lock().unwrap() = None;
    }
}
