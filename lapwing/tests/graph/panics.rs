//! Tests the effects of a panic in a stage's code: no thread hangs, the error names the place, the
//! other stages end, and no thread remains. Not here: panics of callers (`panics_of_callers.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::common::{
    Kind, ON_PURPOSE, PATIENCE, quiet_panics, unique_prefix, wait_until_no_thread_named,
};
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError, TakeError, TryPublishError};
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    miri_a_panic_in_on_event_ends_every_stage,
    a_panic_while_events_come_ends_every_stage,
    a_panic_of_another_kind_ends_every_stage,
    a_panic_at_the_end_is_reported,
    a_panic_of_a_producers_wait_strategy_claims_nothing,
    panics_of_two_stages_are_both_reported,
    a_handler_that_panicked_kept_its_ends_open_until_the_report_was_dropped,
}

/// The call in which a handler panics.
#[derive(Clone, Copy, PartialEq)]
enum Point {
    Start,
    BatchStart,
    Event(Sequence),
    Timeout,
    Shutdown,
    Drop,
    EventAndDrop,
}

/// A handler that panics at one point.
struct Bad(Point);

impl Bad {
    fn reach(&self, point: Point) {
        assert!(self.0 != point, "{ON_PURPOSE}");
    }
}

impl EventHandler<u64> for Bad {
    fn on_start(&mut self) {
        self.reach(Point::Start);
    }

    fn on_batch_start(&mut self, _: u64, _: u64) {
        self.reach(Point::BatchStart);
    }

    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) {
        self.reach(Point::Event(sequence));
        self.reach(Point::EventAndDrop);
    }

    fn on_timeout(&mut self, _: Sequence) {
        self.reach(Point::Timeout);
    }

    fn on_shutdown(&mut self) {
        self.reach(Point::Shutdown);
    }
}

impl Drop for Bad {
    fn drop(&mut self) {
        self.reach(Point::Drop);
        assert!(self.0 != Point::EventAndDrop, "{ON_PURPOSE}, the second");
    }
}

type Ring<K> = Builder<'static, u64, <K as Kind>::Sequencer>;

/// Adds the stage that panics. Each row of a table has one, and the event that the outcome names.
type Add<K> = fn(Ring<K>, Stage) -> Ring<K>;

/// Adds a stage with a handler that panics at this point.
macro_rules! bad {
    ($point:expr) => {
        |ring, stage| ring.stage(stage).read_handler(Bad($point))
    };
}

/// Runs a ring in which the stage that `add` adds panics, beside other stages. The producer publishes
/// `events` events, or until it gets an error. Returns how the bad stage ended. Its thread and those
/// of the other stages have ended, with no other failure.
fn run<K: Kind>(add: Add<K>, events: Option<u64>) -> Outcome {
    quiet_panics();
    let prefix = unique_prefix();
    let bad = format!("{prefix}bad");
    let ring = K::ring(4, || 0).stage(format!("{prefix}before")).read(nothing);
    let ring = add(ring, Stage::new(&bad)).stage(format!("{prefix}after")).read(nothing);
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let failed = if let Some(events) = events {
        (0..events).for_each(|_| _ = producer.publish(|event| *event = 1).unwrap());
        running.shutdown().unwrap_err()
    } else {
        let stopped = loop {
            if let Err(stopped) = producer.publish(|event| *event = 1) {
                break stopped;
            }
        };
        let cause = HaltCause::StageFailed;
        assert_eq!(stopped, PublishError::Halted(cause));
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Halted(cause)));
        running.join().unwrap_err()
    };
    wait_until_no_thread_named(&prefix);
    for stage in failed.report().stages().filter(|stage| stage.name() != bad) {
        let is_drained = events.is_some() && *stage.outcome() == Outcome::Drained;
        assert!(is_drained || *stage.outcome() == Outcome::Halted, "{stage:?}");
    }
    let of_bad = failed.report().stages().find(|stage| stage.name() == bad).unwrap();
    assert!(events.is_none_or(|events| of_bad.processed() == events), "{of_bad:?}");
    let outcome = of_bad.outcome().clone();
    let Outcome::Panicked { message, sequence } = &outcome else { panic!("{outcome:?}") };
    let text = failed.to_string();
    for token in [format!("{bad:?}"), format!("{message:?}"), format!("sequence={sequence}")] {
        assert!(text.contains(&token), "{text}");
    }
    outcome
}

fn nothing(_: &u64, _: Sequence, _: bool) {}

fn slow(_: &u64, _: Sequence, _: bool) {
    thread::sleep(Duration::from_millis(1));
}

fn panicked_at(sequence: Sequence) -> Outcome {
    Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence }
}

fn miri_a_panic_in_on_event_ends_every_stage<K: Kind>() {
    assert_eq!(run::<K>(bad!(Point::Event(0)), None), panicked_at(0));
    assert_eq!(run::<K>(bad!(Point::Event(5)), None), panicked_at(5));
}

fn a_panic_while_events_come_ends_every_stage<K: Kind>() {
    let rows: [(Add<K>, Sequence); 6] = [
        (|ring, stage| ring.stage(stage).write(|_, at, _| assert!(at != 5, "{ON_PURPOSE}")), 5),
        (
            |ring, stage| {
                let stage = stage.max_batch(1);
                ring.stage(stage).read_batch(|_, first| assert!(first != 5, "{ON_PURPOSE}"))
            },
            5,
        ),
        (bad!(Point::Start), 0),
        (bad!(Point::BatchStart), 0),
        (|ring, stage| ring.stage(stage).read_local(|| -> Bad { panic!("{ON_PURPOSE}") }), 0),
        // A panic of the payload's destructor must not replace the text that says what failed.
        (|ring, stage| ring.stage(stage).read_local(|| Bad(Point::EventAndDrop)), 0),
    ];
    for (add, at) in rows {
        assert_eq!(run::<K>(add, None), panicked_at(at));
    }
}

/// The payload is no text, or the stage panics in a wait, so that the message or the sequence is open.
fn a_panic_of_another_kind_ends_every_stage<K: Kind>() {
    let rows: [(Add<K>, Option<Sequence>); 4] = [
        // Such a payload must not end the stage's thread before it has left its result, because
        // `join` waits for the result.
        (|ring, stage| ring.stage(stage).read(|_, _, _| panic_any(Bad(Point::Drop))), Some(0)),
        (
            |ring, stage| {
                ring.stage(stage).read(|_, at, _| {
                    if at == 2 {
                        panic_any(7_u8)
                    }
                })
            },
            Some(2),
        ),
        // The producer continues until it gets the error, so the stage has to wait for a slow one.
        (
            |ring, stage| {
                let stage = stage
                    .timeout_after(Duration::from_micros(1))
                    .wait_strategy(Blocking { yields: 0 });
                ring.stage("slow").read(slow).stage(stage).read_handler(Bad(Point::Timeout))
            },
            None,
        ),
        (
            |ring, stage| {
                ring.stage("slow")
                    .read(slow)
                    .stage(stage.wait_strategy(PanicsWaiting))
                    .read(nothing)
            },
            None,
        ),
    ];
    for (add, at) in rows {
        let Outcome::Panicked { sequence, .. } = run::<K>(add, None) else { unreachable!() };
        assert!(at.is_none_or(|at| at == sequence), "{sequence}");
    }
}

/// The ring is closed and drained when it panics.
fn a_panic_at_the_end_is_reported<K: Kind>() {
    let rows: [Add<K>; 4] = [
        bad!(Point::Shutdown),
        |ring, stage| ring.stage(stage).read_local(|| Bad(Point::Drop)),
        |ring, stage| {
            let captured = Bad(Point::Drop);
            ring.stage(stage).read(move |_, at, _| captured.reach(Point::Event(at)))
        },
        // It must not end the stage's thread before it has left its result, because `join` waits
        // for the result.
        |ring, stage| ring.stage(stage.wait_strategy(PanicsDropped)).read(nothing),
    ];
    for add in rows {
        assert!(matches!(run::<K>(add, Some(9)), Outcome::Panicked { sequence: 9, .. }));
    }
}

/// A strategy that panics when it is asked for a step.
#[derive(Clone)]
struct PanicsWaiting;

impl WaitStrategy for PanicsWaiting {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        panic!("{ON_PURPOSE}");
    }
}

/// A strategy whose drop panics, only on the thread of its stage.
#[derive(Clone)]
struct PanicsDropped;

impl WaitStrategy for PanicsDropped {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        Step::Park
    }
}

impl Drop for PanicsDropped {
    fn drop(&mut self) {
        let is_stage = thread::current().name().is_some_and(|name| name.ends_with("-bad"));
        assert!(!is_stage, "{ON_PURPOSE}");
    }
}

fn a_panic_of_a_producers_wait_strategy_claims_nothing<K: Kind>() {
    quiet_panics();
    let ring = K::ring(1, || 0_u64).producer_wait_strategy(PanicsWaiting).stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    producer.publish(|event| *event = 1).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| producer.publish(|event| *event = 2))).is_err());
    assert_eq!(poller.poll().unwrap().iter().collect::<Vec<_>>(), [(0, &1)]);
    assert_eq!(producer.publish(|event| *event = 3), Ok(1));
    assert_eq!(poller.poll().unwrap().iter().collect::<Vec<_>>(), [(1, &3)]);
}

fn panics_of_two_stages_are_both_reported<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) = K::ring(1, || 0_u64)
        .stage("first")
        .read_handler(Bad(Point::Shutdown))
        .stage("second")
        .read_handler(Bad(Point::Shutdown))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let failed = running.shutdown().unwrap_err();
    assert!(failed.to_string().ends_with(", and 1 more"), "{failed}");
    assert!(
        failed.report().stages().all(|stage| matches!(stage.outcome(), Outcome::Panicked { .. }))
    );
}

/// A handler that owns an end of a channel and panics in one of its calls.
struct OwnsAnEnd {
    point: Point,
    _end: mpsc::Sender<()>,
}

impl EventHandler<u64> for OwnsAnEnd {
    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) {
        assert!(self.point != Point::Event(sequence), "{ON_PURPOSE}");
    }

    fn on_shutdown(&mut self) {
        assert!(self.point != Point::Shutdown, "{ON_PURPOSE}");
    }
}

/// A thread that waits for the other end of what a handler owns must not wait for the report, which
/// it may take only afterwards.
fn a_handler_that_panicked_kept_its_ends_open_until_the_report_was_dropped<K: Kind>() {
    quiet_panics();
    for (point, policy) in [
        (Point::Event(0), None),
        (Point::Event(0), Some(Action::Stop)),
        (Point::Event(0), Some(Action::SkipAndStop)),
        (Point::Shutdown, None),
    ] {
        let (end, other_end) = mpsc::channel();
        let stage = Stage::new("bad");
        let stage = policy.into_iter().fold(stage, |stage, policy| stage.on_panic(policy));
        let handler = OwnsAnEnd { point, _end: end };
        let (mut producer, consumers) =
            K::ring(1, || 0_u64).stage(stage).read_handler(handler).build().unwrap();
        producer.publish(|_| {}).unwrap();
        producer.close();
        let running = consumers.start().unwrap();
        let told = other_end.recv_timeout(PATIENCE);
        assert_eq!(told, Err(RecvTimeoutError::Disconnected), "{policy:?}");
        let mut report = running.join().unwrap_err().into_report();
        let handler = report.take::<OwnsAnEnd>("bad").err();
        assert!(matches!(handler, Some(TakeError::WrongType { .. })), "{handler:?}");
    }
}
