//! The limit: two words, each on cache lines of its own and written by one thread, and nothing else.
//! No pause hint, no yield: this is what everything that goes from thread to thread is made of.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::load::exchange::{self, Exchange};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// Exchanges the numbers up to `exchange` once.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(crate) fn run(exchange: Exchange) -> Result<Pass, RunError> {
    let [there, back]: [CachePadded<AtomicU64>; 2] = Default::default();
    let call = |number| {
        // Release and Acquire: as a message needs them that would come with the number.
        there.store(number, Ordering::Release);
        Ok(wait_for(&back, number))
    };
    let echo = |number| {
        back.store(wait_for(&there, number), Ordering::Release);
        Ok(())
    };
    exchange::run(exchange, call, echo)
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
