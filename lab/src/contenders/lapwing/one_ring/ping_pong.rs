//! Round trips of a number over two rings. Both ends poll and wait in the same way.

use super::library::error::BuildError;
use super::library::{Disruptor, Poller, SingleProducer};
use super::setting;
use crate::contenders::WaitName;
use crate::load::exchange::{self, Exchange};
use crate::measure::crew::{Disconnected, RunError};
use crate::measure::run::Pass;

/// Creates a ring of numbers, and its two ends.
fn ring(wait: WaitName, slots: usize) -> Result<(SingleProducer<u64>, Poller<u64>), RunError> {
    let refused = |error: BuildError| RunError::Build(error.to_string());
    let builder = Disruptor::single_producer(slots, || 0).stage("numbers").poller();
    let (producer, mut consumers) =
        setting::wait_applied(wait, builder).build().map_err(refused)?;
    let poller = consumers.take_poller("numbers");
    Ok((producer, poller.map_err(|error| RunError::Build(error.to_string()))?))
}

/// The thread that sends a number and receives it back.
pub(crate) struct Pinger {
    there: SingleProducer<u64>,
    answers: Poller<u64>,
}

/// The thread that sends it back.
pub(crate) struct Ponger {
    numbers: Poller<u64>,
    back: SingleProducer<u64>,
}

/// Creates both ends over two rings of `slots` slots.
///
/// # Errors
///
/// [`RunError::Build`] if a ring could not be built.
pub(crate) fn ends(wait: WaitName, slots: usize) -> Result<(Pinger, Ponger), RunError> {
    let (there, numbers) = ring(wait, slots)?;
    let (back, answers) = ring(wait, slots)?;
    Ok((Pinger { there, answers }, Ponger { numbers, back }))
}

impl Pinger {
    /// Sends `number` and waits for the answer.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the other thread is gone.
    #[inline]
    pub(crate) fn call(&mut self, number: u64) -> Result<u64, Disconnected> {
        self.there.publish(|event| *event = number).map_err(|_| Disconnected)?;
        next(&mut self.answers)
    }
}

impl Ponger {
    /// Waits for a number and sends it back.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the other thread is gone.
    #[inline]
    pub(crate) fn echo(&mut self) -> Result<(), Disconnected> {
        let number = next(&mut self.numbers)?;
        self.back.publish(|event| *event = number).map(drop).map_err(|_| Disconnected)
    }
}

/// Exchanges the numbers of `exchange` once.
///
/// # Errors
///
/// [`RunError`] if a ring could not be built or a worker did not complete.
pub(crate) fn run(wait: WaitName, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
    let (mut pinger, mut ponger) = ends(wait, slots)?;
    exchange::run(exchange, move |number| pinger.call(number), move |_| ponger.echo())
}

/// Returns the next number. There is never more than one.
#[inline]
fn next(poller: &mut Poller<u64>) -> Result<u64, Disconnected> {
    let mut batch = poller.wait().map_err(|_| Disconnected)?;
    let number = *batch.as_slice().first().ok_or(Disconnected)?;
    batch.consume_all();
    Ok(number)
}
