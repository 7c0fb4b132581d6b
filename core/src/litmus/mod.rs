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
//! `ci/litmus.sh` runs them. `LAPWING_LITMUS` is the number of trials for each pair.

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
