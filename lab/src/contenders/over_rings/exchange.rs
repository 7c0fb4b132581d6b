//! Round trips of a number over two rings.

use super::{Receiver, Rings, Sender};
use crate::load::exchange::{self, Exchange};
use crate::measure::crew::{Disconnected, RunError};
use crate::measure::run::Pass;

/// Exchanges the numbers of `exchange` once.
///
/// # Errors
///
/// [`RunError`] if a thread could not start or did not complete.
pub(super) fn run<R: Rings>(rings: R, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
    let (mut there, [mut numbers]) = rings.ring::<1, 1>(slots);
    let (mut back, [mut answers]) = rings.ring::<1, 1>(slots);
    let call = move |number| {
        there.send([number])?;
        next(&mut answers)
    };
    exchange::run(exchange, call, move |_| back.send([next(&mut numbers)?]))
}

/// Returns the next number. There is never more than one.
#[inline]
fn next(inbox: &mut impl Receiver<1>) -> Result<u64, Disconnected> {
    let mut number = 0;
    inbox.receive(1, |slice| {
        slice.iter().for_each(|[word]| number = *word);
        Ok(())
    })?;
    Ok(number)
}
