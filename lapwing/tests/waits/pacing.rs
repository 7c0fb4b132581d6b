//! Tests when a strategy is called to pace its consumer: between a batch and the next poll, and
//! only if that holds up no other thread. Not here: its other calls (`steps`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Kind, repeats, wait_until};
use lapwing::consumer::{Consumer, Finished, Outcome};
use lapwing::error::PollError;
use lapwing::producer::Sequencer;
use lapwing::wait::{Adaptive, Pacing, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Consumers, Poller, Producer, Stage};

crate::common::for_both_producers! {
    miri_consumer_is_paced_by_the_result_of_its_last_poll,
    consumer_is_not_paced_while_more_events_are_known,
    consumer_is_paced_after_all_events_of_its_last_poll,
    events_that_a_cursor_has_shown_are_handled_before_the_next_poll,
    consumer_counts_as_late_if_a_quarter_of_the_ring_is_available,
    consumer_is_not_paced_again_after_a_failed_poll,
    claims_that_were_given_up_do_not_disturb_the_pace,
    stage_is_paced_and_gets_every_event,
    adaptive_stage_that_just_keeps_up_gets_every_event,
    panic_of_a_pace_is_the_outcome_of_its_stage,
    miri_stages_of_one_thread_are_paced_by_the_most_that_one_of_them_found,
    stages_of_one_thread_are_not_paced_while_one_of_them_has_more,
    thread_of_several_stages_is_late_if_one_of_them_is,
    panic_of_a_pace_is_the_outcome_of_the_first_stage_of_its_thread,
    panic_of_a_copy_of_a_strategy_is_the_outcome_of_the_first_stage_of_its_thread,
}

/// Records its calls.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<u64>>>);

/// Added to the number of events of a poll that came late.
const LATE: u64 = 1 << 32;

impl Noted {
    fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl WaitStrategy for Noted {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        Yielding::default().next(waiting)
    }

    fn pace(&mut self, pacing: &Pacing<'_>) {
        let noted = if pacing.is_late() { LATE } else { 0 };
        self.0.lock().unwrap().push(noted + pacing.events());
    }
}

/// A ring with one poller, whose batches have at most `longest` events.
fn ring<K: Kind>(
    capacity: usize,
    longest: usize,
) -> (Producer<u64, K::Sequencer>, Poller<u64>, Noted) {
    let paces = Noted::default();
    let stage = Stage::new("all").wait(paces.clone()).max_batch(longest);
    let (producer, mut consumers) =
        K::ring(capacity, || 0_u64).stage(stage).poller().build().unwrap();
    let poller = consumers.take_poller("all").unwrap();
    (producer, poller, paces)
}

fn publish<S: Sequencer>(producer: &mut Producer<u64, S>, events: usize) {
    producer.publish_batch(events, |slots| slots.iter_mut().for_each(|slot| *slot = 7)).unwrap();
}

/// Waits for a batch, finishes it, and returns its length.
fn finish(poller: &mut Poller<u64>) -> usize {
    let mut batch = poller.wait().unwrap();
    let length = batch.len();
    batch.consume_all();
    length
}

fn miri_consumer_is_paced_by_the_result_of_its_last_poll<K: Kind>() {
    let (mut producer, mut poller, paces) = ring::<K>(64, 64);
    for events in [3, 1, 15] {
        publish(&mut producer, events);
        assert_eq!(finish(&mut poller), events);
        assert_eq!(paces.take(), [], "not before it polls again");
        assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(PollError::Empty));
        assert_eq!(paces.take(), [events as u64]);
    }
}

fn consumer_is_not_paced_while_more_events_are_known<K: Kind>() {
    let (mut producer, mut poller, paces) = ring::<K>(64, 64);
    publish(&mut producer, 5);
    poller.wait().unwrap().consume(2);
    assert_eq!(finish(&mut poller), 3);
    assert_eq!(paces.take(), []);
    publish(&mut producer, 1);
    assert_eq!(finish(&mut poller), 1);
    assert_eq!(paces.take(), [5]);
}

fn consumer_is_paced_after_all_events_of_its_last_poll<K: Kind>() {
    let (mut producer, mut poller, paces) = ring::<K>(64, 2);
    publish(&mut producer, 5);
    assert_eq!([(); 3].map(|()| finish(&mut poller)), [2, 2, 1]);
    assert_eq!(paces.take(), [], "the next poll shows whether there is more");
    publish(&mut producer, 1);
    assert_eq!(finish(&mut poller), 1);
    // A cursor has shown all of them, stamps only as many as a batch may have.
    assert_eq!(paces.take(), if K::IS_MULTI { vec![1] } else { vec![5] });
}

fn events_that_a_cursor_has_shown_are_handled_before_the_next_poll<K: Kind>() {
    let (mut producer, mut poller, _) = ring::<K>(64, 4);
    publish(&mut producer, 6);
    assert_eq!(finish(&mut poller), 4);
    publish(&mut producer, 6);
    let rest = if K::IS_MULTI { [4, 4] } else { [2, 4] };
    assert_eq!([(); 2].map(|()| finish(&mut poller)), rest);
}

fn consumer_counts_as_late_if_a_quarter_of_the_ring_is_available<K: Kind>() {
    // Whether the poll has shown all available events, or as many as it may show.
    for longest in [16, 4] {
        let (mut producer, mut poller, paces) = ring::<K>(16, longest);
        for (events, paced) in [(3, vec![3]), (4, vec![LATE + 4]), (1, vec![1])] {
            publish(&mut producer, events);
            assert_eq!(finish(&mut poller), events);
            assert_eq!(poller.wait_timeout(Duration::ZERO).err(), Some(PollError::Empty));
            assert_eq!(paces.take(), paced);
        }
    }
}

fn consumer_is_not_paced_again_after_a_failed_poll<K: Kind>() {
    let (mut producer, mut poller, paces) = ring::<K>(64, 64);
    let look = |poller: &mut Poller<u64>| poller.wait_timeout(Duration::ZERO).map(drop).is_ok();
    assert_eq!([look(&mut poller), look(&mut poller)], [false, false]);
    assert_eq!(paces.take(), []);
    publish(&mut producer, 2);
    assert_eq!(finish(&mut poller), 2);
    assert_eq!([look(&mut poller), look(&mut poller)], [false, false]);
    assert_eq!(paces.take(), [2]);
}

fn claims_that_were_given_up_do_not_disturb_the_pace<K: Kind>() {
    let (mut producer, mut poller, paces) = ring::<K>(64, 64);
    for _ in 0..3 {
        drop(producer.claim().unwrap());
        publish(&mut producer, 1);
        assert_eq!(finish(&mut poller), 1);
    }
    let paced = paces.take();
    assert_eq!(paced.len(), 2, "paces={paced:?}");
}

fn stage_is_paced_and_gets_every_event<K: Kind>() {
    let (paces, handled) = (Noted::default(), AtomicU64::new(0));
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .stage("count")
        .wait(paces.clone())
        .read(|_, _, _| {
            handled.fetch_add(1, Ordering::Release);
        })
        .build()
        .unwrap();
    std::thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for events in 1..=3 {
            let before = handled.load(Ordering::Acquire);
            publish(&mut producer, events);
            wait_until(|| handled.load(Ordering::Acquire) == before + events as u64);
            wait_until(|| paces.take().iter().sum::<u64>() > 0);
        }
        running.shutdown().unwrap();
    });
}

fn adaptive_stage_that_just_keeps_up_gets_every_event<K: Kind>() {
    let events = repeats(200_000);
    let (mut producer, consumers) = K::ring(64 * 1024, || 0_u64)
        .wait(Adaptive::default())
        .stage("check")
        .read(|event, sequence, _| assert_eq!(*event, sequence))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for number in 0..events {
        producer.publish(|event| *event = number).unwrap();
        // About as slow as the consumer.
        (0..number % 4).for_each(|_| std::hint::spin_loop());
    }
    assert_eq!(running.shutdown().unwrap().stages().next().unwrap().processed(), events);
}

/// Panics when it is called to pace its consumer.
#[derive(Clone)]
struct Panics;

impl WaitStrategy for Panics {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        Yielding::default().next(waiting)
    }

    fn pace(&mut self, _: &Pacing<'_>) {
        panic!("on purpose, between two batches");
    }
}

/// Publishes three events, and checks that the first stage ends by the panic of [`Panics`].
fn assert_panics_between_batches<S: Sequencer>(
    mut producer: Producer<u64, S>,
    consumers: Consumers<'static, u64>,
) {
    // Published before the stages run, because a call in progress when the ring is halted returns
    // an error.
    publish(&mut producer, 3);
    let report = consumers.start().unwrap().join().unwrap_err().into_report();
    let outcome = report.stages().next().unwrap().outcome().clone();
    let message = "on purpose, between two batches".to_owned();
    assert_eq!(outcome, Outcome::Panicked { message, sequence: 3 });
}

fn panic_of_a_pace_is_the_outcome_of_its_stage<K: Kind>() {
    crate::common::quiet_panics();
    let (producer, consumers) =
        K::ring(64, || 0_u64).stage("all").wait(Panics).read(|_, _, _| {}).build().unwrap();
    assert_panics_between_batches(producer, consumers);
}

/// A stage of a ring of 64 slots with that many events, which is already closed.
fn closed_ring<K: Kind>(stage: Stage, events: usize) -> Consumer<'static> {
    let ring = K::ring(64, || 0_u64).stage(stage).read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    publish(&mut producer, events);
    consumers.into_iter().next().unwrap()
}

/// Returns the calls of the strategy of two stages that share this thread until their rings are
/// drained. Each ring has the given number of events, and the stages take at most `longest` of them
/// at a time.
fn paces_together<K: Kind>(events: [usize; 2], longest: usize) -> Vec<u64> {
    let paces = Noted::default();
    let stage = || Stage::new("all").wait(paces.clone()).max_batch(longest);
    let stages = events.map(|events| closed_ring::<K>(stage(), events));
    let finished = Consumer::run_together(stages);
    assert!(finished.iter().map(Finished::processed).eq(events.map(|events| events as u64)));
    paces.take()
}

fn miri_stages_of_one_thread_are_paced_by_the_most_that_one_of_them_found<K: Kind>() {
    assert_eq!(paces_together::<K>([3, 5], 64), [5]);
}

fn stages_of_one_thread_are_not_paced_while_one_of_them_has_more<K: Kind>() {
    // 1 and 2 of 5, 2, and 1: a cursor has shown that this one is the last.
    let paces = paces_together::<K>([1, 5], 2);
    assert_eq!(
        paces,
        if K::IS_MULTI { [1] } else { [5] },
        "no call while the other stage has more events"
    );
}

fn thread_of_several_stages_is_late_if_one_of_them_is<K: Kind>() {
    assert_eq!(paces_together::<K>([3, 16], 16), [LATE + 16]);
}

fn panic_of_a_pace_is_the_outcome_of_the_first_stage_of_its_thread<K: Kind>() {
    crate::common::quiet_panics();
    let stage = |name: &str| Stage::new(name).on_thread("both").wait(Panics);
    let (producer, consumers) = K::ring(64, || 0_u64)
        .stage(stage("first"))
        .read(|_, _, _| {})
        .stage(stage("second"))
        .read(|_, _, _| {})
        .build()
        .unwrap();
    assert_panics_between_batches(producer, consumers);
}

/// Panics on `clone`, once it is told to.
#[derive(Default)]
struct PanicsInCopy(Arc<AtomicBool>);

impl Clone for PanicsInCopy {
    fn clone(&self) -> Self {
        assert!(!self.0.load(Ordering::Relaxed), "on purpose, in a copy");
        Self(Arc::clone(&self.0))
    }
}

impl WaitStrategy for PanicsInCopy {
    const PARKS: bool = false;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        Yielding::default().next(waiting)
    }
}

fn panic_of_a_copy_of_a_strategy_is_the_outcome_of_the_first_stage_of_its_thread<K: Kind>() {
    crate::common::quiet_panics();
    let strategy = PanicsInCopy::default();
    let stages = ["first", "second"].map(|name| {
        let stage = Stage::new(name).wait(PanicsInCopy(Arc::clone(&strategy.0)));
        closed_ring::<K>(stage, 3)
    });
    strategy.0.store(true, Ordering::Relaxed);
    let outcomes = Consumer::run_together(stages).into_iter().map(|end| end.outcome().clone());
    let message = "on purpose, in a copy".to_owned();
    let panicked = Outcome::Panicked { message, sequence: 3 };
    assert_eq!(outcomes.collect::<Vec<_>>(), [panicked, Outcome::Drained]);
}
