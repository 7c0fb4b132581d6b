//! A stage that stops leaves the graph, and no other stage loses an event.

use std::sync::mpsc;
use std::time::Duration;

use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};
use lapwing::producer::WhenFull;
use lapwing::wait::Blocking;
use lapwing::{Action, Sequence, Stage};

use crate::common::{self, Kind, PATIENCE, repeats};
use crate::{Book, Call, Form, Log, Spy, counts, drain};

common::for_both_producers! {
    siblings_and_dependants_of_a_stage_that_stopped_get_every_event,
    a_stage_that_stops_wakes_its_parked_downstream_stage,
    a_stage_that_stops_in_front_of_a_parked_producer_frees_it,
    the_last_stage_that_stops_halts_the_ring_without_an_error,
    stages_that_stop_one_after_another_end_well,
    two_stages_that_stop_at_the_same_time_halt_the_ring,
    a_poller_continues_after_the_last_handler_stopped,
    a_stage_that_stopped_has_handed_on_what_it_wrote,
    a_stage_stops_in_the_middle_of_a_batch,
    a_stage_that_stops_first_still_closes_in_order,
    a_stage_that_stops_has_left_before_its_last_call,
    miri_a_stage_stops_while_others_continue,
}

/// Stops at `bad`.
fn stops(bad: Sequence) -> impl FnMut(&u64, Sequence, bool) -> Action + Send + 'static {
    move |_, sequence, _| if sequence == bad { Action::Stop } else { Action::Continue }
}

fn check_others<K: Kind>(capacity: usize, events: u64, bad: Sequence) {
    let ring = K::ring(capacity, || 0)
        .stage("before")
        .read_handler(Book::default())
        .side_by_side(|side| {
            side.stage("stops").read(stops(bad)).stage("sibling").read_handler(Book::default())
        })
        .stage("after")
        .read_handler(Book::default());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..events {
        producer.publish(|_| {}).unwrap();
    }
    let mut report = running.shutdown().unwrap();
    for name in ["before", "sibling", "after"] {
        let book: Book = report.take(name).unwrap();
        assert_eq!(book, Book { done: (0..events).collect(), failed: Vec::new() }, "{name}");
    }
    let stages: Vec<_> =
        report.stages().map(|stage| (stage.outcome().clone(), stage.processed())).collect();
    let drained = (Outcome::Drained, events);
    assert_eq!(stages, [drained.clone(), (Outcome::Stopped, bad), drained.clone(), drained]);
}

fn siblings_and_dependants_of_a_stage_that_stopped_get_every_event<K: Kind>() {
    for capacity in [1, 2, 8] {
        for bad in [0, 1, 5, 100] {
            check_others::<K>(capacity, bad + 50, bad);
        }
    }
}

fn miri_a_stage_stops_while_others_continue<K: Kind>() {
    check_others::<K>(2, 8, 3);
}

fn a_stage_that_stops_wakes_its_parked_downstream_stage<K: Kind>() {
    let (go_on, may_go_on) = mpsc::channel();
    let (send, seen) = mpsc::channel();
    let stops = move |_: &u64, _, _: bool| {
        may_go_on.recv().unwrap();
        Action::Stop
    };
    let asleep = Stage::new("asleep").wait(Blocking { yields: 0 });
    let ring = K::ring(4, || 0)
        .stage("stops")
        .read(stops)
        .stage(asleep)
        .read(move |_, sequence, _| send.send(sequence).unwrap());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    assert!(seen.recv_timeout(common::MOMENT).is_err(), "no earlier event is released");
    go_on.send(()).unwrap();
    for sequence in 0..3 {
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(sequence));
    }
    running.shutdown().unwrap();
}

fn a_stage_that_stops_in_front_of_a_parked_producer_frees_it<K: Kind>() {
    let (go_on, may_go_on) = mpsc::channel();
    let stops = move |_: &u64, _, _: bool| {
        may_go_on.recv().unwrap();
        Action::Stop
    };
    let ring = K::ring(1, || 0)
        .producer_wait(Blocking { yields: 0 })
        .side_by_side(|side| side.stage("stops").read(stops).stage("stays").read(|_, _, _| {}));
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let timed_out = lapwing::error::WhenFullError::TimedOut;
    assert_eq!(producer.publish_or(WhenFull::Timeout(common::MOMENT), |_| {}), Err(timed_out));
    let feed = std::thread::spawn(move || producer.publish(|_| {}));
    std::thread::sleep(common::MOMENT); // probably parked by now; the test is also correct if not
    go_on.send(()).unwrap();
    assert_eq!(feed.join().unwrap(), Ok(1));
    let report = running.join().unwrap();
    let processed: Vec<u64> = report.stages().map(|stage| stage.processed()).collect();
    assert_eq!(processed, [0, 2]);
}

fn the_last_stage_that_stops_halts_the_ring_without_an_error<K: Kind>() {
    let log = Log::default();
    let spy =
        Spy::new(&log, |call| Ok(if call.includes(5) { Action::Stop } else { Action::Continue }));
    let ring = Form::Handler.add(K::ring(4, || 0), Stage::new("stops"), spy);
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let stopped = loop {
        if let Err(stopped) = producer.publish(|_| {}) {
            break stopped;
        }
    };
    assert_eq!(stopped, PublishError::Halted(HaltCause::NoConsumers));
    let report = running.join().unwrap();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Stopped, (5, 0)));
    assert_eq!(log.sequences(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(log.count(&Call::Shutdown), 1);
}

fn stages_that_stop_one_after_another_end_well<K: Kind>() {
    let ring = K::ring(2, || 0)
        .stage("first")
        .read(stops(3))
        .side_by_side(|side| side.stage("left").read(stops(9)).stage("right").read(stops(6)))
        .stage("last")
        .read(stops(12));
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    while producer.publish(|_| {}).is_ok() {}
    let report = running.join().unwrap();
    let processed: Vec<u64> = report.stages().map(|stage| stage.processed()).collect();
    assert_eq!(processed, [3, 9, 6, 12]);
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Stopped));
}

fn two_stages_that_stop_at_the_same_time_halt_the_ring<K: Kind>() {
    for _ in 0..repeats(100) {
        let ring = K::ring(2, || 0_u64)
            .side_by_side(|side| side.stage("left").read(stops(4)).stage("right").read(stops(4)));
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        while producer.publish(|_| {}).is_ok() {}
        let report = running.join().unwrap();
        assert!(report.stages().all(|stage| stage.processed() == 4));
    }
}

fn a_poller_continues_after_the_last_handler_stopped<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("stops").read(stops(2)).stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    let running = consumers.start().unwrap();
    let mut seen = Vec::new();
    for value in 0..20 {
        producer.publish(|event| *event = value).unwrap();
        seen.extend(poller.wait().unwrap().iter().map(|(_, event)| *event));
    }
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
    assert_eq!(running.join().unwrap().stages().next().unwrap().processed(), 2);
    drop(poller);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed), "by `join`, and drained");
}

fn a_stage_that_stopped_has_handed_on_what_it_wrote<K: Kind>() {
    let mut seen = Vec::new();
    let writes = |event: &mut u64, sequence, _: bool| {
        *event += 100; // also the event at which it stops
        if sequence == 3 { Action::Stop } else { Action::Continue }
    };
    let ring = K::ring(8, || 0)
        .stage("writes")
        .write(writes)
        .stage("reads")
        .read(|event, _, _| seen.push(*event));
    drop(drain(ring, 6));
    assert_eq!(seen, [100, 101, 102, 103, 4, 5]);
}

fn a_stage_stops_in_the_middle_of_a_batch<K: Kind>() {
    let stage = Stage::new("stops").max_batch(8);
    let mut finished = drain(
        K::ring(8, || 0).stage(stage).read(stops(4)).stage("book").read_handler(Book::default()),
        8,
    );
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&Outcome::Stopped, (4, 0)));
    assert_eq!(finished[1].take_handler::<Book>().unwrap().done, (0..8).collect::<Vec<_>>());
}

fn a_stage_that_stops_first_still_closes_in_order<K: Kind>() {
    let ring =
        K::ring(8, || 0).stage("stops").read(stops(0)).stage("book").read_handler(Book::default());
    let (mut producer, consumers) = ring.build().unwrap();
    let mut running = consumers.start().unwrap();
    producer.publish_batch(4, |_| {}).unwrap();
    running.close();
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
    let mut report = running.shutdown_timeout(PATIENCE.max(Duration::from_secs(1))).unwrap();
    assert_eq!(report.take::<Book>("book").unwrap().done, [0, 1, 2, 3]);
}

/// Its last call waits until the other stages have got the later events.
fn a_stage_that_stops_has_left_before_its_last_call<K: Kind>() {
    for fails in [false, true] {
        let (send, seen) = mpsc::channel();
        let mut seen = Some(seen);
        let spy = Spy::new(&Log::default(), move |call| match call {
            Call::Event(1) if fails => Err(common::ON_PURPOSE),
            Call::Event(1) => Ok(Action::Stop),
            Call::Shutdown => {
                let seen = seen.take().unwrap();
                assert_eq!(seen.iter().take(10).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
                Ok(Action::Continue)
            }
            _ => Ok(Action::Continue),
        });
        let stage = Stage::new("stops").on_error(Action::Stop);
        let ring = Form::Handler.add(K::ring(2, || 0), stage, spy).stage("after").read(
            // After the tenth event there is no receiver.
            move |_, sequence, _| _ = send.send(sequence),
        );
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        for _ in 0..20 {
            producer.publish(|_| {}).unwrap();
        }
        let report = match running.shutdown() {
            Ok(report) if !fails => report,
            Err(failed) if fails => failed.into_report(),
            result => panic!("{result:?}"),
        };
        assert_eq!(report.stages().map(|stage| stage.processed()).collect::<Vec<_>>(), [1, 20]);
    }
}
