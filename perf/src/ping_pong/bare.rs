//! The limit: two words, each on cache lines of its own and written by one thread, and nothing else.
//! No pause hint, no yield: this is what everything that goes from thread to thread is made of.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::crew::{Crew, RunError};
use crate::run::Pass;

/// Exchanges the numbers up to `exchanges` once.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(super) fn run(exchanges: u32) -> Result<Pass, RunError> {
    let exchanges = u64::from(exchanges);
    let [there, back]: [CachePadded<AtomicU64>; 2] = Default::default();
    let mut crew = Crew::new();
    crew.enlist("ping", || {
        let mut sum = 0;
        for number in 1..=exchanges {
            // Release and Acquire: as a message needs them that would come with the number.
            there.store(number, Ordering::Release);
            sum += wait_for(&back, number);
        }
        Ok(vec![sum])
    });
    crew.enlist("pong", || {
        for number in 1..=exchanges {
            back.store(wait_for(&there, number), Ordering::Release);
        }
        Ok(Vec::new())
    });
    crew.run().map(Pass::one_by_one)
}

/// Looks until `word` has `number`.
#[inline(always)]
fn wait_for(word: &AtomicU64, number: u64) -> u64 {
    loop {
        let seen = word.load(Ordering::Acquire);
        if seen == number {
            return seen;
        }
    }
}
