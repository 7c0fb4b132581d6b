//! The fences between plain words, with the orderings of each row that relies on them. Not
//! here: the reader's side of O8, which loads twice; x86-64 loads in order, so no race shows it.

use std::mem;

use super::race::{Load, Outcomes, race};
use super::{check, repeat, trials};
use crate::padded::Padded;
use crate::parking::asymmetric::AsymmetricFence;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A word that the frequent side stores, and the marks of the rare side.
#[derive(Default)]
struct Words {
    trial: Padded<AtomicU64>,
    small_trial: Padded<AtomicU32>,
    marks: Padded<AtomicU32>,
}

impl Words {
    fn mark(&self) {
        // O6, Relaxed: like `Epoch::mark` and `Epoch::raise`, the fence follows.
        self.marks.fetch_add(1, Ordering::Relaxed);
    }

    fn marks(&self) -> u64 {
        // O6, Relaxed: like `Epoch::flags`, after the light fence.
        self.marks.load(Ordering::Relaxed).into()
    }
}

/// The frequent side's fence of a fast path.
fn light() {
    AsymmetricFence::Membarrier.light();
}

fn heavy(fence: AsymmetricFence) {
    assert!(fence.heavy(), "the system has granted membarrier");
}

/// A publication or a release, against a thread that parks or closes.
fn publication(fence: AsymmetricFence, load: Load, light: impl Fn() + Sync) -> Outcomes {
    let words = Words::default();
    let publish = |trial| {
        // O6 and O8, Release: like the cursor.
        words.trial.store(trial, Ordering::Release);
        light();
        words.marks()
    };
    race(load, publish, || {
        words.mark();
        heavy(fence);
        // O6 and O8, Acquire: like `Control::sequence_of`.
        Some(words.trial.load(Ordering::Acquire))
    })
}

/// A publication or a release, against tasks that wait. The first of them asks for full fences.
fn tasks(fence: AsymmetricFence, load: Load) -> Outcomes {
    let (words, are_asked_for) = (Words::default(), Padded::<AtomicU32>::default());
    let publish = |trial| {
        // O6, Release: like the cursor.
        words.trial.store(trial, Ordering::Release);
        light();
        // O6, Relaxed: like `Epoch::flags`.
        if are_asked_for.load(Ordering::Relaxed) != 0 {
            AsymmetricFence::Full.light();
        }
        words.marks()
    };
    let mut is_first = true;
    race(load, publish, || {
        if mem::take(&mut is_first) {
            // O6, Relaxed: like `Epoch::raise`, the fence follows.
            are_asked_for.store(1, Ordering::Relaxed);
            heavy(fence);
        }
        words.mark();
        heavy(AsymmetricFence::Full);
        // O6, Acquire: like `Control::sequence_of`.
        Some(words.trial.load(Ordering::Acquire))
    })
}

/// A worker that hands on the watch, against one that follows.
fn watch(fence: AsymmetricFence, load: Load) -> Outcomes {
    let words = Words::default();
    let hand_on = |trial| {
        // O29, Relaxed: like `Turn::hand_on_watch`.
        words.small_trial.store(trial as u32, Ordering::Relaxed);
        light();
        words.marks()
    };
    race(load, hand_on, || {
        words.mark();
        heavy(fence);
        // O29, Relaxed: like `Watch::is_vacant`.
        Some(words.small_trial.load(Ordering::Relaxed).into())
    })
}

/// A producer that opens its window, against a thread that closes it. The stores of the window
/// before the 0 are those that the rare side saw.
fn window(fence: AsymmetricFence, load: Load) -> Outcomes {
    let words = Words::default();
    let open = |trial| {
        // O33, Relaxed: like `ClaimWindow::open`.
        words.trial.store(trial, Ordering::Relaxed);
        light();
        words.marks()
    };
    let mut last = 0;
    race(load, open, || {
        words.mark();
        heavy(fence);
        // O33, Relaxed: like `ClaimWindow::close`, which does not look at what it replaces.
        last = words.trial.swap(0, Ordering::Relaxed).max(last);
        Some(last)
    })
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_publication_and_a_mark() {
    check("O6, O8: fences", |fence, load| publication(fence, load, light));
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_watch_that_is_handed_on_and_a_mark() {
    check("O29: fences", watch);
}

#[test]
#[ignore = "ci/litmus.sh"]
fn a_window_and_an_end() {
    check("O33: fences", window);
}

/// The same pair as [`a_full_fence_on_both_sides`] once the flag is seen, so there is no run that must
/// fail.
#[test]
#[ignore = "ci/litmus.sh"]
fn a_publication_and_the_marks_of_tasks() {
    let shipped = AsymmetricFence::detect();
    repeat("O6: tasks", trials(), |load| tasks(shipped, load)).expect_none_forbidden();
}

/// Where the system refuses `membarrier`.
#[test]
#[ignore = "ci/litmus.sh"]
fn a_full_fence_on_both_sides() {
    let full = AsymmetricFence::Full;
    let pair = |load| publication(full, load, || full.light());
    repeat("O6, O8: full fences", trials(), pair).expect_none_forbidden();
}
