//! The end of a ring whose ends are used in an unusual way, by public calls only.
#![cfg(not(loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};

use lapwing_core::advice::Plain;
use lapwing_core::error::{ClaimError, PollError};
use lapwing_core::{
    Factory, Granted, Graph, MultiClaims, Place, Producer, Reader, Room, Trying, UNLIMITED, Waits,
};

type Claims = MultiClaims<Plain>;

/// A full ring with several producers, one of its producers, and the reader of its only stage.
fn full_ring() -> (Producer<u64, Claims>, Reader<u64, Plain>) {
    let room = Room::reserve(&mut lapwing_core::Words::private(), 2, true).unwrap();
    let graph = Graph::new(vec![Box::default()]);
    let ring = room.into_ring(
        &mut lapwing_core::Words::private(),
        Factory::of(|| 0),
        graph,
        0,
        Waits::default(),
    );
    // SAFETY: I5: numbers are `Sync`.
    let reader = unsafe { Reader::new(ring.clone(), Place::Stage(0), false, UNLIMITED, Plain) };
    let mut producer = Producer::one_more(ring, Plain);
    producer.claim_batch(2, |_, why| Err(why)).unwrap().publish().unwrap();
    (producer, reader)
}

/// Claims from a full ring. `wait` gets what it was granted once the reader has released all.
fn claim_from_full_ring(
    (producer, reader): &mut (Producer<u64, Claims>, Reader<u64, Plain>),
    wait: impl for<'p> FnOnce(&mut Trying<'p, '_, Claims>, Granted<'p>) -> Result<Granted<'p>, ()>,
) -> Result<u64, ()> {
    let claim = producer.claim(|trying, why| {
        assert_eq!(why, ClaimError::Full);
        let end = reader.poll(UNLIMITED).unwrap().end;
        reader.release(end);
        let granted = trying.again().unwrap();
        wait(trying, granted)
    });
    claim.map(|claim| claim.publish().unwrap())
}

/// A grant that was not used was counted at the end, and its consumers waited for it for ever.
#[test]
fn a_grant_that_was_not_used_kept_the_stage_from_its_end() {
    let mut ends = full_ring();
    assert_eq!(claim_from_full_ring(&mut ends, |_, _| Err(())), Err(()));
    let (producer, mut reader) = ends;
    drop(producer);
    assert_eq!(reader.poll(UNLIMITED), Err(PollError::Closed));
    assert_eq!((reader.next(), reader.given_up()), (3, 1));
}

/// The same after a panic.
#[test]
fn a_grant_that_a_panic_lost_kept_the_stage_from_its_end() {
    let mut ends = full_ring();
    let claim = || claim_from_full_ring(&mut ends, |_, _| panic!("a strategy panics"));
    assert!(catch_unwind(AssertUnwindSafe(claim)).is_err());
    let (producer, mut reader) = ends;
    drop(producer);
    assert_eq!(reader.poll(UNLIMITED), Err(PollError::Closed));
}

/// A second grant of one attempt left the first one behind.
#[test]
fn an_attempt_that_was_repeated_after_its_grant_got_another_one() {
    let mut ends = full_ring();
    let again = claim_from_full_ring(&mut ends, |trying, _| trying.again().map_err(|_| ()));
    assert_eq!(again, Ok(2));
    let (producer, mut reader) = ends;
    drop(producer);
    assert_eq!(reader.poll(UNLIMITED), Ok(2..3));
    reader.release(3);
    assert_eq!(reader.poll(UNLIMITED), Err(PollError::Closed));
}
