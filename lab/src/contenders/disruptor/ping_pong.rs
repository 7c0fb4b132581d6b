//! Round trips of a number over two rings. Both ends poll and wait in the same way.

use disruptor::wait_strategies::WaitStrategy;
use disruptor::{
    EventPoller, Polling, Producer, SingleConsumerBarrier, SingleProducer, SingleProducerBarrier,
    build_single_producer,
};

use super::wait::Wait;
use crate::load::exchange::{self, Exchange};
use crate::measure::crew::{Disconnected, RunError};
use crate::measure::run::Pass;

/// The receiving end.
type Numbers = EventPoller<u64, SingleProducerBarrier>;

/// Creates a ring of numbers, and its two ends.
fn ring(wait: Wait, slots: usize) -> (SingleProducer<u64, SingleConsumerBarrier>, Numbers) {
    let (poller, builder) = build_single_producer(slots, || 0, wait).new_event_poller();
    (builder.build(), poller)
}

/// Exchanges the numbers of `exchange` once. A ring never contains more than one number, so
/// `publish` never waits.
///
/// # Errors
///
/// [`RunError`] if a thread could not start or did not complete.
pub(super) fn run(wait: Wait, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
    let (mut there, mut numbers) = ring(wait, slots);
    let (mut back, mut answers) = ring(wait, slots);
    let call = move |number| {
        there.publish(|event| *event = number);
        next(&mut answers, wait)
    };
    let echo = move |_| {
        let number = next(&mut numbers, wait)?;
        back.publish(|event| *event = number);
        Ok(())
    };
    exchange::run(exchange, call, echo)
}

/// Returns the next number. There is never more than one.
#[inline]
fn next(numbers: &mut Numbers, wait: Wait) -> Result<u64, Disconnected> {
    loop {
        match numbers.poll() {
            Ok(mut events) => {
                if let Some(number) = (&mut events).next() {
                    return Ok(*number);
                }
            }
            Err(Polling::NoEvents) => wait.wait_for(0),
            Err(Polling::Shutdown) => return Err(Disconnected),
        }
    }
}
