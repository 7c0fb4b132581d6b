//! Three-step pipeline, 1P-3C: two steps change the event, and the third folds the result.
//!
//! ```text
//! P1 --> EP1 --> EP2 --> EP3
//! ```

use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::load::queue::Queue;
use crate::load::topologies::arcs;
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, Crew, Finish, RunError};

/// A multiplier that spreads the bits of a value. It is odd, so different values stay different.
const SPREAD: u32 = 0x9E37_79B1;

/// Returns the value after step one, from the value before it and the digest of the whole event.
#[inline]
pub(crate) fn step_one(value: u32, digest: u64) -> u32 {
    value.rotate_left(7) ^ low_half(digest)
}

/// Returns the value after step two, from the value before it and the digest of the whole event.
#[inline]
pub(crate) fn step_two(value: u32, digest: u64) -> u32 {
    value.wrapping_mul(SPREAD).wrapping_add(low_half(digest))
}

/// Returns the low 32 bits.
#[inline]
fn low_half(digest: u64) -> u32 {
    (digest & u64::from(u32::MAX)) as u32
}

/// Returns the third step's answer.
pub(crate) fn expected<const PAD: usize>(events: u32) -> Answers {
    let mut fold = Fold::new();
    for value in 0..events {
        let mut message = Event::<PAD>::new(value, 0);
        message.change(step_one(message.value(), message.digest()));
        message.change(step_two(message.value(), message.digest()));
        fold.add(message.digest());
    }
    vec![fold.answer()]
}

/// Runs over three queues.
pub(super) fn over_queues<Q: Queue, const PAD: usize>(
    queue: Q,
    workload: &Workload,
) -> Result<Finish, RunError> {
    let events = workload.events;
    let (first_sender, mut first_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let (mut second_sender, mut second_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let (mut third_sender, mut third_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let mut senders = [first_sender];

    let mut crew = Crew::new(workload.placement);
    crew.enlist("producer", move || arcs::produce::<Q, PAD>(&mut senders, events, 0));
    crew.enlist("step-1", move || {
        arcs::relay::<Q, PAD>(&mut first_receiver, &mut second_sender, events, |message| {
            message.change(step_one(message.value(), message.digest()));
        })
    });
    crew.enlist("step-2", move || {
        arcs::relay::<Q, PAD>(&mut second_receiver, &mut third_sender, events, |message| {
            message.change(step_two(message.value(), message.digest()));
        })
    });
    crew.enlist("step-3", move || arcs::consume::<Q, PAD>(&mut third_receiver, events));
    crew.run()
}
