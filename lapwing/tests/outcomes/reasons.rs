//! What downstream stages learn about the reason of a failure, how long it is kept, and what its
//! drop may do.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing::consumer::{BatchHandler, Cause, Consumer, Done, Failure, Outcome, Retries, Shared};
use lapwing::{Action, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, counts, drain};

common::for_both_producers! {
    a_downstream_stage_learns_why_an_event_failed,
    every_downstream_stage_learns_it,
    the_error_itself_comes_with_the_event,
    the_first_of_several_failures_counts,
    events_of_one_call_have_one_reason,
    a_worker_is_named_in_its_failures,
    a_poller_learns_why_an_event_failed,
    an_error_is_kept_for_a_lap_at_most_if_others_follow,
    errors_are_dropped_with_the_ring,
    a_stage_without_downstream_stages_keeps_no_error,
    an_error_that_panics_when_dropped_later_harms_nothing,
    a_stage_that_leaves_with_an_event_says_why,
}

/// Keeps the events that failed, with their reasons.
#[derive(Debug, Default)]
struct DeadLetters(Vec<(Sequence, String)>);

impl EventHandler<u64> for DeadLetters {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_failed_event(&mut self, _: &u64, at: Sequence, _: bool, failure: &Failure<'_>) {
        assert_eq!(failure.sequence(), at);
        self.0.push((at, failure.to_string()));
    }
}

fn letters(of: &[(Sequence, &str)]) -> Vec<(Sequence, String)> {
    of.iter().map(|&(sequence, text)| (sequence, text.to_owned())).collect()
}

/// A stage that fails in each way.
fn fails(_: &u64, sequence: Sequence, _: bool) -> Result<Action, &'static str> {
    match sequence {
        1 => Err("no route"),
        2 => panic!("{ON_PURPOSE}"),
        3 => Ok(Action::Skip),
        4 => Err("no price"),
        _ => Ok(Action::Continue),
    }
}

fn failing() -> Stage {
    Stage::new("send")
        .on_error(Retries::of_event().attempts(2).or(Action::Skip))
        .on_panic(Action::Skip)
}

fn all_letters() -> Vec<(Sequence, String)> {
    letters(&[
        (1, "no route: stage=\"send\", sequence=1, attempt=2"),
        (2, &format!("panic: {ON_PURPOSE}: stage=\"send\", sequence=2, attempt=1")),
        (3, "skipped by its handler: stage=\"send\", sequence=3, attempt=0"),
        (4, "no price: stage=\"send\", sequence=4, attempt=2"),
    ])
}

fn a_downstream_stage_learns_why_an_event_failed<K: Kind>() {
    quiet_panics();
    let ring = K::ring(8, || 0_u64).stage(failing()).read(fails);
    let ring = ring.stage("letters").read_handler(DeadLetters::default());
    let found: DeadLetters = drain(ring, 6).remove(1).take_handler().unwrap();
    assert_eq!(found.0, all_letters());
}

fn every_downstream_stage_learns_it<K: Kind>() {
    quiet_panics();
    let ring = K::ring(8, || 0_u64)
        .stage(failing())
        .read(fails)
        .side_by_side(|side| {
            side.stage("left")
                .read_handler(DeadLetters::default())
                .stage("right")
                .read_handler((DeadLetters::default(), vec![DeadLetters::default()]))
        })
        .stage("last")
        .read_handler(DeadLetters::default());
    let mut finished = drain(ring, 6);
    let (right, mut all): (DeadLetters, Vec<DeadLetters>) = finished[2].take_handler().unwrap();
    all.extend([right, finished[1].take_handler().unwrap(), finished[3].take_handler().unwrap()]);
    for found in all {
        assert_eq!(found.0, all_letters());
    }
}

/// An error with a figure, which counts its drops.
#[derive(Debug)]
struct Counted(u64, Arc<AtomicUsize>);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}", self.0)
    }
}

impl std::error::Error for Counted {}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// Sums up the figures of [`Counted`].
#[derive(Default)]
struct Figures(Vec<u64>);

impl EventHandler<u64> for Figures {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_failed_event(&mut self, _: &u64, _: Sequence, _: bool, failure: &Failure<'_>) {
        let Cause::Error(error) = failure.cause() else { panic!("{failure}") };
        self.0.push(error.downcast_ref::<Counted>().unwrap().0);
    }
}

fn the_error_itself_comes_with_the_event<K: Kind>() {
    let drops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drops);
    let ring = K::ring(8, || 0_u64)
        .stage("fails")
        .on_error(Action::Skip)
        .read(move |event, _, _| Err::<(), _>(Counted(*event, Arc::clone(&count))))
        .stage("figures")
        .read_handler(Figures::default());
    let figures: Figures = drain(ring, 3).remove(1).take_handler().unwrap();
    assert_eq!(figures.0, [0, 1, 2]);
    assert_eq!(drops.load(Ordering::Relaxed), 3, "the ring is gone");
}

fn the_first_of_several_failures_counts<K: Kind>() {
    let fails = |text: &'static str| move |_: &u64, _, _: bool| Err::<(), _>(text);
    let ring = K::ring(8, || 0_u64)
        .side_by_side(|side| {
            side.stage(Stage::new("left").on_error(Action::Skip))
                .read(fails("first"))
                .stage(Stage::new("right").on_error(Action::Skip))
                .read(fails("second"))
        })
        .stage("letters")
        .read_handler(DeadLetters::default());
    let found: DeadLetters = drain(ring, 1).remove(2).take_handler().unwrap();
    assert_eq!(found.0, letters(&[(0, "first: stage=\"left\", sequence=0, attempt=1")]));
}

/// Keeps the batches that failed, with their reasons.
#[derive(Default)]
struct DeadBatches(Vec<(Vec<u64>, String)>);

impl BatchHandler<u64> for DeadBatches {
    fn on_batch(&mut self, _: &[u64], _: Sequence, _: Done<'_>) {}

    fn on_failed_batch(
        &mut self,
        events: &[u64],
        first: Sequence,
        _: Done<'_>,
        failure: &Failure<'_>,
    ) {
        assert_eq!((events[0], failure.sequence()), (first, first));
        self.0.push((events.to_vec(), failure.cause().to_string()));
    }
}

fn events_of_one_call_have_one_reason<K: Kind>() {
    let ring = K::ring(8, || 0_u64)
        .stage("fails")
        .max_batch(3)
        .on_error(Action::Skip)
        .read_batch(|_, first| if first < 6 { Err(format!("from {first}")) } else { Ok(()) })
        .stage("batches")
        .max_batch(8)
        .read_batch_handler(DeadBatches::default());
    let found: DeadBatches = drain(ring, 7).remove(1).take_handler().unwrap();
    let expected = [(vec![0, 1, 2], "from 0"), (vec![3, 4, 5], "from 3")];
    assert_eq!(found.0, expected.map(|(events, why)| (events, why.to_owned())));
}

fn a_worker_is_named_in_its_failures<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, || 0_u64)
        .stage("send")
        .on_error(Action::Skip)
        .workers(2)
        .by_key(|event| *event)
        .read(|worker| move |_: &u64, _, _| Err::<(), _>(format!("by {worker}")))
        .stage("letters")
        .read_handler(DeadLetters::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for value in 0..200 {
        producer.publish(|event| *event = value).unwrap();
    }
    let found: DeadLetters = running.shutdown().unwrap().take("letters").unwrap();
    assert_eq!(found.0.len(), 200);
    let mut workers = [0; 2];
    for (at, text) in found.0 {
        let worker = usize::from(text.starts_with("by 1"));
        workers[worker] += 1;
        let expected = format!("by {worker}: stage=\"send-{worker}\", sequence={at}, attempt=1");
        assert_eq!(text, expected);
    }
    assert!(workers.into_iter().all(|events| events > 0), "{workers:?}");
}

fn a_poller_learns_why_an_event_failed<K: Kind>() {
    quiet_panics();
    let ring = K::ring(8, || 0_u64).stage(failing()).read(fails).stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    for value in 0..6 {
        producer.publish(|event| *event = value).unwrap();
    }
    drop(producer);
    consumers.into_iter().map(Consumer::run).for_each(drop);
    let mut found = Vec::new();
    while let Ok(mut batch) = poller.poll() {
        for sequence in batch.first_sequence()..batch.first_sequence() + batch.len() as u64 {
            found.extend(batch.with_failure(sequence, |failure| (sequence, failure.to_string())));
        }
        assert_eq!(batch.with_failure(100, |_| ()), None);
        batch.consume_all();
        assert_eq!(batch.with_failure(1, |_| ()), None, "it is consumed");
    }
    assert_eq!(found, all_letters());
}

/// A ring of four slots whose first stage fails with counted errors while the event is below 100.
/// Returns the number of drops after each event of `values`, all of which have passed the ring.
fn drops_after<K: Kind>(values: &[u64]) -> Vec<usize> {
    let drops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drops);
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("fails")
        .on_error(Action::Skip)
        .read(
            move |event, _, _| {
                if *event < 100 { Err(Counted(*event, Arc::clone(&count))) } else { Ok(()) }
            },
        )
        .stage("poller")
        .poller()
        .build()
        .unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    let running = consumers.start().unwrap();
    let after = |value: &u64| {
        producer.publish(|event| *event = *value).unwrap();
        poller.wait().unwrap().consume_all();
        drops.load(Ordering::Relaxed)
    };
    let after = values.iter().map(after).collect();
    running.shutdown().unwrap();
    after
}

fn an_error_is_kept_for_a_lap_at_most_if_others_follow<K: Kind>() {
    assert_eq!(drops_after::<K>(&[0, 0, 0, 0, 0, 0, 0]), [0, 0, 0, 0, 1, 2, 3]);
    assert_eq!(drops_after::<K>(&[0, 0, 100, 100, 100, 100, 100, 0]), [0, 0, 0, 0, 0, 0, 0, 2]);
}

fn errors_are_dropped_with_the_ring<K: Kind>() {
    let drops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drops);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("fails")
        .on_error(Action::Skip)
        .read(move |event, _, _| Err::<(), _>(Counted(*event, Arc::clone(&count))))
        .stage("plain")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..3 {
        producer.publish(|_| {}).unwrap();
    }
    drop(running.shutdown().unwrap());
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(producer);
    assert_eq!(drops.load(Ordering::Relaxed), 3);
}

fn a_stage_without_downstream_stages_keeps_no_error<K: Kind>() {
    let drops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drops);
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("before")
        .read_handler(Book::default())
        .stage("fails")
        .on_error(Action::Skip)
        .read(move |event, _, _| Err::<(), _>(Counted(*event, Arc::clone(&count))))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..3 {
        producer.publish(|_| {}).unwrap();
    }
    drop(running.shutdown().unwrap());
    assert_eq!(drops.load(Ordering::Relaxed), 3);
}

/// An error whose drop panics.
#[derive(Debug)]
struct Clings;

impl fmt::Display for Clings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ON_PURPOSE)
    }
}

impl std::error::Error for Clings {}

impl Drop for Clings {
    fn drop(&mut self) {
        panic!("{ON_PURPOSE}, dropped");
    }
}

fn an_error_that_panics_when_dropped_later_harms_nothing<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("fails")
        .on_error(Action::Skip)
        .read(|_, _, _| Err::<(), _>(Clings))
        .stage("letters")
        .read_handler(DeadLetters::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..20 {
        producer.publish(|_| {}).unwrap();
    }
    let mut report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    assert_eq!(report.take::<DeadLetters>("letters").unwrap().0.len(), 20);
    drop(producer); // and the last errors
}

/// A handler of batches that finishes a part, and takes the rest with it.
struct Leaves;

impl BatchHandler<u64, Shared, Result<(), &'static str>> for Leaves {
    fn on_batch(&mut self, _: &[u64], _: Sequence, mut done: Done<'_>) -> Result<(), &'static str> {
        done.set(1);
        Err("no more")
    }
}

fn a_stage_that_leaves_with_an_event_says_why<K: Kind>() {
    let ring = K::ring(8, || 0_u64)
        .stage("leaves")
        .max_batch(3)
        .on_error(Action::SkipAndStop)
        .read_batch_handler(Leaves)
        .stage("letters")
        .read_handler(DeadLetters::default());
    let mut finished = drain(ring, 5);
    let message = "no more".to_owned();
    assert_eq!(*finished[0].outcome(), Outcome::Detached { message, sequence: 1 });
    assert_eq!(counts(&finished[0]), (3, 2));
    let found: DeadLetters = finished[1].take_handler().unwrap();
    let expected = [
        (1, "no more: stage=\"leaves\", sequence=1, attempt=1"),
        (2, "no more: stage=\"leaves\", sequence=2, attempt=1"),
    ];
    assert_eq!(found.0, letters(&expected));
}
