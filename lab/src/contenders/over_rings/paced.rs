//! Timed events through three stages, with a ring per hop. A stage sends each message on at once.

use super::{Receiver, Rings, Sender as RingSender};
use crate::load::paced::{Clock, Message, Pace, Paced, Sender, Stage, Stages};
use crate::measure::crew::{Answers, Crew, Disconnected, RunError};

/// Words of a message.
const WORDS: usize = 3;

/// Converts a message to words.
#[inline]
fn words(message: Message) -> [u64; WORDS] {
    [message.number, message.intended, message.previous]
}

/// Converts words to a message.
#[inline]
fn message([number, intended, previous]: [u64; WORDS]) -> Message {
    Message { number, intended, previous }
}

/// Runs `pace` once.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(super) fn run<R: Rings>(rings: R, pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let (mut to_first, [mut first_inbox]) = rings.ring::<WORDS, 1>(pace.ring);
    let (mut to_second, [mut second_inbox]) = rings.ring::<WORDS, 1>(pace.ring);
    let (mut to_third, [mut third_inbox]) = rings.ring::<WORDS, 1>(pace.ring);
    let sender = Sender::new(pace, &clock);
    let mut stages = Stages::new(&clock);
    let (first, second, third) = stages.each();
    let events = pace.events;

    let mut crew = Crew::new(pace.placement);
    crew.enlist("sender", move || {
        sender.run(|message| to_first.send(words(message)))?;
        to_first.finish();
        Ok(Answers::new())
    });
    crew.enlist("stage-1", move || relay(first, events, &mut first_inbox, &mut to_second));
    crew.enlist("stage-2", move || relay(second, events, &mut second_inbox, &mut to_third));
    crew.enlist("stage-3", move || {
        receive_each(&mut third_inbox, events, |message| {
            third.receive(message);
            Ok(())
        })?;
        Ok(Answers::new())
    });
    let finish = crew.run()?;
    Ok(stages.into_paced(finish))
}

/// Receives `events`, and sends each on.
fn relay(
    stage: &mut Stage,
    events: u32,
    inbox: &mut impl Receiver<WORDS>,
    next: &mut impl RingSender<WORDS>,
) -> Result<Answers, Disconnected> {
    receive_each(inbox, events, |mut message| {
        stage.receive(&mut message);
        next.send(words(message))
    })?;
    next.finish();
    Ok(Answers::new())
}

/// Receives `events` one after the other.
fn receive_each(
    inbox: &mut impl Receiver<WORDS>,
    events: u32,
    mut each: impl FnMut(Message) -> Result<(), Disconnected>,
) -> Result<(), Disconnected> {
    let mut left = events as usize;
    while left > 0 {
        left -= inbox.receive(left, |slice| slice.iter().try_for_each(|it| each(message(*it))))?;
    }
    Ok(())
}
