//! C50: what downstream stages of a stage that skips events see, and that parallel stages see
//! nothing of it.

use std::collections::BTreeSet;
use std::thread;

use lapwing::consumer::{Access, Exclusive, Failure, Shared};
use lapwing::error::PollError;
use lapwing::graph::Graph;
use lapwing::{Action, Builder, Disruptor, EventHandler, Poller, Sequence, Stage};

use crate::common::{self, Kind, Lcg, ON_PURPOSE, quiet_panics};
use crate::{Book, Ring, counts, drain};

common::for_both_producers! {
    c50_every_downstream_stage_gets_a_skipped_event_as_failed,
    c50_parallel_stages_do_not_see_each_others_marks,
    c50_a_stage_sees_only_the_marks_of_its_upstream_stage,
    c50_events_skipped_with_a_whole_batch_are_failed_each,
    c50_a_failed_event_may_fail_again,
    c50_a_downstream_stage_may_retry_a_failed_event,
    c50_a_poller_sees_which_events_of_its_batch_have_failed,
    c50_a_poller_that_writes_sees_failed_events_too,
    c50_a_stage_that_left_leaves_its_marks,
    c50_marks_are_those_of_the_lap,
    c50_marks_of_a_panicking_stage_without_actions,
    miri_marks_on_a_ring_of_one_slot,
}

/// Skips the events that are multiples of `divisor`.
fn skips(divisor: u64) -> impl FnMut(&u64, Sequence, bool) -> Action + Send + 'static {
    move |_, sequence, _| if sequence % divisor == 0 { Action::Skip } else { Action::Continue }
}

fn book(done: impl IntoIterator<Item = u64>, failed: impl IntoIterator<Item = u64>) -> Book {
    Book { done: done.into_iter().collect(), failed: failed.into_iter().collect() }
}

fn c50_every_downstream_stage_gets_a_skipped_event_as_failed<K: Kind>() {
    let ring = K::ring(8, || 0)
        .stage("before")
        .read_handler(Book::default())
        .stage("skips")
        .read(skips(3))
        .stage("next")
        .write_handler(Book::default())
        .side_by_side(|side| {
            side.stage("beside").read_handler(Book::default()).chain(|chain| {
                chain
                    .stage("between")
                    .read(|_, _, _| {})
                    .stage("last")
                    .read_handler(Book::default())
            })
        });
    let mut finished = drain(ring, 7);
    assert_eq!(finished[0].take_handler::<Book>().unwrap(), book(0..7, []));
    assert_eq!(counts(&finished[1]), (7, 3));
    for stage in finished.iter_mut().skip(2).filter(|stage| stage.name() != "between") {
        let seen: Book = stage.take_handler().unwrap();
        assert_eq!(seen, book([1, 2, 4, 5], [0, 3, 6]), "{}", stage.name());
        assert_eq!(stage.skipped(), 0, "{}", stage.name());
    }
}

/// Keeps a book, and skips events like [`skips`].
struct SkippingBook {
    book: Book,
    divisor: u64,
}

impl<A: Access> EventHandler<u64, A, Action> for SkippingBook {
    fn on_event(&mut self, _: A::Ref<'_, u64>, sequence: Sequence, _: bool) -> Action {
        self.book.done.push(sequence);
        if sequence.is_multiple_of(self.divisor) { Action::Skip } else { Action::Continue }
    }

    fn on_failed_event(
        &mut self,
        _: A::Ref<'_, u64>,
        sequence: Sequence,
        _: bool,
        _: &Failure<'_>,
    ) -> Action {
        self.book.failed.push(sequence);
        Action::Continue
    }
}

impl SkippingBook {
    fn new(divisor: u64) -> Self {
        Self { book: Book::default(), divisor }
    }
}

fn c50_parallel_stages_do_not_see_each_others_marks<K: Kind>() {
    let ring = K::ring(8, || 0)
        .side_by_side(|side| {
            side.stage("left")
                .read_handler(SkippingBook::new(2))
                .stage("right")
                .read_handler(SkippingBook::new(3))
        })
        .stage("both")
        .read_handler(Book::default());
    let mut finished = drain(ring, 7);
    for stage in &mut finished[..2] {
        let seen = stage.take_handler::<SkippingBook>().unwrap().book;
        assert_eq!(seen, book(0..7, []), "{}", stage.name());
    }
    assert_eq!(finished[2].take_handler::<Book>().unwrap(), book([1, 5], [0, 2, 3, 4, 6]));
}

fn c50_a_stage_sees_only_the_marks_of_its_upstream_stage<K: Kind>() {
    let mut graph = Graph::new();
    let left = graph.stage("left").read(skips(2));
    let right = graph.stage("right").read(skips(3));
    graph.stage("after left").after(left).read_handler(Book::default());
    graph.stage("after right").after(right).read_handler(Book::default());
    graph.stage("after both").after(left).after(right).read_handler(Book::default());
    let mut finished = drain(K::ring(8, || 0).graph(graph), 7);
    let mut seen = |index: usize| finished[index].take_handler::<Book>().unwrap();
    assert_eq!(seen(2), book([1, 3, 5], [0, 2, 4, 6]));
    assert_eq!(seen(3), book([1, 2, 4, 5], [0, 3, 6]));
    assert_eq!(seen(4), book([1, 5], [0, 2, 3, 4, 6]));
}

fn c50_events_skipped_with_a_whole_batch_are_failed_each<K: Kind>() {
    let ring = K::ring(8, || 0)
        .stage("skips")
        .max_batch(3)
        .read_batch(|events, first| {
            if (first..first + events.len() as u64).contains(&4) {
                Action::Skip
            } else {
                Action::Continue
            }
        })
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 8);
    assert_eq!(counts(&finished[0]), (8, 3));
    assert_eq!(finished[1].take_handler::<Book>().unwrap(), book([0, 1, 2, 6, 7], [3, 4, 5]));
}

fn c50_a_failed_event_may_fail_again<K: Kind>() {
    let ring = K::ring(8, || 0)
        .stage("skips")
        .read(skips(2))
        .stage("skips as well")
        .with_failed_events()
        .read(skips(4))
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 8);
    assert_eq!((finished[0].skipped(), finished[1].skipped()), (4, 2));
    assert_eq!(finished[2].take_handler::<Book>().unwrap(), book([1, 3, 5, 7], [0, 2, 4, 6]));
}

/// Fails at the first attempt of each failed event.
#[derive(Default)]
struct Stubborn {
    tries: Vec<Sequence>,
}

impl EventHandler<u64, Shared, Result<(), String>> for Stubborn {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) -> Result<(), String> {
        Ok(())
    }

    fn on_failed_event(
        &mut self,
        _: &u64,
        sequence: Sequence,
        _: bool,
        _: &Failure<'_>,
    ) -> Result<(), String> {
        self.tries.push(sequence);
        if self.tries.len() % 2 == 1 { Err(ON_PURPOSE.to_owned()) } else { Ok(()) }
    }
}

fn c50_a_downstream_stage_may_retry_a_failed_event<K: Kind>() {
    let stage = Stage::new("stubborn").on_error(Action::Retry(Default::default()));
    let ring = K::ring(8, || 0)
        .stage("skips")
        .read(skips(3))
        .stage(stage)
        .read_handler(Stubborn::default());
    let mut finished = drain(ring, 7);
    let tries = finished[1].take_handler::<Stubborn>().unwrap().tries;
    assert_eq!(tries, [0, 0, 3, 3, 6, 6]);
    assert_eq!(counts(&finished[1]), (7, 0));
}

fn c50_a_poller_sees_which_events_of_its_batch_have_failed<K: Kind>() {
    let ring = K::ring(8, || 0).stage("skips").read(skips(3)).stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    assert_eq!(producer.publish_batch(5, |_| {}), Ok(0..5));
    assert_eq!(poller.poll().err(), Some(PollError::Empty));
    producer.close();
    drop(consumers.into_iter().map(lapwing::consumer::Consumer::run).collect::<Vec<_>>());
    let mut batch = poller.poll().unwrap();
    let failed: Vec<u64> = (0..20).filter(|at| batch.is_failed(*at)).collect();
    assert_eq!(failed, [0, 3]);
    batch.consume(1);
    assert!(!batch.is_failed(0), "it is no longer in the batch");
    assert!(batch.is_failed(3));
    assert!(!batch.is_failed(u64::MAX));
}

fn c50_a_poller_that_writes_sees_failed_events_too<K: Kind>() {
    let ring = K::ring(4, || 0).stage("skips").read(skips(2)).stage("poller").poller_mut();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller: Poller<u64, Exclusive> = consumers.take_poller_mut("poller").unwrap();
    let running = consumers.start().unwrap();
    for lap in 0..6 {
        producer.publish(|_| {}).unwrap();
        let mut batch = poller.wait().unwrap();
        assert_eq!(batch.is_failed(lap), lap % 2 == 0);
        batch.consume_all();
    }
    running.shutdown().unwrap();
}

fn c50_a_stage_that_left_leaves_its_marks<K: Kind>() {
    let leaves = |_: &u64, sequence, _: bool| match sequence {
        0 | 2 => Action::Skip,
        4 => Action::Stop,
        _ => Action::Continue,
    };
    let ring =
        K::ring(8, || 0).stage("leaves").read(leaves).stage("book").read_handler(Book::default());
    let mut finished = drain(ring, 8);
    assert_eq!(counts(&finished[0]), (4, 2));
    assert_eq!(finished[1].take_handler::<Book>().unwrap(), book([1, 3, 4, 5, 6, 7], [0, 2]));
}

/// Publishes many laps through two stages that skip what `bad` decides, into parallel books and a
/// book after both. Gives up some claims, which use sequences only with several producers.
fn check_laps<K: Kind>(capacity: usize, events: u64) {
    let ring: Ring<K> = K::ring(capacity, || 0);
    // Counted by the event, which distinguishes published sequences from those that were given up.
    let bad = |divisor: u64| {
        move |event: &u64, _, _: bool| {
            if event.is_multiple_of(divisor) { Action::Skip } else { Action::Continue }
        }
    };
    let ring = ring
        .stage("threes")
        .read(bad(3))
        .stage("after threes")
        .read_handler(Values::default())
        .stage("fives")
        .read(bad(5))
        .stage("after both")
        .read_handler(Values::default());
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
    let mut check = |name: &str, is_bad: fn(&u64) -> bool| {
        let (failed, done) = (0..events).partition(is_bad);
        assert_eq!(
            report.take::<Values>(name).unwrap(),
            Values { done, failed },
            "{capacity} slots"
        );
    };
    check("after threes", |event| event % 3 == 0);
    check("after both", |event| event % 3 == 0 || event % 5 == 0);
}

/// The events themselves, separated by their fate.
#[derive(Debug, Default, PartialEq)]
struct Values {
    done: Vec<u64>,
    failed: Vec<u64>,
}

impl EventHandler<u64> for Values {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        self.done.push(*event);
    }

    fn on_failed_event(&mut self, event: &u64, _: Sequence, _: bool, _: &Failure<'_>) {
        self.failed.push(*event);
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

/// A closure that returns nothing can see marks only because its stage has a policy.
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
    assert_eq!(finished[1].take_handler::<Book>().unwrap(), book([0, 2, 4], [1, 3]));
}

/// Producers on three threads, claims that are given up, and a ring far smaller than the number of
/// events.
#[test]
fn c50_marks_among_claims_that_several_producers_gave_up() {
    common::watched(|| {
        let bad = |event: &u64, _, _: bool| {
            if event.is_multiple_of(3) { Action::Skip } else { Action::Continue }
        };
        let ring: Builder<'_, u64, _> = Disruptor::multi_producer(4, || 0);
        let ring = ring.stage("skips").read(bad).stage("book").read_handler(Values::default());
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
        let values: Values = report.take("book").unwrap();
        let set = |values: &[u64]| values.iter().copied().collect::<BTreeSet<u64>>();
        let (failed, done): (Vec<u64>, Vec<u64>) =
            (0..3 * each).partition(|event| event.is_multiple_of(3));
        assert_eq!((values.failed.len(), values.done.len()), (failed.len(), done.len()));
        assert_eq!((set(&values.failed), set(&values.done)), (set(&failed), set(&done)));
        assert_eq!(report.stages().next().unwrap().skipped(), failed.len() as u64);
    });
}
