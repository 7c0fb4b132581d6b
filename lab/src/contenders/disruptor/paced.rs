//! Timed events through three handlers of one ring.

use std::sync::atomic::{AtomicU64, Ordering};

use disruptor::build_single_producer;

use super::cpus::Cpus;
use super::finish_line::FinishLine;
use super::outlet::Outlet;
use super::wait::Wait;
use crate::load::paced::{Clock, LastStage, Message, Pace, Paced, Sender, Stage, THREADS};
use crate::measure::crew::{Crew, RunError};

/// A message whose last stamp the stages change through the `&SharedMessage` that they receive.
#[derive(Debug, Default)]
struct SharedMessage {
    number: u64,
    intended: u64,
    previous: AtomicU64,
}

impl SharedMessage {
    fn write(&mut self, message: Message) {
        self.number = message.number;
        self.intended = message.intended;
        *self.previous.get_mut() = message.previous;
    }

    fn read(&self) -> Message {
        // Relaxed suffices: the ring orders the stages, and the stamp only travels with the
        // message.
        let previous = self.previous.load(Ordering::Relaxed);
        Message { number: self.number, intended: self.intended, previous }
    }

    fn stamp(&self, message: &Message) {
        // Relaxed suffices: the ring publishes this store with the stage's progress.
        self.previous.store(message.previous, Ordering::Relaxed);
    }
}

/// Processes a message in one of the first two stages.
fn pass_on(stage: &mut Stage, message: &SharedMessage) {
    let mut stamped = message.read();
    stage.receive(&mut stamped);
    message.stamp(&stamped);
}

/// Runs `pace` once.
///
/// # Errors
///
/// [`RunError`] if a worker could not start or did not complete.
pub(super) fn run(wait: Wait, pace: &Pace) -> Result<Paced, RunError> {
    let clock = Clock::new();
    let sender = Sender::new(pace, &clock);
    let mut line = FinishLine::after(pace.events);
    let (first, first_seen) = line.handler_state(Stage::new(&clock));
    let (second, second_seen) = line.handler_state(Stage::new(&clock));
    let (last, last_seen) = line.handler_state(LastStage::new(&clock));

    let mut cpus = Cpus::of(pace.placement, 1, THREADS);
    let builder = build_single_producer(pace.ring, SharedMessage::default, wait);
    let builder = cpus.next(builder, "stage-1").handle_events_with(first.handler(pass_on));
    let builder =
        cpus.next(builder.and_then(), "stage-2").handle_events_with(second.handler(pass_on));
    let producer = cpus
        .next(builder.and_then(), "stage-3")
        .handle_events_with(
            last.handler(|stage, message: &SharedMessage| stage.receive(message.read())),
        )
        .build();

    let mut outlet = Outlet::new(producer, wait);
    let mut crew = Crew::new(cpus.producers);
    let mut last_end = None;
    let end = &mut last_end;
    crew.enlist("sender", move || {
        outlet.run(|tap| {
            sender.run(|message| tap.publish(|event: &mut SharedMessage| event.write(message)))?;
            *end = Some(line.wait()?);
            Ok(())
        })
    });
    let finish = crew.run()?;
    let finish = match last_end {
        Some(end) => end.of(finish),
        None => finish,
    };
    let last = last_seen.take()?.state;
    let stages = [first_seen.take()?.state, second_seen.take()?.state];
    Ok(Paced::new(finish, stages, last))
}
