//! Defects of claiming and publishing.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use lapwing::error::{AcknowledgeError, BatchError, PollError, TryPublishError};
use lapwing::producer::{Sequencer, WhenFull};
use lapwing::{Action, Producer, Sequence, Stage};

use crate::common::{MOMENT, ON_PURPOSE, quiet_panics, wait_until};
use crate::setup::{Kind, Setup};
use crate::spy::{Spy, publish, value_of};

for_each_setup! {
    b02_last_event_of_a_batch_arrives_without_another,
    b03a_query_of_free_slots_publishes_nothing,
    b03b_second_claim_that_reads_the_gate_publishes_nothing,
    b11_batch_larger_than_the_ring_is_an_error_without_a_wait,
    b13_stage_cannot_be_ahead_of_the_cursor_and_let_the_producer_overrun,
    b14a_thread_that_publishes_to_two_rings_keeps_them_apart,
    b14b_two_threads_that_publish_batches_end,
    b15a_event_is_not_overwritten_before_its_reader_releases_it,
    b15b_every_event_of_several_producers_arrives,
    b15c_end_of_a_batch_releases_all_after_an_early_release,
    b16a_event_is_whole_when_it_is_visible,
    b16b_sequence_of_a_claim_is_that_of_its_event,
    b25_panic_of_a_fill_exposes_no_partial_event,
    b27_fill_that_publishes_and_halts_waits_for_no_lock,
    b27_publishing_under_a_lock_that_the_handler_wants_ends,
}

/// 3.0: `publish(lo, hi)` of several producers left out `hi`.
fn b02_last_event_of_a_batch_arrives_without_another<K: Kind>(setup: Setup<K>) {
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = setup
        .ring(4, || 0_u64)
        .stage("all")
        .read(|_, sequence, _| handled.store(sequence + 1, SeqCst))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for length in [1, 2, 3, 4, 1] {
            let sequences = producer.publish_batch(length, |_| {}).unwrap();
            wait_until(|| handled.load(SeqCst) == sequences.end);
        }
        running.shutdown().unwrap();
    });
}

/// Before 3.3.7, `hasAvailableCapacity` wrote the cursor if it was called between a claim and its
/// publication. The claim of a single producer borrows the producer, so the call is impossible
/// here. A call that is refused must not publish either.
fn b03a_query_of_free_slots_publishes_nothing<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(4);
    let is_refused = |producer: &mut Producer<u64, K::Sequencer>| {
        assert_eq!(producer.free_slots(), 3);
        assert_eq!(producer.try_claim_batch(4).err(), Some(BatchError::Full));
        let timed = producer.publish_batch_or(4, WhenFull::Timeout(MOMENT), |_| unreachable!());
        // Fails if this thread holds the claim.
        let in_vain = if K::IS_MULTI { BatchError::WouldDeadlock } else { BatchError::TimedOut };
        assert_eq!(timed, Err(in_vain));
    };
    if let Some(mut second) = K::another(&producer) {
        let claim = producer.claim().unwrap();
        is_refused(&mut second);
        assert_eq!(poller.poll().err(), Some(PollError::Empty));
        assert_eq!(claim.publish(), Ok(0));
    } else {
        publish(&mut producer, 0..1);
        drop(producer.claim().unwrap());
        is_refused(&mut producer);
    }
    assert_eq!(poller.poll().unwrap().len(), 1);
}

/// 3.3.7 to 4.0 (issue 477): a second claim that finds the ring full by its cached gate writes the
/// cursor, and the first claim is seen before it is published.
fn b03b_second_claim_that_reads_the_gate_publishes_nothing<K: Kind>(setup: Setup<K>) {
    let (is_published, handled) = (AtomicBool::new(true), AtomicU64::new(0));
    let (mut producer, consumers) = setup
        .ring(4, || 0_u64)
        .stage("all")
        .read(|_, sequence, _| {
            assert!(is_published.load(SeqCst), "seen before it was published");
            handled.store(sequence + 1, SeqCst);
        })
        .build()
        .unwrap();
    let mut second = K::another(&producer);
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for round in 0..5 {
            // All but one slot of a lap, so that the claim after the next one reads the gate.
            producer.publish_batch(3, |_| {}).unwrap();
            wait_until(|| handled.load(SeqCst) == 5 * round + 3);
            is_published.store(false, SeqCst);
            if let Some(second) = &mut second {
                let first = producer.claim().unwrap();
                let behind = second.claim().unwrap();
                thread::yield_now();
                is_published.store(true, SeqCst);
                first.publish().unwrap();
                behind.publish().unwrap();
            } else {
                drop(producer.claim().unwrap());
                let both = producer.claim_batch(2).unwrap();
                thread::yield_now();
                is_published.store(true, SeqCst);
                both.publish().unwrap();
            }
            wait_until(|| handled.load(SeqCst) == 5 * round + 5);
        }
        running.shutdown().unwrap();
    });
}

/// Before 2018 (issue 236): `next(n)` for more than the capacity parked for ever.
fn b11_batch_larger_than_the_ring_is_an_error_without_a_wait<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) =
        setup.ring(4, || 0).stage("spy").read_handler(Spy::default()).build().unwrap();
    let running = consumers.start().unwrap();
    for requested in [5, 8, usize::MAX / 2 + 1, usize::MAX] {
        let error = BatchError::TooLarge { requested, capacity: 4 };
        assert_eq!(producer.publish_batch(requested, |_| unreachable!()), Err(error));
    }
    publish(&mut producer, 0..8);
    let spy: Spy = running.shutdown().unwrap().take("spy").unwrap();
    assert_eq!(spy.sequences(), (0..8).collect::<Vec<_>>());
}

/// 3.0: a gating sequence ahead of the cursor let the producer overwrite unread events.
fn b13_stage_cannot_be_ahead_of_the_cursor_and_let_the_producer_overrun<K: Kind>(setup: Setup<K>) {
    let stage = Stage::new("journal").acknowledged();
    let (mut producer, mut consumers) = setup.ring(4, || 0).stage(stage).poller().build().unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    publish(&mut producer, 0..2);
    let ahead = AcknowledgeError { sequence: 3, published: 2 };
    assert_eq!(disk.acknowledge(3), Err(ahead));
    disk.acknowledge(2).unwrap(); // above the stage's sequence, but not above the cursor
    publish(&mut producer, 2..4);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    journal.poll().unwrap().consume(usize::MAX);
    publish(&mut producer, 4..6);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    // A ring that does not begin at 0. LMAX has `claim` and had `resetTo` for this.
    let ring = setup.ring(4, || 0).first_sequence(1_000).stage("all").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let _holds = consumers.take_poller("all").unwrap();
    publish(&mut producer, 1_000..1_004);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
}

/// 2.x: the claims of several producers went through a `static` that all rings shared.
fn b14a_thread_that_publishes_to_two_rings_keeps_them_apart<K: Kind>(setup: Setup<K>) {
    let (mut large, mut from_large) = setup.ring_with_poller(8);
    let (mut small, mut from_small) = setup.ring_with_poller(2);
    for round in 0..9 {
        let mut first = large.claim_batch(3).unwrap();
        let mut second = small.claim().unwrap();
        first.slots().iter_mut().for_each(|slot| *slot = 100 + round);
        *second = 200 + round;
        assert_eq!(second.publish(), Ok(round));
        assert_eq!(from_large.poll().err(), Some(PollError::Empty));
        assert_eq!(first.publish(), Ok(3 * round..3 * round + 3));
        assert_eq!(from_small.poll().unwrap().iter().next(), Some((round, &(200 + round))));
        let mut seen = 0;
        while let Ok(mut batch) = from_large.poll() {
            assert!(batch.as_slice().iter().all(|event| *event == 100 + round));
            seen += batch.len();
            batch.consume_all();
        }
        assert_eq!(seen, 3);
    }
}

/// Publishes `batches` batches of three.
fn publish_batches<S: Sequencer>(producer: &mut Producer<u64, S>, batches: u64) {
    for _ in 0..batches {
        producer.publish_batch(3, |slots| slots.iter_mut().for_each(|slot| *slot = 1)).unwrap();
    }
}

/// 2.x: two threads that published batches deadlocked. A single producer moves from thread to
/// thread.
fn b14b_two_threads_that_publish_batches_end<K: Kind>(setup: Setup<K>) {
    let batches = setup.events(100);
    let mut sum = 0;
    let ring = setup.ring(4, || 0_u64).stage("sum").read(|event, _, _| sum += event);
    let (mut producer, consumers) = ring.build().unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        if let Some(mut second) = K::another(&producer) {
            let thread = scope.spawn(move || publish_batches(&mut second, batches));
            publish_batches(&mut producer, batches);
            thread.join().unwrap();
        } else {
            let producer = Mutex::new(producer);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        (0..batches).for_each(|_| publish_batches(&mut producer.lock().unwrap(), 1))
                    });
                }
            });
        }
        running.shutdown().unwrap();
    });
    assert_eq!(sum, 2 * 3 * batches);
}

/// 1.0: the wrap was off by one.
fn b15a_event_is_not_overwritten_before_its_reader_releases_it<K: Kind>(setup: Setup<K>) {
    for capacity in [1, 2, 4] {
        let (mut producer, mut poller) = setup.ring_with_poller(capacity as usize);
        publish(&mut producer, 0..capacity);
        for sequence in 0..3 * capacity {
            let mut batch = poller.poll().unwrap();
            assert_eq!(producer.try_publish(|event| *event = 666), Err(TryPublishError::Full));
            assert_eq!(batch.as_slice()[0], value_of(sequence));
            batch.consume(1);
            batch.release();
            publish(&mut producer, sequence + capacity..sequence + capacity + 1);
        }
    }
}

/// 1.x: publications of several producers were lost.
fn b15b_every_event_of_several_producers_arrives<K: Kind>(setup: Setup<K>) {
    let events = setup.events(200);
    let mut next = [0_u64; 3];
    let ring =
        setup.ring(4, || (0, 0)).stage("all").read(|&(producer, number): &(usize, u64), _, _| {
            assert_eq!(number, next[producer], "in the order of each producer");
            next[producer] += 1;
        });
    let (first, consumers) = ring.build().unwrap();
    let others = [K::another(&first), K::another(&first)];
    let producers: Vec<_> = iter::once(first).chain(others.into_iter().flatten()).collect();
    let count = producers.len();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let threads = producers.into_iter().enumerate().map(|(id, mut producer)| {
            scope.spawn(move || {
                (0..events).for_each(|number| {
                    producer.publish(|event| *event = (id, number)).unwrap();
                });
            })
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
        running.shutdown().unwrap();
    });
    assert!(next[..count].iter().all(|seen| *seen == events), "{next:?}");
}

/// 1.0: with a handler that released early, the end of the batch was not released.
fn b15c_end_of_a_batch_releases_all_after_an_early_release<K: Kind>(setup: Setup<K>) {
    for early in 0..4 {
        let release = move |_: &u64, sequence: Sequence, _: bool| match sequence % 4 == early {
            true => Action::ReleaseNow,
            false => Action::Continue,
        };
        let stage = Stage::new("early").max_batch(4);
        let (mut producer, consumers) =
            setup.ring(4, || 0).stage(stage).read(release).build().unwrap();
        publish(&mut producer, 0..4);
        let running = consumers.start().unwrap();
        assert_eq!(producer.publish_batch(4, |_| {}), Ok(4..8));
        wait_until(|| running.backlog()[0].events == 0);
        assert_eq!(producer.try_publish_batch(4, |_| {}), Ok(8..12));
        running.shutdown().unwrap();
    }
}

/// 3.x: the fence of `Sequence.set` was after its store. The models of O1, O3 and O4 cover it.
fn b16a_event_is_whole_when_it_is_visible<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(2, || [0_u64; 16])
        .stage("first")
        .write(|event, sequence, _| {
            assert_eq!(*event, [sequence; 16]);
            *event = [sequence + 1; 16];
        })
        .stage("second")
        .read(|event, sequence, _| assert_eq!(*event, [sequence + 1; 16]))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for sequence in 0..setup.events(500) {
        producer.publish(|event| *event = [sequence; 16]).unwrap();
    }
    running.shutdown().unwrap();
}

/// A development version of 4.0: `addAndGet` returned the previous value.
fn b16b_sequence_of_a_claim_is_that_of_its_event<K: Kind>(setup: Setup<K>) {
    let ring =
        setup.ring(8, || 0).stage("all").read(|event, sequence, _| assert_eq!(*event, sequence));
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for round in 0..setup.events(50) {
        let mut claim = producer.claim().unwrap();
        assert_eq!(claim.sequence(), 4 * round);
        *claim = claim.sequence();
        assert_eq!(claim.publish(), Ok(4 * round));
        let mut batch = producer.claim_batch(3).unwrap();
        let sequences = batch.sequences();
        assert_eq!(sequences, 4 * round + 1..4 * round + 4);
        assert_eq!(batch.slots().first_sequence(), sequences.start);
        batch.slots().iter_mut().zip(sequences.clone()).for_each(|(slot, s)| *slot = s);
        assert_eq!(batch.publish(), Ok(sequences));
    }
    running.shutdown().unwrap();
}

/// Open: a translator that throws publishes what it has written.
fn b25_panic_of_a_fill_exposes_no_partial_event<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let (mut producer, consumers) = setup
        .ring(2, || [0_u64; 2])
        .stage("first")
        .read(|[left, right], _, _| assert_eq!(left, right, "half an event"))
        .stage("second")
        .read(|[left, right], _, _| assert_eq!(left, right, "half an event"))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let rounds = setup.events(50);
    for round in 0..rounds {
        let half = |event: &mut [u64; 2]| {
            event[0] = u64::MAX;
            panic!("{ON_PURPOSE}");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| producer.publish(half))).is_err());
        producer.publish(|event| *event = [round; 2]).unwrap();
    }
    running.shutdown().unwrap();
}

/// log4j (issue 4009 of log4j2): `publish` took the lock of the wait strategy, and user code ran
/// under another lock.
fn b27_fill_that_publishes_and_halts_waits_for_no_lock<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) =
        setup.ring(8, || 0).stage("spy").read_handler(Spy::default()).build().unwrap();
    let (mut elsewhere, mut poller) = setup.ring_with_poller(2);
    let second = K::another(&producer);
    let running = consumers.start().unwrap();
    let result = producer.publish(|_| {
        elsewhere.publish(|_| {}).unwrap();
        assert_eq!(poller.wait().unwrap().len(), 1);
        if let Some(mut second) = second {
            second.publish(|_| {}).unwrap();
        }
        running.halt();
        assert!(running.join().is_err(), "the stage ends while the slot is being filled");
    });
    assert!(result.is_err());
}

fn b27_publishing_under_a_lock_that_the_handler_wants_ends<K: Kind>(setup: Setup<K>) {
    let (log, handled) = (Mutex::new(()), AtomicU64::new(0));
    let (mut producer, consumers) = setup
        .ring(8, || 0)
        .stage("log")
        .read(|_, sequence, _| {
            let _lock = log.lock().unwrap();
            handled.store(sequence + 1, SeqCst);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for round in 0..5 {
            let lock = log.lock().unwrap();
            // A slot is free, so the call does not wait.
            publish(&mut producer, 8 * round..8 * (round + 1));
            drop(lock);
            wait_until(|| handled.load(SeqCst) == 8 * (round + 1));
        }
        running.shutdown().unwrap();
    });
}
