//! The limit: two words, each on cache lines of its own and written by one thread, and nothing else: what
//! everything that goes from thread to thread is made of. Who looks as often as it can takes the line from
//! its writer, so each look may be followed by pause hints: the faster way is the limit.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::load::exchange::{self, Exchange};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// How a thread looks for the other's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The name in a report.
    pub(crate) name: &'static str,
    /// Pause hints after each look.
    pauses: u32,
}

impl Look {
    /// Those to try.
    pub(crate) const ALL: [Self; 3] = [
        Self { name: "spin", pauses: 0 },
        Self { name: "spin-hint", pauses: 1 },
        Self { name: "spin-3-hints", pauses: 3 },
    ];
}

/// Exchanges the numbers of `exchange` once.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(crate) fn run(look: Look, exchange: Exchange) -> Result<Pass, RunError> {
    let [there, back]: [CachePadded<AtomicU64>; 2] = Default::default();
    let call = |number| {
        // Release and Acquire: as a message needs them that would come with the number.
        there.store(number, Ordering::Release);
        Ok(wait_for(&back, number, look))
    };
    let echo = |number| {
        back.store(wait_for(&there, number, look), Ordering::Release);
        Ok(())
    };
    exchange::run(exchange, call, echo)
}

/// Looks until `word` has `number`.
#[inline(always)]
fn wait_for(word: &AtomicU64, number: u64, look: Look) -> u64 {
    loop {
        let seen = word.load(Ordering::Acquire);
        if seen == number {
            return seen;
        }
        (0..look.pauses).for_each(|_| hint::spin_loop());
    }
}
