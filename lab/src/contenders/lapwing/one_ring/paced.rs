//! Timed events through three stages of one ring.

use super::crew::{self, Feed};
use super::library::Disruptor;
use super::library::error::BuildError;
use super::setting;
use crate::contenders::Setting;
use crate::load::paced::{Clock, Letter, Pace, Paced, Sender, Stages};
use crate::measure::crew::{Disconnected, RunError};

/// Runs `pace` once.
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or a worker did not complete.
pub(super) fn run(setting: Setting, pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let sender = Sender::new(pace, &clock);
    let mut stages = Stages::new(&clock);
    let (first, second, third) = stages.each();

    let builder = Disruptor::single_producer(pace.ring, Letter::default);
    let (producer, consumers) = setting::applied(setting, builder, 1)
        .stage("stage-1")
        .write(|letter, _, _| first.receive(letter))
        .stage("stage-2")
        .write(|letter, _, _| second.receive(letter))
        .stage("stage-3")
        .read(|letter, _, _| third.receive(*letter))
        .build()
        .map_err(|error: BuildError| RunError::Build(error.to_string()))?;

    let feed = Feed::new("sender", producer, |producer| {
        sender.run(|letter| {
            producer.publish(|event| *event = letter).map(drop).map_err(|_| Disconnected)
        })
    });
    let finish = crew::run(vec![feed], consumers, pace.placement)?;
    Ok(stages.into_paced(finish))
}
