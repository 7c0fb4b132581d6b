//! Ways to increment a 64-bit counter. The paper calls a function in a loop. Here the function is
//! inlined, so that only the cost of the memory remains.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::ValueEnum;
use crossbeam_utils::CachePadded;

use crate::machine::placement::Placement;
use crate::measure::crew::{Crew, RunError};
use crate::measure::run::Pass;

/// A way to increment, and its number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// One thread, a load and a store: the baseline
    Plain,
    /// One thread, a load and a release store: the cost of publishing in Lapwing
    Release,
    /// One thread, a load and a sequentially consistent store: Java's volatile write
    Volatile,
    /// One thread, a mutex without contention
    Lock,
    /// One thread, a compare-and-swap that always succeeds
    Cas,
    /// One thread, one atomic addition
    FetchAdd,
    /// Two threads, one mutex
    LockTwo,
    /// Two threads, compare-and-swap until it succeeds
    CasTwo,
    /// Two threads, one atomic addition each time
    FetchAddTwo,
    /// Two threads with a counter each, both in one cache line: false sharing
    Neighbours,
    /// Two threads with a counter each, two cache lines apart
    Apart,
    /// Loses an increment, to test that the error is found
    #[value(hide = true)]
    WrongAnswer,
}

impl Case {
    /// The cases of a whole table, in order.
    pub(crate) const ALL: [Self; 11] = [
        Self::Plain,
        Self::Release,
        Self::Volatile,
        Self::Cas,
        Self::FetchAdd,
        Self::Lock,
        Self::Apart,
        Self::Neighbours,
        Self::FetchAddTwo,
        Self::CasTwo,
        Self::LockTwo,
    ];

    /// Returns the name on the command line and in every report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Release => "release",
            Self::Volatile => "volatile",
            Self::Lock => "lock",
            Self::Cas => "cas",
            Self::FetchAdd => "fetch-add",
            Self::LockTwo => "lock-two",
            Self::CasTwo => "cas-two",
            Self::FetchAddTwo => "fetch-add-two",
            Self::Neighbours => "neighbours",
            Self::Apart => "apart",
            Self::WrongAnswer => "wrong-answer",
        }
    }

    /// Returns a description, in the words of the paper where it has the case.
    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Plain => "one thread",
            Self::Release => "one thread, release store",
            Self::Volatile => "one thread with volatile write",
            Self::Lock => "one thread with lock",
            Self::Cas => "one thread with CAS",
            Self::FetchAdd => "one thread with fetch-add",
            Self::LockTwo => "two threads with lock",
            Self::CasTwo => "two threads with CAS",
            Self::FetchAddTwo => "two threads with fetch-add",
            Self::Neighbours => "two threads, two counters in one cache line",
            Self::Apart => "two threads, two counters apart",
            Self::WrongAnswer => "one increment lost",
        }
    }

    /// Returns the number of threads.
    pub(crate) const fn threads(self) -> usize {
        match self {
            Self::LockTwo | Self::CasTwo | Self::FetchAddTwo | Self::Neighbours | Self::Apart => 2,
            _ => 1,
        }
    }

    /// Returns the nanoseconds of one increment in Table 1 of the paper, which has milliseconds for
    /// 500 million: Java, Intel Westmere at 2.4 GHz, 2011.
    pub(crate) const fn nanoseconds_in_paper(self) -> Option<f64> {
        match self {
            Self::Plain => Some(300.0 / 500.0),
            Self::Lock => Some(10_000.0 / 500.0),
            Self::LockTwo => Some(224_000.0 / 500.0),
            Self::Cas => Some(5_700.0 / 500.0),
            Self::CasTwo => Some(30_000.0 / 500.0),
            Self::Volatile => Some(4_700.0 / 500.0),
            _ => None,
        }
    }

    /// Increments `increments` times over all threads together. The one answer is the total of the
    /// counters at the end.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a thread could not start or did not complete.
    pub(crate) fn run(self, increments: u32, placement: Placement) -> Result<Pass, RunError> {
        let load = Load { increments, threads: self.threads(), placement };
        match self {
            Self::Plain => count(load, &own_counters(), |counters, thread| {
                store_next(&counters[thread], Ordering::Relaxed);
            }),
            Self::Release => count(load, &own_counters(), |counters, thread| {
                store_next(&counters[thread], Ordering::Release);
            }),
            Self::Volatile => count(load, &own_counters(), |counters, thread| {
                store_next(&counters[thread], Ordering::SeqCst);
            }),
            Self::Lock | Self::LockTwo => {
                count(load, &CachePadded::new(Mutex::new(0)), |counter, _| {
                    *counter.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                })
            }
            Self::Cas | Self::CasTwo => count(load, &one_counter(), |counter, _| {
                swap_next(counter);
            }),
            Self::FetchAdd | Self::FetchAddTwo => count(load, &one_counter(), |counter, _| {
                counter.fetch_add(1, Ordering::SeqCst);
            }),
            Self::Neighbours => {
                let counters = CachePadded::new([AtomicU64::new(0), AtomicU64::new(0)]);
                count(load, &counters, |counters, thread| {
                    store_next(&counters[thread], Ordering::Release);
                })
            }
            Self::Apart => count(load, &own_counters(), |counters, thread| {
                store_next(&counters[thread], Ordering::Release);
            }),
            Self::WrongAnswer => count(
                Load { increments: increments - 1, ..load },
                &own_counters(),
                |counters, thread| {
                    store_next(&counters[thread], Ordering::Relaxed);
                },
            ),
        }
    }
}

/// The values of the counters.
trait Total: Sync {
    fn total(&self) -> u64;
}

impl Total for CachePadded<Mutex<u64>> {
    fn total(&self) -> u64 {
        *self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Total for CachePadded<AtomicU64> {
    fn total(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
}

impl Total for [CachePadded<AtomicU64>; 2] {
    fn total(&self) -> u64 {
        self.iter().map(Total::total).sum()
    }
}

impl Total for CachePadded<[AtomicU64; 2]> {
    fn total(&self) -> u64 {
        self.iter().map(|counter| counter.load(Ordering::Relaxed)).sum()
    }
}

/// Returns one counter for all threads.
fn one_counter() -> CachePadded<AtomicU64> {
    CachePadded::default()
}

/// Returns a counter per thread, each on its own cache line.
fn own_counters() -> [CachePadded<AtomicU64>; 2] {
    Default::default()
}

/// Increments a counter that no other thread writes. It is atomic, so that the compiler does not
/// merge the additions. On common machines the relaxed load and store are plain moves.
#[inline(always)]
fn store_next(counter: &AtomicU64, order: Ordering) {
    let next = counter.load(Ordering::Relaxed) + 1;
    counter.store(next, order);
}

/// Increments a counter by compare-and-swap, and retries at once, as the paper describes it.
#[inline(always)]
fn swap_next(counter: &AtomicU64) {
    loop {
        let seen = counter.load(Ordering::Relaxed);
        let swap =
            counter.compare_exchange_weak(seen, seen + 1, Ordering::SeqCst, Ordering::Relaxed);
        if swap.is_ok() {
            return;
        }
    }
}

/// The work of one run of a case.
#[derive(Clone, Copy)]
struct Load {
    /// Increments of all threads together.
    increments: u32,
    /// Threads that share them evenly.
    threads: usize,
    /// The placement of the threads.
    placement: Placement,
}

/// Calls `increment` with `counters` and the number of the thread, as often as `load` says.
fn count<C: Total>(
    Load { increments, threads, placement }: Load,
    counters: &C,
    increment: impl Fn(&C, usize) + Copy + Send,
) -> Result<Pass, RunError> {
    let mut crew = Crew::new(placement);
    for thread in 0..threads {
        // The first thread does the remainder of an odd number.
        let rest = if thread == 0 { increments as usize % threads } else { 0 };
        let share = increments as usize / threads + rest;
        crew.enlist(format!("thread {thread}"), move || {
            (0..share).for_each(|_| increment(counters, thread));
            Ok(Vec::new())
        });
    }
    let finish = crew.run()?;
    Ok(Pass { answers: vec![counters.total()], ..Pass::one_by_one(finish) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_loses_no_increment() {
        for case in Case::ALL {
            for increments in [1, 2, 3, 1_000] {
                let answers = case.run(increments, Placement::Free).unwrap().answers;
                assert_eq!(answers, [u64::from(increments)], "{case:?}");
            }
        }
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for case in Case::ALL {
            let value = case.to_possible_value().expect("it is not skipped");
            assert_eq!(value.get_name(), case.name());
        }
    }
}
