//! The wait until an event is handled: what it waits for, which stage an error names, and that it ends
//! with each end of the ring.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::error::{HaltCause, HandledError};
use lapwing::graph::StartAt;
use lapwing::wait::{Blocking, BusySpin};
use lapwing::{Action, MultiProducer, Stage};

use crate::common::{self, Kind, MOMENT, ProducerOf};

common::for_both_producers! {
    an_event_that_every_last_stage_has_handled_is_not_waited_for,
    what_the_stages_did_is_visible,
    the_stage_that_is_behind_is_named_and_not_those_that_wait_for_it,
    each_of_several_last_stages_is_waited_for,
    an_event_that_is_not_published_has_no_culprit,
    a_halt_ends_the_wait,
    an_event_that_was_handled_before_the_halt_is_handled,
    an_event_after_the_end_is_refused,
    a_drained_ring_has_handled_its_events_also_without_consumers,
    a_ring_whose_last_consumer_leaves_has_not_handled_the_rest,
    a_handler_that_waits_for_its_own_event_gets_an_error,
    a_handler_may_wait_for_what_later_stages_have_left,
    a_stage_that_has_left_is_not_waited_for,
    a_consumer_that_joined_is_waited_for,
    an_acknowledgement_is_waited_for,
    workers_are_waited_for,
    a_ring_in_which_no_thread_parks_ends_the_wait,
    many_threads_wait_for_events_of_many_laps,
}

const LONG: Duration = Duration::from_secs(60);
const ZERO: Duration = Duration::ZERO;

fn behind(stages: &[&str]) -> Vec<String> {
    stages.iter().map(ToString::to_string).collect()
}

fn timed_out(stages: &[&str]) -> Result<(), HandledError> {
    Err(HandledError::TimedOut { behind: behind(stages) })
}

fn an_event_that_every_last_stage_has_handled_is_not_waited_for<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    let mut batch = all.poll().unwrap();
    batch.consume(2);
    batch.release();
    assert_eq!(producer.wait_handled(1, ZERO), Ok(()));
    assert_eq!(producer.wait_handled(2, ZERO), timed_out(&["all"]));
    let begun = Instant::now();
    assert_eq!(producer.wait_handled(2, Duration::from_millis(20)), timed_out(&["all"]));
    assert!(begun.elapsed() >= Duration::from_millis(20));
}

fn what_the_stages_did_is_visible<K: Kind>() {
    let sum = Arc::new(AtomicU64::new(0));
    let total = Arc::clone(&sum);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("first")
        .read(|_, _, _| {})
        .stage("sum")
        .read(move |event, _, _| {
            total.fetch_add(*event, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let mut expected = 0;
    for value in 1..200 {
        expected += value;
        let sequence = producer.publish(|event| *event = value).unwrap();
        if value % 2 == 0 {
            producer.wait_handled(sequence, LONG).unwrap();
        } else {
            running.wait_handled(sequence, LONG).unwrap();
        }
        assert_eq!(sum.load(Ordering::Relaxed), expected);
    }
    running.shutdown().unwrap();
}

fn the_stage_that_is_behind_is_named_and_not_those_that_wait_for_it<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .stage("decode")
        .poller()
        .stage("journal")
        .poller()
        .stage("send")
        .poller()
        .build()
        .unwrap();
    let mut take = |name| consumers.take_poller(name).unwrap();
    let (mut decode, mut journal, _send) = (take("decode"), take("journal"), take("send"));
    producer.publish(|_| {}).unwrap();
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&["decode"]));
    decode.poll().unwrap().consume_all();
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&["journal"]));
    journal.poll().unwrap().consume_all();
    let error = producer.wait_handled(0, ZERO).unwrap_err();
    assert_eq!(error.to_string(), "the event was not handled at the timeout: behind=[\"send\"]");
}

fn each_of_several_last_stages_is_waited_for<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| side.stage("left").poller().stage("right").poller())
        .build()
        .unwrap();
    let mut left = consumers.take_poller("left").unwrap();
    let mut right = consumers.take_poller("right").unwrap();
    producer.publish(|_| {}).unwrap();
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&["left", "right"]));
    right.poll().unwrap().consume_all();
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&["left"]));
    left.poll().unwrap().consume_all();
    assert_eq!(producer.wait_handled(0, ZERO), Ok(()));
}

fn an_event_that_is_not_published_has_no_culprit<K: Kind>() {
    let (mut producer, _consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&[]));
    producer.publish(|_| {}).unwrap();
    assert_eq!(producer.wait_handled(1, ZERO), timed_out(&[]));
    assert_eq!(producer.wait_handled(u64::MAX - 1, ZERO), timed_out(&[]));
}

/// A ring with an event that its stage does not finish before `go` is dropped.
fn stuck<K: Kind>() -> (ProducerOf<u64, K>, lapwing::Running<'static>, mpsc::Sender<()>) {
    let (go, gate) = mpsc::channel::<()>();
    let ring = K::ring(8, || 0_u64).stage("stuck").read(move |_, _, _| _ = gate.recv());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    (producer, running, go)
}

fn a_halt_ends_the_wait<K: Kind>() {
    let (_producer, running, go) = stuck::<K>();
    thread::scope(|scope| {
        let waits = scope.spawn(|| running.wait_handled(0, LONG));
        thread::sleep(MOMENT); // probably parked by now; the test is also correct if not
        running.halt();
        let cause = HaltCause::Requested;
        assert_eq!(
            waits.join().unwrap(),
            Err(HandledError::Halted { cause, behind: behind(&["stuck"]) })
        );
    });
    drop(go);
}

fn an_event_that_was_handled_before_the_halt_is_handled<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    all.poll_max(1).unwrap().consume_all();
    let running = consumers.start().unwrap();
    running.halt();
    assert_eq!(producer.wait_handled(0, LONG), Ok(()));
    let (cause, behind) = (HaltCause::Requested, behind(&["all"]));
    assert_eq!(producer.wait_handled(1, LONG), Err(HandledError::Halted { cause, behind }));
}

fn an_event_after_the_end_is_refused<K: Kind>() {
    let (producer, running, go) = stuck::<K>();
    let producer = thread::scope(|scope| {
        let waits = scope.spawn(move || (producer.wait_handled(1, LONG), producer));
        thread::sleep(MOMENT);
        running.close();
        let (result, producer) = waits.join().unwrap();
        assert_eq!(result, Err(HandledError::Closed));
        producer
    });
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&["stuck"]));
    drop(go);
    assert_eq!(producer.wait_handled(0, LONG), Ok(()));
}

fn a_drained_ring_has_handled_its_events_also_without_consumers<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    producer.publish(|_| {}).unwrap();
    producer.close();
    all.poll().unwrap().consume_all();
    assert!(all.poll().is_err());
    drop((all, consumers));
    assert_eq!(producer.wait_handled(0, LONG), Ok(()));
    assert_eq!(producer.wait_handled(1, LONG), Err(HandledError::Closed));
}

fn a_ring_whose_last_consumer_leaves_has_not_handled_the_rest<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, || 0_u64).stage("all").poller().build().unwrap();
    let all = consumers.take_poller("all").unwrap();
    producer.publish(|_| {}).unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(move || producer.wait_handled(0, LONG));
        thread::sleep(MOMENT);
        drop(all);
        let (cause, behind) = (HaltCause::NoConsumers, behind(&[]));
        assert_eq!(waits.join().unwrap(), Err(HandledError::Halted { cause, behind }));
    });
}

fn a_handler_that_waits_for_its_own_event_gets_an_error<K: Kind>() {
    for threads in [1, 2] {
        let (send, ring) = mpsc::channel::<Arc<lapwing::Running<'static>>>();
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .placement(lapwing::graph::Placement::threads(threads))
            .stage("waits")
            .read(move |_, sequence, _| {
                let running = ring.recv().unwrap();
                let expected = HandledError::WouldDeadlock { behind: behind(&["waits"]) };
                assert_eq!(running.wait_handled(sequence, LONG), Err(expected));
            })
            .stage("last")
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let running = Arc::new(consumers.start().unwrap());
        producer.publish(|_| {}).unwrap();
        send.send(Arc::clone(&running)).unwrap();
        running.wait_handled(0, LONG).unwrap();
    }
}

fn a_handler_may_wait_for_what_later_stages_have_left<K: Kind>() {
    let (send, ring) = mpsc::channel::<Arc<lapwing::Running<'static>>>();
    let mut running = None;
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage(Stage::new("waits").max_batch(1))
        .read(move |_, sequence, _| {
            let running = running.get_or_insert_with(|| ring.recv().unwrap());
            if let Some(before) = sequence.checked_sub(1) {
                running.wait_handled(before, LONG).unwrap();
            }
        })
        .stage("last")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = Arc::new(consumers.start().unwrap());
    send.send(Arc::clone(&running)).unwrap();
    for _ in 0..100 {
        producer.publish(|_| {}).unwrap();
    }
    running.wait_handled(99, LONG).unwrap();
    running.close();
}

fn a_stage_that_has_left_is_not_waited_for<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .side_by_side(|side| {
            side.stage("stops")
                .read(|_, sequence, _| if sequence == 1 { Action::Stop } else { Action::Continue })
                .stage("stays")
                .read(|_, _, _| {})
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for sequence in 0..20 {
        producer.publish(|_| {}).unwrap();
        producer.wait_handled(sequence, LONG).unwrap();
    }
    running.shutdown().unwrap();
}

fn a_consumer_that_joined_is_waited_for<K: Kind>() {
    let ring = K::ring(8, || 0_u64).seats(2).stage("stage").read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    let mut late = consumers.seats().take("late", StartAt::Now).unwrap().poller();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    while producer.wait_handled(0, ZERO) != timed_out(&["late"]) {
        thread::yield_now();
    }
    late.poll().unwrap().consume_all();
    assert_eq!(producer.wait_handled(0, LONG), Ok(()));
    running.shutdown().unwrap();
}

fn an_acknowledgement_is_waited_for<K: Kind>() {
    let stage = Stage::new("journal").acknowledged();
    let (mut producer, mut consumers) =
        K::ring(8, || 0_u64).stage(stage).read(|_, _, _| {}).build().unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    assert_eq!(producer.wait_handled(0, MOMENT), timed_out(&["journal"]));
    thread::scope(|scope| {
        let waits = scope.spawn(|| running.wait_handled(0, LONG));
        thread::sleep(MOMENT);
        disk.acknowledge(1).unwrap();
        assert_eq!(waits.join().unwrap(), Ok(()));
    });
    running.shutdown().unwrap();
}

fn workers_are_waited_for<K: Kind>() {
    let count = Arc::new(AtomicU64::new(0));
    let handled = Arc::clone(&count);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("work")
        .workers(3)
        .read(|_| {
            let handled = Arc::clone(&handled);
            move |_: &u64, _, _| _ = handled.fetch_add(1, Ordering::Relaxed)
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for sequence in 0..200 {
        producer.publish(|_| {}).unwrap();
        if sequence % 7 == 0 {
            producer.wait_handled(sequence, LONG).unwrap();
            assert_eq!(count.load(Ordering::Relaxed), sequence + 1);
        }
    }
    running.shutdown().unwrap();
}

fn a_ring_in_which_no_thread_parks_ends_the_wait<K: Kind>() {
    let go = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&go);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .wait(BusySpin)
        .producer_wait(BusySpin)
        .stage("spins")
        .read(move |_, _, _| {
            while !gate.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    assert_eq!(producer.wait_handled(0, ZERO), timed_out(&["spins"]));
    thread::scope(|scope| {
        let waits = scope.spawn(|| running.wait_handled(0, LONG));
        thread::sleep(MOMENT);
        go.store(true, Ordering::Relaxed);
        assert_eq!(waits.join().unwrap(), Ok(()));
    });
    running.shutdown().unwrap();
}

fn many_threads_wait_for_events_of_many_laps<K: Kind>() {
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .wait(Blocking::default())
        .stage("first")
        .read(|_, _, _| {})
        .stage("last")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    thread::scope(|scope| {
        for waiter in 0..3 {
            let running = &running;
            scope.spawn(move || {
                for sequence in (waiter..2_000).step_by(37) {
                    running.wait_handled(sequence, LONG).unwrap();
                }
            });
        }
        for _ in 0..2_000 {
            producer.publish(|_| {}).unwrap();
        }
    });
    running.shutdown().unwrap();
}

/// The stages do not pass the claim.
#[test]
fn a_thread_that_holds_a_claim_before_the_event_would_wait_for_itself() {
    common::watched(|| {
        let ring = lapwing::Disruptor::multi_producer(8, || 0_u64);
        let (mut producer, consumers) = ring.stage("all").read(|_, _, _| {}).build().unwrap();
        let mut other: MultiProducer<u64> = producer.clone();
        let running = consumers.start().unwrap();
        let claim = producer.claim().unwrap();
        let sequence = other.publish(|_| {}).unwrap();
        let expected = HandledError::WouldDeadlock { behind: behind(&[]) };
        assert_eq!(other.wait_handled(sequence, LONG), Err(expected));
        claim.publish().unwrap();
        assert_eq!(other.wait_handled(sequence, LONG), Ok(()));
        running.shutdown().unwrap();
    });
}
