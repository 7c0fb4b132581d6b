//! When a strategy is called to pace its consumer: between a batch and the next poll, and only if that
//! holds up no other thread. Not here: its other calls, and its panics (`steps`).
//!
//! A row of [`ROWS`] is a poller and a script of publications, batches and the calls that they led to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Kind, ProducerOf, quiet_panics, repeats, wait_until};
use lapwing::consumer::{Consumer, Outcome, StageReport};
use lapwing::error::PollError;
use lapwing::wait::{Adaptive, Pacing, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Poller, Stage};

crate::common::for_both_producers! {
    miri_a_poller_is_paced_by_what_its_last_poll_found,
    claims_that_were_given_up_do_not_disturb_the_pace,
    stage_is_paced_and_gets_every_event,
    adaptive_stage_that_just_keeps_up_gets_every_event,
    miri_stages_of_one_thread_are_paced_by_the_most_that_one_of_them_found,
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

/// Whose producers a row is for.
#[derive(PartialEq)]
enum For {
    Both,
    Single,
    Multi,
}

/// The capacity of a ring, the longest batch of its poller, and a script: "publish 3"; "takes 3", the
/// length of the next batch, which it finishes; "takes 2 of 5", of which it finishes two; "finds
/// none", a wait for no time; "paced 5", the calls since the last time, "late 5" if they say so.
const ROWS: [(For, usize, usize, &str); 9] = [
    (
        For::Both,
        64,
        64,
        "publish 3, takes 3, paced, finds none, paced 3, \
        publish 1, takes 1, paced, finds none, paced 1, \
        publish 15, takes 15, paced, finds none, paced 15",
    ),
    // Not while more events are known.
    (For::Both, 64, 64, "publish 5, takes 2 of 5, takes 3, paced, publish 1, takes 1, paced 5"),
    // The next poll shows whether there is more. A cursor has shown all events, stamps only as many
    // as a batch may have.
    (
        For::Single,
        64,
        2,
        "publish 5, takes 2, takes 2, takes 1, paced, publish 1, takes 1, paced 5",
    ),
    (For::Multi, 64, 2, "publish 5, takes 2, takes 2, takes 1, paced, publish 1, takes 1, paced 1"),
    // What a cursor has shown is handled before the next poll.
    (For::Single, 64, 4, "publish 6, takes 4, publish 6, takes 2, takes 4"),
    (For::Multi, 64, 4, "publish 6, takes 4, publish 6, takes 4, takes 4"),
    // Late if a quarter of the ring is available, whether the poll has shown all available events,
    // or as many as it may show.
    (
        For::Both,
        16,
        16,
        "publish 3, takes 3, finds none, paced 3, publish 4, takes 4, finds none, late 4, \
        publish 1, takes 1, finds none, paced 1",
    ),
    (
        For::Both,
        16,
        4,
        "publish 3, takes 3, finds none, paced 3, publish 4, takes 4, finds none, late 4, \
        publish 1, takes 1, finds none, paced 1",
    ),
    // Not again after a failed poll.
    (
        For::Both,
        64,
        64,
        "finds none, finds none, paced, publish 2, takes 2, finds none, finds none, paced 2",
    ),
];

/// A ring with one poller, whose batches have at most `longest` events.
fn ring<K: Kind>(capacity: usize, longest: usize) -> (ProducerOf<u64, K>, Poller<u64>, Noted) {
    let paces = Noted::default();
    let stage = Stage::new("all").wait_strategy(paces.clone()).max_batch(longest);
    let ring = K::ring(capacity, || 0_u64).stage(stage).poller();
    let (producer, mut consumers) = ring.build().unwrap();
    (producer, consumers.take_poller("all").unwrap(), paces)
}

fn miri_a_poller_is_paced_by_what_its_last_poll_found<K: Kind>() {
    let other = if K::IS_MULTI { For::Single } else { For::Multi };
    for (_, capacity, longest, script) in ROWS.iter().filter(|row| row.0 != other) {
        let (mut producer, mut poller, paces) = ring::<K>(*capacity, *longest);
        for step in script.split(", ") {
            let (verb, numbers) = step.split_once(' ').unwrap_or((step, ""));
            let numbers: Vec<u64> =
                numbers.split(" of ").filter_map(|of| of.parse().ok()).collect();
            match verb {
                "publish" => _ = producer.publish_batch(numbers[0] as usize, |_| {}).unwrap(),
                "takes" => {
                    let mut batch = poller.wait().unwrap();
                    assert_eq!(Some(&(batch.len() as u64)), numbers.last(), "{step} in {script}");
                    batch.consume(numbers[0] as usize);
                }
                "finds" => {
                    let end = poller.wait_timeout(Duration::ZERO).map(drop);
                    assert_eq!(end, Err(PollError::Empty), "{script}");
                }
                "paced" => assert_eq!(paces.take(), numbers, "{script}"),
                _ => assert_eq!(paces.take(), [LATE + numbers[0]], "{script}"),
            }
        }
    }
}

fn claims_that_were_given_up_do_not_disturb_the_pace<K: Kind>() {
    let (mut producer, mut poller, paces) = ring::<K>(64, 64);
    for _ in 0..3 {
        drop(producer.claim().unwrap());
        producer.publish(|_| {}).unwrap();
        poller.wait().unwrap().consume_all();
    }
    let paced = paces.take();
    assert_eq!(paced.len(), 2, "paces={paced:?}");
}

fn stage_is_paced_and_gets_every_event<K: Kind>() {
    let paces = Noted::default();
    let ring = K::ring(64, || 0_u64).stage("count").wait_strategy(paces.clone()).read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for events in 1..=3 {
        producer.publish_batch(events, |_| {}).unwrap();
        wait_until(|| paces.take().iter().sum::<u64>() > 0);
    }
    let report = running.shutdown().unwrap();
    assert_eq!(report.stages().next().unwrap().processed(), 6);
}

fn adaptive_stage_that_just_keeps_up_gets_every_event<K: Kind>() {
    let events = repeats(200_000);
    let (mut producer, consumers) = K::ring(64 * 1024, || 0_u64)
        .wait_strategy(Adaptive::default())
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

/// A stage of a ring of 64 slots with that many events, which is already closed.
fn closed_ring<K: Kind>(stage: Stage, events: usize) -> Consumer<'static> {
    let ring = K::ring(64, || 0_u64).stage(stage).read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    producer.publish_batch(events, |_| {}).unwrap();
    consumers.into_iter().next().unwrap()
}

/// Returns the calls of the strategy of two stages that share this thread until their rings are
/// drained. Each ring has the given number of events, and the stages take at most `longest` of them
/// at a time.
fn paces_together<K: Kind>(events: [usize; 2], longest: usize) -> Vec<u64> {
    let paces = Noted::default();
    let stage = || Stage::new("all").wait_strategy(paces.clone()).max_batch(longest);
    let stages = events.map(|events| closed_ring::<K>(stage(), events));
    let finished = Consumer::run_together(stages);
    assert!(finished.iter().map(StageReport::processed).eq(events.map(|events| events as u64)));
    paces.take()
}

fn miri_stages_of_one_thread_are_paced_by_the_most_that_one_of_them_found<K: Kind>() {
    assert_eq!(paces_together::<K>([3, 5], 64), [5]);
    // The thread is late if one of its stages is.
    assert_eq!(paces_together::<K>([3, 16], 16), [LATE + 16]);
    // No call while the other stage has more events: 1 and 2 of 5, 2, and 1. A cursor has shown that
    // this one is the last.
    assert_eq!(paces_together::<K>([1, 5], 2), if K::IS_MULTI { [1] } else { [5] });
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
    quiet_panics();
    let strategy = PanicsInCopy::default();
    let stages = ["first", "second"].map(|name| {
        let stage = Stage::new(name).wait_strategy(PanicsInCopy(Arc::clone(&strategy.0)));
        closed_ring::<K>(stage, 3)
    });
    strategy.0.store(true, Ordering::Relaxed);
    let outcomes = Consumer::run_together(stages).into_iter().map(|end| end.outcome().clone());
    let message = "on purpose, in a copy".to_owned();
    let panicked = Outcome::Panicked { message, sequence: 3 };
    assert_eq!(outcomes.collect::<Vec<_>>(), [panicked, Outcome::Drained]);
}
