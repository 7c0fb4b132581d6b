//! Defects of waiting.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lapwing::consumer::Outcome;
use lapwing::error::PollError;
use lapwing::wait::{Blocking, PhasedBackoff};
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

use crate::common::{self, MOMENT, ON_PURPOSE, quiet_panics, wait_until};
use crate::pause::PAUSES;
use crate::setup::{Kind, Setup};
use crate::spy::{Call, Spy, publish, value_of, values};

for_each_setup! {
    b01_single_event_wakes_its_consumer,
    b01_single_free_slot_wakes_its_producer,
    b21a_panic_of_a_wait_skips_no_event,
    b21b_panic_of_on_timeout_skips_no_event,
    b22a_event_does_not_wait_for_the_timeout_and_calls_none,
    b22b_event_that_comes_as_the_timeout_ends_is_not_a_timeout,
    b23_halt_ends_a_wait_in_its_first_phase,
}

/// An hour: a test that waits for its end hangs.
const HOUR: Duration = Duration::from_secs(3_600);

/// Up to 2.10 (issues 119, 246): the publisher did not wake a consumer that was about to wait. The
/// event arrived only with the next one.
fn b01_single_event_wakes_its_consumer<K: Kind>(setup: Setup<K>) {
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage("all")
        .read(|_, sequence, _| handled.store(sequence + 1, SeqCst))
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for (sequence, pause) in (0..setup.events(100)).zip(PAUSES.into_iter().cycle()) {
            pause.pass();
            publish(&mut producer, sequence..sequence + 1);
            wait_until(|| handled.load(SeqCst) == sequence + 1);
        }
        running.shutdown().unwrap();
    });
}

fn b01_single_free_slot_wakes_its_producer<K: Kind>(setup: Setup<K>) {
    let (mut producer, mut poller) = setup.ring_with_poller(1);
    let published = AtomicU64::new(0);
    thread::scope(|scope| {
        let published = &published;
        scope.spawn(move || {
            while producer.publish(|_| {}).is_ok() {
                published.fetch_add(1, SeqCst);
            }
        });
        for (freed, pause) in (1..setup.events(100)).zip(PAUSES.into_iter().cycle()) {
            wait_until(|| published.load(SeqCst) == freed);
            pause.pass();
            poller.poll().unwrap().consume_all();
        }
        drop(poller); // the last consumer: ends the producer's wait
    });
}

/// Open (sofa-jraft 410): an exception of a wait is treated as a failure of the next event, which
/// is skipped although it may not be published.
fn b21a_panic_of_a_wait_skips_no_event<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    for action in [Action::Skip, Action::Continue, Action::Retry(Duration::ZERO)] {
        let waits = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&waits);
        let panics = move || {
            assert!(!count.fetch_add(1, SeqCst).is_multiple_of(3), "{ON_PURPOSE}");
            false
        };
        let stage = setup.disturbed_stage(Stage::new("spy").on_panic(action), panics);
        let (mut producer, consumers) =
            setup.ring(4, || 0).stage(stage).read_handler(Spy::default()).build().unwrap();
        let running = consumers.start().unwrap();
        let events = setup.events(50);
        wait_until(|| waits.load(SeqCst) > 0); // the first one panics
        for sequence in 0..events {
            publish(&mut producer, sequence..sequence + 1);
            wait_until(|| running.backlog()[0].events == 0);
        }
        let mut report = running.shutdown().unwrap();
        assert_eq!(report.take::<Spy>("spy").unwrap().events(), values(0..events));
        let stage = report.stages().next().unwrap();
        assert_eq!((stage.processed(), stage.skipped()), (events, 0));
    }
    let stage = setup.disturbed_stage("spy", || panic!("{ON_PURPOSE}"));
    let (producer, consumers) =
        setup.ring(4, || 0).stage(stage).read_handler(Spy::default()).build().unwrap();
    let failed = consumers.start().unwrap().join().unwrap_err();
    let outcome = Outcome::Panicked { message: ON_PURPOSE.to_owned(), sequence: 0 };
    assert_eq!(*failed.report().stages().next().unwrap().outcome(), outcome);
    drop(producer);
}

/// Panics at the first timeout of each event.
struct Impatient {
    spy: Spy,
    timeouts: mpsc::Sender<Sequence>,
}

impl EventHandler<u64> for Impatient {
    fn on_event(&mut self, event: &u64, sequence: Sequence, end_of_batch: bool) {
        self.spy.on_event(event, sequence, end_of_batch);
    }

    fn on_timeout(&mut self, next_sequence: Sequence) {
        let _ = self.timeouts.send(next_sequence);
        panic!("{ON_PURPOSE}");
    }
}

fn b21b_panic_of_on_timeout_skips_no_event<K: Kind>(setup: Setup<K>) {
    quiet_panics();
    let (send, timeouts) = mpsc::channel();
    let stage =
        Stage::new("impatient").timeout_after(Duration::from_micros(100)).on_panic(Action::Skip);
    let handler = Impatient { spy: Spy::default(), timeouts: send };
    let (mut producer, consumers) =
        setup.ring(4, || 0).stage(stage).read_handler(handler).build().unwrap();
    let running = consumers.start().unwrap();
    for sequence in 0..5 {
        assert!(timeouts.iter().any(|next| next == sequence));
        publish(&mut producer, sequence..sequence + 1);
    }
    let mut report = running.shutdown().unwrap();
    assert_eq!(report.take::<Impatient>("impatient").unwrap().spy.events(), values(0..5));
    assert_eq!(report.stages().next().unwrap().skipped(), 0);
}

/// Open, `LiteTimeoutBlocking`: an event that came while the consumer went to sleep was seen only
/// at the timeout, which was then reported.
fn b22a_event_does_not_wait_for_the_timeout_and_calls_none<K: Kind>(setup: Setup<K>) {
    let handled = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&handled);
    let stage = Stage::new("spy").timeout_after(HOUR);
    let last = move |_: &u64, sequence: Sequence, _: bool| counts.store(sequence + 1, SeqCst);
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage(stage)
        .read_handler(Spy::default())
        .stage("last")
        .read(last)
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let events = setup.events(100);
    for (sequence, pause) in (0..events).zip(PAUSES.into_iter().cycle()) {
        pause.pass();
        publish(&mut producer, sequence..sequence + 1);
        wait_until(|| handled.load(SeqCst) == sequence + 1);
    }
    let spy: Spy = running.shutdown().unwrap().take("spy").unwrap();
    assert_eq!(spy.events(), values(0..events));
    assert!(!spy.0.iter().any(|call| matches!(call, Call::Timeout(_))));
}

/// Open: a wait that is woken late throws without a last poll for the event.
fn b22b_event_that_comes_as_the_timeout_ends_is_not_a_timeout<K: Kind>(setup: Setup<K>) {
    let slot = Arc::new(Mutex::new(None));
    let producer_in_wait = Arc::clone(&slot);
    let overslept = move || {
        let start = Instant::now();
        wait_until(|| start.elapsed() > MOMENT);
        // Another thread publishes after the deadline, before this one polls again.
        let Some(mut producer) = producer_in_wait.lock().unwrap().take() else { return true };
        publish(&mut producer, 0..1);
        true
    };
    let stage = setup.disturbed_stage("poller", overslept);
    let (producer, mut consumers) = setup.ring(4, || 0).stage(stage).poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    *slot.lock().unwrap() = Some(producer);
    let limit = MOMENT / 5;
    assert_eq!(poller.wait_timeout(limit).unwrap().as_slice(), [value_of(0)]);
    poller.poll().unwrap().consume_all();
    assert_eq!(poller.wait_timeout(limit).err(), Some(PollError::Closed));
}

/// Open: `PhasedBackoff` does not check for an alert while it spins and yields.
fn b23_halt_ends_a_wait_in_its_first_phase<K: Kind>(setup: Setup<K>) {
    halt_ends_waits::<K>(setup.ring(4, || 0));
    for (spin, yielding) in [(HOUR, Duration::ZERO), (Duration::ZERO, HOUR)] {
        let strategy = PhasedBackoff::new(spin, yielding, Blocking { yields: 0 });
        let ring = K::ring(4, || 0).wait_strategy(strategy).producer_wait_strategy(strategy);
        halt_ends_waits::<K>(ring);
    }
}

type Ring<K> = Builder<'static, u64, <K as common::Kind>::Sequencer>;

fn halt_ends_waits<K: Kind>(ring: Ring<K>) {
    let ring = ring.stage("holds").poller().stage("after").read(|_, _, _| {});
    let (mut producer, mut consumers) = ring.build().unwrap();
    let _holds = consumers.take_poller("holds").unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..4);
    let blocked = thread::spawn(move || producer.publish(|_| {}).is_err());
    (0..9).for_each(|_| thread::yield_now());
    running.halt();
    assert!(running.join().is_err());
    assert!(blocked.join().unwrap());
}
