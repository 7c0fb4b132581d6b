//! What each form of a stage gets of an event that an upstream stage has skipped as failed: nothing,
//! unless it asks. A closure acted on such events before, and a handler flushed too late.

use std::collections::BTreeSet;
use std::sync::mpsc;

use lapwing::consumer::{Access, BatchHandler, Consumer, Done, Failure, Shared};
use lapwing::error::PollError;
use lapwing::graph::StartAt;
use lapwing::{Action, Builder, EventHandler, Sequence};

use crate::common::{self, Kind};
use crate::{Book, Ring, counts, drain, drain_together};

common::for_both_producers! {
    closures_are_not_called_for_failed_events,
    closures_that_ask_get_failed_events_like_any_other,
    a_handler_that_does_not_ask_does_nothing_for_a_failed_event,
    a_handler_with_the_setting_handles_a_failed_event_like_any_other,
    a_handler_of_batches_does_nothing_for_failed_events,
    a_handler_of_batches_gets_runs_of_failed_events,
    a_handler_of_batches_with_the_setting_gets_whole_batches,
    a_failed_batch_may_fail_in_part,
    each_of_several_handlers_gets_a_failed_event,
    workers_do_not_act_on_failed_events,
    workers_by_key_do_not_act_on_failed_events,
    stages_that_take_turns_do_not_act_on_failed_events,
    the_end_of_a_batch_is_told_although_its_last_event_has_failed,
    a_batch_is_announced_with_the_events_that_follow,
    an_event_may_fail_only_once_for_those_who_do_not_ask,
    a_consumer_that_joins_does_not_act_on_failed_events,
    events_that_failed_are_cleared,
    a_poller_gets_all_events,
}

/// An event that owns something.
struct Slot(Option<std::sync::Arc<()>>);

/// A ring whose first stage skips multiples of 3.
fn ring<'env, K: Kind>() -> Builder<'env, u64, K::Sequencer> {
    K::ring(8, || 0)
        .stage("skips")
        .read(|_, sequence, _| if sequence % 3 == 0 { Action::Skip } else { Action::Continue })
}

const ALL: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const GOOD: [u64; 5] = [1, 2, 4, 5, 7];
const FAILED: [u64; 3] = [0, 3, 6];

fn closures_are_not_called_for_failed_events<K: Kind>() {
    let (mut read, mut write) = (Vec::new(), Vec::new());
    let (mut read_batch, mut write_batch) = (Vec::new(), Vec::new());
    let finished = drain(
        ring::<K>()
            .stage("read")
            .read(|event, _, _| read.push(*event))
            .stage("write")
            .write(|event, _, _| write.push(*event))
            .stage("read batch")
            .read_batch(|events, first| {
                assert_eq!(events[0], first);
                read_batch.extend_from_slice(events);
            })
            .stage("write batch")
            .write_batch(|events, _| write_batch.extend_from_slice(events)),
        8,
    );
    for stage in &finished[1..] {
        assert_eq!((counts(stage), stage.handled()), ((8, 0), 8), "{}", stage.name());
    }
    drop(finished);
    assert_eq!((&read[..], &write[..]), (&GOOD[..], &GOOD[..]));
    assert_eq!((&read_batch[..], &write_batch[..]), (&GOOD[..], &GOOD[..]));
}

fn closures_that_ask_get_failed_events_like_any_other<K: Kind>() {
    let (mut one_by_one, mut batches) = (Vec::new(), Vec::new());
    let ring = ring::<K>()
        .stage("one by one")
        .with_failed_events()
        .read(|event, _, _| one_by_one.push(*event))
        .stage("by batch")
        .with_failed_events()
        .max_batch(8)
        .read_batch(|events, _| batches.push(events.to_vec()));
    drop(drain(ring, 8));
    assert_eq!((one_by_one, batches), (ALL.to_vec(), vec![ALL.to_vec()]));
}

/// Does not implement the call for a failed event.
#[derive(Default)]
struct Plain(Vec<Sequence>);

impl<A: Access> EventHandler<u64, A, Result<Action, &'static str>> for Plain {
    fn on_event(
        &mut self,
        _: A::Ref<'_, u64>,
        sequence: Sequence,
        _: bool,
    ) -> Result<Action, &'static str> {
        self.0.push(sequence);
        Ok(Action::Continue)
    }
}

fn a_handler_that_does_not_ask_does_nothing_for_a_failed_event<K: Kind>() {
    let ring = ring::<K>()
        .stage("reads")
        .read_handler(Plain::default())
        .stage("writes")
        .write_handler(Plain::default())
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 8);
    for stage in &mut finished[1..3] {
        assert_eq!(stage.take_handler::<Plain>().unwrap().0, GOOD, "{}", stage.name());
    }
    let book: Book = finished[3].take_handler().unwrap();
    assert_eq!((&book.done[..], &book.failed[..]), (&GOOD[..], &FAILED[..]));
}

fn a_handler_with_the_setting_handles_a_failed_event_like_any_other<K: Kind>() {
    let ring = ring::<K>().stage("book").with_failed_events().read_handler(Book::default());
    let book: Book = drain(ring, 8).remove(1).take_handler().unwrap();
    assert_eq!((&book.done[..], &book.failed[..]), (&ALL[..], &[][..]));
}

/// Keeps the batches of either kind.
#[derive(Debug, Default, PartialEq)]
struct Batches {
    done: Vec<Vec<u64>>,
    failed: Vec<Vec<u64>>,
}

impl BatchHandler<u64> for Batches {
    fn on_batch(&mut self, events: &[u64], first: Sequence, _: Done<'_>) {
        assert_eq!(events[0], first);
        self.done.push(events.to_vec());
    }

    fn on_failed_batch(&mut self, events: &[u64], first: Sequence, _: Done<'_>, _: &Failure<'_>) {
        assert_eq!(events[0], first);
        self.failed.push(events.to_vec());
    }
}

/// Does not implement the call for failed events.
#[derive(Default)]
struct PlainBatches(Vec<u64>);

impl BatchHandler<u64> for PlainBatches {
    fn on_batch(&mut self, events: &[u64], _: Sequence, _: Done<'_>) {
        self.0.extend_from_slice(events);
    }
}

fn a_handler_of_batches_does_nothing_for_failed_events<K: Kind>() {
    let ring = ring::<K>().stage("plain").read_batch_handler(PlainBatches::default());
    let mut finished = drain(ring, 8);
    assert_eq!(counts(&finished[1]), (8, 0));
    assert_eq!(finished[1].take_handler::<PlainBatches>().unwrap().0, GOOD);
}

fn a_handler_of_batches_gets_runs_of_failed_events<K: Kind>() {
    let ring: Builder<'_, u64, K::Sequencer> =
        K::ring(8, || 0).stage("skips").max_batch(8).read(|_, sequence, _| {
            if (2..5).contains(&sequence) { Action::Skip } else { Action::Continue }
        });
    let ring = ring.stage("batches").max_batch(8).read_batch_handler(Batches::default());
    let seen: Batches = drain(ring, 8).remove(1).take_handler().unwrap();
    let done = vec![vec![0, 1], vec![5, 6, 7]];
    assert_eq!(seen, Batches { done, failed: vec![vec![2, 3, 4]] });
}

fn a_handler_of_batches_with_the_setting_gets_whole_batches<K: Kind>() {
    let stage = lapwing::Stage::new("batches").max_batch(8).with_failed_events();
    let ring = ring::<K>().stage(stage).read_batch_handler(Batches::default());
    let seen: Batches = drain(ring, 8).remove(1).take_handler().unwrap();
    assert_eq!(seen, Batches { done: vec![ALL.to_vec()], failed: vec![] });
}

/// Finishes one failed event per call, and skips the second call for what is left.
#[derive(Default)]
struct InPart(Vec<Vec<u64>>);

impl BatchHandler<u64, Shared, Action> for InPart {
    fn on_batch(&mut self, _: &[u64], _: Sequence, _: Done<'_>) -> Action {
        Action::Continue
    }

    fn on_failed_batch(
        &mut self,
        events: &[u64],
        _: Sequence,
        mut done: Done<'_>,
        _: &Failure<'_>,
    ) -> Action {
        self.0.push(events.to_vec());
        done.set(1);
        if self.0.len() == 1 { Action::Retry(Default::default()) } else { Action::Skip }
    }
}

fn a_failed_batch_may_fail_in_part<K: Kind>() {
    let ring: Builder<'_, u64, K::Sequencer> = K::ring(8, || 0)
        .stage("skips")
        .read(|_, sequence, _| if sequence < 3 { Action::Skip } else { Action::Continue });
    let ring = ring.stage("part").max_batch(8).read_batch_handler(InPart::default());
    let mut finished = drain(ring, 5);
    assert_eq!(counts(&finished[1]), (5, 1), "the event 2");
    let calls = finished[1].take_handler::<InPart>().unwrap().0;
    assert_eq!(calls, [vec![0, 1, 2], vec![1, 2]]);
}

fn each_of_several_handlers_gets_a_failed_event<K: Kind>() {
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
    for book in books {
        assert_eq!((&book.done[..], &book.failed[..]), (&GOOD[..], &FAILED[..]));
    }
    assert_eq!(counts(&finished[3]), (8, 0));
}

/// Publishes 300 events, whose values are their sequences, through `ring`. Returns what `seen` gets.
fn run_threads<K: Kind>(
    build: impl FnOnce(Ring<K>, mpsc::Sender<(bool, u64)>) -> Builder<'static, u64, K::Sequencer>,
) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let (sender, seen) = mpsc::channel();
    let (mut producer, consumers) = build(ring::<K>(), sender).build().unwrap();
    let running = consumers.start().unwrap();
    for value in 0..300 {
        producer.publish(|event| *event = value).unwrap();
    }
    running.shutdown().unwrap();
    let (failed, done): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(is_failed, _)| *is_failed);
    let set = |seen: Vec<(bool, u64)>| seen.into_iter().map(|(_, value)| value).collect();
    (set(done), set(failed))
}

/// Reports events of both kinds.
#[derive(Clone)]
struct Reports(mpsc::Sender<(bool, u64)>);

impl EventHandler<u64> for Reports {
    fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
        self.0.send((false, *event)).unwrap();
    }

    fn on_failed_event(&mut self, event: &u64, _: Sequence, _: bool, _: &Failure<'_>) {
        self.0.send((true, *event)).unwrap();
    }
}

fn good() -> BTreeSet<u64> {
    (0..300).filter(|value| value % 3 != 0).collect()
}

fn failed() -> BTreeSet<u64> {
    (0..300).filter(|value| value % 3 == 0).collect()
}

fn workers_do_not_act_on_failed_events<K: Kind>() {
    let closures = run_threads::<K>(|ring, seen| {
        ring.stage("work").workers(2).read(|_| {
            let seen = seen.clone();
            move |event: &u64, _, _| seen.send((false, *event)).unwrap()
        })
    });
    assert_eq!(closures, (good(), BTreeSet::new()));
    let handlers = run_threads::<K>(|ring, seen| {
        ring.stage("work").workers(2).read_handlers(|_| Reports(seen.clone()))
    });
    assert_eq!(handlers, (good(), failed()));
    let asking = run_threads::<K>(|ring, seen| {
        let work = ring.stage("work").with_failed_events().workers(2);
        work.read_handlers(|_| Reports(seen.clone()))
    });
    assert_eq!(asking, ((0..300).collect(), BTreeSet::new()));
}

fn workers_by_key_do_not_act_on_failed_events<K: Kind>() {
    let closures = run_threads::<K>(|ring, seen| {
        ring.stage("work").workers(2).by_key(|event| event % 7).read(|_| {
            let seen = seen.clone();
            move |event: &u64, _, _| seen.send((false, *event)).unwrap()
        })
    });
    assert_eq!(closures, (good(), BTreeSet::new()));
    let handlers = run_threads::<K>(|ring, seen| {
        let work = ring.stage("work").workers(2).by_key(|event| event % 7);
        work.read_handlers(|_| Reports(seen.clone()))
    });
    assert_eq!(handlers, (good(), failed()));
}

fn stages_that_take_turns_do_not_act_on_failed_events<K: Kind>() {
    let mut seen = Vec::new();
    let ring = ring::<K>()
        .stage("reads")
        .read(|event, _, _| seen.push(*event))
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain_together(ring, 8);
    let book: Book = finished[2].take_handler().unwrap();
    drop(finished);
    assert_eq!((&book.done[..], &book.failed[..]), (&GOOD[..], &FAILED[..]));
    assert_eq!(seen, GOOD);
}

/// Writes only at the end of a batch.
#[derive(Default)]
struct Buffered {
    buffer: Vec<u64>,
    written: Vec<u64>,
}

impl EventHandler<u64> for Buffered {
    fn on_event(&mut self, event: &u64, _: Sequence, end_of_batch: bool) {
        self.buffer.push(*event);
        if end_of_batch {
            self.written.append(&mut self.buffer);
        }
    }
}

fn the_end_of_a_batch_is_told_although_its_last_event_has_failed<K: Kind>() {
    let (mut buffer, mut written) = (0, 0);
    let ring: Builder<'_, u64, K::Sequencer> = K::ring(8, || 0)
        .stage("skips")
        .read(|_, sequence, _| if sequence == 4 { Action::Skip } else { Action::Continue });
    let ring = ring.stage("buffered").read_handler(Buffered::default()).stage("closure").read(
        |_, _, end_of_batch| {
            buffer += 1;
            if end_of_batch {
                written += std::mem::take(&mut buffer);
            }
        },
    );
    let mut finished = drain(ring, 5);
    assert_eq!(finished[1].take_handler::<Buffered>().unwrap().written, [0, 1, 2, 3]);
    drop(finished);
    assert_eq!((buffer, written), (0, 4));
}

/// Checks that as many events follow as were announced.
#[derive(Default)]
struct Announced {
    announced: u64,
    batches: Vec<u64>,
}

impl Announced {
    fn count(&mut self, end_of_batch: bool) {
        self.announced -= 1;
        assert_eq!(end_of_batch, self.announced == 0);
    }
}

impl EventHandler<u64> for Announced {
    fn on_batch_start(&mut self, batch_size: u64, queue_depth: u64) {
        assert_eq!(self.announced, 0);
        assert!(queue_depth >= batch_size);
        self.announced = batch_size;
        self.batches.push(batch_size);
    }

    fn on_event(&mut self, _: &u64, _: Sequence, end_of_batch: bool) {
        self.count(end_of_batch);
    }

    fn on_failed_event(&mut self, _: &u64, _: Sequence, end_of_batch: bool, _: &Failure<'_>) {
        self.count(end_of_batch);
    }
}

fn a_batch_is_announced_with_the_events_that_follow<K: Kind>() {
    let stage = lapwing::Stage::new("announced").max_batch(8);
    let ring = ring::<K>().stage(stage).read_handler(Announced::default());
    let announced: Announced = drain(ring, 8).remove(1).take_handler().unwrap();
    assert_eq!((announced.announced, announced.batches), (0, vec![1, 2, 1, 2, 1, 1]));
}

fn an_event_may_fail_only_once_for_those_who_do_not_ask<K: Kind>() {
    let ring = ring::<K>()
        .stage("would skip all")
        .read(|_, _, _| Action::Skip)
        .stage("book")
        .read_handler(Book::default());
    let mut finished = drain(ring, 8);
    assert_eq!((finished[0].skipped(), finished[1].skipped()), (3, 5));
    let book: Book = finished[2].take_handler().unwrap();
    assert_eq!((&book.done[..], &book.failed[..]), (&[][..], &ALL[..]));
}

fn a_consumer_that_joins_does_not_act_on_failed_events<K: Kind>() {
    let (mut good, mut all) = (Vec::new(), Vec::new());
    let skips = |_: &mut u64, sequence, _: bool| {
        if sequence % 3 == 0 { Action::Skip } else { Action::Continue }
    };
    let ring: Builder<'_, u64, K::Sequencer> = K::ring(8, || 0);
    let ring = ring.seats(2).stage("skips").write(skips);
    let (mut producer, consumers) = ring.build().unwrap();
    let seats = consumers.seats();
    let late = seats.take("late", StartAt::Now).unwrap().read(|event, _, _| good.push(*event));
    let asks = lapwing::Stage::new("asks").with_failed_events();
    let asks = seats.take(asks, StartAt::Now).unwrap().read(|event, _, _| all.push(*event));
    for value in 0..8 {
        producer.publish(|event| *event = value).unwrap();
    }
    drop(producer);
    consumers.into_iter().chain([late, asks]).map(Consumer::run).for_each(drop);
    assert_eq!((good, all), (GOOD.to_vec(), ALL.to_vec()));
}

fn events_that_failed_are_cleared<K: Kind>() {
    let owned = std::sync::Arc::new(());
    let ring: Builder<'_, Slot, K::Sequencer> = K::ring(8, || Slot(None));
    let (mut producer, consumers) = ring
        .stage("skips")
        .read(|_, _, _| Action::Skip)
        .clear(|slot| slot.0 = None)
        .build()
        .unwrap();
    let mine = std::sync::Arc::clone(&owned);
    producer.publish(|slot| slot.0 = Some(mine)).unwrap();
    drop(producer);
    consumers.into_iter().map(Consumer::run).for_each(drop);
    assert_eq!(std::sync::Arc::strong_count(&owned), 1);
}

fn a_poller_gets_all_events<K: Kind>() {
    let ring = ring::<K>().stage("poller").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("poller").unwrap();
    for value in 0..8 {
        producer.publish(|event| *event = value).unwrap();
    }
    producer.close();
    consumers.into_iter().map(Consumer::run).for_each(drop);
    let mut seen = Vec::new();
    loop {
        match poller.poll() {
            Ok(mut batch) => {
                let events = (batch.first_sequence()..).zip(batch.as_slice());
                seen.extend(events.map(|(at, event)| (*event, batch.is_failed(at))));
                batch.consume_all();
            }
            Err(PollError::Closed) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(seen, ALL.map(|event| (event, event % 3 == 0)));
}
