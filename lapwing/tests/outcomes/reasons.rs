//! What downstream stages learn about the reason of a failure, how long it is kept, and what its
//! drop may do.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing::consumer::{BatchHandler, Cause, Consumer, Done, Failure, Outcome, Retries};
use lapwing::{Action, Builder, EventHandler, Sequence, Stage};

use crate::common::{self, Kind, ON_PURPOSE, quiet_panics};
use crate::{Book, Log, Ring, Spy, counts, drain, run_threads};

common::for_both_producers! {
    every_downstream_stage_learns_why_an_event_failed,
    the_first_of_several_failures_counts,
    events_of_one_call_have_one_reason,
    a_worker_is_named_in_its_failures,
    a_poller_learns_why_an_event_failed,
    the_error_itself_comes_with_the_event,
    an_error_is_kept_for_a_lap_at_most_if_others_follow,
    errors_are_dropped_with_the_ring_or_at_once_if_no_stage_is_downstream,
    an_error_that_panics_when_dropped_later_harms_nothing,
    a_stage_that_leaves_with_an_event_says_why,
}

/// Keeps the events that failed, with their reasons, and the figures of [`Counted`] errors.
#[derive(Debug, Default)]
struct DeadLetters {
    letters: Vec<(Sequence, String)>,
    figures: Vec<u64>,
}

impl EventHandler<u64> for DeadLetters {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}

    fn on_failed_event(&mut self, _: &u64, at: Sequence, _: bool, failure: &Failure<'_>) {
        assert_eq!(failure.sequence(), at);
        self.letters.push((at, failure.to_string()));
        if let Cause::Error(error) = failure.cause() {
            self.figures.extend(error.downcast_ref::<Counted>().map(|counted| counted.0));
        }
    }
}

fn letters(of: &[(Sequence, &str)]) -> Vec<(Sequence, String)> {
    of.iter().map(|&(sequence, text)| (sequence, text.to_owned())).collect()
}

/// A ring whose first stage fails in each way.
fn failing<K: Kind>() -> Ring<K> {
    quiet_panics();
    let retries = Retries::of_event().attempts(2).or(Action::Skip);
    let stage = Stage::new("send").on_error(retries).on_panic(Action::Skip);
    K::ring(8, || 0_u64).stage(stage).read(|_, sequence, _| match sequence {
        1 => Err("no route"),
        2 => panic!("{ON_PURPOSE}"),
        3 => Ok(Action::Skip),
        4 => Err("no price"),
        _ => Ok(Action::Continue),
    })
}

fn all_letters() -> Vec<(Sequence, String)> {
    letters(&[
        (1, "no route: stage=\"send\", sequence=1, attempt=2"),
        (2, &format!("panic: {ON_PURPOSE}: stage=\"send\", sequence=2, attempt=1")),
        (3, "skipped by its handler: stage=\"send\", sequence=3, attempt=0"),
        (4, "no price: stage=\"send\", sequence=4, attempt=2"),
    ])
}

fn every_downstream_stage_learns_why_an_event_failed<K: Kind>() {
    let ring = failing::<K>()
        .parallel(|parallel| {
            parallel
                .stage("left")
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
        assert_eq!(found.letters, all_letters());
    }
}

fn the_first_of_several_failures_counts<K: Kind>() {
    let fails = |text| {
        Spy::new(&Log::default(), move |call| match call.events() {
            Some(_) => Err(text),
            None => Ok(Action::Continue),
        })
    };
    let stage = |name: &str| Stage::new(name).on_error(Action::Skip);
    let ring = K::ring(8, || 0_u64).parallel(|parallel| {
        let parallel = parallel.stage(stage("left")).read_handler(fails("first"));
        parallel.stage(stage("right")).read_handler(fails("second"))
    });
    let ring = ring.stage("letters").read_handler(DeadLetters::default());
    let found: DeadLetters = drain(ring, 1).remove(2).take_handler().unwrap();
    assert_eq!(found.letters, letters(&[(0, "first: stage=\"left\", sequence=0, attempt=1")]));
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
    let ring = K::ring(8, || 0_u64)
        .stage("send")
        .on_error(Action::Skip)
        .workers(2)
        .by_key(|event| *event)
        .read(|worker| move |_: &u64, _, _| Err::<(), _>(format!("by {worker}")))
        .stage("letters")
        .read_handler(DeadLetters::default());
    let found: DeadLetters = run_threads(ring, 200).unwrap().take("letters").unwrap();
    assert_eq!(found.letters.len(), 200);
    let mut workers = [0; 2];
    for (at, text) in found.letters {
        let worker = usize::from(text.starts_with("by 1"));
        workers[worker] += 1;
        let expected = format!("by {worker}: stage=\"send-{worker}\", sequence={at}, attempt=1");
        assert_eq!(text, expected);
    }
    assert!(workers.into_iter().all(|events| events > 0), "{workers:?}");
}

fn a_poller_learns_why_an_event_failed<K: Kind>() {
    let (mut producer, mut consumers) = failing::<K>().stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    producer.publish_batch(6, |_| {}).unwrap();
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

/// Adds a stage to `ring` that fails with the event as figure, while the event is below 100. Returns
/// the number of errors that were dropped.
fn counting<K: Kind>(ring: Ring<K>) -> (Ring<K>, impl Fn() -> usize) {
    let drops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drops);
    let fails = move |event: &u64, _, _: bool| match *event {
        0..100 => Err(Counted(*event, Arc::clone(&count))),
        _ => Ok(()),
    };
    let ring: Builder<'_, _, _> =
        ring.stage(Stage::new("fails").on_error(Action::Skip)).read(fails);
    (ring, move || drops.load(Ordering::Relaxed))
}

fn the_error_itself_comes_with_the_event<K: Kind>() {
    let (ring, drops) = counting::<K>(K::ring(8, || 0));
    let ring = ring.stage("letters").read_handler(DeadLetters::default());
    let found: DeadLetters = drain(ring, 3).remove(1).take_handler().unwrap();
    assert_eq!(found.figures, [0, 1, 2]);
    assert_eq!(drops(), 3, "the ring is gone");
}

/// Returns the number of drops after each event of `values`, all of which have passed a ring of four
/// slots.
fn drops_after<K: Kind>(values: &[u64]) -> Vec<usize> {
    let (ring, drops) = counting::<K>(K::ring(4, || 0));
    let (mut producer, mut consumers) = ring.stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    let running = consumers.start().unwrap();
    let after = |value: &u64| {
        producer.publish(|event| *event = *value).unwrap();
        poller.wait().unwrap().consume_all();
        drops()
    };
    let after = values.iter().map(after).collect();
    running.shutdown().unwrap();
    after
}

fn an_error_is_kept_for_a_lap_at_most_if_others_follow<K: Kind>() {
    assert_eq!(drops_after::<K>(&[0, 0, 0, 0, 0, 0, 0]), [0, 0, 0, 0, 1, 2, 3]);
    assert_eq!(drops_after::<K>(&[0, 0, 100, 100, 100, 100, 100, 0]), [0, 0, 0, 0, 0, 0, 0, 2]);
}

fn errors_are_dropped_with_the_ring_or_at_once_if_no_stage_is_downstream<K: Kind>() {
    for is_last in [false, true] {
        let ring = K::ring(4, || 0).stage("before").read_handler(Book::default());
        let (ring, drops) = counting::<K>(ring);
        let ring = if is_last { ring } else { ring.stage("plain").read_handler(Book::default()) };
        let (mut producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        producer.publish_batch(3, |_| {}).unwrap();
        drop(running.shutdown().unwrap());
        assert_eq!(drops(), if is_last { 3 } else { 0 });
        drop(producer);
        assert_eq!(drops(), 3);
    }
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
    let ring = K::ring(2, || 0_u64)
        .stage("fails")
        .on_error(Action::Skip)
        .read(|_, _, _| Err::<(), _>(Clings))
        .stage("letters")
        .read_handler(DeadLetters::default());
    let mut report = run_threads(ring, 20).unwrap(); // drops the last errors
    assert!(report.stages().all(|stage| *stage.outcome() == Outcome::Drained));
    assert_eq!(report.take::<DeadLetters>("letters").unwrap().letters.len(), 20);
}

/// The stage takes the rest of its batch with it.
fn a_stage_that_leaves_with_an_event_says_why<K: Kind>() {
    let mut leaves = Spy::new(&Log::default(), |_| Err("no more"));
    leaves.finishes = 1;
    let ring = K::ring(8, || 0_u64)
        .stage("leaves")
        .max_batch(3)
        .on_error(Action::SkipAndStop)
        .read_batch_handler(leaves)
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
    assert_eq!(found.letters, letters(&expected));
}
