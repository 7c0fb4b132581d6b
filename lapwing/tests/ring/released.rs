//! Tests when a handler is notified of a release, and that a publisher that it notifies then finds
//! a free slot. A further form of a stage is a line of `forms`.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Many, ON_PURPOSE, PATIENCE, quiet_panics, repeats, wait_until, watched};
use crate::rings::{on_event, run};
use lapwing::consumer::{Access, Consumer, HandOver, MovedKeys, Outcome, Shared, StageReport};
use lapwing::error::TryPublishError;
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    at_the_end_of_a_batch_the_slot_is_held_and_after_the_release_it_is_free,
    a_publisher_is_notified_after_the_release,
    a_publisher_is_notified_when_a_claim_that_was_given_up_is_passed,
    each_release_is_notified_once,
    a_panic_of_the_call_repeats_no_event,
    a_panic_of_the_call_loses_no_pause_and_no_restart,
    a_panic_in_the_call_after_a_failed_event_is_a_separate_failure,
}

const ZERO: Duration = Duration::ZERO;

// ---- a publisher that waits for the call ----

/// Notifies a publisher outside of the ring after each release.
#[derive(Clone)]
struct Bell(Sender<Sequence>);

impl<A: Access> EventHandler<u64, A> for Bell {
    fn on_event(&mut self, _: A::Ref<'_, u64>, _: Sequence, _: bool) {}

    fn on_released(&mut self, next_sequence: Sequence) {
        // The publisher may have finished.
        let _ = self.0.send(next_sequence);
    }
}

impl HandOver for Bell {
    type State = ();

    fn give(&mut self, _: &MovedKeys) -> Vec<(u64, ())> {
        Vec::new()
    }

    fn take(&mut self, _: u64, (): ()) {}
}

type Ring<K> = Builder<'static, u64, <K as Kind>::Sequencer>;
type Form<K> = fn(Ring<K>, Bell) -> Ring<K>;

/// Returns the stages that a bell may be in. A worker that loses a claim to another one holds the
/// slot for a moment, and releases it without an event. A worker by key passes the events of the
/// others, and holds their slots until it has.
fn forms<K: Kind>() -> [(&'static str, Form<K>); 7] {
    [
        ("a stage that reads", |ring, bell| ring.stage("bell").read_handler(bell)),
        ("a stage that writes", |ring, bell| ring.stage("bell").write_handler(bell)),
        ("stages that share a thread", |ring, bell| {
            let stage = |name| Stage::new(name).on_thread("both");
            let ring = ring.stage(stage("first")).read(on_event(|_, _, _| {}));
            ring.stage(stage("second")).read_handler(Box::new(bell))
        }),
        ("whichever stage is the last", |ring, bell| {
            ring.parallel(|parallel| {
                parallel.stage("left").read_handler(bell.clone()).stage("right").read_handler(bell)
            })
        }),
        ("whichever worker is the last", |ring, bell| {
            ring.stage("work").workers(3).read_handlers(move |_| bell.clone())
        }),
        ("workers by key", |ring, bell| {
            let workers = ring.stage("work").workers(3).by_key(|key| *key);
            workers.read_handlers(move |_| bell.clone())
        }),
        ("workers that give keys away", |ring, bell| {
            let workers = ring.stage("work").workers(3).by_key(|key| *key);
            workers.read_keyed_handlers(move |_| bell.clone())
        }),
    ]
}

/// Makes `call` again and again on a ring of one slot. When the ring is full, waits for the bell.
fn call_by_the_bell<K: Kind>(
    call: impl Fn(&mut crate::common::ProducerOf<u64, K>, u64) -> Result<(), TryPublishError>,
) {
    for (name, form) in forms::<K>() {
        let (bell, rings) = mpsc::channel();
        run(form(K::ring(1, || 0), Bell(bell)), |mut producer| {
            for value in 0..repeats(2_000) {
                while let Err(error) = call(&mut producer, value) {
                    assert_eq!(error, TryPublishError::Full);
                    let rung = rings.recv_timeout(PATIENCE);
                    rung.unwrap_or_else(|_| panic!("{name}: a release that frees a slot rings"));
                }
            }
        });
    }
}

fn a_publisher_is_notified_after_the_release<K: Kind>() {
    call_by_the_bell::<K>(|producer, value| producer.try_publish(|event| *event = value).map(drop));
}

/// With one producer, such a claim leaves nothing to pass.
fn a_publisher_is_notified_when_a_claim_that_was_given_up_is_passed<K: Kind>() {
    call_by_the_bell::<K>(|producer, _| producer.try_claim().map(drop));
}

// ---- what a publisher finds in the calls ----

/// Tells a publisher to try, in the middle of its own calls.
struct Asks {
    questions: Sender<&'static str>,
    answers: Receiver<bool>,
    seen: Arc<Mutex<Vec<(&'static str, bool)>>>,
}

impl Asks {
    fn ask(&mut self, place: &'static str) {
        self.questions.send(place).unwrap();
        let is_free = self.answers.recv().unwrap();
        self.seen.lock().unwrap().push((place, is_free));
    }
}

impl EventHandler<u64> for Asks {
    fn on_event(&mut self, _: &u64, sequence: Sequence, end_of_batch: bool) {
        if end_of_batch && sequence < 3 {
            self.ask("end of batch");
        }
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        if next_sequence <= 3 {
            self.ask("released");
        }
    }
}

/// A publisher tries on a ring of one slot, when the handler tells it to. If the stage is
/// acknowledged, it finds the slot only after its own acknowledgement.
fn at_the_end_of_a_batch_the_slot_is_held_and_after_the_release_it_is_free<K: Kind>() {
    for is_acknowledged in [false, true] {
        let ((questions, asked), (answer, answers)) = (mpsc::channel(), mpsc::channel());
        let seen = Arc::default();
        let asks = Asks { questions, answers, seen: Arc::clone(&seen) };
        let stage = Stage::new("asks");
        let stage = if is_acknowledged { stage.acknowledged() } else { stage };
        let (mut producer, mut consumers) =
            K::ring(1, || 0_u64).stage(stage).read_handler(asks).build().unwrap();
        let acknowledger = consumers.take_acknowledger("asks").ok();
        producer.publish(|_| {}).unwrap();
        let running = consumers.start().unwrap();
        let publisher = thread::spawn(move || {
            let mut published = 1;
            for question in asked {
                let is_free = producer.try_publish(|_| {}).is_ok();
                published += u64::from(is_free);
                answer.send(is_free).unwrap();
                if question == "released" && !is_free {
                    acknowledger.as_ref().unwrap().acknowledge(published).unwrap();
                    published += u64::from(producer.try_publish(|_| {}).is_ok());
                }
            }
            published
        });
        wait_until(|| seen.lock().unwrap().len() == 6);
        running.close();
        let report = running.join();
        // The handler is dropped with the report, which ends the publisher.
        let processed = report.unwrap().stages().next().unwrap().processed();
        assert_eq!(processed, publisher.join().unwrap());
        let expected = [("end of batch", false), ("released", !is_acknowledged)];
        assert_eq!(*seen.lock().unwrap(), expected.repeat(3));
    }
}

// ---- which releases ----

/// The calls of a handler, one word each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn push(&self, call: String) {
        self.0.lock().unwrap().push(call);
    }
}

/// How a handler returns the action for event 1 in its first call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Returns(Action),
    Errs,
    Panics,
}

/// A handler that logs its calls. It has the action for event 1 at each attempt, and the release at
/// which it panics.
struct Spy {
    log: Log,
    ways: VecDeque<Way>,
    panics_at: Option<Sequence>,
}

impl EventHandler<u64, Shared, Result<Action, &'static str>> for Spy {
    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) -> Result<Action, &'static str> {
        self.log.push(format!("e{sequence}"));
        let way = if sequence == 1 { self.ways.pop_front() } else { None };
        match way {
            None => Ok(Action::Continue),
            Some(Way::Returns(action)) => Ok(action),
            Some(Way::Errs) => Err(ON_PURPOSE),
            Some(Way::Panics) => panic!("{ON_PURPOSE}"),
        }
    }

    fn on_released(&mut self, next_sequence: Sequence) {
        self.log.push(format!("r{next_sequence}"));
        assert!(self.panics_at != Some(next_sequence), "{ON_PURPOSE}");
    }

    fn on_restart(&mut self) {
        self.log.push("restart".to_owned());
    }

    fn on_shutdown(&mut self) {
        self.log.push("end".to_owned());
    }
}

/// Runs a stage with batches of three through six events, on its own thread and on a shared one,
/// and passes what it did to `check`.
fn run_spy<K: Kind>(
    ways: &[Way],
    panics_at: Option<Sequence>,
    policy: Action,
    check: impl Fn(&str, &StageReport),
) {
    const RUNS: [fn(Consumer<'static>) -> StageReport; 2] =
        [Consumer::run, |consumer| Consumer::run_together([consumer]).remove(0)];
    quiet_panics();
    for run in RUNS {
        let log = Log::default();
        let spy = Spy { log: log.clone(), ways: VecDeque::from(ways.to_vec()), panics_at };
        let stage = Stage::new("spy").max_batch(3).on_error(policy).on_panic(policy);
        let (mut producer, consumers) =
            K::ring(16, || 0).stage(stage).read_handler(spy).build().unwrap();
        producer.publish_batch(6, |_| {}).unwrap();
        drop(producer);
        let finished = run(consumers.into_iter().next().unwrap());
        check(&log.0.lock().unwrap().join(" "), &finished);
    }
}

const ALL: &str = "e0 e1 e2 r3 e3 e4 e5 r6 end";

fn each_release_is_notified_once<K: Kind>() {
    let released = "e0 e1 r2 e2 e3 e4 r5 e5 r6 end";
    let cases = [
        (Action::Continue, released),
        (Action::ReleaseNow, released),
        (Action::Skip, released),
        (Action::Retry(ZERO), "e0 e1 r1 e1 e2 e3 r4 e4 e5 r6 end"),
        (Action::Rewind(ZERO), "e0 e1 e0 e1 e2 r3 e3 e4 e5 r6 end"),
        (Action::Restart(ZERO), "e0 e1 r1 restart e1 e2 e3 r4 e4 e5 r6 end"),
        (Action::Stop, "e0 e1 end"),
        (Action::SkipAndStop, "e0 e1 end"),
        (Action::Halt, "e0 e1 end"),
    ];
    run_spy::<K>(&[], None, Action::Halt, |calls, _| assert_eq!(calls, ALL));
    for (action, expected) in cases {
        for way in [Way::Returns(action), Way::Errs, Way::Panics] {
            let is_ended = matches!(action, Action::Stop | Action::SkipAndStop | Action::Halt);
            let expected = match (action, way) {
                (Action::Continue, Way::Returns(_)) => ALL,
                // A panic that ends the stage ends its handler.
                (_, Way::Panics) if is_ended => "e0 e1",
                _ => expected,
            };
            run_spy::<K>(&[way], None, action, |calls, _| {
                assert_eq!(calls, expected, "{action:?} {way:?}");
            });
        }
    }
    // An event that comes a third time releases nothing more.
    let ways = [Way::Returns(Action::Retry(ZERO)), Way::Returns(Action::Restart(ZERO))];
    run_spy::<K>(&ways, None, Action::Halt, |calls, _| {
        assert_eq!(calls, "e0 e1 r1 e1 restart e1 e2 e3 r4 e4 e5 r6 end");
    });
}

fn a_panic_of_the_call_repeats_no_event<K: Kind>() {
    let (message, sequence) = (ON_PURPOSE.to_owned(), 3);
    let detached = Outcome::Detached { message: message.clone(), sequence };
    let halted = Outcome::Panicked { message, sequence };
    let restarted = "e0 e1 e2 r3 restart e3 e4 e5 r6 end";
    let cases = [
        (Action::Continue, ALL, Outcome::Drained),
        (Action::ReleaseNow, ALL, Outcome::Drained),
        (Action::Skip, ALL, Outcome::Drained),
        (Action::Retry(ZERO), ALL, Outcome::Drained),
        (Action::Rewind(ZERO), ALL, Outcome::Drained),
        (Action::Restart(ZERO), restarted, Outcome::Drained),
        (Action::Stop, "e0 e1 e2 r3", detached.clone()),
        (Action::SkipAndStop, "e0 e1 e2 r3", detached),
        (Action::Halt, "e0 e1 e2 r3", halted),
    ];
    for (policy, expected, outcome) in cases {
        run_spy::<K>(&[], Some(3), policy, |calls, finished| {
            assert_eq!((calls, finished.outcome()), (expected, &outcome), "{policy:?}");
            let processed = if outcome == Outcome::Drained { 6 } else { 3 };
            assert_eq!((finished.processed(), finished.skipped()), (processed, 0), "{policy:?}");
        });
    }
}

fn a_panic_of_the_call_loses_no_pause_and_no_restart<K: Kind>() {
    let ways = [Way::Returns(Action::Restart(ZERO))];
    run_spy::<K>(&ways, Some(1), Action::Continue, |calls, finished| {
        assert_eq!(calls, "e0 e1 r1 restart e1 e2 e3 r4 e4 e5 r6 end");
        assert_eq!(*finished.outcome(), Outcome::Drained);
    });
}

/// If the policy ends the stage because of the second panic, the report has that one.
fn a_panic_in_the_call_after_a_failed_event_is_a_separate_failure<K: Kind>() {
    let (message, sequence) = (ON_PURPOSE.to_owned(), 2);
    let stopped = Outcome::Detached { message: message.clone(), sequence };
    let halted = Outcome::Panicked { message, sequence };
    let all = "e0 e1 r2 e2 e3 e4 r5 e5 r6 end";
    let skips = Way::Returns(Action::Skip);
    for (way, policy, expected, outcome, counts) in [
        (Way::Panics, Action::Skip, all, Outcome::Drained, (6, 1)),
        (skips, Action::Halt, "e0 e1 r2", halted, (2, 1)),
        (skips, Action::Stop, "e0 e1 r2", stopped, (2, 1)),
    ] {
        run_spy::<K>(&[way], Some(2), policy, |calls, finished| {
            assert_eq!((calls, finished.outcome()), (expected, &outcome));
            assert_eq!((finished.processed(), finished.skipped()), counts);
        });
    }
}

/// Says each release, and each timeout.
struct Diary(Sender<Option<Sequence>>);

impl EventHandler<u64> for Diary {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_released(&mut self, next_sequence: Sequence) {
        let _ = self.0.send(Some(next_sequence));
    }

    fn on_timeout(&mut self, _: Sequence) {
        let _ = self.0.send(None);
    }
}

#[test]
fn a_claim_that_was_given_up_is_notified_once() {
    watched(|| {
        let (says, said) = mpsc::channel();
        let stage = Stage::new("diary").timeout_after(Duration::from_millis(1));
        let ring = Many::ring(4, || 0).stage(stage).read_handler(Diary(says));
        let (mut producer, consumers) = ring.build().unwrap();
        drop(producer.try_claim().unwrap());
        let running = consumers.start().unwrap();
        let mut releases = Vec::new();
        let mut timeouts = 0;
        while releases.is_empty() || timeouts < 3 {
            match said.recv_timeout(PATIENCE).unwrap() {
                Some(next) => releases.push(next),
                None => timeouts += 1,
            }
        }
        assert_eq!(releases, [1]);
        running.shutdown().unwrap();
    });
}
