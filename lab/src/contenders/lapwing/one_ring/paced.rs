//! Timed events through three stages of one ring.

use super::crew::{self, Feed};
use super::library::Disruptor;
use super::library::error::BuildError;
use super::setting;
use crate::contenders::Setting;
use crate::load::paced::{Clock, Message, Pace, Paced, Sender, Stages};
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

    let builder = Disruptor::single_producer(pace.ring, Message::default);
    let (producer, consumers) = setting::applied(setting, builder, 1)
        .stage("stage-1")
        .write(|message, _, _| first.receive(message))
        .stage("stage-2")
        .write(|message, _, _| second.receive(message))
        .stage("stage-3")
        .read(|message, _, _| third.receive(*message))
        .build()
        .map_err(|error: BuildError| RunError::Build(error.to_string()))?;

    let feed = Feed::new("sender", producer, |producer| {
        sender.run(|message| {
            producer.publish(|event| *event = message).map(drop).map_err(|_| Disconnected)
        })
    });
    let finish = crew::run(vec![feed], consumers, pace.placement)?;
    Ok(stages.into_paced(finish))
}
