//! Tests how the library calls a strategy of the user: in which order, what each step does, and
//! what a panic in each call means. Not here: what ends a wait (`ends_of_waits`), and when a
//! consumer is paced (`pacing`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{
    Kind, Lcg, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, wait_until,
};
use lapwing::channel;
use lapwing::consumer::{Consumer, Failure, Outcome};
use lapwing::error::{PollError, WhenFullError};
use lapwing::producer::WhenFull;
use lapwing::wait::{Pacing, Step, WaitStrategy, Waited, Waiting};
use lapwing::{Action, EventHandler, Poller, Sequence, Stage};

crate::common::for_both_producers! {
    miri_a_poll_of_a_consumer_takes_its_event,
    miri_polls_go_on_without_another_question,
    miri_each_step_that_finds_nothing_is_followed_by_a_question,
    miri_a_wait_without_a_step_is_not_reported,
    the_end_of_a_wait_is_reported_before_the_next_wait,
    a_timeout_on_a_shared_thread_ends_the_wait,
    a_producer_asks_and_reports_like_a_consumer,
    miri_calls_come_in_order_whatever_the_steps,
    calls_of_workers_come_in_order_whatever_the_steps,
    miri_a_panic_in_each_call_is_the_outcome_of_the_stage,
    a_panic_in_each_call_follows_the_policy_and_skips_no_event,
    a_panic_in_each_call_is_the_outcome_of_the_first_stage_of_a_shared_thread,
    a_wait_on_a_shared_thread_begins_again_after_a_panic,
    miri_a_poller_passes_a_panic_on_and_loses_no_event,
    miri_a_wait_that_a_panic_ended_is_reported,
    miri_a_producer_passes_a_panic_on_and_claims_nothing,
}

const NO_TIME: Duration = Duration::ZERO;

// ---- the order of the calls ----

/// A call of a strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    /// After this many steps.
    Next(u64),
    Ended {
        is_expired: bool,
        has_slept: bool,
    },
    Pace(u64),
}

type Answer = dyn Fn(&Waiting<'_>) -> Step + Send + Sync;

/// Answers what the test says, and records its calls.
#[derive(Clone)]
struct Scripted {
    answer: Arc<Answer>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Scripted {
    fn new(answer: impl Fn(&Waiting<'_>) -> Step + Send + Sync + 'static) -> Self {
        Self { answer: Arc::new(answer), calls: Arc::default() }
    }

    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }

    /// Returns the calls since the last time.
    fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

impl WaitStrategy for Scripted {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.note(Call::Next(waiting.steps()));
        (self.answer)(waiting)
    }

    fn ended(&mut self, waited: &Waited) {
        let (is_expired, has_slept) = (waited.is_expired(), !waited.slept().is_zero());
        self.note(Call::Ended { is_expired, has_slept });
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        self.note(Call::Pace(pacing.events()));
    }
}

/// Something that a strategy uses, put there once the ring is built.
type Later<T> = Arc<Mutex<Option<T>>>;

fn later<T>() -> (Later<T>, Later<T>) {
    let shared = Later::default();
    (Arc::clone(&shared), shared)
}

fn publish<K: Kind>(producer: &Later<ProducerOf<u64, K>>) {
    producer.lock().unwrap().as_mut().unwrap().publish(|event| *event = 7).unwrap();
}

/// A ring of eight slots with one poller.
fn ring<K: Kind>(strategy: impl WaitStrategy) -> (ProducerOf<u64, K>, Poller<u64>) {
    let ring = K::ring(8, || 0_u64).stage(Stage::new("all").wait_strategy(strategy)).poller();
    let (producer, mut consumers) = ring.build().unwrap();
    (producer, consumers.take_poller("all").unwrap())
}

/// Waits for events, finishes them, and returns their number.
fn finish(poller: &mut Poller<u64>) -> usize {
    let mut batch = poller.wait().unwrap();
    let length = batch.len();
    batch.consume_all();
    length
}

/// Waits for no time, in vain.
fn expire(poller: &mut Poller<u64>) {
    assert_eq!(poller.wait_timeout(NO_TIME).err(), Some(PollError::Empty));
}

fn miri_a_poll_of_a_consumer_takes_its_event<K: Kind>() {
    let (producer, shared) = later::<ProducerOf<u64, K>>();
    let scripted = Scripted::new(move |waiting| {
        if waiting.deadline().is_none() {
            publish::<K>(&shared);
        }
        Step::Poll(1)
    });
    let (own, mut poller) = ring::<K>(scripted.clone());
    *producer.lock().unwrap() = Some(own);
    assert_eq!(finish(&mut poller), 1);
    assert_eq!(scripted.take(), [Call::Next(0)]);
    expire(&mut poller);
    let ended = |is_expired| Call::Ended { is_expired, has_slept: false };
    assert_eq!(scripted.take(), [ended(false), Call::Pace(1), Call::Next(0)]);
    expire(&mut poller);
    assert_eq!(scripted.take(), [ended(true), Call::Next(0)]);
    drop(producer.lock().unwrap().take());
}

/// Must be asked once in a wait.
#[derive(Clone)]
struct OnlyPolls;

impl WaitStrategy for OnlyPolls {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        assert_eq!(waiting.steps(), 0, "asked again, although the polls are not over");
        Step::Poll(u32::MAX)
    }
}

fn miri_polls_go_on_without_another_question<K: Kind>() {
    let ring = K::ring(1, || 0_u64).wait_strategy(OnlyPolls).producer_wait_strategy(OnlyPolls);
    let (mut producer, mut consumers) = ring.stage("all").poller().build().unwrap();
    let mut poller = consumers.take_poller("all").unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(1));
            producer.publish(|_| {}).unwrap();
            producer.publish(|_| {}).unwrap(); // waits for a free slot
        });
        assert_eq!(finish(&mut poller), 1);
        let mut batch = poller.wait().unwrap();
        assert_eq!(batch.len(), 1);
        thread::sleep(Duration::from_millis(1));
        batch.consume_all();
    });
    let end = poller.wait_timeout(Duration::from_millis(1)).err();
    assert_eq!(end, Some(PollError::Empty));
    producer.publish(|_| {}).unwrap();
    let end = producer.publish_or(WhenFull::Timeout(Duration::from_millis(1)), |_| {});
    assert_eq!(end, Err(WhenFullError::TimedOut));
}

/// The thread of the ring checks by itself after a sleep, and then goes on with the same wait.
fn miri_each_step_that_finds_nothing_is_followed_by_a_question<K: Kind>() {
    let (producer, shared) = later::<ProducerOf<u64, K>>();
    let scripted = Scripted::new(move |waiting| match waiting.steps() {
        0 => Step::Poll(0),
        1 => Step::Poll(3),
        2 => Step::Pause(3),
        3 => Step::Yield,
        4 => Step::Sleep(NO_TIME),
        5 => Step::Sleep(Duration::from_micros(1)),
        6 => Step::Pause(0),
        _ => {
            publish::<K>(&shared);
            Step::Park // must not park: there is an event
        }
    });
    let (own, mut poller) = ring::<K>(scripted.clone());
    *producer.lock().unwrap() = Some(own);
    for round in 0..3 {
        assert_eq!(finish(&mut poller), 1);
        let calls = scripted.take();
        let nexts = calls.iter().filter(|call| matches!(call, Call::Next(_)));
        assert!(nexts.copied().eq((0..8).map(Call::Next)), "round={round}, calls={calls:?}");
    }
    drop(producer.lock().unwrap().take());
}

fn miri_a_wait_without_a_step_is_not_reported<K: Kind>() {
    let scripted = Scripted::new(|_| Step::Poll(1));
    let (mut producer, mut poller) = ring::<K>(scripted.clone());
    for _ in 0..3 {
        producer.publish(|_| {}).unwrap();
        assert_eq!(finish(&mut poller), 1);
    }
    assert_eq!(scripted.take(), [Call::Pace(1), Call::Pace(1)]);
}

fn the_end_of_a_wait_is_reported_before_the_next_wait<K: Kind>() {
    let (producer, shared) = later::<ProducerOf<u64, K>>();
    let scripted = Scripted::new(move |waiting| match (waiting.deadline(), waiting.steps()) {
        (Some(_), _) => Step::Park,
        (None, 0) => Step::Sleep(Duration::from_micros(50)),
        (None, _) => {
            publish::<K>(&shared);
            Step::Poll(1)
        }
    });
    let (own, mut poller) = ring::<K>(scripted.clone());
    *producer.lock().unwrap() = Some(own);
    assert_eq!(finish(&mut poller), 1);
    assert_eq!(scripted.take(), [Call::Next(0), Call::Next(1)], "not reported yet");

    // A poll without a wait comes in between.
    publish::<K>(&producer);
    poller.poll().unwrap().consume_all();
    assert_eq!(scripted.take(), []);
    assert_eq!(poller.wait_timeout(MOMENT).err(), Some(PollError::Empty));
    let calls = scripted.take();
    assert_eq!(calls[0], Call::Ended { is_expired: false, has_slept: true });
    assert!(matches!(calls[1], Call::Pace(1..=2)) && calls[2] == Call::Next(0), "{calls:?}");

    publish::<K>(&producer);
    assert_eq!(finish(&mut poller), 1);
    assert_eq!(scripted.take(), [], "it has not waited");
    assert_eq!(poller.wait_timeout(MOMENT).err(), Some(PollError::Empty));
    let ended = Call::Ended { is_expired: true, has_slept: true };
    assert_eq!(scripted.take()[..3], [ended, Call::Pace(1), Call::Next(0)]);
    drop(producer.lock().unwrap().take());
}

/// Counts its timeouts.
#[derive(Clone, Default)]
struct TimesOut(Arc<AtomicU64>);

impl EventHandler<u64> for TimesOut {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_timeout(&mut self, _: Sequence) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn a_timeout_on_a_shared_thread_ends_the_wait<K: Kind>() {
    const TIMEOUTS: usize = 3;
    let (scripted, handler) = (Scripted::new(|_| Step::Park), TimesOut::default());
    let first =
        Stage::new("first").timeout_after(Duration::from_millis(1)).wait_strategy(scripted.clone());
    let ring = K::ring(8, || 0_u64).stage(first).read_handler(handler.clone());
    let (producer, consumers) = ring.stage("second").read(|_, _, _| {}).build().unwrap();
    let both = thread::spawn(|| Consumer::run_together(consumers));
    wait_until(|| handler.0.load(Ordering::Relaxed) >= TIMEOUTS as u64);
    drop(producer);
    assert!(both.join().unwrap().iter().all(|stage| *stage.outcome() == Outcome::Drained));
    let calls = scripted.take();
    let begun = calls.iter().filter(|call| **call == Call::Next(0)).count();
    let expired = Call::Ended { is_expired: true, has_slept: true };
    let ended = calls.iter().filter(|call| **call == expired).count();
    assert!(begun >= TIMEOUTS && ended >= TIMEOUTS - 1, "{calls:?}");
}

fn a_producer_asks_and_reports_like_a_consumer<K: Kind>() {
    let (poller, shared) = later::<Poller<u64>>();
    let scripted = Scripted::new(move |waiting| match waiting.steps() {
        0 => Step::Poll(3),
        1 => Step::Yield,
        2 => Step::Sleep(Duration::from_micros(1)),
        _ => {
            let mut poller = shared.lock().unwrap();
            poller.as_mut().unwrap().poll().unwrap().consume_all();
            Step::Park // must not park: there is a free slot
        }
    });
    let ring = K::ring(1, || 0_u64).producer_wait_strategy(scripted.clone()).stage("all").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    *poller.lock().unwrap() = Some(consumers.take_poller("all").unwrap());
    producer.publish(|_| {}).unwrap();
    assert_eq!(scripted.take(), [], "there was a free slot");
    let timed_out = Err(WhenFullError::TimedOut);
    assert_eq!(producer.publish_or(WhenFull::Timeout(NO_TIME), |_| {}), timed_out);
    assert_eq!(scripted.take(), [Call::Next(0)]);
    producer.publish(|_| {}).unwrap();
    let calls = scripted.take();
    assert_eq!(calls[0], Call::Ended { is_expired: true, has_slept: false });
    // On a slow machine, one of several producers ends its wait for a turn and begins again.
    let waits: Vec<_> = calls[1..].split(|call| matches!(call, Call::Ended { .. })).collect();
    let is_in_order =
        |wait: &&[Call]| wait.iter().copied().eq((0..).map(Call::Next).take(wait.len()));
    assert!(waits.iter().all(is_in_order) && waits[waits.len() - 1].len() == 4, "{calls:?}");
    assert!(K::IS_MULTI || waits.len() == 1, "{calls:?}");
    assert_eq!(producer.publish_or(WhenFull::Timeout(NO_TIME), |_| {}), timed_out);
    let ended = Call::Ended { is_expired: false, has_slept: true };
    // One of several producers may sleep until its turn comes, in place of a question.
    let calls = scripted.take();
    let is_ended = calls[0] == ended || (K::IS_MULTI && matches!(calls[0], Call::Ended { .. }));
    assert!(is_ended && matches!(calls[1..], [Call::Next(0)] | []), "{calls:?}");
}

/// Answers any step, and checks the order of its calls.
struct Strict {
    random: Lcg,
    /// Steps that it has answered since its last other call.
    steps: u64,
}

impl Strict {
    fn new(seed: u64) -> Self {
        Self { random: Lcg(seed), steps: 0 }
    }
}

impl Clone for Strict {
    /// A clone belongs to another end, and waits for the first time.
    fn clone(&self) -> Self {
        Self::new(self.random.0 + 1)
    }
}

impl WaitStrategy for Strict {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        assert_eq!(waiting.steps(), self.steps, "each step counts, and each wait begins at 0");
        self.steps += 1;
        let number = self.random.below(30) as u32;
        match self.random.below(5) {
            0 => Step::Poll(number),
            1 => Step::Pause(number),
            2 => Step::Yield,
            3 => Step::Sleep(Duration::from_micros(number.into())),
            _ => Step::Park,
        }
    }

    fn ended(&mut self, waited: &Waited) {
        assert!(self.steps > 0, "{waited:?}: reported once, after a step");
        self.steps = 0;
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        assert_eq!(self.steps, 0, "not in a wait, {} events", pacing.events());
    }
}

/// Counts its events, and may time out.
#[derive(Default)]
struct Counts(Arc<AtomicU64>);

impl EventHandler<u64> for Counts {
    fn on_event(&mut self, _: &u64, sequence: Sequence, _: bool) {
        assert_eq!(self.0.fetch_add(1, Ordering::Relaxed), sequence);
    }

    fn on_timeout(&mut self, _: Sequence) {}
}

/// A full ring with stages that have a thread, and two that share one.
fn miri_calls_come_in_order_whatever_the_steps<K: Kind>() {
    let events = repeats(3_000);
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .wait_strategy(Strict::new(events))
        .producer_wait_strategy(Strict::new(1))
        .stage("alone")
        .timeout_after(Duration::from_micros(50))
        .read_handler(Counts::default())
        .stage("first")
        .on_thread("both")
        .timeout_after(Duration::from_micros(70))
        .read_handler(Counts::default())
        .stage("adds")
        .on_thread("both")
        .write(|event, _, _| *event += 1)
        .stage("last")
        .read(|event, sequence, _| assert_eq!(*event, sequence + 1))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    (0..events).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
    assert!(running.shutdown().unwrap().stages().all(|stage| stage.processed() == events));
}

/// Workers that get any event, workers by key, and several threads that publish.
fn calls_of_workers_come_in_order_whatever_the_steps<K: Kind>() {
    let events = repeats(2_000);
    let handled = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .wait_strategy(Strict::new(events))
        .producer_wait_strategy(Strict::new(1))
        .stage("any")
        .workers(2)
        .read(|_| |_: &u64, _, _| {})
        .stage("by key")
        .workers(2)
        .by_key(|event: &u64| *event)
        .read(|_| {
            |_: &u64, _, _| {
                handled.fetch_add(1, Ordering::Relaxed);
            }
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        (0..events).for_each(|number| _ = producer.publish(|event| *event = number).unwrap());
        running.shutdown().unwrap();
    });
    assert_eq!(handled.load(Ordering::Relaxed), events);
}

#[test]
fn calls_of_the_ends_of_a_channel_come_in_order_whatever_the_steps() {
    crate::common::watched(|| {
        let (values, senders) = (repeats(2_000), 2);
        let builder = channel::Builder::new(2).receiver_wait_strategy(Strict::new(3));
        let (sender, mut receiver) = builder.sender_wait_strategy(Strict::new(4)).mpsc().unwrap();
        thread::scope(|scope| {
            for _ in 0..senders {
                let mut sender = sender.clone();
                scope.spawn(move || {
                    (0..values).for_each(|number| sender.send(number).unwrap());
                });
            }
            drop(sender);
            let mut sum = 0;
            while let Ok(value) = receiver.recv() {
                sum += value;
            }
            assert_eq!(sum, senders * values * (values - 1) / 2);
        });
    });
}

// ---- panics ----

#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    Next,
    Ended,
    Pace,
}

const CALLS: [Which; 3] = [Which::Next, Which::Ended, Which::Pace];

/// Panics in one of its calls, as often as `left` says.
#[derive(Clone)]
struct Panics {
    call: Which,
    left: Arc<AtomicU64>,
}

impl Panics {
    fn new(call: Which, times: u64) -> Self {
        quiet_panics();
        Self { call, left: Arc::new(AtomicU64::new(times)) }
    }

    fn count_down(&self, call: Which) {
        let left = self.left.load(Ordering::Relaxed);
        if call == self.call && left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            panic!("{ON_PURPOSE}, in {call:?}");
        }
    }

    fn is_done(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

impl WaitStrategy for Panics {
    const PARKS: bool = false;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        self.count_down(Which::Next);
        Step::Yield
    }

    fn ended(&mut self, _: &Waited) {
        self.count_down(Which::Ended);
    }

    fn pace(&mut self, _: &Pacing<'_>) {
        self.count_down(Which::Pace);
    }
}

/// A stage that waits again and again, since it has a short time limit.
fn impatient(name: &str, strategy: Panics) -> Stage {
    Stage::new(name).timeout_after(Duration::from_micros(50)).wait_strategy(strategy)
}

fn panicked(call: Which, sequence: u64) -> Outcome {
    Outcome::Panicked { message: format!("{ON_PURPOSE}, in {call:?}"), sequence }
}

fn miri_a_panic_in_each_call_is_the_outcome_of_the_stage<K: Kind>() {
    for call in CALLS {
        let stage = impatient("all", Panics::new(call, 1));
        let ring = K::ring(8, || 0_u64).stage(stage).read_handler(Counts::default());
        let (mut producer, consumers) = ring.build().unwrap();
        producer.publish_batch(3, |_| {}).unwrap();
        let report = consumers.start().unwrap().join().unwrap_err().into_report();
        let stage = report.stages().next().unwrap();
        assert_eq!((stage.outcome(), stage.processed()), (&panicked(call, 3), 3));
    }
}

fn a_panic_in_each_call_follows_the_policy_and_skips_no_event<K: Kind>() {
    const TIMES: u64 = 3;
    for call in CALLS {
        let (panics, failures) = (Panics::new(call, TIMES), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&failures);
        let policy = move |_: &Failure<'_>| {
            count.fetch_add(1, Ordering::Relaxed);
            Action::Skip
        };
        let stage = impatient("all", panics.clone()).on_panic(policy);
        let seen = Arc::new(AtomicU64::new(0));
        let ring = K::ring(8, || 0_u64).stage(stage).read_handler(Counts(Arc::clone(&seen)));
        let (mut producer, consumers) = ring.build().unwrap();
        let mut published = 0;
        let running = consumers.start().unwrap();
        while !panics.is_done() {
            producer.publish(|_| {}).unwrap();
            published += 1;
            wait_until(|| running.backlog()[0].events == 0);
        }
        producer.publish(|_| {}).unwrap();
        let report = running.shutdown().unwrap();
        let stage = report.stages().next().unwrap();
        assert_eq!((stage.processed(), stage.skipped()), (published + 1, 0), "{call:?}");
        let counts = [&*seen, &*failures].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [published + 1, TIMES], "{call:?}");
    }
}

fn a_panic_in_each_call_is_the_outcome_of_the_first_stage_of_a_shared_thread<K: Kind>() {
    for call in CALLS {
        let strategy = Panics::new(call, 1);
        let (mut producer, consumers) = K::ring(8, || 0_u64)
            .stage(Stage::new("first").wait_strategy(strategy.clone()))
            .read(|_, _, _| {})
            .stage(Stage::new("second").wait_strategy(strategy))
            .read(|_, _, _| {})
            .build()
            .unwrap();
        let both = thread::spawn(|| Consumer::run_together(consumers));
        while producer.publish(|_| {}).is_ok() {
            thread::yield_now();
        }
        let finished = both.join().unwrap();
        let processed = finished[0].processed();
        assert_eq!(*finished[0].outcome(), panicked(call, processed));
        assert_eq!(*finished[1].outcome(), Outcome::Halted);
    }
}

fn a_wait_on_a_shared_thread_begins_again_after_a_panic<K: Kind>() {
    const LAST: u64 = 2;
    quiet_panics();
    let scripted = Scripted::new(|waiting| {
        assert!(waiting.steps() < LAST, "{ON_PURPOSE}");
        Step::Yield
    });
    let panics = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&panics);
    let goes_on = move |_: &Failure<'_>| {
        count.fetch_add(1, Ordering::Relaxed);
        Action::Skip
    };
    let first = Stage::new("first").wait_strategy(scripted.clone()).on_panic(goes_on);
    let ring = K::ring(8, || 0_u64).stage(first).read(|_, _, _| {});
    let (producer, consumers) = ring.stage("second").read(|_, _, _| {}).build().unwrap();
    let both = thread::spawn(|| Consumer::run_together(consumers));
    wait_until(|| panics.load(Ordering::Relaxed) >= 3);
    drop(producer);
    assert!(both.join().unwrap().iter().all(|stage| *stage.outcome() == Outcome::Drained));
    let calls = scripted.take();
    let asked = calls.iter().filter_map(|call| match call {
        Call::Next(steps) => Some(*steps),
        _ => None,
    });
    let in_order = [0, 1, LAST].into_iter().cycle();
    assert!(asked.zip(in_order).all(|(steps, expected)| steps == expected), "{calls:?}");
}

/// Waits for no time, and returns whether a panic came out of that.
fn passes_a_panic_on(poller: &mut Poller<u64>) -> bool {
    let waiting = AssertUnwindSafe(|| poller.wait_timeout(NO_TIME).map(drop));
    match catch_unwind(waiting) {
        Ok(end) => {
            assert_eq!(end, Err(PollError::Empty));
            false
        }
        Err(_) => true,
    }
}

fn miri_a_poller_passes_a_panic_on_and_loses_no_event<K: Kind>() {
    for call in CALLS {
        let (mut producer, mut poller) = ring::<K>(Panics::new(call, 1));
        producer.publish(|_| {}).unwrap();
        assert_eq!(finish(&mut poller), 1);
        let panics = [(); 4].map(|()| passes_a_panic_on(&mut poller));
        // The second wait reports the end of the first, and no later one reports it again.
        let expected = [call != Which::Ended, call == Which::Ended, false, false];
        assert_eq!(panics, expected, "{call:?}");
        producer.publish_batch(2, |_| {}).unwrap();
        let mut batch = poller.wait_timeout(PATIENCE).unwrap();
        assert!(batch.iter().map(|(sequence, _)| sequence).eq(1..3), "{call:?}");
    }
}

fn miri_a_wait_that_a_panic_ended_is_reported<K: Kind>() {
    quiet_panics();
    let scripted = Scripted::new(|waiting| {
        assert!(waiting.steps() == 0 || waiting.deadline().is_some(), "{ON_PURPOSE}");
        Step::Poll(1)
    });
    let (mut producer, mut poller) = ring::<K>(scripted.clone());
    assert!(catch_unwind(AssertUnwindSafe(|| poller.wait().map(drop))).is_err());
    assert_eq!(scripted.take(), [Call::Next(0), Call::Next(1)]);
    expire(&mut poller);
    let ended = Call::Ended { is_expired: false, has_slept: false };
    assert_eq!(scripted.take(), [ended, Call::Next(0)]);
    producer.publish(|_| {}).unwrap();
    assert_eq!(finish(&mut poller), 1);
}

fn miri_a_producer_passes_a_panic_on_and_claims_nothing<K: Kind>() {
    for call in [Which::Next, Which::Ended] {
        let ring = K::ring(1, || 0_u64).producer_wait_strategy(Panics::new(call, 1));
        let (mut producer, mut consumers) = ring.stage("all").poller().build().unwrap();
        let mut poller = consumers.take_poller("all").unwrap();
        producer.publish(|_| {}).unwrap();
        let panics = [(); 4].map(|()| {
            let publishing = || producer.publish_or(WhenFull::Timeout(NO_TIME), |_| unreachable!());
            catch_unwind(AssertUnwindSafe(publishing)).map_err(drop)
        });
        let (timed_out, panic) = (Ok(Err(WhenFullError::TimedOut)), Err(()));
        let expected = match call {
            Which::Next => [panic, timed_out, timed_out, timed_out],
            _ => [timed_out, panic, timed_out, timed_out],
        };
        assert_eq!(panics, expected, "{call:?}");
        poller.poll().unwrap().consume_all();
        assert_eq!(producer.publish(|event| *event = 7), Ok(1));
        assert_eq!(poller.poll().unwrap().as_slice(), [7]);
    }
}

#[test]
fn the_ends_of_a_channel_pass_a_panic_on_and_lose_no_value() {
    for call in [Which::Next, Which::Ended] {
        let builder = channel::Builder::new(1).receiver_wait_strategy(Panics::new(call, 1));
        let (mut sender, mut receiver) =
            builder.sender_wait_strategy(Panics::new(call, 1)).spsc::<u64>().unwrap();
        let first = usize::from(call == Which::Ended);
        let panics = [(); 3]
            .map(|()| catch_unwind(AssertUnwindSafe(|| receiver.recv_timeout(NO_TIME))).is_err());
        assert!((0..3).all(|number| panics[number] == (number == first)), "{call:?}: {panics:?}");
        sender.send(1).unwrap();
        let panics = [(); 3]
            .map(|()| catch_unwind(AssertUnwindSafe(|| sender.send_timeout(2, NO_TIME))).is_err());
        assert!((0..3).all(|number| panics[number] == (number == first)), "{call:?}: {panics:?}");
        assert_eq!(receiver.recv(), Ok(1));
        sender.send(3).unwrap();
        assert_eq!(receiver.recv(), Ok(3));
    }
}
