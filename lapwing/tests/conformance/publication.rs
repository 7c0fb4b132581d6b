//! C20 to C23: when an event becomes visible.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lapwing::Poller;
use lapwing::error::PollError;

use crate::common::{ON_PURPOSE, quiet_panics};
use crate::setup::{Kind, Setup};
use crate::spy::{publish, value_of};

for_each_setup! {
    c20_claim_in_the_middle_that_stalls_hides_later_events,
    c21_claims_that_are_outstanding_are_invisible,
    c22_last_event_of_a_batch_is_visible_when_the_batch_is_published,
    c23_dropped_claim_shows_no_event_and_blocks_no_thread,
    c23_panic_while_a_claim_is_filled_shows_no_event_and_blocks_no_thread,
}

/// Consumes and returns the visible events.
fn consume(poller: &mut Poller<u64>) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        seen.extend(batch.iter().map(|(_, event)| *event));
    }
    seen
}

/// A single producer has no two claims at the same time, and a second claim does not compile while
/// the first lives (see `Producer`). So its claim in the middle hides what follows by preventing
/// it.
fn c20_claim_in_the_middle_that_stalls_hides_later_events<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let mut second = K::another(&producer);
    producer.publish(|event| *event = 10).unwrap();
    let mut stalled = producer.claim().unwrap();
    *stalled = 11;
    if let Some(second) = &mut second {
        assert_eq!(second.publish(|event| *event = 12), Ok(2));
    }
    assert_eq!(consume(&mut poller), [10]);
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    assert_eq!(stalled.publish(), Ok(1));
    if second.is_none() {
        assert_eq!(producer.publish(|event| *event = 12), Ok(2));
    }
    assert_eq!(consume(&mut poller), [11, 12]);
}

/// The second claim finds the ring full by its cached gate and reads the gate again. LMAX then
/// writes the cursor.
fn c21_claims_that_are_outstanding_are_invisible<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let mut second = K::another(&producer);
    publish(&mut producer, 0..4);
    assert_eq!(consume(&mut poller).len(), 4);
    for round in 0..3 {
        let first = 4 + 4 * round;
        let mut claims = producer.claim_batch(2).unwrap();
        claims.slots().iter_mut().for_each(|slot| *slot = 1);
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        if let Some(second) = &mut second {
            let mut more = second.claim_batch(2).unwrap();
            assert_eq!(poller.poll().err(), Some(PollError::Empty));
            more.slots().iter_mut().for_each(|slot| *slot = 2);
            assert_eq!(more.publish(), Ok(first + 2..first + 4));
            assert_eq!(poller.poll().err(), Some(PollError::Empty));
            assert_eq!(claims.publish(), Ok(first..first + 2));
        } else {
            assert_eq!(claims.publish(), Ok(first..first + 2));
            producer.publish_batch(2, |slots| slots.iter_mut().for_each(|s| *s = 2)).unwrap();
        }
        assert_eq!(consume(&mut poller), [1, 1, 2, 2]);
    }
}

fn c22_last_event_of_a_batch_is_visible_when_the_batch_is_published<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let mut next = 0;
    for length in [1, 2, 3, 4, 3, 2, 1] {
        let batch = producer.claim_batch(length).unwrap();
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        assert_eq!(batch.publish(), Ok(next..next + length as u64));
        assert_eq!(consume(&mut poller).len(), length);
        next += length as u64;
    }
}

fn c23_dropped_claim_shows_no_event_and_blocks_no_thread<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let mut seen = Vec::new();
    for round in 0..9 {
        let mut claim = producer.claim().unwrap();
        *claim = 666;
        drop(claim);
        let mut claims = producer.claim_batch(2).unwrap();
        claims.slots().iter_mut().for_each(|slot| *slot = 666);
        drop(claims);
        producer.publish(|event| *event = value_of(round)).unwrap();
        seen.append(&mut consume(&mut poller));
    }
    assert_eq!(seen, (0..9).map(value_of).collect::<Vec<_>>());
}

fn c23_panic_while_a_claim_is_filled_shows_no_event_and_blocks_no_thread<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let mut seen = Vec::new();
    for round in 0..9 {
        let one = || {
            producer.publish(|event| {
                *event = 666;
                panic!("{ON_PURPOSE}");
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(one)).is_err());
        let two = || {
            producer.publish_batch(2, |slots| {
                slots.iter_mut().for_each(|slot| *slot = 666);
                panic!("{ON_PURPOSE}");
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(two)).is_err());
        producer.publish(|event| *event = value_of(round)).unwrap();
        seen.append(&mut consume(&mut poller));
    }
    assert_eq!(seen, (0..9).map(value_of).collect::<Vec<_>>());
}
