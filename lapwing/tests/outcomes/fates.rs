//! C50: what downstream stages get of an event that a stage has skipped as failed, and that
//! parallel stages see nothing of it. What each form of a stage gets is in `table.rs`; here are
//! graphs, laps, pollers, workers, joining consumers, and handlers that have only the necessary
//! methods.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::thread;

use lapwing::consumer::{Access, BatchHandler, Consumer, Done, Exclusive, Failure, Shared};
use lapwing::error::PollError;
use lapwing::graph::{Graph, StartAt};
use lapwing::{Action, Builder, EventHandler, Poller, Sequence, Stage};

use crate::common::{self, Kind, Lcg, Many, ON_PURPOSE, quiet_panics};
use crate::{Book, Ring, counts, drain, run_threads};

common::for_both_producers! {
    c50_a_stage_sees_the_marks_of_all_its_upstream_stages_and_no_others,
    c50_a_closure_gets_the_events_of_its_sequences,
    c50_handlers_with_only_the_necessary_methods_do_nothing_for_failed_events,
    c50_each_of_several_handlers_gets_a_failed_event,
    c50_workers_do_not_act_on_failed_events,
    c50_a_consumer_that_joins_does_not_act_on_failed_events,
    c50_a_handler_that_writes_failed_events_changes_them,
    c50_events_that_failed_are_cleared,
    c50_a_poller_gets_all_events_and_sees_which_have_failed,
    c50_a_poller_that_writes_sees_failed_events_too,
    c50_marks_are_those_of_the_lap,
    c50_marks_of_a_panicking_stage_without_actions,
    miri_marks_on_a_ring_of_one_slot,
}

const ALL: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const GOOD: [u64; 5] = [1, 2, 4, 5, 7];
const FAILED: [u64; 3] = [0, 3, 6];

/// Keeps a book of the events themselves, and skips multiples of a number.
#[derive(Default)]
struct Keeper {
    book: Book,
    skips: Option<u64>,
}

/// A handler that skips multiples of `divisor`.
fn skips(divisor: u64) -> Keeper {
    Keeper { book: Book::default(), skips: Some(divisor) }
}

impl EventHandler<u64, Shared, Action> for Keeper {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) -> Action {
        self.book.done.push(*event);
        let is_bad = self.skips.is_some_and(|divisor| event.is_multiple_of(divisor));
        if is_bad { Action::Skip } else { Action::Continue }
    }

    fn on_failed_event(&mut self, event: &u64, _: Sequence, _: bool, _: &Failure<'_>) -> Action {
        self.book.failed.push(*event);
        Action::Continue
    }
}

/// The book of `events`, of which those for which `is_bad` have failed.
fn book(events: u64, is_bad: impl Fn(&u64) -> bool) -> Book {
    let (failed, done) = (0..events).partition(is_bad);
    Book { done, failed }
}

fn is_in(divisors: &[u64]) -> impl Fn(&u64) -> bool {
    move |event| divisors.iter().any(|divisor| event.is_multiple_of(*divisor))
}

/// A ring of eight slots whose first stage skips multiples of 3.
fn ring<K: Kind>() -> Ring<K> {
    K::ring(8, || 0).stage("skips").read_handler(skips(3))
}

/// Each row has a stage, those that it depends on, what it skips, and what has failed for it.
fn c50_a_stage_sees_the_marks_of_all_its_upstream_stages_and_no_others<K: Kind>() {
    type Row = (&'static str, &'static [&'static str], Option<u64>, &'static [u64]);
    let rows: [Row; 8] = [
        ("before", &[], None, &[]),
        ("left", &["before"], Some(2), &[]),
        ("right", &["before"], Some(3), &[]),
        ("after left", &["left"], None, &[2]),
        ("after right", &["right"], None, &[3]),
        ("after both", &["left", "right"], Some(5), &[2, 3]),
        ("beside", &["after left"], None, &[2]),
        ("last", &["after both"], None, &[2, 3, 5]),
    ];
    let mut graph = Graph::new();
    for (name, upstream, skips, _) in rows {
        let stage = upstream.iter().fold(graph.stage(name), |stage, up| stage.after_named(*up));
        stage.read_handler(Keeper { skips, ..Keeper::default() });
    }
    let mut finished = drain(K::ring(8, || 0).graph(graph), 8);
    for (name, _, skips, failed) in rows {
        let stage = finished.iter_mut().find(|stage| stage.name() == name).unwrap();
        let seen = stage.take_handler::<Keeper>().unwrap().book;
        assert_eq!(seen, book(8, is_in(failed)), "{name}");
        let skipped = seen.done.iter().filter(|event| is_in(skips.as_slice())(event)).count();
        assert_eq!(counts(stage), (8, skipped as u64), "{name}");
    }
}

fn c50_a_closure_gets_the_events_of_its_sequences<K: Kind>() {
    let (mut read, mut write) = (Vec::new(), Vec::new());
    let (mut read_batch, mut write_batch, mut asking) = (Vec::new(), Vec::new(), Vec::new());
    let skips = |event: &u64, _, _: bool| match event % 3 {
        0 => Action::Skip,
        _ => Action::Continue,
    };
    let ring: Builder<'_, u64, K::Sequencer> = K::ring(8, || 0);
    let ring = ring
        .stage("skips")
        .read(skips)
        .stage("read")
        .read(|event, at, _| read.push((*event, at)))
        .stage("write")
        .write(|event, at, _| write.push((*event, at)))
        .stage("read batch")
        .read_batch(|events, first| read_batch.extend(events.iter().copied().zip(first..)))
        .stage("write batch")
        .write_batch(|events, first| write_batch.extend(events.iter().copied().zip(first..)))
        .stage("asking")
        .with_failed_events()
        .read_batch(|events, first| asking.extend(events.iter().copied().zip(first..)));
    let finished = drain(ring, 8);
    for stage in &finished[1..] {
        assert_eq!((counts(stage), stage.handled()), ((8, 0), 8), "{}", stage.name());
    }
    drop(finished);
    for seen in [read, write, read_batch, write_batch] {
        assert_eq!(seen, GOOD.map(|event| (event, event)));
    }
    assert_eq!(asking, ALL.map(|event| (event, event)));
}

/// Does not implement the calls for failed events.
#[derive(Default)]
struct Plain(Vec<Sequence>);

impl<A: Access> EventHandler<u64, A, Result<Action, &'static str>> for Plain {
    fn on_event(&mut self, _: A::Ref<'_, u64>, at: Sequence, _: bool) -> crate::Said {
        self.0.push(at);
        Ok(Action::Continue)
    }
}

impl BatchHandler<u64> for Plain {
    fn on_batch(&mut self, events: &[u64], _: Sequence, _: Done<'_>) {
        self.0.extend_from_slice(events);
    }
}

fn c50_handlers_with_only_the_necessary_methods_do_nothing_for_failed_events<K: Kind>() {
    let ring = ring::<K>()
        .stage("reads")
        .read_handler(Plain::default())
        .stage("writes")
        .write_handler(Plain::default())
        .stage("by batch")
        .read_batch_handler(Plain::default())
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 8);
    for stage in &mut finished[1..4] {
        assert_eq!(counts(stage), (8, 0), "{}", stage.name());
        assert_eq!(stage.take_handler::<Plain>().unwrap().0, GOOD, "{}", stage.name());
    }
    assert_eq!(finished[4].take_handler::<Book>().unwrap(), book(8, is_in(&[3])));
}

fn c50_each_of_several_handlers_gets_a_failed_event<K: Kind>() {
    let boxed: Box<dyn EventHandler<u64> + Send> = Box::new(Book::default());
    let ring = ring::<K>()
        .stage("pair")
        .read_handler((Book::default(), Book::default()))
        .stage("list")
        .read_handler(vec![Book::default(), Book::default()])
        .stage("boxed")
        .read_handler(vec![boxed]);
    let mut finished = drain(ring, 8);
    let (one, other): (Book, Book) = finished[1].take_handler().unwrap();
    let mut books: Vec<Book> = finished[2].take_handler().unwrap();
    books.extend([one, other]);
    for seen in books {
        assert_eq!(seen, book(8, is_in(&[3])));
    }
    assert_eq!(counts(&finished[3]), (8, 0));
}

type Seen = mpsc::Sender<(bool, u64)>;

/// Publishes 300 events through `build`'s ring. Returns those that came well, and as failed.
fn seen_by<K: Kind>(
    build: impl FnOnce(Ring<K>, Seen) -> Ring<K>,
) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let (sender, seen) = mpsc::channel();
    run_threads(build(ring::<K>(), sender), 300).unwrap();
    let (failed, done): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(is_failed, _)| *is_failed);
    let set = |seen: Vec<(bool, u64)>| seen.into_iter().map(|(_, value)| value).collect();
    (set(done), set(failed))
}

/// Reports events of both kinds.
struct Reports(Seen);

impl EventHandler<u64> for Reports {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        self.0.send((false, *event)).unwrap();
    }

    fn on_failed_event(&mut self, event: &u64, _: Sequence, _: bool, _: &Failure<'_>) {
        self.0.send((true, *event)).unwrap();
    }
}

/// A closure that reports the events that it gets.
fn reports(seen: &Seen) -> impl FnMut(&u64, Sequence, bool) + Send + use<> {
    let seen = seen.clone();
    move |event, _, _| seen.send((false, *event)).unwrap()
}

fn c50_workers_do_not_act_on_failed_events<K: Kind>() {
    let (failed, good): (BTreeSet<u64>, BTreeSet<u64>) = (0..300).partition(is_in(&[3]));
    let nothing = BTreeSet::new();
    let seen = seen_by::<K>(|ring, seen| ring.stage("work").workers(2).read(|_| reports(&seen)));
    assert_eq!((&seen.0, &seen.1), (&good, &nothing), "closures");
    let seen = seen_by::<K>(|ring, seen| {
        ring.stage("work").workers(2).by_key(|event| event % 7).read(|_| reports(&seen))
    });
    assert_eq!((&seen.0, &seen.1), (&good, &nothing), "closures by key");
    let seen = seen_by::<K>(|ring, seen| {
        ring.stage("work").workers(2).read_handlers(|_| Reports(seen.clone()))
    });
    assert_eq!((&seen.0, &seen.1), (&good, &failed), "handlers");
    let seen = seen_by::<K>(|ring, seen| {
        let work = ring.stage("work").workers(2).by_key(|event| event % 7);
        work.read_handlers(|_| Reports(seen.clone()))
    });
    assert_eq!((&seen.0, &seen.1), (&good, &failed), "handlers by key");
    let seen = seen_by::<K>(|ring, seen| {
        let work = ring.stage("work").with_failed_events().workers(2);
        work.read_handlers(|_| Reports(seen.clone()))
    });
    assert_eq!(seen, (&good | &failed, nothing), "handlers that ask");
}

fn c50_a_consumer_that_joins_does_not_act_on_failed_events<K: Kind>() {
    // A consumer that joins depends on stages that write.
    let skips = |event: &mut u64, _, _: bool| match *event % 3 {
        0 => Action::Skip,
        _ => Action::Continue,
    };
    let ring: Builder<'_, u64, K::Sequencer> = K::ring(8, || 0);
    let (mut producer, consumers) =
        ring.dynamic_stages(2).stage("skips").write(skips).build().unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    let asks = Stage::new("asks").with_failed_events();
    let late = dynamic_stages.join("late", StartAt::Now).unwrap().read_handler(Book::default());
    let asks = dynamic_stages.join(asks, StartAt::Now).unwrap().read_handler(Book::default());
    for value in 0..8 {
        producer.publish(|event| *event = value).unwrap();
    }
    drop(producer);
    let books = consumers.into_iter().chain([late, asks]).map(Consumer::run).skip(1);
    let books: Vec<Book> = books.map(|mut stage| stage.take_handler().unwrap()).collect();
    assert_eq!(books[0].done, GOOD);
    assert_eq!(books[1].done, ALL);
}

/// Marks its calls in the event itself.
struct Marker;

impl EventHandler<u64, Exclusive> for Marker {
    fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
        *event += 10;
    }

    fn on_failed_event(&mut self, event: &mut u64, _: Sequence, _: bool, _: &Failure<'_>) {
        *event += 1_000;
    }
}

fn c50_a_handler_that_writes_failed_events_changes_them<K: Kind>() {
    let ring = ring::<K>().stage("marks").write_handler(Marker).stage("reads");
    let ring = ring.with_failed_events().read_handler(Keeper::default());
    let seen: Keeper = drain(ring, 4).remove(2).take_handler().unwrap();
    assert_eq!(seen.book.done, [1_000, 11, 12, 1_003]);
}

fn c50_events_that_failed_are_cleared<K: Kind>() {
    let owned = Arc::new(());
    let ring: Builder<'_, Option<Arc<()>>, K::Sequencer> = K::ring(8, || None);
    let ring = ring.stage("skips").read(|_, _, _| Action::Skip).clear(|slot| *slot = None);
    let (mut producer, consumers) = ring.build().unwrap();
    let mine = Arc::clone(&owned);
    producer.publish(|slot| *slot = Some(mine)).unwrap();
    drop(producer);
    consumers.into_iter().map(Consumer::run).for_each(drop);
    assert_eq!(Arc::strong_count(&owned), 1);
}

fn c50_a_poller_gets_all_events_and_sees_which_have_failed<K: Kind>() {
    let (mut producer, mut consumers) = ring::<K>().stage("poller").poller().build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    for value in 0..8 {
        producer.publish(|event| *event = value).unwrap();
    }
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    producer.close();
    consumers.into_iter().map(Consumer::run).for_each(drop);
    let mut batch = poller.poll().unwrap();
    let is_failed = |at: &u64| *at < batch.len() as u64 && FAILED.contains(at);
    assert!((0..20).all(|at| batch.is_failed(at) == is_failed(&at)));
    batch.consume(1);
    assert!(!batch.is_failed(0), "it is no longer in the batch");
    assert!(!batch.is_failed(u64::MAX));
    drop(batch);
    let (mut seen, mut failed) = (vec![0], vec![0]);
    while let Ok(mut batch) = poller.poll() {
        let first = batch.first_sequence();
        failed.extend((first..first + batch.len() as u64).filter(|at| batch.is_failed(*at)));
        seen.extend_from_slice(batch.as_slice());
        batch.consume_all();
    }
    assert_eq!(poller.poll().err(), Some(PollError::Closed));
    assert_eq!((seen, failed), (ALL.to_vec(), FAILED.to_vec()));
}

fn c50_a_poller_that_writes_sees_failed_events_too<K: Kind>() {
    let ring = K::ring(4, || 0).stage("skips").read_handler(skips(2)).stage("poller").poller_mut();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller: Poller<u64, Exclusive> = consumers.take_poller_mut("poller").unwrap();
    let running = consumers.start().unwrap();
    for lap in 0..6 {
        producer.publish(|event| *event = lap).unwrap();
        let mut batch = poller.wait().unwrap();
        assert_eq!(batch.is_failed(lap), lap % 2 == 0);
        batch.consume_all();
    }
    running.shutdown().unwrap();
}

/// Publishes many laps through two stages that skip events, with a book after each of them. Gives
/// up some claims, which use sequences only with several producers.
fn check_laps<K: Kind>(capacity: usize, events: u64) {
    let ring = K::ring(capacity, || 0)
        .stage("threes")
        .read_handler(skips(3))
        .stage("fives")
        .read_handler(skips(5))
        .stage("after both")
        .read_handler(Keeper::default());
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    let mut random = Lcg(capacity as u64);
    for value in 0..events {
        if random.below(4) == 0 {
            drop(producer.claim().unwrap());
        }
        producer.publish(|event| *event = value).unwrap();
    }
    let mut report = running.shutdown().unwrap();
    for (name, failed) in [("threes", &[][..]), ("fives", &[3]), ("after both", &[3, 5])] {
        let seen = report.take::<Keeper>(name).unwrap().book;
        assert_eq!(seen, book(events, is_in(failed)), "{name}, {capacity} slots");
    }
}

fn c50_marks_are_those_of_the_lap<K: Kind>() {
    for capacity in [1, 2, 4, 16] {
        check_laps::<K>(capacity, if capacity < 4 { 200 } else { 1_500 });
    }
}

fn miri_marks_on_a_ring_of_one_slot<K: Kind>() {
    check_laps::<K>(1, 12);
}

/// A closure that returns nothing can make marks only because its stage has a policy.
fn c50_marks_of_a_panicking_stage_without_actions<K: Kind>() {
    quiet_panics();
    let stage = Stage::new("panics").on_panic(Action::Skip);
    let ring = K::ring(8, || 0)
        .stage(stage)
        .read(|_, sequence, _| assert!(sequence % 2 == 0, "{ON_PURPOSE}"))
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 5);
    assert_eq!(counts(&finished[0]), (5, 2));
    assert_eq!(finished[1].take_handler::<Book>().unwrap(), book(5, |at| at % 2 == 1));
}

/// Producers on three threads, claims that are given up, and a ring far smaller than the number of
/// events.
#[test]
fn c50_marks_among_claims_that_several_producers_gave_up() {
    common::watched(|| {
        let ring = Many::ring(4, || 0).stage("skips").read_handler(skips(3));
        let ring = ring.stage("book").read_handler(Keeper::default());
        let (producer, consumers) = ring.build().unwrap();
        let running = consumers.start().unwrap();
        let each = 500;
        thread::scope(|scope| {
            for part in 0..3 {
                let mut producer = producer.clone();
                scope.spawn(move || {
                    let mut random = Lcg(part);
                    for value in part * each..(part + 1) * each {
                        if random.below(3) == 0 {
                            drop(producer.claim_batch(1 + random.below(3) as usize).unwrap());
                        }
                        producer.publish(|event| *event = value).unwrap();
                    }
                });
            }
        });
        let mut report = running.shutdown().unwrap();
        let mut seen = report.take::<Keeper>("book").unwrap().book;
        seen.done.sort_unstable();
        seen.failed.sort_unstable();
        assert_eq!(seen, book(3 * each, is_in(&[3])));
        assert_eq!(report.stages().next().unwrap().skipped(), seen.failed.len() as u64);
    });
}
