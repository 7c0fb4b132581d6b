//! A number through one ring and back through another: both ends poll, and wait in the same way.

use lapwing::{BuildError, Disruptor, Poller, SingleProducer};

use super::WaitName;
use crate::crew::{Disconnected, RunError};
use crate::exchange::{self, Exchange};
use crate::run::Pass;

/// A ring of numbers, and its two ends.
fn ring(wait: WaitName, slots: usize) -> Result<(SingleProducer<u64>, Poller<u64>), RunError> {
    let refused = |error: BuildError| RunError::Build(error.to_string());
    let builder = Disruptor::single_producer(slots, || 0).then_poller("numbers");
    let (producer, mut consumers) = wait.applied_to(builder).build().map_err(refused)?;
    let poller = consumers.take_poller("numbers");
    Ok((producer, poller.map_err(|error| RunError::Build(error.to_string()))?))
}

/// Exchanges the numbers of `exchange` once.
///
/// # Errors
///
/// [`RunError`] if a ring could not be built or a worker did not come to its end.
pub(super) fn run(wait: WaitName, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
    let (mut there, mut numbers) = ring(wait, slots)?;
    let (mut back, mut answers) = ring(wait, slots)?;
    let call = move |number| {
        there.publish(|event| *event = number).map_err(|_| Disconnected)?;
        next(&mut answers)
    };
    let echo = move |_| {
        let number = next(&mut numbers)?;
        back.publish(|event| *event = number).map(drop).map_err(|_| Disconnected)
    };
    exchange::run(exchange, call, echo)
}

/// The next number; there is never more than one.
#[inline]
fn next(poller: &mut Poller<u64>) -> Result<u64, Disconnected> {
    let mut batch = poller.wait().map_err(|_| Disconnected)?;
    let number = *batch.as_slice().first().ok_or(Disconnected)?;
    batch.consume_all();
    Ok(number)
}
