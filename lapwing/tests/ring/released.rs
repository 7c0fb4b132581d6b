//! Tests when a handler is notified of a release, and that a publisher that it notifies then finds
//! a free slot.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{Kind, Many, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, watched};
use lapwing::consumer::{Access, Consumer, Finished, HandOver, MovedKeys, Outcome};
use lapwing::error::TryPublishError;
use lapwing::producer::Sequencer;
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

crate::common::for_both_producers! {
    at_the_end_of_a_batch_the_slot_is_held_and_after_the_release_it_is_free,
    a_publisher_is_notified_after_the_release,
    a_publisher_is_notified_by_a_stage_that_writes,
    a_publisher_is_notified_by_stages_that_share_a_thread,
    a_publisher_is_notified_by_whichever_stage_is_the_last,
    a_publisher_is_notified_by_whichever_worker_is_the_last,
    a_publisher_is_notified_by_workers_by_key,
    a_publisher_is_notified_by_workers_that_give_keys_away,
    the_slot_of_an_acknowledged_stage_is_held_until_the_acknowledgement,
    each_release_is_notified_once,
    an_event_that_comes_a_third_time_releases_nothing_more,
    a_panic_of_the_call_repeats_no_event,
    a_panic_of_the_call_loses_no_pause_and_no_restart,
    a_panic_in_the_call_after_a_failed_event_is_a_separate_failure,
}

const ZERO: Duration = Duration::ZERO;

/// Notifies a publisher outside of the ring after each release.
struct Bell(Sender<Sequence>);

impl<A: Access> EventHandler<u64, A> for Bell {
    fn on_event(&mut self, _: A::Ref<'_, u64>, _: Sequence, _: bool) {}

    fn on_released(&mut self, next_sequence: Sequence) {
        // The publisher may have finished.
        let _ = self.0.send(next_sequence);
    }
}

/// Publishes `events` events. On a full ring it continues only when the bell rings.
fn publish_by_the_bell<S: Sequencer>(
    producer: &mut lapwing::Producer<u64, S>,
    bell: &Receiver<Sequence>,
    events: u64,
) {
    for value in 0..events {
        while producer.try_publish(|event| *event = value) == Err(TryPublishError::Full) {
            bell.recv_timeout(PATIENCE).expect("a release that frees a slot is notified");
        }
    }
}

/// Runs `ring`, of one slot, in which the handlers ring `bell`.
fn run_by_the_bell<K: Kind>(ring: Builder<'static, u64, K::Sequencer>, bell: &Receiver<Sequence>) {
    let events = repeats(2_000);
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    publish_by_the_bell(&mut producer, bell, events);
    running.shutdown().unwrap();
}

/// Tells a publisher to try, in the middle of its own calls.
struct Asks {
    questions: Sender<&'static str>,
    answers: Receiver<Result<Sequence, TryPublishError>>,
    seen: Arc<Mutex<Vec<(&'static str, bool)>>>,
}

impl Asks {
    fn ask(&mut self, place: &'static str) {
        self.questions.send(place).unwrap();
        let is_free = self.answers.recv().unwrap().is_ok();
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

/// Returns what a publisher finds in a ring of one slot when the handler of `stage` tells it to
/// try. Acknowledges released events by `acknowledge`.
fn what_is_found<K: Kind>(is_acknowledged: bool) -> Vec<(&'static str, bool)> {
    let (questions, asked) = mpsc::channel();
    let (answer, answers) = mpsc::channel();
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
            let tried = producer.try_publish(|_| {});
            let is_refused = tried.is_err();
            published += u64::from(tried.is_ok());
            answer.send(tried).unwrap();
            if question == "released" && is_refused {
                acknowledger.as_ref().unwrap().acknowledge(published).unwrap();
                published += u64::from(producer.try_publish(|_| {}).is_ok());
            }
        }
        published
    });
    crate::common::wait_until(|| seen.lock().unwrap().len() == 6);
    running.close();
    let report = running.join();
    // The handler is dropped with the report, which ends the publisher.
    let processed = report.unwrap().stages().next().unwrap().processed();
    assert_eq!(processed, publisher.join().unwrap());
    seen.lock().unwrap().clone()
}

fn at_the_end_of_a_batch_the_slot_is_held_and_after_the_release_it_is_free<K: Kind>() {
    let expected = [("end of batch", false), ("released", true)];
    assert_eq!(what_is_found::<K>(false), expected.repeat(3));
}

fn the_slot_of_an_acknowledged_stage_is_held_until_the_acknowledgement<K: Kind>() {
    let expected = [("end of batch", false), ("released", false)];
    assert_eq!(what_is_found::<K>(true), expected.repeat(3));
}

fn a_publisher_is_notified_after_the_release<K: Kind>() {
    let (bell, rings) = mpsc::channel();
    run_by_the_bell::<K>(K::ring(1, || 0).stage("bell").read_handler(Bell(bell)), &rings);
}

fn a_publisher_is_notified_by_a_stage_that_writes<K: Kind>() {
    let (bell, rings) = mpsc::channel();
    run_by_the_bell::<K>(K::ring(1, || 0).stage("bell").write_handler(Bell(bell)), &rings);
}

fn a_publisher_is_notified_by_stages_that_share_a_thread<K: Kind>() {
    let (bell, rings) = mpsc::channel();
    let stage = |name| Stage::new(name).on_thread("both");
    let ring = K::ring(1, || 0)
        .stage(stage("first"))
        .read(|_, _, _| {})
        .stage(stage("second"))
        .read_handler(Box::new(Bell(bell)));
    run_by_the_bell::<K>(ring, &rings);
}

fn a_publisher_is_notified_by_whichever_stage_is_the_last<K: Kind>() {
    let (bell, rings) = mpsc::channel();
    let ring = K::ring(1, || 0).side_by_side(|side| {
        side.stage("left").read_handler(Bell(bell.clone())).stage("right").read_handler(Bell(bell))
    });
    run_by_the_bell::<K>(ring, &rings);
}

/// A worker that loses a claim to another one holds the slot for a moment, and releases it without
/// an event.
fn a_publisher_is_notified_by_whichever_worker_is_the_last<K: Kind>() {
    let (bell, rings) = mpsc::channel();
    let ring = K::ring(1, || 0).stage("work").workers(3).read_handlers(move |_| Bell(bell.clone()));
    run_by_the_bell::<K>(ring, &rings);
}

/// Each worker passes the events of the others, and holds their slots until it has.
fn a_publisher_is_notified_by_workers_by_key<K: Kind>() {
    let (bell, rings) = mpsc::channel();
    let ring = K::ring(1, || 0)
        .stage("work")
        .workers(3)
        .by_key(|key| *key)
        .read_handlers(move |_| Bell(bell.clone()));
    run_by_the_bell::<K>(ring, &rings);
}

impl HandOver for Bell {
    type State = ();

    fn give(&mut self, _: &MovedKeys) -> Vec<(u64, ())> {
        Vec::new()
    }

    fn take(&mut self, _: u64, (): ()) {}
}

fn a_publisher_is_notified_by_workers_that_give_keys_away<K: Kind>() {
    let (bell, heard) = mpsc::channel();
    let ring = K::ring(1, || 0)
        .stage("work")
        .workers(3)
        .by_key(|key| *key)
        .read_keyed_handlers(|_| Bell(bell.clone()));
    run_by_the_bell::<K>(ring, &heard);
}

/// Waits by the bell for a slot whose claim `producer` gives up, in a ring with `make`'s stage.
fn give_up_by_the_bell(
    make: impl FnOnce(
        Builder<'static, u64, lapwing::producer::Multi>,
        Bell,
    ) -> Builder<'static, u64, lapwing::producer::Multi>,
) {
    watched(|| {
        let (bell, rings) = mpsc::channel();
        let (mut producer, consumers) = make(Many::ring(1, || 0), Bell(bell)).build().unwrap();
        let running = consumers.start().unwrap();
        for _ in 0..repeats(2_000) {
            while let Err(error) = producer.try_claim().map(drop) {
                assert_eq!(error, TryPublishError::Full);
                rings.recv_timeout(PATIENCE).expect("a claim that was given up is a release too");
            }
        }
        running.shutdown().unwrap();
    });
}

#[test]
fn a_publisher_wakes_when_a_stage_passes_a_claim_that_was_given_up() {
    give_up_by_the_bell(|ring, bell| ring.stage("bell").read_handler(bell));
}

#[test]
fn a_publisher_wakes_when_workers_pass_a_claim_that_was_given_up() {
    give_up_by_the_bell(|ring, Bell(bell)| {
        ring.stage("work").workers(2).read_handlers(move |_| Bell(bell.clone()))
    });
}

#[test]
fn a_publisher_wakes_when_workers_by_key_pass_a_claim_that_was_given_up() {
    give_up_by_the_bell(|ring, Bell(bell)| {
        ring.stage("work").workers(2).by_key(|key| *key).read_handlers(move |_| Bell(bell.clone()))
    });
}

#[test]
fn a_publisher_wakes_when_a_shared_thread_passes_a_claim_that_was_given_up() {
    give_up_by_the_bell(|ring, bell| {
        let stage = |name| Stage::new(name).on_thread("both");
        ring.stage(stage("first")).read(|_, _, _| {}).stage(stage("second")).read_handler(bell)
    });
}

// ---- which releases ----

/// The calls of a handler, one word each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn push(&self, call: String) {
        self.0.lock().unwrap().push(call);
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().join(" ")
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

impl EventHandler<u64, lapwing::consumer::Shared, Result<Action, &'static str>> for Spy {
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

/// Runs a stage with batches of three through six events.
fn run_spy<K: Kind>(
    ways: &[Way],
    panics_at: Option<Sequence>,
    policy: Action,
    run: fn(Consumer<'static>) -> Finished,
) -> (String, Finished) {
    quiet_panics();
    let log = Log::default();
    let spy = Spy { log: log.clone(), ways: VecDeque::from(ways.to_vec()), panics_at };
    let stage = Stage::new("spy").max_batch(3).on_error(policy).on_panic(policy);
    let (mut producer, consumers): (ProducerOf<u64, K>, _) =
        K::ring(16, || 0).stage(stage).read_handler(spy).build().unwrap();
    producer.publish_batch(6, |_| {}).unwrap();
    drop(producer);
    let finished = run(consumers.into_iter().next().unwrap());
    (log.text(), finished)
}

/// On its own thread, and on a shared thread.
const RUNS: [fn(Consumer<'static>) -> Finished; 2] =
    [Consumer::run, |consumer| Consumer::run_together([consumer]).remove(0)];

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
    for run in RUNS {
        let (text, _) = run_spy::<K>(&[], None, Action::Halt, run);
        assert_eq!(text, "e0 e1 e2 r3 e3 e4 e5 r6 end");
        for (action, expected) in cases {
            for way in [Way::Returns(action), Way::Errs, Way::Panics] {
                let is_ended = matches!(action, Action::Stop | Action::SkipAndStop | Action::Halt);
                let expected = match (action, way) {
                    (Action::Continue, Way::Returns(_)) => "e0 e1 e2 r3 e3 e4 e5 r6 end",
                    // A panic that ends the stage ends its handler.
                    (_, Way::Panics) if is_ended => "e0 e1",
                    _ => expected,
                };
                let (text, _) = run_spy::<K>(&[way], None, action, run);
                assert_eq!(text, expected, "{action:?} {way:?}");
            }
        }
    }
}

fn an_event_that_comes_a_third_time_releases_nothing_more<K: Kind>() {
    for run in RUNS {
        let ways = [Way::Returns(Action::Retry(ZERO)), Way::Returns(Action::Restart(ZERO))];
        let (text, _) = run_spy::<K>(&ways, None, Action::Halt, run);
        assert_eq!(text, "e0 e1 r1 e1 restart e1 e2 e3 r4 e4 e5 r6 end");
    }
}

fn a_panic_of_the_call_repeats_no_event<K: Kind>() {
    let all = "e0 e1 e2 r3 e3 e4 e5 r6 end";
    let cases = [
        (Action::Continue, all),
        (Action::ReleaseNow, all),
        (Action::Skip, all),
        (Action::Retry(ZERO), all),
        (Action::Rewind(ZERO), all),
        (Action::Restart(ZERO), "e0 e1 e2 r3 restart e3 e4 e5 r6 end"),
        (Action::Stop, "e0 e1 e2 r3"),
        (Action::SkipAndStop, "e0 e1 e2 r3"),
        (Action::Halt, "e0 e1 e2 r3"),
    ];
    for run in RUNS {
        for (policy, expected) in cases {
            let (text, finished) = run_spy::<K>(&[], Some(3), policy, run);
            assert_eq!(text, expected, "{policy:?}");
            let (message, sequence) = (ON_PURPOSE.to_owned(), 3);
            let (outcome, processed) = match policy {
                Action::Stop | Action::SkipAndStop => (Outcome::Detached { message, sequence }, 3),
                Action::Halt => (Outcome::Panicked { message, sequence }, 3),
                _ => (Outcome::Drained, 6),
            };
            assert_eq!((finished.outcome(), finished.processed()), (&outcome, processed));
            assert_eq!(finished.skipped(), 0, "{policy:?}: no event failed");
        }
    }
}

fn a_panic_of_the_call_loses_no_pause_and_no_restart<K: Kind>() {
    for run in RUNS {
        let ways = [Way::Returns(Action::Restart(ZERO))];
        let (text, finished) = run_spy::<K>(&ways, Some(1), Action::Continue, run);
        assert_eq!(text, "e0 e1 r1 restart e1 e2 e3 r4 e4 e5 r6 end");
        assert_eq!(*finished.outcome(), Outcome::Drained);
    }
}

fn a_panic_in_the_call_after_a_failed_event_is_a_separate_failure<K: Kind>() {
    for run in RUNS {
        let (text, finished) = run_spy::<K>(&[Way::Panics], Some(2), Action::Skip, run);
        assert_eq!(text, "e0 e1 r2 e2 e3 e4 r5 e5 r6 end");
        assert_eq!((finished.processed(), finished.skipped()), (6, 1));
        // If the policy ends the stage because of the second panic, the report has that one.
        let ways = [Way::Returns(Action::Skip)];
        for (policy, is_halt) in [(Action::Halt, true), (Action::Stop, false)] {
            let (text, finished) = run_spy::<K>(&ways, Some(2), policy, run);
            assert_eq!(text, "e0 e1 r2");
            let (message, sequence) = (ON_PURPOSE.to_owned(), 2);
            let halted = Outcome::Panicked { message: message.clone(), sequence };
            let stopped = Outcome::Detached { message, sequence };
            assert_eq!(*finished.outcome(), if is_halt { halted } else { stopped });
            assert_eq!((finished.processed(), finished.skipped()), (2, 1));
        }
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
        let stage = Stage::new("diary").timeout(Duration::from_millis(1));
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
