//! A stage that stops leaves the graph, and no other stage loses an event. What it has handed on when
//! it stops is in `table.rs`.

use std::sync::mpsc;
use std::thread;

use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError, WhenFullError};
use lapwing::producer::WhenFull;
use lapwing::wait::Blocking;
use lapwing::{Action, Report, Sequence, Stage};

use crate::common::{self, Kind, MOMENT, ON_PURPOSE, PATIENCE, Turnstile, repeats};
use crate::{Book, Call, Form, Log, Spy, drain, run_threads, run_to_error};

common::for_both_producers! {
    siblings_and_dependants_of_a_stage_that_stopped_get_every_event,
    a_stage_that_stops_wakes_its_parked_downstream_stage,
    a_stage_that_stops_in_front_of_a_parked_producer_frees_it,
    the_last_stage_that_stops_halts_the_ring_without_an_error,
    a_poller_continues_after_the_last_handler_stopped,
    a_stage_that_stopped_has_handed_on_what_it_wrote,
    a_stage_that_stops_has_left_before_its_last_call,
    miri_a_stage_stops_while_others_continue,
}

/// Stops at `bad`.
fn stops(bad: Sequence) -> Spy {
    Spy::new(&Log::default(), move |call| match call.includes(bad) {
        true => Ok(Action::Stop),
        false => Ok(Action::Continue),
    })
}

/// Waits at each event until it is released, and stops at the first one.
fn stops_later() -> (Spy, Turnstile) {
    let (turnstile, mut pass) = Turnstile::new();
    let spy = Spy::new(&Log::default(), move |call| {
        if call.includes(0) {
            pass(0);
        }
        Ok(Action::Stop)
    });
    (spy, turnstile)
}

fn ends(report: &Report) -> Vec<(Outcome, u64)> {
    report.stages().map(|stage| (stage.outcome().clone(), stage.processed())).collect()
}

fn check_others<K: Kind>(capacity: usize, events: u64, bad: Sequence) {
    let ring = K::ring(capacity, || 0)
        .stage("before")
        .read_handler(Book::default())
        .parallel(|parallel| {
            parallel
                .stage("stops")
                .read_handler(stops(bad))
                .stage("sibling")
                .read_handler(Book::default())
        })
        .stage("after")
        .read_handler(Book::default());
    let mut report = run_threads(ring, events).unwrap();
    for name in ["before", "sibling", "after"] {
        let book: Book = report.take(name).unwrap();
        assert_eq!(book, Book { done: (0..events).collect(), failed: Vec::new() }, "{name}");
    }
    let [drained, stopped] = [(Outcome::Drained, events), (Outcome::Stopped, bad)];
    assert_eq!(ends(&report), [drained.clone(), stopped, drained.clone(), drained]);
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
    let (spy, turnstile) = stops_later();
    let (send, seen) = mpsc::channel();
    let asleep = Stage::new("asleep").wait_strategy(Blocking { yields: 0 });
    let ring = K::ring(4, || 0)
        .stage("stops")
        .read_handler(spy)
        .stage(asleep)
        .read(move |_, sequence, _| send.send(sequence).unwrap());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    assert!(seen.recv_timeout(MOMENT).is_err(), "no earlier event is released");
    turnstile.wait_for(0);
    turnstile.let_go();
    for sequence in 0..3 {
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(sequence));
    }
    running.shutdown().unwrap();
}

fn a_stage_that_stops_in_front_of_a_parked_producer_frees_it<K: Kind>() {
    let (spy, turnstile) = stops_later();
    let ring =
        K::ring(1, || 0).producer_wait_strategy(Blocking { yields: 0 }).parallel(|parallel| {
            parallel.stage("stops").read_handler(spy).stage("stays").read(|_, _, _| {})
        });
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let timed_out = WhenFullError::TimedOut;
    assert_eq!(producer.publish_or(WhenFull::Timeout(MOMENT), |_| {}), Err(timed_out));
    let feed = thread::spawn(move || producer.publish(|_| {}));
    thread::sleep(MOMENT); // probably parked by now; the test is also correct if not
    turnstile.wait_for(0);
    turnstile.let_go();
    assert_eq!(feed.join().unwrap(), Ok(1));
    let ends = ends(&running.join().unwrap());
    assert_eq!(ends, [(Outcome::Stopped, 0), (Outcome::Drained, 2)]);
}

/// One stage, stages that stop one after another, and two that stop at the same time.
fn the_last_stage_that_stops_halts_the_ring_without_an_error<K: Kind>() {
    let log = Log::default();
    let spy = Spy { log: log.clone(), ..stops(5) };
    let (error, report) =
        run_to_error(Form::Handler.add(K::ring(4, || 0), Stage::new("stops"), spy));
    assert_eq!(error, PublishError::Halted(HaltCause::NoConsumers));
    assert_eq!(ends(&report.unwrap()), [(Outcome::Stopped, 5)]);
    assert_eq!(log.sequences(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(log.count(&Call::Shutdown), 1);
    for stop_at in [[3, 9, 6, 12]].into_iter().chain((0..repeats(100)).map(|_| [9, 4, 4, 0])) {
        let [first, left, right, last] = stop_at.map(stops);
        let ring = K::ring(2, || 0)
            .stage("first")
            .read_handler(first)
            .parallel(|parallel| {
                parallel.stage("left").read_handler(left).stage("right").read_handler(right)
            })
            .stage("last")
            .read_handler(last);
        let (error, report) = run_to_error(ring);
        assert_eq!(error, PublishError::Halted(HaltCause::NoConsumers));
        assert_eq!(ends(&report.unwrap()), stop_at.map(|at| (Outcome::Stopped, at)));
    }
}

fn a_poller_continues_after_the_last_handler_stopped<K: Kind>() {
    let ring = K::ring(4, || 0_u64).stage("stops").read_handler(stops(2)).stage("poller").poller();
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

/// Its last call waits until the other stages have got the later events.
fn a_stage_that_stops_has_left_before_its_last_call<K: Kind>() {
    for fails in [false, true] {
        let (send, seen) = mpsc::channel();
        let mut seen = Some(seen);
        let spy = Spy::new(&Log::default(), move |call| match call {
            Call::Event(1, _) if fails => Err(ON_PURPOSE),
            Call::Event(1, _) => Ok(Action::Stop),
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
        let report = match run_threads(ring, 20) {
            Ok(report) if !fails => report,
            Err(failed) if fails => failed.into_report(),
            result => panic!("{result:?}"),
        };
        assert!(ends(&report).iter().map(|end| end.1).eq([1, 20]));
    }
}
