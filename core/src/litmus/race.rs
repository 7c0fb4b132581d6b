//! Two threads that race, and what each side has seen of the other.
//!
//! ```text
//! frequent side              rare side
//! store trial 1              make mark 1
//! light fence                heavy fence
//! load: no mark              load: trial 2
//! store trial 2, ...         make mark 2, ...
//! ```
//!
//! A pair forbids that both sides miss each other: that a trial misses a mark, and the load after
//! that mark misses the trial. Trials and marks only grow. One mark therefore meets every trial:
//! none may be later than the trial that the rare side saw and still have missed the mark.

use std::fmt;
use std::hint::{black_box, spin_loop};
use std::ops::AddAssign;
use std::thread;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering};

/// What the frequent side does between its trials.
#[derive(Debug, Clone, Copy)]
pub(super) enum Load {
    /// Nothing: its stores wait for each other.
    BackToBack,
    /// It pauses now and then for up to 16 µs, so that a mark may come between two trials.
    Pauses,
    /// It stores to memory that is in no cache. The store of a trial waits for these stores.
    SlowStores,
}

impl Load {
    pub(super) const ALL: [Self; 3] = [Self::BackToBack, Self::Pauses, Self::SlowStores];

    /// Trials of one race, which takes some tenths of a second.
    pub(super) fn trials(self) -> u64 {
        match self {
            Self::BackToBack => 40_000_000,
            Self::Pauses => 2_000_000,
            Self::SlowStores => 500_000,
        }
    }

    /// Returns what to do before each trial.
    pub(super) fn between_trials(self) -> impl FnMut(u64) {
        /// 64 MB, more than the caches hold.
        const WORDS: usize = 1 << 23;
        let words = if matches!(self, Self::SlowStores) { WORDS } else { 0 };
        let mut memory = vec![1_u64; words];
        let mut next = 0;
        move |trial| match self {
            Self::BackToBack => {}
            Self::Pauses if trial % 64 == 0 => {
                (0..trial % 16_001).for_each(|step| _ = black_box(step));
            }
            Self::Pauses => {}
            Self::SlowStores => {
                for _ in 0..trial % 16 {
                    // An order that no prefetcher predicts.
                    next = (next * 5 + 0x9E37_79B1) % WORDS;
                    memory[next] = black_box(trial);
                }
            }
        }
    }
}

/// How often each outcome of a pair was seen.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outcomes {
    /// Stores of the frequent side, each with the load after it.
    pub(super) trials: u64,
    /// Marks of the rare side, each with its heavy fence and the load after it.
    pub(super) marks: u64,
    /// Marks for which some trial saw the mark and was seen.
    pub(super) both: u64,
    /// Marks for which each trial either saw the mark or was seen.
    pub(super) one: u64,
    /// Marks for which some trial neither saw the mark nor was seen. The pair forbids it.
    pub(super) neither: u64,
}

impl Outcomes {
    /// Adds a mark that the trials up to `missed` have missed, and whose load saw the trials up to
    /// `seen`.
    pub(super) fn add(&mut self, missed: u64, seen: u64) {
        self.marks += 1;
        match seen.cmp(&missed) {
            std::cmp::Ordering::Greater => self.both += 1,
            std::cmp::Ordering::Equal => self.one += 1,
            std::cmp::Ordering::Less => self.neither += 1,
        }
    }

    pub(super) fn expect_none_forbidden(self) {
        assert_eq!(self.neither, 0, "the two sides missed each other: {self}");
        assert!(self.both > 0 && self.one > 0, "the two sides did not meet: {self}");
    }

    pub(super) fn expect_some_forbidden(self) {
        assert!(self.neither > 0, "a missing fence is not seen: {self}");
    }
}

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Self) {
        self.trials += other.trials;
        self.marks += other.marks;
        self.both += other.both;
        self.one += other.one;
        self.neither += other.neither;
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trials, marks, both, one, neither } = self;
        write!(f, "{trials} trials, {marks} marks: both {both}, one {one}, neither {neither}")
    }
}

/// Lets the two sides of a pair race. `light` makes a trial and returns the number of marks that it
/// saw. `heavy` makes a mark and returns the last trial that it saw; `None` if it made no mark.
pub(super) fn race(
    load: Load,
    light: impl FnMut(u64) -> u64 + Send,
    heavy: impl FnMut() -> Option<u64> + Send,
) -> Outcomes {
    let done = Padded(AtomicU64::new(0));
    let (missed, seen) = on_two_cpus(
        || {
            let missed = frequent_side(load, light);
            // O13, Relaxed: it only ends the test.
            done.store(1, Ordering::Relaxed);
            missed
        },
        || rare_side(&done, heavy),
    );
    let mut outcomes = Outcomes { trials: load.trials(), ..Outcomes::default() };
    // All trials have missed the marks that came last.
    let missed = missed.into_iter().chain(std::iter::repeat(load.trials()));
    let mut before = None;
    for (missed, seen) in missed.zip(seen) {
        // The frequent side did not run: no race.
        if seen < missed || before != Some(seen) {
            outcomes.add(missed, seen);
        }
        before = Some(seen);
    }
    outcomes
}

/// Makes all trials. Returns, for each mark that one of them saw, the last one that missed it.
fn frequent_side(load: Load, mut light: impl FnMut(u64) -> u64) -> Vec<u64> {
    let mut between_trials = load.between_trials();
    let mut missed = Vec::new();
    for trial in 1..=load.trials() {
        between_trials(trial);
        let marks = light(trial) as usize;
        if marks > missed.len() {
            missed.resize(marks, trial - 1);
        }
    }
    missed
}

/// Makes marks until `done`. Returns, for each mark, the last trial that was seen after it.
fn rare_side(done: &AtomicU64, mut heavy: impl FnMut() -> Option<u64>) -> Vec<u64> {
    let mut seen = Vec::new();
    // O13, Relaxed: it only ends the test.
    while done.load(Ordering::Relaxed) == 0 {
        seen.extend(heavy());
        (0..seen.len() * 37 % 64).for_each(|_| spin_loop());
    }
    seen
}

/// Runs two functions at the same time on two CPUs.
pub(super) fn on_two_cpus<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let allowed = sched_getaffinity(None).expect("a thread may ask for its CPUs");
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let mut next = || cpus.next().expect("a race needs two CPUs");
    let cpus = [next(), next()];
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            pin(cpus[0]);
            first()
        });
        let second = scope.spawn(|| {
            pin(cpus[1]);
            second()
        });
        (first.join().expect("it does not panic"), second.join().expect("it does not panic"))
    })
}

fn pin(cpu: usize) {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).expect("the thread may run on this CPU");
}
