//! Consumers that join and leave while producers claim: no claim passes an event that a consumer
//! has.

use std::thread;

use lapwing_core::advice::Plain;
use lapwing_core::error::{ClaimError, PollError};
use lapwing_core::{
    Claims, Factory, Graph, Joined, Place, Producer, Reader, Ring, Room, StartAt, UNLIMITED, Waits,
};

fn ring(capacity: usize, dynamic_stages: usize, is_multi: bool) -> Ring<u64> {
    let room = Room::reserve(&mut lapwing_core::Words::private(), capacity, is_multi).unwrap();
    let graph = Graph::new(vec![Box::default()]).with_dynamic_stages(dynamic_stages, None);
    room.into_ring(
        &mut lapwing_core::Words::private(),
        Factory::of(|| 0),
        graph,
        0,
        Waits::default(),
    )
}

fn reader(ring: &Ring<u64>, place: Place) -> Reader<u64, Plain> {
    // SAFETY: I5: `u64` is `Sync`.
    unsafe { Reader::new(ring.clone(), place, false, UNLIMITED, Plain) }
}

/// A dynamic stage that has been left and taken again never lets a producer pass its new consumer.
#[test]
fn a_dynamic_stage_holds_producers_back_from_the_first_event_of_each_consumer() {
    for is_multi in [false, true] {
        let ring = ring(4, 1, is_multi);
        let mut first = reader(&ring, Place::Stage(0));
        let mut hold = |claim: &mut dyn FnMut() -> bool| {
            for lap in 0..3 {
                let joined = Joined::new(ring.control(), StartAt::Oldest).unwrap();
                assert_eq!(joined.start(), 4 * lap);
                let mut guest = reader(&ring, Place::DynamicStage(joined));
                while claim() {}
                let end = first.poll(4).unwrap().end;
                first.release(end);
                assert!(!claim(), "the guest holds the slots");
                let known = guest.poll(4).unwrap();
                assert_eq!(guest.events(known.clone()), known.collect::<Vec<_>>());
                guest.leave();
                assert!(claim(), "no consumer holds the slots");
            }
        };
        if is_multi {
            let mut producer = Producer::one_more(ring.clone(), Plain);
            hold(&mut || try_publish(&mut producer));
        } else {
            let mut producer = Producer::only(ring.clone(), Plain);
            hold(&mut || try_publish(&mut producer));
        }
    }
}

fn try_publish<C: Claims>(producer: &mut Producer<u64, C>) -> bool {
    producer.claim(|_, why| Err(why)).is_ok_and(|mut claim| {
        *claim = claim.sequence();
        claim.publish().is_ok()
    })
}

/// Publishes `count` events, each of which is its sequence, or fewer if the ring ends.
fn publish_all<C: Claims>(mut producer: Producer<u64, C>, count: u64) {
    for _ in 0..count {
        let claim = producer.claim(|trying, _| {
            loop {
                match trying.again() {
                    Err(ClaimError::Full) => thread::yield_now(),
                    tried => return tried,
                }
            }
        });
        let Ok(mut claim) = claim else { return };
        *claim = claim.sequence();
        if claim.publish().is_err() {
            return;
        }
    }
}

/// Checks the next `count` events of `reader`, or fewer if the ring ends.
fn check_next(reader: &mut Reader<u64, Plain>, count: u64) {
    let end = reader.next() + count;
    while reader.next() < end {
        match reader.poll(1) {
            Ok(known) => {
                assert_eq!(reader.events(known.clone()), [known.start]);
                reader.release(known.end);
            }
            Err(PollError::Empty) => thread::yield_now(),
            Err(PollError::Closed | PollError::Halted(_)) => return,
        }
    }
}

/// The stage leaves early, so dynamic consumers alone hold the producers back. Events are plain
/// memory: Miri finds a claim that is not ordered after the reads of a lap ago.
#[test]
fn miri_consumers_join_and_leave_while_producers_claim() {
    const EVENTS: u64 = if cfg!(miri) { 6 } else { 300 };
    for is_multi in [false, true] {
        let ring = ring(2, 2, is_multi);
        let mut stage = reader(&ring, Place::Stage(0));
        thread::scope(|scope| {
            if is_multi {
                for _ in 0..2 {
                    let producer = Producer::one_more(ring.clone(), Plain);
                    scope.spawn(move || publish_all(producer, EVENTS / 2));
                }
            } else {
                let producer = Producer::only(ring.clone(), Plain);
                scope.spawn(move || publish_all(producer, EVENTS));
            }
            scope.spawn(move || {
                check_next(&mut stage, EVENTS / 2);
                stage.leave();
            });
            for start in [StartAt::Now, StartAt::Oldest] {
                let ring = &ring;
                scope.spawn(move || {
                    while let Ok(joined) = Joined::new(ring.control(), start) {
                        let mut guest = reader(ring, Place::DynamicStage(joined));
                        check_next(&mut guest, 2);
                        if !ring.control().is_open() {
                            return;
                        }
                    }
                });
            }
        });
    }
}
