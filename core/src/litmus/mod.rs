//! Litmus tests: two threads on two CPUs run the two sides of a shipped pair, billions of times. Not
//! here: models, which prove the pairs with a full fence on both sides (`models`).
//!
//! ```text
//! race     the two threads, and what each side has seen of the other
//! fences   the fences of the library between plain words
//! rings    the operations of a ring that contain them
//! ```
//!
//! Each test also runs without the `membarrier`, and must then see the outcome that the pair
//! forbids. Otherwise it could not see it at all.
//!
//! `ci/litmus.sh` runs them. `LAPWING_LITMUS` is the number of trials for each pair. Between trials
//! the frequent side does nothing, or pauses, or stores to memory that is in no cache, which keeps
//! the stores of the trial in the CPU for longer.
//!
//! Marks of a run on 2026-11-27, by what the two sides saw, on two CPUs of an AMD EPYC (Zen 5) with
//! Linux 6.18, while twenty busy threads of other programs ran. Each pair had 2.04e9 trials, and
//! closes 3.79e9.
//!
//! | pair | both saw | one saw | neither | neither, without `membarrier` |
//! |---|---|---|---|---|
//! | O6, O8: fences | 104,544 | 1,102 | 0 | 3,374 of 20,168 |
//! | O29: fences | 94,679 | 814 | 0 | 1,554 of 3,994 |
//! | O33: fences | 42,199 | 1,378 | 0 | 1,231 of 6,818 |
//! | O6: publications of one producer | 73,681 | 1,451 | 0 | 2,460 of 3,821 |
//! | O6: publications of several | 90,138 | 1,671 | 0 | 67 of 12,909 |
//! | O6: releases | 49,376 | 1,019 | 0 | 3,377 of 27,937 |
//! | O8, O33: closes of a ring | 2,160 | 912 | 0 | 1,217 of 1,536 |
//! | O6, O8: full fences on both sides | 966,057 | 310,738 | 0 | |

mod fences;
mod race;
mod rings;

use std::env;
use std::time::Instant;

use crate::parking::asymmetric::AsymmetricFence;
use race::{Load, Outcomes};

/// Trials without the fence. They show thousands of forbidden outcomes.
const CONTROL: u64 = 10_000_000;

/// Returns the number of trials for each pair.
fn trials() -> u64 {
    let asked = env::var("LAPWING_LITMUS").map(|text| text.parse());
    asked.map_or(30_000_000, |number| number.expect("LAPWING_LITMUS must be a number of trials"))
}

/// Runs a pair as it is shipped, and then with a rare side that runs a fence on its own CPU only.
fn check(name: &str, pair: impl Fn(AsymmetricFence, Load) -> Outcomes) {
    let shipped = AsymmetricFence::detect();
    if shipped == AsymmetricFence::Full {
        return println!("{name}: not run, there is no membarrier");
    }
    repeat(name, trials(), |load| pair(shipped, load)).expect_none_forbidden();
    let name = format!("{name}, without membarrier");
    repeat(&name, CONTROL, |load| pair(AsymmetricFence::Full, load)).expect_some_forbidden();
}

/// Runs `pair` under one load of the frequent side after the other, until there were enough trials.
fn repeat(name: &str, trials: u64, pair: impl Fn(Load) -> Outcomes) -> Outcomes {
    let start = Instant::now();
    let mut all = Outcomes::default();
    while all.trials < trials {
        Load::ALL.into_iter().for_each(|load| all += pair(load));
    }
    println!("{name}: {all} in {:.1?}", start.elapsed());
    all
}
