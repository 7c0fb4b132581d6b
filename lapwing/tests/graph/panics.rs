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
use lapwing::lifecycle::RunError;
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    miri_panic_in_on_event_ends_every_stage,
    panic_in_on_event_of_a_writing_stage_ends_every_stage,
    panic_in_a_batch_closure_of_a_stage_names_the_first_event_of_the_batch,
    panic_in_on_start_ends_every_stage,
    panic_in_on_batch_start_ends_every_stage,
    panic_in_on_timeout_ends_every_stage,
    panic_in_on_shutdown_is_reported,
    panic_in_a_local_factory_ends_every_stage,
    panic_in_the_destructor_of_a_handler_is_reported,
    panic_in_on_event_is_reported_even_if_the_destructor_panics_too,
    panic_with_a_payload_that_panics_when_dropped_is_reported,
    panic_without_a_text_is_reported,
    panic_of_a_wait_strategy_ends_every_stage,
    panic_in_the_destructor_of_a_wait_strategy_is_reported,
    panic_of_a_producers_wait_strategy_claims_nothing,
    panics_of_two_stages_are_both_reported,
    a_handler_that_panicked_kept_its_ends_open_until_the_report_was_dropped,
    a_handler_that_panicked_is_not_in_the_report,
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

/// Runs a ring in which the stage that `add` adds panics, beside other stages, until the producer
/// gets an error. Returns how the bad stage ended.
fn run_until_halted<K: Kind>(add: impl FnOnce(Ring<K>, Stage) -> Ring<K>) -> Outcome {
    quiet_panics();
    let prefix = unique_prefix();
    let bad = format!("{prefix}bad");
    let ring = K::ring(4, || 0).stage(format!("{prefix}before")).read(|_, _, _| {});
    let ring = add(ring, Stage::new(&bad)).stage(format!("{prefix}after")).read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let stopped = loop {
        if let Err(stopped) = producer.publish(|event| *event = 1) {
            break stopped;
        }
    };
    assert_eq!(stopped, PublishError::Halted(HaltCause::StageFailed));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Halted(HaltCause::StageFailed)));
    let failed = running.join().unwrap_err();
    wait_until_no_thread_named(&prefix);
    for stage in failed.report().stages().filter(|stage| stage.name() != bad) {
        assert_eq!(*stage.outcome(), Outcome::Halted, "{}", stage.name());
    }
    outcome_of(&failed, &bad)
}

/// Returns how `stage` ended, which the error's text must also contain.
fn outcome_of(failed: &RunError, stage: &str) -> Outcome {
    let outcome = failed.report().stages().find(|each| each.name() == stage).unwrap().outcome();
    if let Outcome::Panicked { message, sequence } = outcome {
        let text = failed.to_string();
        let tokens = [format!("{stage:?}"), format!("{message:?}"), format!("sequence={sequence}")];
        assert!(tokens.iter().all(|token| text.contains(token)), "{text}");
    }
    outcome.clone()
}

fn panicked_at(sequence: Sequence) -> Outcome {
    Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence }
}

// ---- stages ----

fn miri_panic_in_on_event_ends_every_stage<K: Kind>() {
    for at in [0, 5] {
        let outcome = run_until_halted::<K>(|ring, stage| {
            ring.stage(stage).read_handler(Bad(Point::Event(at)))
        });
        assert_eq!(outcome, panicked_at(at));
    }
}

fn panic_in_on_event_of_a_writing_stage_ends_every_stage<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        ring.stage(stage).write(|_, sequence, _| assert!(sequence != 5, "{ON_PURPOSE}"))
    });
    assert_eq!(outcome, panicked_at(5));
}

fn panic_in_a_batch_closure_of_a_stage_names_the_first_event_of_the_batch<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        ring.stage(stage.max_batch(1)).read_batch(|_, first| assert!(first != 5, "{ON_PURPOSE}"))
    });
    assert_eq!(outcome, panicked_at(5));
}

fn panic_in_on_start_ends_every_stage<K: Kind>() {
    let add = |ring: Ring<K>, stage| ring.stage(stage).read_handler(Bad(Point::Start));
    assert_eq!(run_until_halted::<K>(add), panicked_at(0));
}

fn panic_in_on_batch_start_ends_every_stage<K: Kind>() {
    let add = |ring: Ring<K>, stage| ring.stage(stage).read_handler(Bad(Point::BatchStart));
    assert_eq!(run_until_halted::<K>(add), panicked_at(0));
}

fn panic_in_on_timeout_ends_every_stage<K: Kind>() {
    // The producer continues until it gets the error, so the stage has to wait for a slow one.
    let outcome = run_until_halted::<K>(|ring, stage| {
        let stage = stage.timeout(Duration::from_micros(1)).wait(Blocking { yields: 0 });
        ring.stage("slow")
            .read(|_, _, _| thread::sleep(Duration::from_millis(1)))
            .stage(stage)
            .read_handler(Bad(Point::Timeout))
    });
    assert!(matches!(outcome, Outcome::Panicked { .. }), "{outcome:?}");
}

fn panic_in_a_local_factory_ends_every_stage<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        ring.stage(stage).read_local(|| -> Bad { panic!("{ON_PURPOSE}") })
    });
    assert_eq!(outcome, panicked_at(0));
}

/// Runs a ring whose only stage panics when the ring is closed and drained.
fn run_until_closed<K: Kind>(add: impl FnOnce(Ring<K>, Stage) -> Ring<K>) -> Outcome {
    quiet_panics();
    let prefix = unique_prefix();
    let bad = format!("{prefix}bad");
    let ring = K::ring(4, || 0).stage(format!("{prefix}before")).read(|_, _, _| {});
    let (mut producer, consumers) = add(ring, Stage::new(&bad)).build().unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..9 {
        producer.publish(|event| *event = 1).unwrap();
    }
    let failed = running.shutdown().unwrap_err();
    wait_until_no_thread_named(&prefix);
    assert!(failed.report().stages().all(|stage| stage.processed() == 9));
    outcome_of(&failed, &bad)
}

fn panic_in_on_shutdown_is_reported<K: Kind>() {
    let add = |ring: Ring<K>, stage| ring.stage(stage).read_handler(Bad(Point::Shutdown));
    assert!(matches!(run_until_closed::<K>(add), Outcome::Panicked { .. }));
}

fn panic_in_the_destructor_of_a_handler_is_reported<K: Kind>() {
    let local = |ring: Ring<K>, stage| ring.stage(stage).read_local(|| Bad(Point::Drop));
    assert!(matches!(run_until_closed::<K>(local), Outcome::Panicked { .. }));
    let captured = Bad(Point::Drop);
    let closure = |ring: Ring<K>, stage| {
        ring.stage(stage).read(move |_, sequence, _| captured.reach(Point::Event(sequence)))
    };
    assert!(matches!(run_until_closed::<K>(closure), Outcome::Panicked { .. }));
}

/// A panic of the payload's destructor must not replace the text that says what failed.
fn panic_in_on_event_is_reported_even_if_the_destructor_panics_too<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        ring.stage(stage).read_local(|| Bad(Point::EventAndDrop))
    });
    assert_eq!(outcome, panicked_at(0));
}

/// Such a payload must not end the stage's thread before it has left its result, because `join`
/// waits for the result.
fn panic_with_a_payload_that_panics_when_dropped_is_reported<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        ring.stage(stage).read(|_, _, _| panic_any(Bad(Point::Drop)))
    });
    assert!(matches!(outcome, Outcome::Panicked { sequence: 0, .. }), "{outcome:?}");
}

fn panic_without_a_text_is_reported<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        ring.stage(stage).read(|_, sequence, _| {
            if sequence == 2 {
                panic_any(7_u8)
            }
        })
    });
    assert!(matches!(outcome, Outcome::Panicked { sequence: 2, .. }), "{outcome:?}");
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
        let is_stage = thread::current().name() == Some("destructor of a strategy");
        assert!(!is_stage, "{ON_PURPOSE}");
    }
}

/// It must not end the stage's thread before it has left its result, because `join` waits for the
/// result.
fn panic_in_the_destructor_of_a_wait_strategy_is_reported<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("destructor of a strategy").wait(PanicsDropped);
    let (mut producer, consumers) =
        K::ring(8, || 0_u64).stage(stage).read(|_, _, _| {}).build().unwrap();
    let running = consumers.start().unwrap();
    producer.publish(|_| {}).unwrap();
    let report = running.shutdown().unwrap_err().into_report();
    let outcome = report.stages().next().unwrap().outcome();
    assert!(matches!(outcome, Outcome::Panicked { sequence: 1, .. }), "{outcome:?}");
}

fn panic_of_a_wait_strategy_ends_every_stage<K: Kind>() {
    let outcome = run_until_halted::<K>(|ring, stage| {
        let slow = |_: &u64, _, _| thread::sleep(Duration::from_millis(1));
        ring.stage("slow").read(slow).stage(stage.wait(PanicsWaiting)).read(|_, _, _| {})
    });
    assert!(matches!(outcome, Outcome::Panicked { .. }), "{outcome:?}");
}

fn panic_of_a_producers_wait_strategy_claims_nothing<K: Kind>() {
    quiet_panics();
    let ring = K::ring(1, || 0_u64).producer_wait(PanicsWaiting).stage("poller").poller();
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
        assert!(running.join().is_err());
    }
}

fn a_handler_that_panicked_is_not_in_the_report<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) =
        K::ring(1, || 0_u64).stage("bad").read_handler(Bad(Point::Event(0))).build().unwrap();
    // Published before the stage runs: the stage halts the ring at once, and a concurrent
    // publication would fail.
    producer.publish(|_| {}).unwrap();
    let running = consumers.start().unwrap();
    let mut report = running.shutdown().unwrap_err().into_report();
    assert!(matches!(report.take::<Bad>("bad").err(), Some(TakeError::WrongType { .. })));
}
