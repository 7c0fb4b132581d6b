//! The five topologies. The work is that of `topologies`, on events as words.

use crossbeam_utils::Backoff;

use super::{Receiver, Rings, Sender, words};
use crate::load::fold::Fold;
use crate::load::topologies::diamond::{self, FizzBuzz};
use crate::load::topologies::multicast::CONSUMERS;
use crate::load::topologies::sequencer::{self, FoldPerProducer};
use crate::load::topologies::{Topology, pipeline};
use crate::load::workload::{Publish, Workload};
use crate::measure::crew::{Answers, Crew, Disconnected, Finish, RunError};
use crate::measure::run::Pass;

/// The parameters of a wiring besides its topology.
#[derive(Clone, Copy)]
pub(super) struct Wiring<'a, R> {
    /// The rings, and the wait of their ends.
    pub(super) rings: R,
    /// The amount of data.
    pub(super) workload: &'a Workload,
}

impl<R: Rings> Wiring<'_, R> {
    /// Runs `topology` once, with events of `N` words.
    ///
    /// # Errors
    ///
    /// [`RunError`] if a worker could not start or did not complete.
    pub(super) fn run<const N: usize>(self, topology: Topology) -> Result<Pass, RunError> {
        match topology {
            Topology::Unicast => self.unicast::<N>(),
            Topology::Pipeline => self.pipeline::<N>(),
            Topology::Sequencer => self.sequencer::<N>(),
            Topology::Multicast => self.multicast::<N>(),
            Topology::Diamond => self.diamond::<N>(),
        }
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
    ) -> (R::Sender<N, READERS>, [R::Receiver<N>; READERS]) {
        self.rings.ring(self.workload.ring)
    }

    fn unicast<const N: usize>(self) -> Result<Pass, RunError> {
        let events = self.workload.events;
        let (to_consumer, [mut inbox]) = self.ring::<N, 1>();
        let mut batches = [0];
        let [counted] = &mut batches;

        let mut crew = self.crew_of_one(to_consumer);
        crew.enlist("consumer", || consume(&mut inbox, events, counted));
        let finish = crew.run()?;
        Ok(self.pass(finish, &batches))
    }

    fn pipeline<const N: usize>(self) -> Result<Pass, RunError> {
        let events = self.workload.events;
        let (to_first, [mut first_inbox]) = self.ring::<N, 1>();
        let (mut to_second, [mut second_inbox]) = self.ring::<N, 1>();
        let (mut to_third, [mut third_inbox]) = self.ring::<N, 1>();
        let mut batches = [0; 3];
        let [first, second, third] = &mut batches;

        let mut crew = self.crew_of_one(to_first);
        crew.enlist("step-1", move || {
            relay(&mut first_inbox, &mut to_second, events, first, |event| {
                let value = pipeline::step_one(words::value(event), words::digest(event));
                words::with_value(*event, value)
            })
        });
        crew.enlist("step-2", move || {
            relay(&mut second_inbox, &mut to_third, events, second, |event| {
                let value = pipeline::step_two(words::value(event), words::digest(event));
                words::with_value(*event, value)
            })
        });
        crew.enlist("step-3", move || consume(&mut third_inbox, events, third));
        let finish = crew.run()?;
        Ok(self.pass(finish, &batches))
    }

    fn sequencer<const N: usize>(self) -> Result<Pass, RunError> {
        let Workload { events, publish, placement, .. } = *self.workload;
        let mut crew = Crew::new(placement);
        let mut inboxes = Vec::new();
        for (origin, producer) in sequencer::producers() {
            let (mut to_consumer, [inbox]) = self.ring::<N, 1>();
            let share = sequencer::share(events, origin);
            inboxes.push((inbox, share as usize));
            crew.enlist(producer, move || produce(&mut to_consumer, share, origin, publish));
        }
        let mut batches = [0];
        let [counted] = &mut batches;
        crew.enlist("consumer", move || consume_in_turn(self.rings, &mut inboxes, counted));
        let finish = crew.run()?;
        Ok(self.pass(finish, &batches))
    }

    fn multicast<const N: usize>(self) -> Result<Pass, RunError> {
        let events = self.workload.events;
        let (to_all, inboxes) = self.ring::<N, { CONSUMERS.len() }>();
        let mut batches = [0; CONSUMERS.len()];

        let mut crew = self.crew_of_one(to_all);
        let counts = batches.iter_mut();
        for ((consumer, mut inbox), counted) in CONSUMERS.into_iter().zip(inboxes).zip(counts) {
            crew.enlist(consumer, move || consume(&mut inbox, events, counted));
        }
        let finish = crew.run()?;
        Ok(self.pass(finish, &batches))
    }

    fn diamond<const N: usize>(self) -> Result<Pass, RunError> {
        let events = self.workload.events;
        let (to_sides, [mut fizz_inbox, mut buzz_inbox]) = self.ring::<N, 2>();
        let (mut from_fizz, [mut with_fizz]) = self.ring::<N, 1>();
        let (mut from_buzz, [mut with_buzz]) = self.ring::<N, 1>();
        let mut batches = [0; 3];
        let [left, right, joined] = &mut batches;

        let mut crew = self.crew_of_one(to_sides);
        crew.enlist("fizz", move || {
            relay(&mut fizz_inbox, &mut from_fizz, events, left, |event| {
                words::with_left(*event, diamond::fizz(words::digest(event)))
            })
        });
        crew.enlist("buzz", move || {
            relay(&mut buzz_inbox, &mut from_buzz, events, right, |event| {
                words::with_right(*event, diamond::buzz(words::digest(event)))
            })
        });
        crew.enlist("fizz-buzz", move || join(&mut with_fizz, &mut with_buzz, events, joined));
        let finish = crew.run()?;
        Ok(self.pass(finish, &batches))
    }

    /// Creates a crew whose only producer sends every event by `sender`.
    fn crew_of_one<'a, const N: usize>(self, mut sender: impl Sender<N> + 'a) -> Crew<'a> {
        let Workload { events, publish, placement, .. } = *self.workload;
        let mut crew = Crew::new(placement);
        crew.enlist("producer", move || produce(&mut sender, events, 0, publish));
        crew
    }

    /// Returns the pass of a run with this `finish`, whose consumers received `batches` each.
    fn pass(self, finish: Finish, batches: &[u64]) -> Pass {
        let handed_over = f64::from(self.workload.events) * batches.len() as f64;
        let all_batches = batches.iter().sum::<u64>();
        let events_per_batch = handed_over / all_batches.max(1) as f64;
        Pass { events_per_batch, ..Pass::one_by_one(finish) }
    }
}

/// Sends the events numbered `0..events`, as the producer numbered `origin`.
fn produce<const N: usize>(
    sender: &mut impl Sender<N>,
    events: u32,
    origin: u8,
    publish: Publish,
) -> Result<Answers, Disconnected> {
    match publish {
        Publish::One => {
            (0..events).try_for_each(|value| sender.send(words::event(value, origin)))?;
        }
        Publish::Batch(size) => {
            let mut next = 0;
            while next < events {
                let count = size.get().min((events - next) as usize) as u32;
                let batch = next..next + count;
                sender.send_all(batch.map(|value| words::event(value, origin)))?;
                next += count;
            }
        }
    }
    sender.finish();
    Ok(Answers::new())
}

/// Receives `events`, applies `step` to each and sends the result on.
fn relay<const N: usize>(
    inbox: &mut impl Receiver<N>,
    next: &mut impl Sender<N>,
    events: u32,
    counted: &mut u64,
    step: impl Fn(&[u64; N]) -> [u64; N],
) -> Result<Answers, Disconnected> {
    receive_all(inbox, events, counted, |slice| next.send_all(slice.iter().map(&step)))?;
    next.finish();
    Ok(Answers::new())
}

/// Receives `events` and folds each.
fn consume<const N: usize>(
    inbox: &mut impl Receiver<N>,
    events: u32,
    counted: &mut u64,
) -> Result<Answers, Disconnected> {
    let mut fold = Fold::new();
    receive_all(inbox, events, counted, |slice| {
        slice.iter().for_each(|event| fold.add(words::digest(event)));
        Ok(())
    })?;
    Ok(vec![fold.answer()])
}

/// Receives `events` and passes them to `each`. `counted` is the number of batches.
fn receive_all<const N: usize>(
    inbox: &mut impl Receiver<N>,
    events: u32,
    counted: &mut u64,
    mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
) -> Result<(), Disconnected> {
    let (mut left, mut batches) = (events as usize, 0);
    while left > 0 {
        left -= inbox.receive(left, &mut each)?;
        batches += 1;
    }
    *counted = batches;
    Ok(())
}

/// Receives the expected number of events from each of `inboxes` in turn, and folds those of each
/// producer.
fn consume_in_turn<const N: usize, R: Rings>(
    rings: R,
    inboxes: &mut [(R::Receiver<N>, usize)],
    counted: &mut u64,
) -> Result<Answers, Disconnected> {
    let mut folds = FoldPerProducer::default();
    let mut batches = 0;
    let mut backoff = Backoff::new();
    while inboxes.iter().any(|(_, left)| *left > 0) {
        let before = batches;
        for (inbox, left) in inboxes.iter_mut().filter(|(_, left)| *left > 0) {
            let received = inbox.try_receive(*left, |slice| {
                slice.iter().for_each(|event| folds.add(words::left(event), words::digest(event)));
                Ok(())
            })?;
            *left -= received;
            batches += u64::from(received > 0);
        }
        if batches == before {
            rings.idle(&backoff);
        } else {
            backoff = Backoff::new();
        }
    }
    *counted = batches;
    Ok(folds.answers())
}

/// Receives `events` from both sides. An event that does not match the one from the other side
/// changes the answer.
fn join<const N: usize, I: Receiver<N>>(
    with_fizz: &mut I,
    with_buzz: &mut I,
    events: u32,
    counted: &mut u64,
) -> Result<Answers, Disconnected> {
    let mut joined = FizzBuzz::default();
    let (mut left, mut batches) = (events as usize, 0);
    while left > 0 {
        left -= with_fizz.receive_both(with_buzz, left, |fizz, buzz| {
            let mismatch = u64::from(words::value(fizz) ^ words::value(buzz));
            let digest = words::digest(fizz).wrapping_add(mismatch);
            joined.add(digest, words::left(fizz), words::right(buzz));
        })?;
        batches += 1;
    }
    *counted = batches;
    Ok(joined.answers())
}
