//! C53: panics of an idle stage, in `on_timeout` or in its wait strategy, and the reaction of its
//! policy. Those in `on_batch_start` are in `table.rs`.

use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::{Consumer, Outcome};
use lapwing::wait::{Blocking, Step, WaitStrategy, Waiting};
use lapwing::{Action, Stage};

use crate::common::{self, Kind, ON_PURPOSE, PATIENCE, quiet_panics};
use crate::{Book, Call, Form, Log, SURVIVALS, Spy, counts, drain_together};

common::for_both_producers! {
    c53_a_panic_in_on_timeout_skips_no_event,
    c53_a_panic_in_on_timeout_after_events_is_not_theirs,
    c53_a_panic_in_a_wait_strategy_skips_no_event,
    c53_panics_while_idle_do_not_delay_a_close,
    a_panic_in_the_strategy_of_a_shared_thread_follows_the_policy,
    a_panic_in_the_strategy_cuts_no_pause_short,
}

const ZERO: Duration = Duration::ZERO;
const SOON: Duration = Duration::from_micros(100);

/// Panics in some of the steps that it is asked for, and otherwise blocks.
#[derive(Clone)]
struct Shaky {
    asked: u32,
    panics: fn(u32) -> bool,
}

impl Shaky {
    fn new(panics: fn(u32) -> bool) -> Self {
        Self { asked: 0, panics }
    }
}

impl WaitStrategy for Shaky {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.asked += 1;
        assert!(!(self.panics)(self.asked), "{ON_PURPOSE}");
        Blocking { yields: 0 }.next(waiting)
    }
}

/// Runs a stage that is idle until it has had three timeouts, and then gets two events.
fn run_idle<K: Kind>(stage: Stage, log: &Log, spy: Spy) {
    quiet_panics();
    let ring = Form::Handler.add(K::ring(8, || 0), stage.timeout_after(SOON), spy);
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    common::wait_until(|| log.count(&Call::Timeout(0)) >= 3);
    producer.publish_batch(2, |_| {}).unwrap();
    let report = running.shutdown().unwrap();
    let stage = report.stages().next().unwrap();
    assert_eq!((stage.outcome(), counts(stage)), (&Outcome::Drained, (2, 0)));
    assert_eq!((log.sequences(), log.count(&Call::Shutdown)), (vec![0, 1], 1));
}

fn c53_a_panic_in_on_timeout_skips_no_event<K: Kind>() {
    for &action in SURVIVALS {
        let log = Log::default();
        let mut left = 2;
        let spy = Spy::new(&log, move |call| {
            left -= i32::from(matches!(call, Call::Timeout(_)));
            assert!(!matches!(call, Call::Timeout(_)) || left < 0, "{ON_PURPOSE}");
            Ok(Action::Continue)
        });
        run_idle::<K>(Stage::new("panics").on_panic(action), &log, spy);
        let restarts = if action == Action::Restart(ZERO) { 2 } else { 0 };
        assert_eq!(log.count(&Call::Restart), restarts, "{action:?}");
    }
}

/// The previous event is finished, whether it failed or not.
fn c53_a_panic_in_on_timeout_after_events_is_not_theirs<K: Kind>() {
    quiet_panics();
    for bad_event in [None, Some(1)] {
        let log = Log::default();
        let stage = Stage::new("panics").timeout_after(SOON).on_panic(log.policy(Action::Skip));
        let mut left = 2;
        let spy = Spy::new(&log, move |call| {
            let is_timeout = *call == Call::Timeout(2) && left > 0;
            left -= i32::from(is_timeout);
            assert!(!is_timeout && !bad_event.is_some_and(|at| call.includes(at)), "{ON_PURPOSE}");
            Ok(Action::Continue)
        });
        let (mut producer, consumers) =
            Form::Handler.add(K::ring(8, || 0), stage, spy).build().unwrap();
        producer.publish_batch(2, |_| {}).unwrap();
        let running = consumers.start().unwrap();
        common::wait_until(|| log.count(&Call::Timeout(2)) >= 3);
        producer.publish(|_| {}).unwrap();
        let report = running.shutdown().unwrap();
        assert_eq!(log.sequences(), [0, 1, 2]);
        assert_eq!(log.count(&Call::Policy(2, 1)), 2, "because the policy did not retry it");
        let skipped = u64::from(bad_event.is_some());
        assert_eq!(counts(report.stages().next().unwrap()), (3, skipped));
    }
}

fn c53_a_panic_in_a_wait_strategy_skips_no_event<K: Kind>() {
    for &action in SURVIVALS {
        let log = Log::default();
        let shaky = Shaky::new(|asked| asked == 1 || asked == 3);
        let spy = Spy::new(&log, |_| Ok(Action::Continue));
        run_idle::<K>(Stage::new("panics").wait_strategy(shaky).on_panic(action), &log, spy);
    }
}

/// Always panics instead of waiting.
#[derive(Clone)]
struct NeverWaits;

impl WaitStrategy for NeverWaits {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        thread::yield_now();
        panic!("{ON_PURPOSE}");
    }
}

/// The stage polls again after each panic, so it sees new events and the close of the ring.
fn c53_panics_while_idle_do_not_delay_a_close<K: Kind>() {
    quiet_panics();
    for &action in SURVIVALS {
        let stage = Stage::new("book").wait_strategy(NeverWaits).on_panic(action);
        let ring = K::ring(8, || 0_u64).stage(stage).read_handler(Book::default());
        let (mut producer, consumers) = ring.build().unwrap();
        let book = consumers.into_iter().next().unwrap();
        let thread = thread::spawn(|| Consumer::run(book));
        producer.publish_batch(3, |_| {}).unwrap();
        drop(producer);
        let mut finished = thread.join().unwrap();
        assert_eq!((finished.outcome(), counts(&finished)), (&Outcome::Drained, (3, 0)));
        assert_eq!(finished.take_handler::<Book>().unwrap().done, [0, 1, 2], "{action:?}");
    }
}

/// A panic with a policy must not halt the ring.
fn a_panic_in_the_strategy_of_a_shared_thread_follows_the_policy<K: Kind>() {
    quiet_panics();
    let log = Log::default();
    let stage = |name: &str| Stage::new(name).on_thread("shared");
    let first = stage("first").wait_strategy(Shaky::new(|asked| asked % 2 == 1));
    let seen = Log::default();
    let ring =
        K::ring(8, || 0_u64).stage(first.on_panic(log.policy(Action::Skip))).read(|_, _, _| {});
    let spy = Spy::new(&seen, |_| Ok(Action::Continue));
    let (mut producer, consumers) = Form::Event.add(ring, stage("second"), spy).build().unwrap();
    let running = consumers.start().unwrap();
    let begun = Instant::now();
    common::wait_until(|| !log.calls().is_empty() || begun.elapsed() > PATIENCE);
    assert_eq!(log.calls().first(), Some(&Call::Policy(0, 1)), "its first step panics");
    for events in 1..=3 {
        producer.publish(|_| {}).unwrap();
        common::wait_until(|| seen.sequences().len() == events);
    }
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| counts(stage) == (3, 0)));
    assert_eq!(seen.sequences(), [0, 1, 2]);
    assert!(log.asked().iter().all(|&(sequence, _)| sequence <= 3));
}

fn a_panic_in_the_strategy_cuts_no_pause_short<K: Kind>() {
    quiet_panics();
    let pause = Duration::from_millis(20);
    let log = Log::default();
    let mut first: Option<Instant> = None;
    let spy = Spy::new(&log, move |call| match (call, first) {
        (Call::Event(..), None) => {
            first = Some(Instant::now());
            Ok(Action::Restart(pause))
        }
        (Call::Event(..), Some(first)) => {
            assert!(first.elapsed() >= pause, "too early");
            Ok(Action::Continue)
        }
        _ => Ok(Action::Continue),
    });
    let shaky = Shaky::new(|asked| asked % 2 == 1);
    let stage = Stage::new("pauses").wait_strategy(shaky).on_panic(Action::Retry(ZERO));
    let ring = Form::Handler.add(K::ring(8, || 0), stage, spy);
    let finished = drain_together(ring.stage("book").read_handler(Book::default()), 1);
    assert!(finished.iter().all(|stage| counts(stage) == (1, 0)));
    assert_eq!((log.sequences(), log.count(&Call::Restart)), (vec![0, 0], 1));
}
