//! Whole rings with two threads or three, from the first claim to the last drop, for Miri and the
//! sanitizers. Not here: each interleaving of a few steps (`models`).

use std::ops::Range;
use std::thread;

use crate::advice::Plain;
use crate::error::{ClaimError, PollError};
use crate::words::Words;
use crate::{
    Awaited, Claims, Control, EventCount, Factory, Graph, Joined, MultiClaims, Place, Producer,
    Reader, Ring, Room, Sequence, SingleClaims, StartAt, UNLIMITED, Wait, Waits,
};

/// Number of events that a producer publishes one by one.
const EVENTS: u64 = 5;

type Event = Vec<u64>;

/// A ring of four slots with a stage that changes events and one that reads them, and a dynamic
/// stage.
fn ring(is_multi: bool) -> Ring<Event> {
    let graph = Graph::new(vec![Box::default(), Box::from([0])]).with_dynamic_stages(1, Some(0));
    let waits = Waits { parks: true, shares_threads: false };
    let room = Room::reserve(&mut Words::private(), 4, is_multi).unwrap();
    room.into_ring(&mut Words::private(), Factory::of(Vec::new), graph, 0, waits)
}

fn reader(ring: &Ring<Event>, place: Place, is_exclusive: bool) -> Reader<Event, Plain> {
    #[allow(unsafe_code)]
    // SAFETY: I5: the events are `Sync`.
    unsafe {
        Reader::new(ring.clone(), place, is_exclusive, UNLIMITED, Plain)
    }
}

/// A producer's wait for a free slot.
struct FreeSlot<'a>(&'a Control);

impl Awaited for FreeSlot<'_> {
    fn is_over(&self) -> bool {
        self.0.is_claimable(1)
    }

    fn event_count(&self) -> Option<&EventCount> {
        self.0.behind_gate(self.0.wrap_point(1).saturating_sub(1), false)
    }
}

/// Parks until `awaited` is over, or spuriously.
fn park(control: &Control, awaited: &dyn Awaited) {
    control.park(&Wait { awaited, deadline: None, sleeper: None });
}

/// Publishes `[value]`. Parks while the ring is full.
fn publish<C: Claims>(producer: &mut Producer<Event, C>, value: u64) {
    let control = producer.ring().control().clone();
    let claim = producer.claim(|trying, _| {
        loop {
            match trying.again() {
                Err(ClaimError::Full) => park(&control, &FreeSlot(&control)),
                result => return result,
            }
        }
    });
    let mut claim = claim.unwrap();
    *claim = vec![value];
    claim.publish().unwrap();
}

/// Handles all events until the ring is closed, with one call for each batch, and leaves.
fn run(
    mut reader: Reader<Event, Plain>,
    mut handle: impl FnMut(&mut Reader<Event, Plain>, Range<Sequence>),
) {
    loop {
        match reader.poll(UNLIMITED) {
            Ok(batch) => {
                let end = batch.end;
                handle(&mut reader, batch);
                reader.release(end);
            }
            Err(PollError::Empty) => {
                let control = reader.ring().control().clone();
                park(&control, &reader);
            }
            Err(_) => return reader.leave(),
        }
    }
}

/// Runs both stages and a dynamic consumer while `produce` publishes. Returns the sum of the
/// numbers that each of the last two has seen.
fn sums(ring: &Ring<Event>, produce: impl FnOnce() + Send) -> [u64; 2] {
    let joined = Joined::new(ring.control(), StartAt::Now).unwrap();
    let writer = reader(ring, Place::Stage(0), true);
    let readers =
        [Place::Stage(1), Place::DynamicStage(joined)].map(|place| reader(ring, place, false));
    thread::scope(|scope| {
        scope.spawn(produce);
        scope.spawn(|| {
            run(writer, |writer, batch| {
                writer.events_mut(batch).iter_mut().for_each(|event| event.push(1));
            });
        });
        let add_up = |reader| {
            move || {
                let mut sum = 0;
                run(reader, |reader, batch| {
                    sum += reader.events(batch).iter().flatten().sum::<u64>();
                });
                sum
            }
        };
        readers.map(|reader| scope.spawn(add_up(reader))).map(|thread| thread.join().unwrap())
    })
}

#[test]
fn miri_one_producer_and_three_consumers() {
    let ring = ring(false);
    let mut producer = Producer::only(ring.clone(), Plain);
    let seen = sums(&ring, move || {
        let producer: &mut Producer<Event, SingleClaims<Plain>> = &mut producer;
        (0..EVENTS).for_each(|value| publish(producer, value));
        drop(producer.claim(|_, why| Err(why))); // given up, and claimed again
        publish(producer, EVENTS);
        while !producer.ring().control().is_claimable(4) {
            thread::yield_now();
        }
        // Across the wrap.
        let mut batch = producer.claim_batch(4, |_, why| Err(why)).unwrap();
        let (before_wrap, after_wrap) = batch.slots();
        before_wrap.iter_mut().chain(after_wrap).for_each(|event| *event = vec![100]);
        assert_eq!(batch.events().count(), 4);
        batch.publish().unwrap();
        while !producer.ring().control().is_claimable(1) {
            thread::yield_now();
        }
        let mut batch = producer.claim_up_to(1, |_, why| Err(why)).unwrap();
        batch.slots().0[0] = vec![1000];
        batch.publish().unwrap();
        producer.ring().control().close();
    });
    let ones = EVENTS + 1 + 4 + 1;
    assert_eq!(seen, [(0..=EVENTS).sum::<u64>() + 400 + 1000 + ones; 2]);
}

#[test]
fn miri_two_producers_and_three_consumers() {
    let ring = ring(true);
    let mut producers = [(); 2].map(|()| Producer::one_more(ring.clone(), Plain));
    let seen = sums(&ring, move || {
        thread::scope(|scope| {
            for producer in &mut producers {
                let producer: &mut Producer<Event, MultiClaims<Plain>> = producer;
                scope.spawn(|| {
                    (0..EVENTS).for_each(|value| publish(producer, value));
                    // Given up, so that consumers skip it; or refused.
                    drop(producer.claim(|_, why| Err(why)));
                });
            }
        });
    });
    assert_eq!(seen, [2 * ((0..EVENTS).sum::<u64>() + EVENTS); 2]);
}
