//! How a stage ends, what the report says, and which calls came before.

use std::error::Error;
use std::time::Duration;

use lapwing::consumer::{Failure, Outcome};
use lapwing::lifecycle::RunError;
use lapwing::{Action, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{
    Book, Call, Form, Log, Spy, counts, detached_at, drain, drain_one, failed_at, message,
    panicked_at,
};

common::for_both_producers! {
    on_shutdown_is_called_once_unless_a_panic_ended_the_stage,
    the_report_says_how_each_stage_ended,
    the_report_counts_the_other_failures,
    a_detached_stage_makes_the_report_an_error_and_stops_no_other_stage,
    a_handler_is_returned_unless_a_panic_ended_its_stage,
    a_policy_that_panics_halts_the_ring,
    a_panic_in_on_restart_halts_the_ring,
    a_panic_in_on_start_halts_the_ring_whatever_the_policy,
    a_panic_in_on_shutdown_after_the_stage_left,
    counts_of_a_stage_that_was_halted_from_outside,
    counts_of_a_batch_that_was_to_come_again,
    a_policy_sees_what_failed,
}

/// The event at which the spy below acts.
const BAD: u64 = 3;

/// Runs a stage that does `act` at [`BAD`]. Returns how it ended, and its calls.
fn end<K: Kind>(stage: Stage, act: fn() -> crate::Said) -> (Outcome, (u64, u64), Log) {
    quiet_panics();
    let log = Log::default();
    let act = move |call: &Call| if call.includes(BAD) { act() } else { Ok(Action::Continue) };
    let ring = Form::Handler.add(K::ring(8, || 0), stage.max_batch(8), Spy::new(&log, act));
    let finished = drain_one(ring, 5);
    (finished.outcome().clone(), counts(&finished), log)
}

fn err() -> crate::Said {
    Err(ON_PURPOSE)
}

fn panic() -> crate::Said {
    panic!("{ON_PURPOSE}")
}

fn stage() -> Stage {
    Stage::new("acts")
}

fn on_shutdown_is_called_once_unless_a_panic_ended_the_stage<K: Kind>() {
    let bad_policy = |_: &Failure<'_>| -> Action { panic!("{ON_PURPOSE}") };
    type Ending = (Stage, fn() -> crate::Said, Outcome, usize);
    let endings: [Ending; 9] = [
        (stage(), || Ok(Action::Continue), Outcome::Drained, 1),
        (stage(), || Ok(Action::Halt), Outcome::Halted, 1),
        (stage(), || Ok(Action::Stop), Outcome::Stopped, 1),
        (stage(), err, failed_at(BAD), 1),
        (stage().on_error(Action::Stop), err, detached_at(BAD), 1),
        (stage(), panic, panicked_at(BAD), 0),
        (stage().on_panic(Action::Stop), panic, detached_at(BAD), 0),
        (stage().on_panic(bad_policy), panic, panicked_at(BAD), 0),
        (stage().on_error(bad_policy), err, panicked_at(BAD), 0),
    ];
    for (stage, act, expected, shutdowns) in endings {
        let (outcome, (processed, skipped), log) = end::<K>(stage, act);
        assert_eq!(outcome, expected);
        let all_done = if outcome == Outcome::Drained { 5 } else { BAD };
        assert_eq!((processed, skipped), (all_done, 0), "{outcome:?}");
        assert_eq!(log.count(&Call::Shutdown), shutdowns, "{outcome:?}");
        if shutdowns == 1 {
            assert_eq!(log.calls().last(), Some(&Call::Shutdown), "{outcome:?}");
        }
    }
}

/// Returns the error of a ring whose only stage "acts" does `act` at [`BAD`].
fn error<K: Kind>(stage: Stage, act: fn() -> crate::Said) -> Option<RunError> {
    quiet_panics();
    let spy =
        Spy::new(
            &Log::default(),
            move |call| {
                if call.includes(BAD) { act() } else { Ok(Action::Continue) }
            },
        );
    let (mut producer, consumers) = Form::Event.add(K::ring(8, || 0), stage, spy).build().unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    consumers.start().unwrap().shutdown().err()
}

fn the_report_says_how_each_stage_ended<K: Kind>() {
    let text = |stage, act| error::<K>(stage, act).map(|failed| failed.to_string());
    let of =
        |how| Some(format!("a stage {how}: stage=\"acts\", sequence=3, message=\"on purpose\""));
    assert_eq!(text(stage(), || Ok(Action::Continue)), None);
    assert_eq!(text(stage(), || Ok(Action::Stop)), None);
    let halted = "the ring was halted before every event was handled";
    assert_eq!(text(stage(), || Ok(Action::Halt)).as_deref(), Some(halted));
    assert_eq!(text(stage(), err), of("failed"));
    assert_eq!(text(stage().on_error(Action::Stop), err), of("failed"));
    assert_eq!(text(stage(), panic), of("panicked"));
    assert_eq!(text(stage().on_panic(Action::Stop), panic), of("failed"));
    assert_eq!(text(stage().on_panic(Action::Skip), panic), None);
}

fn the_report_counts_the_other_failures<K: Kind>() {
    let fails = |name: &str| {
        let fails = |_: &u64, _, _: bool| Err::<(), _>(ON_PURPOSE);
        (Stage::new(name).on_error(Action::Stop), fails)
    };
    let (first, second, third) = (fails("first"), fails("second"), fails("third"));
    let ring = K::ring(8, || 0_u64)
        .stage(first.0)
        .read(first.1)
        .side_by_side(|side| side.stage(second.0).read(second.1).stage(third.0).read(third.1));
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish(|_| {}).unwrap();
    let failed = consumers.start().unwrap().shutdown().unwrap_err();
    let text = "a stage failed: stage=\"first\", sequence=0, message=\"on purpose\", and 2 more";
    // The last one that leaves halts the ring. By then each has failed.
    assert_eq!(failed.to_string(), text);
    let report = failed.into_report();
    assert!(report.stages().all(|stage| *stage.outcome() == detached_at(0)));
}

fn a_detached_stage_makes_the_report_an_error_and_stops_no_other_stage<K: Kind>() {
    let leaves = Stage::new("leaves").on_error(Action::Stop);
    let ring = K::ring(4, || 0)
        .stage(leaves)
        .read(|_, at, _| if at < 10 { Ok(()) } else { Err(ON_PURPOSE) })
        .stage("stays")
        .read_handler(Book::default());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..100 {
        producer.publish(|_| {}).unwrap();
    }
    let mut report = running.shutdown().unwrap_err().into_report();
    let stages: Vec<_> =
        report.stages().map(|stage| (stage.outcome().clone(), stage.processed())).collect();
    assert_eq!(stages, [(detached_at(10), 10), (Outcome::Drained, 100)]);
    assert_eq!(report.take::<Book>("stays").unwrap().done.len(), 100);
}

fn a_handler_is_returned_unless_a_panic_ended_its_stage<K: Kind>() {
    quiet_panics();
    const PANICS: usize = 1;
    let at_first: [fn(&Call) -> crate::Said; 4] = [
        |call| if call.includes(0) { Err(ON_PURPOSE) } else { Ok(Action::Continue) },
        |call| if call.includes(0) { panic!("{ON_PURPOSE}") } else { Ok(Action::Continue) },
        |call| if call.includes(0) { Ok(Action::Stop) } else { Ok(Action::Continue) },
        |call| if call.includes(0) { Ok(Action::Halt) } else { Ok(Action::Continue) },
    ];
    let actions = [Action::Continue, Action::Skip, Action::Stop, Action::SkipAndStop, Action::Halt];
    for action in actions {
        for (index, act) in at_first.into_iter().enumerate() {
            let stage = stage().on_error(action).on_panic(action);
            let spy = Spy::new(&Log::default(), act);
            let mut finished = drain_one(K::ring(8, || 0).stage(stage).read_handler(spy), 1);
            let home = finished.take_handler::<Spy<fn(&Call) -> crate::Said>>();
            let ends = !matches!(action, Action::Continue | Action::Skip);
            assert_eq!(home.is_ok(), !(index == PANICS && ends), "{action:?}");
        }
    }
}

fn a_policy_that_panics_halts_the_ring<K: Kind>() {
    let bad = |_: &Failure<'_>| -> Action { panic!("{ON_PURPOSE}, the policy") };
    let text = format!("{ON_PURPOSE}, the policy");
    for (stage, act) in
        [(stage().on_error(bad), err as fn() -> _), (stage().on_panic(bad), panic as fn() -> _)]
    {
        let (outcome, counts, _) = end::<K>(stage, act);
        assert_eq!(outcome, Outcome::Panicked { message: text.clone(), sequence: BAD });
        assert_eq!(counts, (BAD, 0), "earlier events count");
    }
    let stage = stage().on_error(bad);
    let ring = K::ring(8, || 0).stage(stage).read(|_, _, _| Err::<(), _>(ON_PURPOSE));
    let finished = drain(ring.stage("book").read_handler(Book::default()), 1);
    assert_eq!(*finished[1].outcome(), Outcome::Halted);
}

fn a_panic_in_on_restart_halts_the_ring<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let stage = stage().on_error(Action::Restart(Duration::ZERO)).on_panic(Action::Skip);
    let spy = Spy::new(&log, |call| match call {
        Call::Event(BAD) => Err("first"),
        Call::Restart => panic!("{ON_PURPOSE}"),
        _ => Ok(Action::Continue),
    });
    let ring = Form::Handler.add(K::ring(8, || 0), stage.max_batch(8), spy);
    let finished = drain(ring.stage("book").read_handler(Book::default()), 5);
    assert_eq!((finished[0].outcome(), counts(&finished[0])), (&panicked_at(BAD), (BAD, 0)));
    assert_eq!(*finished[1].outcome(), Outcome::Halted);
    assert_eq!(log.count(&Call::Shutdown), 0);
}

fn a_panic_in_on_start_halts_the_ring_whatever_the_policy<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let spy = Spy::new(&log, |call| match call {
        Call::Start => panic!("{ON_PURPOSE}"),
        _ => Ok(Action::Continue),
    });
    let stage = stage().on_error(Action::Skip).on_panic(Action::Restart(Duration::ZERO));
    let finished = drain_one(Form::Handler.add(K::ring(8, || 0), stage, spy), 3);
    assert_eq!((finished.outcome(), counts(&finished)), (&panicked_at(0), (0, 0)));
    assert_eq!(log.calls(), [Call::Start]);
}

/// If the last call of a stage that stopped fails, the stage has failed and halts the ring. A stage
/// that failed stays failed.
fn a_panic_in_on_shutdown_after_the_stage_left<K: Kind>() {
    quiet_panics();
    for (policy, act, outcome, others) in [
        (Action::Skip, Ok(Action::Stop), panicked_at(BAD), Outcome::Halted),
        (Action::Stop, Err("first"), detached_at(BAD), Outcome::Drained),
    ] {
        let spy = Spy::new(&Log::default(), move |call| match call {
            Call::Event(BAD) => act,
            Call::Shutdown => panic!("{ON_PURPOSE}"),
            _ => Ok(Action::Continue),
        });
        let stage = stage().on_error(policy);
        let ring = Form::Handler.add(K::ring(8, || 0), stage, spy);
        let finished = drain(ring.stage("book").read_handler(Book::default()), 5);
        let outcome = match outcome {
            Outcome::Detached { sequence, .. } => {
                Outcome::Detached { message: "first".to_owned(), sequence }
            }
            outcome => outcome,
        };
        assert_eq!((finished[0].outcome(), counts(&finished[0])), (&outcome, (BAD, 0)));
        assert_eq!(*finished[1].outcome(), others);
    }
}

fn counts_of_a_stage_that_was_halted_from_outside<K: Kind>() {
    let (halt, halter) = std::sync::mpsc::channel();
    let mut skips = 0;
    let act = move |_: &u64, _, _: bool| {
        skips += 1;
        if skips == 3 {
            halt.send(()).unwrap();
            return Action::Retry(Duration::MAX);
        }
        Action::Skip
    };
    let (mut producer, consumers) = K::ring(8, || 0_u64).stage("skips").read(act).build().unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    let running = consumers.start().unwrap();
    halter.recv().unwrap();
    running.halt();
    let report = running.join().unwrap_err().into_report();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Halted, (2, 2)));
}

/// A batch that is to be rewound is not finished, whatever its handler did with it.
fn counts_of_a_batch_that_was_to_come_again<K: Kind>() {
    let log = Log::default();
    let mut failures = 0;
    let spy = Spy::new(&log, move |call| {
        failures += u32::from(call.includes(BAD));
        match failures {
            1 if call.includes(BAD) => Ok(Action::Rewind(Duration::ZERO)),
            2 => Ok(Action::Halt),
            _ => Ok(Action::Continue),
        }
    });
    let ring = Form::Event.add(K::ring(8, || 0), stage().max_batch(8), spy);
    let finished = drain_one(ring, 5);
    assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Halted, (BAD, 0)));
    assert_eq!(log.sequences(), [0, 1, 2, 3, 0, 1, 2, 3]);
}

#[derive(Debug)]
struct Refused(u64);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "order refused: order={}", self.0)
    }
}

impl Error for Refused {}

fn a_policy_sees_what_failed<K: Kind>() {
    quiet_panics();
    let (send, texts) = std::sync::mpsc::channel();
    let from_panic = send.clone();
    let note = move |failure: &Failure<'_>| {
        if let lapwing::consumer::Cause::Error(error) = failure.cause() {
            assert_eq!(error.downcast_ref::<Refused>().unwrap().0, failure.sequence());
        }
        send.send((failure.stage().to_owned(), failure.to_string())).unwrap();
        Action::Skip
    };
    let note_panic = move |failure: &Failure<'_>| {
        let lapwing::consumer::Cause::Panic(text) = failure.cause() else { panic!("it is one") };
        from_panic.send((text.to_owned(), failure.to_string())).unwrap();
        Action::Skip
    };
    let ring =
        K::ring(8, || 0_u64).stage(stage().on_error(note).on_panic(note_panic)).read(|_, at, _| {
            match at {
                1 => Err(Refused(1)),
                2 => panic!("{ON_PURPOSE}"),
                _ => Ok(()),
            }
        });
    assert_eq!(counts(&drain_one(ring, 4)), (4, 2));
    let of =
        |text: &str, sequence| format!("{text}: stage=\"acts\", sequence={sequence}, attempt=1");
    let expected = [
        ("acts".to_owned(), of("order refused: order=1", 1)),
        (message(), of("panic: on purpose", 2)),
    ];
    assert_eq!(texts.iter().collect::<Vec<_>>(), expected);
}
