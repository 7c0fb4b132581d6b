//! What the report says about the end of a stage, and what its policy is told. Which calls come
//! before, and how the stage itself ends, is in `table.rs`.

use std::error::Error;
use std::fmt;
use std::sync::mpsc;
use std::time::Duration;

use lapwing::consumer::{Cause, Failure, Outcome};
use lapwing::{Action, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{
    Book, Call, Form, Log, Said, Spy, counts, detached_at, drain_one, message, run_threads,
};

common::for_both_producers! {
    the_report_says_how_each_stage_ended,
    the_report_counts_the_other_failures,
    a_detached_stage_makes_the_report_an_error_and_stops_no_other_stage,
    counts_of_a_stage_that_was_halted_from_outside,
    a_policy_sees_what_failed,
}

fn stage() -> Stage {
    Stage::new("acts")
}

/// A stage, what it does at event 3, and the text of the ring's error.
type Row = (Stage, fn() -> Said, Option<String>);

fn the_report_says_how_each_stage_ended<K: Kind>() {
    quiet_panics();
    let err: fn() -> Said = || Err(ON_PURPOSE);
    let panic: fn() -> Said = || panic!("{ON_PURPOSE}");
    let at = |how| format!("a stage {how}: stage=\"acts\", sequence=3, message=\"on purpose\"");
    let halted = "the ring was halted before every event was handled".to_owned();
    let rows: [Row; 8] = [
        (stage(), || Ok(Action::Continue), None),
        (stage(), || Ok(Action::Stop), None),
        (stage(), || Ok(Action::Halt), Some(halted)),
        (stage(), err, Some(at("failed"))),
        (stage().on_error(Action::Stop), err, Some(at("failed"))),
        (stage(), panic, Some(at("panicked"))),
        (stage().on_panic(Action::Stop), panic, Some(at("failed"))),
        (stage().on_panic(Action::Skip), panic, None),
    ];
    for (stage, act, text) in rows {
        let act = move |call: &Call| match call {
            Call::Event(3, _) => act(),
            _ => Ok(Action::Continue),
        };
        let ring = Form::Event.add(K::ring(8, || 0), stage, Spy::new(&Log::default(), act));
        let (mut producer, consumers) = ring.build().unwrap();
        producer.publish_batch(5, |_| {}).unwrap();
        let error = consumers.start().unwrap().shutdown().err();
        assert_eq!(error.map(|failed| failed.to_string()), text);
    }
}

fn the_report_counts_the_other_failures<K: Kind>() {
    let fails = |name: &str| {
        let spy = Spy::new(&Log::default(), |call| match call.events() {
            Some(_) => Err(ON_PURPOSE),
            None => Ok(Action::Continue),
        });
        (Stage::new(name).on_error(Action::Stop), spy)
    };
    let [first, second, third] = ["first", "second", "third"].map(fails);
    let ring = Form::Handler.add(K::ring(8, || 0_u64), first.0, first.1).parallel(|parallel| {
        parallel.stage(second.0).read_handler(second.1).stage(third.0).read_handler(third.1)
    });
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
    let spy = Spy::new(&Log::default(), |call| match call.includes(10) {
        true => Err(ON_PURPOSE),
        false => Ok(Action::Continue),
    });
    let ring = Form::Event.add(K::ring(4, || 0), leaves, spy);
    let ring = ring.stage("stays").read_handler(Book::default());
    let mut report = run_threads(ring, 100).unwrap_err().into_report();
    let stages: Vec<_> =
        report.stages().map(|stage| (stage.outcome().clone(), stage.processed())).collect();
    assert_eq!(stages, [(detached_at(10), 10), (Outcome::Drained, 100)]);
    assert_eq!(report.take::<Book>("stays").unwrap().done.len(), 100);
}

fn counts_of_a_stage_that_was_halted_from_outside<K: Kind>() {
    let (halt, halter) = mpsc::channel();
    let spy = Spy::new(&Log::default(), move |call| {
        if call.includes(2) {
            halt.send(()).unwrap();
            return Ok(Action::Retry(Duration::MAX));
        }
        Ok(Action::Skip)
    });
    let ring = Form::Event.add(K::ring(8, || 0_u64), stage(), spy);
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    let running = consumers.start().unwrap();
    halter.recv().unwrap();
    running.halt();
    let report = running.join().unwrap_err().into_report();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Halted, (2, 2)));
}

#[derive(Debug)]
struct Refused(u64);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order refused: order={}", self.0)
    }
}

impl Error for Refused {}

fn a_policy_sees_what_failed<K: Kind>() {
    quiet_panics();
    let (send, texts) = mpsc::channel();
    let policy = |send: mpsc::Sender<_>| {
        move |failure: &Failure<'_>| {
            let cause = match failure.cause() {
                Cause::Error(error) => format!("{:?}", error.downcast_ref::<Refused>()),
                Cause::Panic(text) => text.to_owned(),
                other => panic!("{other}"),
            };
            send.send((failure.stage().to_owned(), cause, failure.to_string())).unwrap();
            Action::Skip
        }
    };
    let stage = stage().on_error(policy(send.clone())).on_panic(policy(send));
    let ring = K::ring(8, || 0_u64).stage(stage).read(|_, at, _| match at {
        1 => Err(Refused(1)),
        2 => panic!("{ON_PURPOSE}"),
        _ => Ok(()),
    });
    assert_eq!(counts(&drain_one(ring, 4)), (4, 2));
    let of =
        |text: &str, sequence| format!("{text}: stage=\"acts\", sequence={sequence}, attempt=1");
    let expected = [
        ("acts".to_owned(), "Some(Refused(1))".to_owned(), of("order refused: order=1", 1)),
        ("acts".to_owned(), message(), of("panic: on purpose", 2)),
    ];
    assert_eq!(texts.iter().collect::<Vec<_>>(), expected);
}
