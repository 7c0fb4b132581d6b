//! The stages that run on this thread, so that a producer never waits for its own thread.
//!
//! ```text
//! begin of stage a of ring R ── enter ──> (R, a)
//!   └─ handler ── publish to R, full ───> is a behind? then only this thread could free a slot
//! ```
//!
//! A worker without a claim is not behind. But if all wanted workers of its group run on this
//! thread, no other thread claims the remaining events. The same holds while this thread routes, in
//! the key function of a group by key.
//!
//! Not here: pollers, and consumers that have not begun to run. They are values that can still move
//! to any thread.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::{mem, ptr};

use lapwing_core::{Control, Placed, StageIndex};

use crate::Sequence;
use crate::group::Group;
use crate::sync::{Arc, thread_local};

thread_local! {
    /// The stages that have begun on this thread and not ended. There are several if they take
    /// turns, or if a handler runs other stages. Nothing is allocated or dropped while this is
    /// borrowed: a global allocator may publish, and a waiting producer reads this list.
    static RUNNING: RefCell<Vec<Entry>> = RefCell::default();
}

/// A word that only this thread stores to.
struct Entry {
    /// The ring. Holding it keeps its address unique.
    control: Placed<Control>,
    /// The stage that runs here.
    stage: StageIndex,
    /// The word of the stage, or of a worker that left its events to this one.
    word: StageIndex,
    /// The group, if the stage is a worker.
    group: Option<Arc<Group>>,
}

impl Entry {
    fn is_of(&self, control: &Control) -> bool {
        ptr::eq(&*self.control, control)
    }
}

/// A guard: this thread runs a stage until it is dropped.
#[must_use = "the stage runs on this thread until this is dropped"]
pub(crate) struct OnThisThread {
    control: Placed<Control>,
    stage: StageIndex,
    /// Keeps the guard on its thread (`!Send`).
    thread: PhantomData<*const ()>,
}

/// Records that this thread begins to run `stage`, which may be a worker of `group`.
pub(crate) fn enter(
    control: &Placed<Control>,
    stage: StageIndex,
    group: Option<&Arc<Group>>,
) -> OnThisThread {
    let control = control.clone();
    note(&control, stage, stage, group);
    OnThisThread { control, stage, thread: PhantomData }
}

/// Records that the worker `own` on this thread also moves `word`, which another worker left to it.
pub(crate) fn take_over(control: &Placed<Control>, own: StageIndex, word: StageIndex) {
    note(control, own, word, None);
}

fn note(
    control: &Placed<Control>,
    stage: StageIndex,
    word: StageIndex,
    group: Option<&Arc<Group>>,
) {
    let (control, group) = (control.clone(), group.cloned());
    let mut entry = Some(Entry { control, stage, word, group });
    // A thread that is ending has no list. It then only misses the detection of a deadlock.
    while let Ok(Some(full)) = RUNNING.try_with(|running| push_if_free(running, &mut entry)) {
        let larger = Vec::with_capacity(2 * full + 4);
        // Drops the smaller list after the borrow.
        let _smaller = RUNNING.try_with(|running| replace_by(running, larger));
    }
}

/// Moves `entry` into the list, or returns the length of the list if it is full. Allocates nothing.
fn push_if_free(running: &RefCell<Vec<Entry>>, entry: &mut Option<Entry>) -> Option<usize> {
    let mut running = running.borrow_mut();
    let is_full = running.len() == running.capacity();
    if !is_full {
        running.extend(entry.take());
    }
    is_full.then_some(running.len())
}

/// Moves the entries into `larger` and returns the list that is left over. Allocates nothing.
fn replace_by(running: &RefCell<Vec<Entry>>, mut larger: Vec<Entry>) -> Vec<Entry> {
    let mut running = running.borrow_mut();
    if larger.capacity() > running.capacity() {
        larger.append(&mut running);
        mem::swap(&mut *running, &mut larger);
    }
    larger
}

impl Drop for OnThisThread {
    fn drop(&mut self) {
        let is_this =
            |entry: &Entry| entry.control.ptr_eq(&self.control) && entry.stage == self.stage;
        while remove_last(|entry| is_this(entry) && entry.word != entry.stage).is_some() {}
        remove_last(is_this);
    }
}

/// Removes the last entry that matches. It is dropped after the borrow.
fn remove_last(is_such: impl Fn(&Entry) -> bool) -> Option<Entry> {
    let removed = RUNNING.try_with(|running| {
        let mut running = running.borrow_mut();
        let place = running.iter().rposition(is_such)?;
        Some(running.remove(place))
    });
    removed.ok().flatten()
}

/// Whether this thread runs a stage of the ring.
pub(crate) fn runs_a_stage_of(control: &Control) -> bool {
    with_entries(|entries| entries.iter().any(|entry| entry.is_of(control)))
}

/// Whether this thread runs a stage of the ring that has not finished everything below `sequence`.
/// No other thread can then finish it.
pub(crate) fn is_behind(control: &Control, sequence: Sequence) -> bool {
    with_entries(|entries| {
        entries.iter().filter(|entry| entry.is_of(control)).any(|entry| {
            let has_nobody_else = |group: &Arc<Group>| {
                group.claimed() < sequence
                    && (group.is_routing(entry.word) || are_all_here(entries, control, group))
            };
            control.is_behind(entry.word, sequence)
                || entry.group.as_ref().is_some_and(has_nobody_else)
        })
    })
}

/// Whether all wanted workers of `group` run on this thread.
fn are_all_here(entries: &[Entry], control: &Control, group: &Group) -> bool {
    let is_here =
        |word: StageIndex| entries.iter().any(|entry| entry.is_of(control) && entry.stage == word);
    (0..group.max())
        .filter(|&worker| group.is_wanted(worker))
        .all(|worker| is_here(group.word_of(worker)))
}

fn with_entries(look: impl FnOnce(&[Entry]) -> bool) -> bool {
    RUNNING.try_with(|running| look(&running.borrow())).unwrap_or(false)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::group::Group;
    use crate::ring::Shared;

    #[test]
    fn a_worker_that_ends_leaves_no_word_on_its_thread() {
        let mut shape = lapwing_core::Graph::new(vec![Box::default()]);
        let words = shape.share(0, 3);
        assert_eq!(*words, [0, 1, 2, 3]);
        let control = Shared::of_shape(4, false, shape).control;
        let group = Group::new(control.clone(), words, 3, None);
        let other = enter(&control, 3, None);
        let worker = enter(&control, 0, None);
        (1..3).for_each(|word| take_over(&control, 0, word));
        (0..4).for_each(|stage| group.finish(stage, 4));
        assert!(!is_behind(&control, 4));
        drop(worker);
        for stage in 0..3 {
            group.finish(stage, 0); // another thread has the word now
        }
        assert!(!is_behind(&control, 4));
        drop(other);
        assert!(!runs_a_stage_of(&control));
    }
}
