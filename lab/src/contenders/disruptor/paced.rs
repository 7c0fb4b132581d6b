//! Timed events through three handlers of one ring.

use std::sync::atomic::{AtomicU64, Ordering};

use disruptor::build_single_producer;

use super::finish_line::FinishLine;
use super::outlet::Outlet;
use super::wait::Wait;
use super::wiring::DynamicStages;
use crate::load::paced::{Clock, LastStage, Letter, Pace, Paced, Sender, Stage, THREADS};
use crate::measure::crew::{Crew, RunError};

/// A letter whose last stamp the stages change through the `&SharedLetter` that they receive.
#[derive(Debug, Default)]
struct SharedLetter {
    number: u64,
    intended: u64,
    previous: AtomicU64,
}

impl SharedLetter {
    fn write(&mut self, letter: Letter) {
        self.number = letter.number;
        self.intended = letter.intended;
        *self.previous.get_mut() = letter.previous;
    }

    fn read(&self) -> Letter {
        // Relaxed suffices: the ring orders the stages, and the stamp only travels with the letter.
        let previous = self.previous.load(Ordering::Relaxed);
        Letter { number: self.number, intended: self.intended, previous }
    }

    fn stamp(&self, letter: &Letter) {
        // Relaxed suffices: the ring publishes this store with the stage's progress.
        self.previous.store(letter.previous, Ordering::Relaxed);
    }
}

/// Processes a letter in one of the first two stages.
fn pass_on(stage: &mut Stage, letter: &SharedLetter) {
    let mut stamped = letter.read();
    stage.receive(&mut stamped);
    letter.stamp(&stamped);
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
    let (first, first_seen) = line.dynamic_stage(Stage::new(&clock));
    let (second, second_seen) = line.dynamic_stage(Stage::new(&clock));
    let (last, last_seen) = line.dynamic_stage(LastStage::new(&clock));

    let mut dynamic_stages = DynamicStages::of(pace.placement, 1, THREADS);
    let builder = build_single_producer(pace.ring, SharedLetter::default, wait);
    let builder =
        dynamic_stages.next(builder, "stage-1").handle_events_with(first.handler(pass_on));
    let builder = dynamic_stages
        .next(builder.and_then(), "stage-2")
        .handle_events_with(second.handler(pass_on));
    let producer = dynamic_stages
        .next(builder.and_then(), "stage-3")
        .handle_events_with(
            last.handler(|stage, letter: &SharedLetter| stage.receive(letter.read())),
        )
        .build();

    let mut outlet = Outlet::new(producer, wait);
    let mut crew = Crew::new(dynamic_stages.producers);
    let mut last_end = None;
    let end = &mut last_end;
    crew.enlist("sender", move || {
        outlet.run(|tap| {
            sender.run(|letter| tap.publish(|event: &mut SharedLetter| event.write(letter)))?;
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
