//! What producers do: they publish until the ring ends, and record what was accepted.

use std::ops::Range;

use lapwing::Producer;
use lapwing::producer::{Sequencer, Slots};

use crate::event::{Event, switch};
use crate::record::Events;

/// Publishes each of `values` by a closure.
pub(crate) fn publish<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    values: Range<u64>,
) -> Events {
    values
        .map_while(|value| Some((producer.publish(|event| event.write(value)).ok()?, value)))
        .collect()
}

/// Publishes `values` in batches of two.
pub(crate) fn publish_pairs<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    values: Range<u64>,
) -> Events {
    let mut accepted = Events::new();
    for first in values.step_by(2) {
        let fill = |slots: &mut Slots<'_, Event>| {
            slots.iter_mut().zip(first..).for_each(|(event, value)| event.write(value));
        };
        let Ok(sequences) = producer.publish_batch(2, fill) else { break };
        accepted.extend(sequences.zip(first..));
    }
    accepted
}

/// Claims a slot for each of `values` and holds it for a while. Gives up every third.
pub(crate) fn claim_each<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    values: Range<u64>,
) -> Events {
    let mut accepted = Events::new();
    for value in values {
        let Ok(mut claim) = producer.claim() else { break };
        switch();
        if value % 3 == 1 {
            continue;
        }
        claim.write(value);
        let Ok(sequence) = claim.publish() else { break };
        accepted.push((sequence, value));
    }
    accepted
}

/// Publishes `values` in batches of at most three, as many as there are free slots.
pub(crate) fn publish_what_fits<S: Sequencer>(
    producer: &mut Producer<Event, S>,
    values: Range<u64>,
) -> Events {
    let (mut accepted, mut left) = (Events::new(), values);
    while !left.is_empty() {
        let Ok(mut claim) = producer.claim_up_to(left.clone().count().min(3)) else { break };
        let first = left.start;
        claim.slots().iter_mut().zip(first..).for_each(|(event, value)| event.write(value));
        let Ok(sequences) = claim.publish() else { break };
        left.start += sequences.end - sequences.start;
        accepted.extend(sequences.zip(first..));
    }
    accepted
}
