//! Diamond, 1P-3C: two parallel stages each write a property of the event, and a third stage joins
//! them.
//!
//! ```text
//!     +--> EP1 (fizz) --+
//! P1 -+                 +--> EP3 (fizz-buzz)
//!     +--> EP2 (buzz) --+
//! ```

use crate::load::event::Event;
use crate::load::fold::Fold;
use crate::load::queue::Queue;
use crate::load::topologies::arcs;
use crate::load::workload::Workload;
use crate::measure::crew::{Answers, Crew, Disconnected, Finish, RunError};

/// Returns the first property of an event: 1 for every third digest, else 0.
#[inline]
pub(crate) fn fizz(digest: u64) -> u8 {
    u8::from(digest.is_multiple_of(3))
}

/// Returns the second property of an event: 1 for every fifth digest, else 0.
#[inline]
pub(crate) fn buzz(digest: u64) -> u8 {
    u8::from(digest.is_multiple_of(5))
}

/// The answer of the joining stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FizzBuzz {
    /// Events that have both properties.
    both: u64,
    /// Every event with its properties, so that one wrong property changes the answer.
    fold: Fold,
}

impl FizzBuzz {
    /// Adds an event with the properties from the parallel stages.
    #[inline]
    pub(crate) fn add(&mut self, digest: u64, fizz: u8, buzz: u8) {
        self.both += u64::from(fizz & buzz);
        let properties = u64::from(fizz) << 62 | u64::from(buzz) << 63;
        self.fold.add(digest ^ properties);
    }

    /// Returns the count and the fold.
    pub(crate) fn answers(&self) -> Answers {
        vec![self.both, self.fold.answer()]
    }
}

/// Returns the joining stage's answers.
pub(crate) fn expected<const PAD: usize>(events: u32) -> Answers {
    let mut joined = FizzBuzz::default();
    for value in 0..events {
        let digest = Event::<PAD>::new(value, 0).digest();
        joined.add(digest, fizz(digest), buzz(digest));
    }
    joined.answers()
}

/// Runs over four queues. The joining stage takes one message from each side.
pub(super) fn over_queues<Q: Queue, const PAD: usize>(
    queue: Q,
    workload: &Workload,
) -> Result<Finish, RunError> {
    let events = workload.events;
    let (fizz_sender, mut fizz_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let (buzz_sender, mut buzz_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let (mut left_sender, mut left_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let (mut right_sender, mut right_receiver) = queue.one_to_one::<Event<PAD>>(workload.ring);
    let mut senders = [fizz_sender, buzz_sender];

    let mut crew = Crew::new(workload.placement);
    crew.enlist("producer", move || arcs::produce::<Q, PAD>(&mut senders, events, 0));
    crew.enlist("fizz", move || {
        arcs::relay::<Q, PAD>(&mut fizz_receiver, &mut left_sender, events, |message| {
            message.leave_left(fizz(message.digest()));
        })
    });
    crew.enlist("buzz", move || {
        arcs::relay::<Q, PAD>(&mut buzz_receiver, &mut right_sender, events, |message| {
            message.leave_right(buzz(message.digest()));
        })
    });
    crew.enlist("fizz-buzz", move || {
        join::<Q, PAD>(&mut left_receiver, &mut right_receiver, events)
    });
    crew.run()
}

/// Receives `events` from both sides. A message that does not match the one from the other side
/// changes the answer.
fn join<Q: Queue, const PAD: usize>(
    left: &mut Q::Receiver<Event<PAD>>,
    right: &mut Q::Receiver<Event<PAD>>,
    events: u32,
) -> Result<Answers, Disconnected> {
    let mut joined = FizzBuzz::default();
    for _ in 0..events {
        let with_fizz = Q::receive(left)?;
        let with_buzz = Q::receive(right)?;
        let mismatch = u64::from(with_fizz.value() ^ with_buzz.value());
        let digest = with_fizz.digest().wrapping_add(mismatch);
        joined.add(digest, with_fizz.left(), with_buzz.right());
    }
    Ok(joined.answers())
}
