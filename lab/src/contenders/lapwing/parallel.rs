//! Parallel readers of one ring: timed events, or single events after idle periods. Each reader
//! sees every event.

use crossbeam_utils::CachePadded;
use lapwing::error::BuildError;
use lapwing::{Consumers, Disruptor, SingleProducer};

use super::Setting;
use super::one_ring::setting;
use crate::load::after_idle::{AfterIdle, Heard};
use crate::load::paced::{Clock, LastStage, Message, Pace, Paced, Sender};
use crate::machine::placement::Placement;
use crate::measure::crew::{Disconnected, RunError};
use crate::rings::crew::{self, Feed};

/// Slots of a ring for single events. It never contains more than one.
const SLOTS_AFTER_IDLE: usize = 1024;

/// Runs `pace` once, with this many readers.
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or a worker did not complete.
pub(crate) fn paced(setting: Setting, readers: usize, pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let sender = Sender::new(pace, &clock);
    let stages = (0..readers).map(|_| CachePadded::new(LastStage::new(&clock)));
    let mut stages = stages.collect::<Vec<_>>();
    let handlers = stages.iter_mut().map(|stage| |message: &Message| stage.receive(*message));
    let (producer, consumers) = ring(setting, pace.ring, handlers)?;
    let feed = Feed::new("sender", producer, |producer| {
        sender.run(|message| {
            producer.publish(|event| *event = message).map(drop).map_err(|_| Disconnected)
        })
    });
    let finish = crew::run(vec![feed], consumers, pace.placement)?;
    Ok(Paced::parallel(finish, stages.into_iter().map(CachePadded::into_inner)))
}

/// Publishes the single events of `run`, and returns how long each consumer took to have them.
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or a worker did not complete.
pub(crate) fn after_idle(setting: Setting, run: AfterIdle) -> Result<Heard, RunError> {
    let clock = Clock::new();
    let caller = run.caller(&clock);
    let mut listeners = run.listeners(&clock);
    let handlers = listeners.iter_mut().map(|listener| |stamp: &u64| listener.hear(*stamp));
    let (producer, consumers) = ring(setting, SLOTS_AFTER_IDLE, handlers)?;
    let feed = Feed::new("sender", producer, |producer| {
        caller.run(|stamp| {
            producer.publish(|event| *event = stamp).map(drop).map_err(|_| Disconnected)
        })
    });
    crew::run(vec![feed], consumers, Placement::Free)?;
    Ok(Heard::of(listeners))
}

/// Creates a ring of `slots` slots, read by each of `handlers`.
fn ring<'env, E, H>(
    setting: Setting,
    slots: usize,
    handlers: impl Iterator<Item = H>,
) -> Result<(SingleProducer<E>, Consumers<'env, E>), RunError>
where
    E: Default + Send + Sync + 'env,
    H: FnMut(&E) + Send + 'env,
{
    let builder = Disruptor::single_producer(slots, E::default);
    setting::applied(setting, builder, 1)
        .parallel(|parallel| {
            (1..).zip(handlers).fold(parallel, |parallel, (number, mut handler)| {
                parallel.stage(format!("stage-{number}")).read(move |event, _, _| handler(event))
            })
        })
        .build()
        .map_err(|error: BuildError| RunError::Build(error.to_string()))
}
