//! The wait until an event is handled: what it waits for, which stages an error names, and that it
//! ends with each end of the ring.
//!
//! [`ROWS`] has scripts of rings of pollers, and the result of a wait for no time after each;
//! [`ENDS`] has what ends a wait that has begun. What a handler does is a test of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::error::{HaltCause, HandledError};
use lapwing::graph::StartAt;
use lapwing::wait::{Blocking, BusySpin};
use lapwing::{Action, MultiProducer, Stage};

use crate::common::{self, Kind, MOMENT};
use crate::rig::{Rig, events, nothing, orders, row};

common::for_both_producers! {
    the_stages_that_are_behind_are_named_and_not_those_that_wait_for_them,
    a_timeout_is_not_early,
    each_end_ends_a_wait_that_has_begun,
    what_the_stages_did_is_visible,
    a_drained_ring_has_handled_its_events_also_without_consumers,
    a_handler_that_waits_for_its_own_event_gets_an_error,
    a_handler_may_wait_for_what_later_stages_have_left,
    a_stage_that_stops_is_not_waited_for,
    a_consumer_that_joined_is_waited_for,
    workers_are_waited_for,
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

/// A ring (none: the same ring goes on), a script, the event that is waited for, and the stages
/// that are then behind, or none if the event is handled.
type Row = (Option<&'static str>, &'static str, u64, Option<&'static [&'static str]>);

const ROWS: [Row; 19] = [
    (Some("all"), "", 0, Some(&[])), // not published
    (None, "publish 3", 3, Some(&[])),
    (None, "", u64::MAX - 1, Some(&[])),
    (None, "all 2", 1, None),
    (None, "", 2, Some(&["all"])),
    (Some("decode journal send"), "publish 1", 0, Some(&["decode"])),
    (None, "decode 1", 0, Some(&["journal"])),
    (None, "journal 1", 0, Some(&["send"])),
    (None, "publish 1, journal leaves", 1, Some(&["decode"])),
    (None, "decode 1", 1, Some(&["send"])),
    (None, "send 2", 1, None),
    (Some("left+right"), "publish 1", 0, Some(&["left", "right"])),
    (None, "right 1", 0, Some(&["left"])),
    (None, "left 1", 0, None),
    (None, "publish 2, left 2, right leaves", 2, None),
    (Some("journal!"), "publish 2, journal 1, journal acked 1", 0, None),
    (None, "journal 1", 1, Some(&["journal"])),
    (None, "close", 1, Some(&["journal"])),
    (None, "journal acked 2", 1, None),
];

fn the_stages_that_are_behind_are_named_and_not_those_that_wait_for_them<K: Kind>() {
    let mut rig = Rig::<K>::row(1, "none");
    for (ring, script, sequence, behind) in ROWS {
        if let Some(shape) = ring {
            rig = Rig::row(8, shape);
        }
        let result = rig.does(script).producer.wait_handled(sequence, ZERO);
        assert_eq!(result, behind.map_or(Ok(()), timed_out), "{sequence} after {script}");
    }
    let text = "the event was not handled at the timeout: behind=[\"send\"]";
    assert_eq!(timed_out(&["send"]).unwrap_err().to_string(), text);
}

fn a_timeout_is_not_early<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "all");
    let (begun, limit) = (Instant::now(), Duration::from_millis(20));
    assert_eq!(rig.does("publish 1").producer.wait_handled(0, limit), timed_out(&["all"]));
    assert!(begun.elapsed() >= limit);
}

/// The event that is waited for in a ring with the event 0, what ends the wait (or else a halt),
/// and its result.
type End = (u64, &'static str, fn() -> Result<(), HandledError>);

const ENDS: [End; 6] = [
    (0, "all acked 1", || Ok(())),
    (1, "publish 1, all 1, all acked 2", || Ok(())),
    (1, "close", || Err(HandledError::Closed)),
    // The stage has finished the event, and nobody has acknowledged it.
    (0, "all leaves", || {
        let (cause, behind) = (HaltCause::NoConsumers, Vec::new());
        Err(HandledError::Halted { cause, behind })
    }),
    (1, "publish 1, all leaves", || {
        let (cause, behind) = (HaltCause::NoConsumers, Vec::new());
        Err(HandledError::Halted { cause, behind })
    }),
    (0, "", || {
        let (cause, behind) = (HaltCause::Requested, behind(&["all"]));
        Err(HandledError::Halted { cause, behind })
    }),
];

fn each_end_ends_a_wait_that_has_begun<K: Kind>() {
    for ((sequence, script, result), parks) in
        ENDS.into_iter().flat_map(|end| [(end, true), (end, false)])
    {
        let ring = orders::<K>(8);
        let ring = if parks {
            ring
        } else {
            ring.wait_strategy(BusySpin).producer_wait_strategy(BusySpin)
        };
        let mut rig = Rig::<K>::of(row::<K>(ring, "all!"));
        rig.does("publish 1, all 1");
        let running = rig.start();
        thread::scope(|scope| {
            let waits = scope.spawn(|| running.wait_handled(sequence, LONG));
            thread::sleep(MOMENT); // probably parked by now; the test is also correct if not
            match script {
                "" => running.halt(),
                _ => _ = rig.does(script),
            }
            assert_eq!(waits.join().unwrap(), result(), "{script}, parks={parks}");
        });
        // The end does not take back what was handled before.
        let mut rig = Rig::<K>::row(8, "all");
        rig.does("publish 2, all 1");
        rig.start().halt();
        assert_eq!(rig.producer.wait_handled(0, LONG), Ok(()));
    }
}

fn what_the_stages_did_is_visible<K: Kind>() {
    let sum = Arc::new(AtomicU64::new(0));
    let total = Arc::clone(&sum);
    let (mut producer, consumers) = K::ring(8, || 0_u64)
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

fn a_drained_ring_has_handled_its_events_also_without_consumers<K: Kind>() {
    let mut rig = Rig::<K>::row(8, "all");
    rig.does("publish 1, close, all 1");
    assert!(rig.poller("all").poll().is_err());
    drop(rig.does("all leaves").consumers.take());
    assert_eq!(rig.producer.wait_handled(0, LONG), Ok(()));
    assert_eq!(rig.producer.wait_handled(1, LONG), Err(HandledError::Closed));
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

fn a_stage_that_stops_is_not_waited_for<K: Kind>() {
    let stops = |sequence| if sequence == 1 { Action::Stop } else { Action::Continue };
    let mut rig = Rig::<K>::of(orders::<K>(8).parallel(|parallel| {
        let parallel = parallel.stage("stops").read_handler(events(stops));
        parallel.stage("stays").read_handler(nothing())
    }));
    let running = rig.start();
    for sequence in 0..20 {
        rig.does("publish 1").producer.wait_handled(sequence, LONG).unwrap();
    }
    running.shutdown().unwrap();
}

fn a_consumer_that_joined_is_waited_for<K: Kind>() {
    let mut rig = Rig::<K>::of(row::<K>(orders::<K>(8).dynamic_stages(2), "all"));
    let dynamic_stages = rig.consumers.as_ref().unwrap().dynamic_stages();
    let mut late = dynamic_stages.join("late", StartAt::Now).unwrap().poller();
    rig.does("publish 1, all 1");
    assert_eq!(rig.producer.wait_handled(0, ZERO), timed_out(&["late"]));
    late.poll().unwrap().consume_all();
    assert_eq!(rig.producer.wait_handled(0, LONG), Ok(()));
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

fn many_threads_wait_for_events_of_many_laps<K: Kind>() {
    let (mut producer, consumers) = K::ring(16, || 0_u64)
        .wait_strategy(Blocking::default())
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
