//! Timed events through three stages of one ring.

use lapwing::{BuildError, Disruptor};

use super::WaitName;
use super::crew::consume;
use crate::crew::{Answers, Crew, Disconnected, RunError};
use crate::paced::{Clock, LastStage, Letter, Pace, Paced, Sender, Stage};

/// Runs `pace` once.
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or a worker did not come to its end.
pub(super) fn run(wait: WaitName, pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let sender = Sender::new(pace, &clock);
    let mut stages = [Stage::new(&clock), Stage::new(&clock)];
    let mut last = LastStage::new(&clock);
    let [first, second] = &mut stages;

    let builder = Disruptor::single_producer(pace.ring, Letter::default);
    let (mut producer, consumers) = wait
        .applied_to(builder)
        .then_mut("stage-1", |letter, _, _| first.receive(letter))
        .then_mut("stage-2", |letter, _, _| second.receive(letter))
        .then("stage-3", |letter, _, _| last.receive(*letter))
        .build()
        .map_err(|error: BuildError| RunError::Build(error.to_string()))?;

    let mut crew = Crew::new(pace.placement);
    crew.enlist("sender", move || {
        sender.run(|letter| {
            producer.publish(|event| *event = letter).map(drop).map_err(|_| Disconnected)
        })?;
        producer.close();
        Ok(Answers::new())
    });
    for consumer in consumers {
        let name = consumer.name().to_owned();
        let mut unstarted = Some(consumer);
        crew.enlist(name, move || unstarted.take().map_or(Err(Disconnected), consume));
    }
    let mut finish = crew.run()?;
    finish.answers = vec![last.answer()];
    Ok(Paced::new(finish, stages, last))
}
