//! One thread alone: the limit of the core, through Lapwing's ring, and for the same work without a
//! ring.

use std::hint;

use lapwing::Disruptor;

use crate::load::event::{Event, PAD_8};
use crate::load::fold::Fold;
use crate::machine::placement::Placement;
use crate::measure::crew::{Crew, Disconnected, RunError};
use crate::measure::run::Pass;

/// Ring sizes to try: one that fits the first-level cache of a core, and that of most tables.
pub(super) const RING_SLOTS: [usize; 2] = [1_024, 65_536];
/// Events that are written before they are folded, without a ring: 4 KiB.
const LOOP_EVENTS: usize = 512;

/// Publishes events one by one until the ring is full, then polls all of them, and repeats this for
/// `events` events. The answer is that of the unicast topology.
///
/// # Errors
///
/// [`RunError`] if the ring could not be built or the thread did not complete.
pub(super) fn ring(slots: usize, events: u32, placement: Placement) -> Result<Pass, RunError> {
    let builder = Disruptor::single_producer(slots, Event::<PAD_8>::default);
    let built = builder.stage("solo").poller().build();
    let (mut producer, mut consumers) = built.map_err(RunError::refused)?;
    let mut poller = consumers.take_poller("solo").map_err(RunError::refused)?;

    let mut polls = 0;
    let mut crew = Crew::new(placement);
    crew.enlist("solo", || {
        let mut fold = Fold::new();
        let mut next = 0;
        while next < events {
            let end = next + (events - next).min(slots as u32);
            for value in next..end {
                // `try_publish`, because no other thread would free a slot.
                let published = producer.try_publish(|event| event.write(value));
                published.map_err(|_| Disconnected)?;
            }
            let mut left = (end - next) as usize;
            while left > 0 {
                let mut batch = poller.poll().map_err(|_| Disconnected)?;
                batch.as_slice().iter().for_each(|event| fold.add(event.digest()));
                left -= batch.len();
                batch.consume_all();
                polls += 1;
            }
            next = end;
        }
        Ok(vec![fold.answer()])
    });
    let finish = crew.run()?;
    let answers = finish.answers.clone();
    Ok(Pass::in_batches(finish, answers, events, &[polls]))
}

/// Writes some events into memory and folds them, and repeats this for `events` events. There is no
/// cursor and no bound except memory. No code that writes and folds each event can be faster on
/// this core.
///
/// # Errors
///
/// [`RunError`] if the thread did not complete.
pub(super) fn plain_loop(events: u32, placement: Placement) -> Result<Pass, RunError> {
    let mut memory = vec![Event::<PAD_8>::default(); LOOP_EVENTS];
    let mut crew = Crew::new(placement);
    crew.enlist("solo", move || {
        let mut fold = Fold::new();
        let mut next = 0;
        while next < events {
            let end = next + (events - next).min(LOOP_EVENTS as u32);
            for (slot, value) in memory.iter_mut().zip(next..end) {
                *slot = Event::new(value, 0);
            }
            // `black_box` forces the read: the compiler cannot know that the values are the same.
            let written = &hint::black_box(&mut memory[..])[..(end - next) as usize];
            written.iter().for_each(|message| fold.add(message.digest()));
            next = end;
        }
        Ok(vec![fold.answer()])
    });
    let events_per_batch = f64::from(events.min(LOOP_EVENTS as u32));
    Ok(Pass { events_per_batch, ..Pass::one_by_one(crew.run()?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::topologies::unicast;

    #[test]
    fn one_thread_has_the_answer_of_unicast() {
        for events in [1, 7, 8, 9, 511, 512, 513, 5_000] {
            let expected = unicast::expected::<PAD_8>(events);
            assert_eq!(ring(8, events, Placement::Free).unwrap().answers, expected);
            assert_eq!(plain_loop(events, Placement::Free).unwrap().answers, expected);
        }
    }
}
