//! Consumers that join and leave while others publish: where one starts, that none misses an event
//! or is overrun, that the others continue, and the errors of a refused join. Also stages that are
//! stopped.
//!
//! Each page shows its sequence, and a [`Reader`] checks each page and that no sequence is missing.
//! A test with load gives a graph and what consumers do meanwhile to [`under_load`]; one without
//! has a poller that stays, from [`ring_with_poller`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::{
    Kind, Lcg, Many, ON_PURPOSE, PATIENCE, ProducerOf, Turnstile, quiet_panics, repeats,
    wait_until, watched,
};
use lapwing::consumer::{Exclusive, Failure, Outcome};
use lapwing::error::{
    DynamicStageError, HaltCause, PollError, PublishError, RingError, TryPublishError,
};
use lapwing::graph::{DynamicStages, Graph, StartAt};
use lapwing::producer::Sequencer;
use lapwing::wait::{Blocking, BusySpin, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Action, Builder, Consumers, EventHandler, Poller, Producer, Sequence, Stage};

crate::common::for_both_producers! {
    consumers_that_join_under_load_miss_nothing_and_are_never_overrun,
    miri_consumers_come_and_go_under_load,
    consumers_that_join_after_a_writer_see_what_it_wrote,
    consumers_that_leave_under_load_take_no_event_from_others,
    handlers_that_are_stopped_under_load_take_no_event_from_others,
    consumer_that_joins_now_starts_at_the_cursor,
    consumer_that_joins_at_the_oldest_gets_what_the_ring_holds,
    consumer_that_joins_at_a_sequence_starts_there_or_gets_the_valid_range,
    dynamic_consumer_holds_the_producer_back_until_it_leaves,
    producer_that_waits_for_a_dynamic_stage_continues_when_its_consumer_leaves,
    dynamic_consumer_parks_and_is_woken_although_others_spin,
    dynamic_stage_and_name_are_free_again_when_their_consumer_leaves,
    dynamic_stage_that_is_refused_returns_the_reason,
    closed_ring_can_be_joined_to_drain_it,
    consumer_that_begins_at_the_end_has_drained_the_ring,
    halted_ring_cannot_be_joined,
    ring_stays_alive_as_long_as_a_dynamic_stage_is_taken,
    dynamic_consumer_that_panics_halts_the_ring,
    dynamic_consumer_drains_what_was_accepted,
    dynamic_consumer_may_stop_skip_and_survive_a_panic,
    dynamic_consumer_waits_for_the_acknowledgement_of_a_writer,
    dynamic_consumer_learns_which_events_failed_before_it,
    strategy_may_take_a_dynamic_stage_in_its_clone,
    stage_that_is_stopped_leaves_its_siblings_running,
    stage_downstream_of_a_stopped_one_depends_on_its_upstream_stages,
    stopped_handler_is_returned,
    last_stage_that_is_stopped_halts_the_ring,
    late_stop_does_not_meet_the_next_consumer_of_a_dynamic_stage,
    stage_that_tries_an_event_for_ever_can_be_stopped,
}

type Ring<K> = Builder<'static, Page, <K as Kind>::Sequencer>;

/// An event that shows whether two writers have accessed it at the same time.
#[derive(Debug, Default, Clone, Copy)]
struct Page([u64; 12]);

impl Page {
    fn of(sequence: Sequence) -> Self {
        Self([sequence; 12])
    }

    #[track_caller]
    fn check(&self, sequence: Sequence) {
        assert_eq!(self.0, [sequence; 12], "the event of another lap");
    }
}

/// Checks each page, and that sequences have no gap, from the first one on.
#[derive(Default)]
struct Reader {
    last: Option<Sequence>,
    events: u64,
    failed: u64,
    shutdowns: u64,
}

impl Reader {
    #[track_caller]
    fn see(&mut self, page: &Page, sequence: Sequence) {
        page.check(sequence);
        if let Some(last) = self.last.replace(sequence) {
            assert_eq!(sequence, last + 1, "an event was lost or came twice");
        }
        self.events += 1;
    }
}

impl EventHandler<Page> for Reader {
    fn on_event(&mut self, page: &Page, sequence: Sequence, _: bool) {
        self.see(page, sequence);
    }

    fn on_failed_event(&mut self, page: &Page, sequence: Sequence, _: bool, _: &Failure<'_>) {
        self.see(page, sequence);
        self.failed += 1;
    }

    fn on_shutdown(&mut self) {
        self.shutdowns += 1;
    }
}

/// Checks each page, and writes another one.
struct Writer(fn(Sequence) -> [u64; 2]);

impl EventHandler<Page, Exclusive> for Writer {
    fn on_event(&mut self, page: &mut Page, sequence: Sequence, _: bool) {
        let [before, after] = (self.0)(sequence);
        page.check(before);
        *page = Page::of(after);
    }
}

fn with_all<K: Kind>(ring: Ring<K>) -> Ring<K> {
    ring.stage("all").read_handler(Reader::default())
}

/// Publishes an event that equals its sequence. Returns false once the ring has ended.
fn publish<S: Sequencer>(producer: &mut Producer<Page, S>) -> bool {
    let Ok(mut claim) = producer.claim() else { return false };
    *claim = Page::of(claim.sequence());
    claim.publish().is_ok()
}

fn publish_all<S: Sequencer>(producer: &mut Producer<Page, S>, count: u64) {
    assert!((0..count).all(|_| publish(producer)));
}

/// Returns a ring of pages with one poller, its dynamic stages, and the poller.
fn ring_with_poller<K: Kind>(
    capacity: usize,
    dynamic_stages: usize,
) -> (ProducerOf<Page, K>, Poller<Page>, DynamicStages<Page>) {
    let ring =
        K::ring(capacity, Page::default).dynamic_stages(dynamic_stages).stage("stays").poller();
    let (producer, mut consumers) = ring.build().unwrap();
    let poller = consumers.take_poller("stays").unwrap();
    (producer, poller, consumers.dynamic_stages())
}

/// Publishes `count` pages and consumes them.
fn pass<S: Sequencer>(producer: &mut Producer<Page, S>, poller: &mut Poller<Page>, count: u64) {
    for _ in 0..count {
        publish_all(producer, 1);
        let (sequence, page) = poller.poll().unwrap().iter().next().map(|(s, e)| (s, *e)).unwrap();
        page.check(sequence);
    }
}

// ---- under load ----

/// Each of `joiners` threads joins `times` times, in every possible way, and reads up to 60 events
/// each time, of which it leaves the rest of the last batch.
fn join_again_and_again(dynamic_stages: &DynamicStages<Page>, joiners: u64, times: u64) {
    thread::scope(|scope| {
        for joiner in 0..joiners {
            scope.spawn(move || {
                let mut random = Lcg(joiner);
                for time in 0..times {
                    let name = format!("{joiner}-{time}");
                    let mut poller = join_somewhere(dynamic_stages, &name, &mut random);
                    let first = poller.sequence();
                    let (mut reader, end) = (Reader::default(), first + random.below(60));
                    while poller.sequence() < end {
                        let mut batch = poller.wait().unwrap();
                        let left = (end - batch.first_sequence()) as usize;
                        for (sequence, page) in batch.iter().take(left) {
                            assert!(reader.events > 0 || sequence == first);
                            reader.see(page, sequence);
                        }
                    }
                    assert_eq!(poller.sequence(), first + reader.events);
                }
            });
        }
    });
}

/// Joins at the next event, at the oldest event, or at a sequence between the two.
fn join_somewhere(
    dynamic_stages: &DynamicStages<Page>,
    name: &str,
    random: &mut Lcg,
) -> Poller<Page> {
    let mut start = [StartAt::Now, StartAt::Oldest, StartAt::Sequence(0)][random.below(3) as usize];
    loop {
        match dynamic_stages.join(name, start) {
            Ok(dynamic_stage) => {
                if let StartAt::Sequence(requested) = start {
                    assert_eq!(dynamic_stage.sequence(), requested);
                }
                return dynamic_stage.poller();
            }
            Err(DynamicStageError::OutOfRange { oldest, newest, .. }) => {
                assert!(oldest <= newest);
                start = StartAt::Sequence(oldest + (newest - oldest) / 2);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Runs the consumers of `ring`, and a producer that publishes while `body` runs. Then checks that
/// every stage has handled every event, and that all dynamic stages are free.
fn under_load<K: Kind>(ring: Ring<K>, body: impl FnOnce(&DynamicStages<Page>)) {
    let (mut producer, consumers): (_, Consumers<'static, Page>) = ring.build().unwrap();
    let (dynamic_stages, is_done) = (consumers.dynamic_stages(), AtomicBool::new(false));
    let free = dynamic_stages.free();
    let running = consumers.start().unwrap();
    let published = thread::scope(|scope| {
        let publisher = scope.spawn(|| {
            let is_on = |_: &u64| !is_done.load(Ordering::Relaxed) && publish(&mut producer);
            (0_u64..).take_while(is_on).count() as u64
        });
        body(&dynamic_stages);
        is_done.store(true, Ordering::Relaxed);
        publisher.join().unwrap()
    });
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == published), "{published} {report:?}");
    assert_eq!(dynamic_stages.free(), free);
}

/// A consumer that joins must not be overwritten while it reads, nor start past its first event. In
/// a small ring, a producer reads the gate all the time.
fn consumers_that_join_under_load_miss_nothing_and_are_never_overrun<K: Kind>() {
    let ring = with_all::<K>(K::ring(4, Page::default).dynamic_stages(3));
    under_load::<K>(ring, |dynamic_stages| join_again_and_again(dynamic_stages, 3, repeats(700)));
}

fn miri_consumers_come_and_go_under_load<K: Kind>() {
    let ring = with_all::<K>(K::ring(4, Page::default).dynamic_stages(1));
    under_load::<K>(ring, |dynamic_stages| join_again_and_again(dynamic_stages, 1, 3));
}

#[test]
fn consumers_that_join_among_several_producers_are_never_overrun() {
    watched(|| {
        let ring = Many::ring(16, Page::default).dynamic_stages(2).stage("all");
        let (producer, consumers) =
            ring.read(|page, sequence, _| page.check(sequence)).build().unwrap();
        let (dynamic_stages, is_done) = (consumers.dynamic_stages(), &AtomicBool::new(false));
        let running = consumers.start().unwrap();
        let claimed: u64 = thread::scope(|scope| {
            let publishers = [(); 2].map(|()| {
                let mut producer = producer.clone();
                scope.spawn(move || {
                    let mut claimed = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        drop(producer.claim().unwrap()); // given up, so consumers skip it
                        publish_all(&mut producer, 1);
                        claimed += 2;
                    }
                    claimed
                })
            });
            let mut random = Lcg(1);
            for time in 0..repeats(500) {
                let mut poller = join_somewhere(&dynamic_stages, &format!("{time}"), &mut random);
                let mut batch = poller.wait().unwrap();
                batch.iter().for_each(|(sequence, page)| page.check(sequence));
            }
            is_done.store(true, Ordering::Relaxed);
            publishers.map(|publisher| publisher.join().unwrap()).iter().sum()
        });
        let report = running.shutdown().unwrap();
        assert_eq!(report.stages().next().unwrap().processed(), claimed);
    });
}

/// A dynamic stage parallel to a stage that writes would be a data race.
fn consumers_that_join_after_a_writer_see_what_it_wrote<K: Kind>() {
    let ring = with_all::<K>(K::ring(16, Page::default).dynamic_stages(2));
    let ring = ring
        .stage("erase")
        .write_handler(Writer(|sequence| [sequence, u64::MAX]))
        .stage("write")
        .write_handler(Writer(|sequence| [u64::MAX, sequence]))
        .parallel(|parallel| {
            let parallel = parallel.stage("left").read_handler(Reader::default());
            parallel.stage("right").read_handler(Reader::default())
        });
    under_load::<K>(ring, |dynamic_stages| join_again_and_again(dynamic_stages, 2, repeats(500)));
}

/// Pollers that leave with unconsumed events, or in the middle of a batch.
fn consumers_that_leave_under_load_take_no_event_from_others<K: Kind>() {
    under_load::<K>(with_all::<K>(K::ring(8, Page::default).dynamic_stages(2)), |dynamic_stages| {
        let mut stays = dynamic_stages.join("stays", StartAt::Now).unwrap().poller();
        let mut reader = Reader::default();
        for time in 0..repeats(500) {
            let mut leaves = dynamic_stages.join("leaves", StartAt::Oldest).unwrap().poller();
            let held = leaves.sequence();
            // The producer stops one lap after `leaves`, which holds its first event.
            assert_eq!(leaves.wait().unwrap().first_sequence(), held);
            if time % 2 == 0 {
                leaves.poll().unwrap().consume(1);
            }
            drop(leaves);
            // No consumer gates it any longer, so the event it held is overwritten.
            while stays.sequence() < held + 10 {
                let mut batch = stays.wait().unwrap();
                batch.iter().for_each(|(sequence, page)| reader.see(page, sequence));
            }
        }
    });
}

/// The same with handlers on threads.
fn handlers_that_are_stopped_under_load_take_no_event_from_others<K: Kind>() {
    under_load::<K>(with_all::<K>(K::ring(8, Page::default).dynamic_stages(2)), |dynamic_stages| {
        for time in 0..repeats(100) {
            let dynamic_stage = dynamic_stages.join("late", StartAt::Now).unwrap();
            let start = dynamic_stage.sequence();
            let seen = Arc::new(AtomicU64::new(start));
            let (last_seen, mut reader) = (Arc::clone(&seen), Reader::default());
            let consumer = dynamic_stage.read(move |page, sequence, _| {
                reader.see(page, sequence);
                assert!(reader.events > 1 || sequence == start);
                last_seen.store(sequence + 1, Ordering::Relaxed);
            });
            let stop = consumer.stop_handle();
            let thread = thread::spawn(move || consumer.run());
            wait_until(|| seen.load(Ordering::Relaxed) > start + time % 20);
            stop.stop();
            let finished = thread.join().unwrap();
            assert_eq!(*finished.outcome(), Outcome::Stopped);
            assert_eq!(finished.processed(), seen.load(Ordering::Relaxed) - start);
        }
    });
}

// ---- where a consumer starts ----

fn consumer_that_joins_now_starts_at_the_cursor<K: Kind>() {
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(8, 1);
    publish_all(&mut producer, 5);
    let mut late = dynamic_stages.join("late", StartAt::Now).unwrap().poller();
    assert_eq!((late.sequence(), late.poll().err()), (5, Some(PollError::Empty)));
    pass(&mut producer, &mut late, 1);
    assert_eq!((late.sequence(), stays.poll().unwrap().len()), (6, 6));
}

fn consumer_that_joins_at_the_oldest_gets_what_the_ring_holds<K: Kind>() {
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(8, 1);
    pass(&mut producer, &mut stays, 5);
    // StageReport by all consumers and still available: no producer could overwrite it.
    assert_eq!(dynamic_stages.join("late", StartAt::Oldest).unwrap().sequence(), 0);
    pass(&mut producer, &mut stays, 95);
    let late = dynamic_stages.join("late", StartAt::Oldest).unwrap();
    assert!((92..=100).contains(&late.sequence()), "{}", late.sequence());
    let (mut late, mut reader) = (late.poller(), Reader::default());
    while late.sequence() < 100 {
        late.poll().unwrap().iter().for_each(|(sequence, page)| reader.see(page, sequence));
    }
}

fn consumer_that_joins_at_a_sequence_starts_there_or_gets_the_valid_range<K: Kind>() {
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(8, 1);
    pass(&mut producer, &mut stays, 20);
    publish_all(&mut producer, 4);
    let error = dynamic_stages.join("late", StartAt::Sequence(3)).unwrap_err();
    let DynamicStageError::OutOfRange { requested: 3, oldest, newest: 24 } = error else {
        panic!("{error:?}");
    };
    assert!((16..=20).contains(&oldest), "unfinished events are still available: {oldest}");
    for granted in oldest..=24 {
        let dynamic_stage = dynamic_stages.join("late", StartAt::Sequence(granted)).unwrap();
        assert_eq!(dynamic_stage.sequence(), granted);
        match dynamic_stage.poller().poll() {
            Ok(mut batch) => {
                let (sequence, page) = batch.iter().next().unwrap();
                assert_eq!(sequence, granted);
                page.check(granted);
            }
            Err(error) => assert_eq!((granted, error), (24, PollError::Empty)),
        }
    }
    let error = dynamic_stages.join("late", StartAt::Sequence(25)).unwrap_err();
    assert_eq!(error, DynamicStageError::OutOfRange { requested: 25, oldest, newest: 24 });
    assert_eq!(dynamic_stages.free(), 1);
}

/// A consumer must not start at the claim counter, past a claim that is still held. If it were the
/// only consumer, the slot of that claim would be granted a second time.
#[test]
fn consumer_that_joins_now_starts_at_a_claim_that_is_held() {
    let (mut first, stays, dynamic_stages) = ring_with_poller::<Many>(2, 1);
    let mut second = first.clone();
    let held = first.claim().unwrap();
    publish_all(&mut second, 1);
    let mut late = dynamic_stages.join("late", StartAt::Now).unwrap().poller();
    drop(stays);
    assert_eq!(late.sequence(), 0);
    assert_eq!(second.try_publish(|_| {}), Err(TryPublishError::Full));
    held.publish().unwrap();
    late.poll().unwrap().consume_all();
    assert_eq!(second.try_publish(|_| {}), Ok(2));
}

// ---- what waits for it, and what wakes it ----

fn dynamic_consumer_holds_the_producer_back_until_it_leaves<K: Kind>() {
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(4, 1);
    let late = dynamic_stages.join("late", StartAt::Now).unwrap();
    pass(&mut producer, &mut stays, 4);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    let mut late = late.poller();
    late.poll().unwrap().consume(1);
    assert_eq!(producer.try_publish(|page| *page = Page::of(4)), Ok(4));
    stays.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    drop(late);
    assert_eq!(producer.try_publish(|page| *page = Page::of(5)), Ok(5));
    stays.poll().unwrap().consume_all();
    // The same of a handler that never ran.
    let never = dynamic_stages.join("late", StartAt::Now).unwrap().read_handler(Reader::default());
    pass(&mut producer, &mut stays, 4);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    drop(never);
    pass(&mut producer, &mut stays, 4);
}

fn producer_that_waits_for_a_dynamic_stage_continues_when_its_consumer_leaves<K: Kind>() {
    for _ in 0..repeats(200) {
        let ring =
            K::ring(2, Page::default).producer_wait_strategy(Blocking::default()).dynamic_stages(1);
        let (mut producer, consumers) = with_all::<K>(ring).build().unwrap();
        let late = consumers.dynamic_stages().join("late", StartAt::Now).unwrap();
        let running = consumers.start().unwrap();
        let publisher = thread::spawn(move || publish_all(&mut producer, 10));
        wait_until(|| running.backlog()[0].events == 0);
        drop(late);
        publisher.join().unwrap();
        assert_eq!(running.shutdown().unwrap().stages().next().unwrap().processed(), 10);
    }
}

/// The other threads of this ring never park, so they do not check for parked threads by default.
fn dynamic_consumer_parks_and_is_woken_although_others_spin<K: Kind>() {
    let ring = K::ring(8, Page::default)
        .wait_strategy(Yielding::default())
        .producer_wait_strategy(BusySpin)
        .dynamic_stages(1);
    let (mut producer, consumers) = with_all::<K>(ring).build().unwrap();
    let late = Stage::new("late").wait_strategy(Blocking { yields: 0 });
    let mut late = consumers.dynamic_stages().join(late, StartAt::Now).unwrap().poller();
    let running = consumers.start().unwrap();
    for sequence in 0..repeats(500) {
        thread::scope(|scope| {
            scope.spawn(|| publish_all(&mut producer, 1));
            let mut batch = late.wait_timeout(PATIENCE).unwrap();
            assert_eq!(batch.iter().next().map(|(found, _)| found), Some(sequence));
        });
    }
    running.shutdown().unwrap();
}

// ---- dynamic stages ----

fn dynamic_stage_and_name_are_free_again_when_their_consumer_leaves<K: Kind>() {
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(4, 1);
    for _ in 0..20 {
        assert_eq!(dynamic_stages.free(), 1);
        let mut late = dynamic_stages.join("late", StartAt::Now).unwrap().poller();
        assert_eq!(dynamic_stages.free(), 0);
        pass(&mut producer, &mut stays, 3);
        assert_eq!(late.poll().unwrap().first_sequence() % 3, 0);
    }
}

fn dynamic_stage_that_is_refused_returns_the_reason<K: Kind>() {
    let (_producer, _stays, dynamic_stages) = ring_with_poller::<K>(4, 2);
    let take = |stage: Stage| dynamic_stages.join(stage, StartAt::Now).err();
    let named = |name: &str| Stage::new(name);
    let duplicate =
        |stage: &str| Some(DynamicStageError::DuplicateName { stage: stage.to_owned() });
    assert_eq!(take(named("stays")), duplicate("stays"));
    let one = dynamic_stages.join("one", StartAt::Now).unwrap();
    assert_eq!(take(named("one")), duplicate("one"));
    let _two = dynamic_stages.join("two", StartAt::Now).unwrap();
    assert_eq!(take(named("three")), Some(DynamicStageError::NoneFree { stages: 2 }));
    drop(one);
    for stage in ["", "nul\0"] {
        let error = DynamicStageError::InvalidName { stage: stage.to_owned() };
        assert_eq!(take(named(stage)), Some(error));
    }
    let error = DynamicStageError::ZeroMaxBatch { stage: "one".to_owned() };
    assert_eq!(take(named("one").max_batch(0)), Some(error));
    let error = DynamicStageError::Acknowledged { stage: "one".to_owned() };
    assert_eq!(take(named("one").acknowledged()), Some(error));
    assert_eq!(take(named("one")), None, "a name that was refused is free");

    let (_producer, _stays, dynamic_stages) = ring_with_poller::<K>(4, 0);
    assert_eq!(
        dynamic_stages.join("one", StartAt::Now).unwrap_err(),
        DynamicStageError::NoneReserved
    );
}

fn closed_ring_can_be_joined_to_drain_it<K: Kind>() {
    let (mut producer, stays, dynamic_stages) = ring_with_poller::<K>(8, 2);
    publish_all(&mut producer, 5);
    producer.close();
    let mut now = dynamic_stages.join("now", StartAt::Now).unwrap().poller();
    assert_eq!(now.poll().err(), Some(PollError::Closed));
    let mut late = dynamic_stages.join("late", StartAt::Sequence(2)).unwrap().poller();
    assert_eq!(late.wait().unwrap().iter().map(|(sequence, _)| sequence).sum::<u64>(), 2 + 3 + 4);
    assert_eq!(late.wait().err(), Some(RingError::Closed));
    drop(stays);
}

/// The ring is not halted, although its only stage leaves before it has read the event.
fn consumer_that_begins_at_the_end_has_drained_the_ring<K: Kind>() {
    let (mut producer, stays, dynamic_stages) = ring_with_poller::<K>(8, 1);
    publish_all(&mut producer, 1);
    producer.close();
    let late =
        dynamic_stages.join("late", StartAt::Now).unwrap().read_handler(Reader::default()).run();
    assert_eq!((late.outcome(), late.processed()), (&Outcome::Drained, 0));
    drop(stays);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
}

fn halted_ring_cannot_be_joined<K: Kind>() {
    let (_producer, stays, dynamic_stages) = ring_with_poller::<K>(8, 1);
    drop(stays);
    let (_producer_of_two, consumers) =
        with_all::<K>(K::ring(8, Page::default).dynamic_stages(1)).build().unwrap();
    let others = consumers.dynamic_stages();
    consumers.start().unwrap().halt();
    for (dynamic_stages, cause) in
        [(dynamic_stages, HaltCause::NoConsumers), (others, HaltCause::Requested)]
    {
        for _ in 0..2 {
            let error = dynamic_stages.join("late", StartAt::Now).unwrap_err();
            assert_eq!((error, dynamic_stages.free()), (DynamicStageError::Halted(cause), 1));
        }
    }
}

fn ring_stays_alive_as_long_as_a_dynamic_stage_is_taken<K: Kind>() {
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(4, 2);
    pass(&mut producer, &mut stays, 10);
    let mut one = dynamic_stages.join("one", StartAt::Now).unwrap().poller();
    drop(stays);
    pass(&mut producer, &mut one, 10);
    publish_all(&mut producer, 1);
    let mut two = dynamic_stages.join("two", StartAt::Oldest).unwrap().poller();
    drop(one);
    let mut reader = Reader::default();
    while two.sequence() < 21 {
        two.poll().unwrap().iter().for_each(|(sequence, page)| reader.see(page, sequence));
    }
    pass(&mut producer, &mut two, 10);
    drop(two);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
}

// ---- handlers in dynamic stages ----

fn dynamic_consumer_that_panics_halts_the_ring<K: Kind>() {
    quiet_panics();
    let (mut producer, stays, dynamic_stages) = ring_with_poller::<K>(2, 1);
    let dynamic_stage = dynamic_stages.join("late", StartAt::Now).unwrap();
    let consumer = dynamic_stage.read(|_, _, _| panic!("{ON_PURPOSE}"));
    publish_all(&mut producer, 1);
    let finished = consumer.run();
    let message = ON_PURPOSE.to_owned();
    assert_eq!(*finished.outcome(), Outcome::Panicked { message, sequence: 0 });
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageFailed)));
    assert_eq!(dynamic_stages.free(), 1);
    drop(stays);
}

fn dynamic_consumer_drains_what_was_accepted<K: Kind>() {
    let ring = with_all::<K>(K::ring(8, Page::default).dynamic_stages(1));
    let (mut producer, consumers) = ring.build().unwrap();
    let late = consumers.dynamic_stages().join("late", StartAt::Now).unwrap();
    let (turnstile, mut pass) = Turnstile::new();
    let late = late.read(move |page, sequence, _| {
        pass(sequence);
        page.check(sequence);
    });
    let late = thread::spawn(move || late.run());
    let running = consumers.start().unwrap();
    publish_all(&mut producer, 8);
    running.shutdown().unwrap(); // does not wait for the dynamic consumer
    drop(turnstile);
    let finished = late.join().unwrap();
    assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Drained, 8));
}

/// A dynamic stage needs no marks of failed events, because no stage depends on it.
fn dynamic_consumer_may_stop_skip_and_survive_a_panic<K: Kind>() {
    quiet_panics();
    let (mut producer, mut stays, dynamic_stages) = ring_with_poller::<K>(8, 1);
    let late = Stage::new("late").on_panic(Action::Skip);
    let late =
        dynamic_stages.join(late, StartAt::Now).unwrap().read(|_, sequence, _| match sequence {
            0 => panic!("{ON_PURPOSE}"),
            1 => Action::Skip,
            2 => Action::Continue,
            _ => Action::Stop,
        });
    pass(&mut producer, &mut stays, 5);
    let late = late.run();
    assert_eq!((late.outcome(), late.processed(), late.skipped()), (&Outcome::Stopped, 3, 2));
    assert_eq!(dynamic_stages.free(), 1);
    pass(&mut producer, &mut stays, 10);
}

fn dynamic_consumer_waits_for_the_acknowledgement_of_a_writer<K: Kind>() {
    let ring = K::ring(8, Page::default).dynamic_stages(1).stage("write").acknowledged();
    let ring = ring.write_handler(Writer(|sequence| [0, sequence]));
    let (mut producer, mut consumers) = with_all::<K>(ring).build().unwrap();
    let acknowledger = consumers.take_acknowledger("write").unwrap();
    let mut late = consumers.dynamic_stages().join("late", StartAt::Now).unwrap().poller();
    let running = consumers.start().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    assert_eq!(late.poll().err(), Some(PollError::Empty));
    for sequence in 0..2 {
        acknowledger.acknowledge(sequence + 1).unwrap();
        let mut batch = late.wait().unwrap();
        assert_eq!(batch.len(), 1);
        batch.iter().for_each(|(_, page)| page.check(sequence));
    }
    running.shutdown().unwrap();
}

fn dynamic_consumer_learns_which_events_failed_before_it<K: Kind>() {
    let ring = K::ring(4, Page::default).dynamic_stages(1).stage("fails");
    let skips = |sequence| if sequence % 3 == 0 { Action::Continue } else { Action::Skip };
    let ring = ring.write(move |_, sequence, _| skips(sequence));
    let (mut producer, consumers) = ring.build().unwrap();
    let late = consumers.dynamic_stages().join("late", StartAt::Now).unwrap();
    let late = late.read_handler(Reader::default());
    let running = consumers.start().unwrap();
    let late = thread::spawn(move || late.run());
    publish_all(&mut producer, 30);
    running.shutdown().unwrap();
    let reader = late.join().unwrap().take_handler::<Reader>().unwrap();
    assert_eq!((reader.events, reader.failed), (30, 20));
}

/// A strategy whose `clone` takes a dynamic stage.
struct Sits {
    dynamic_stages: Arc<Mutex<Option<DynamicStages<Page>>>>,
    waits: Blocking,
}

impl Clone for Sits {
    fn clone(&self) -> Self {
        let dynamic_stages = self.dynamic_stages.lock().unwrap().clone();
        if let Some(dynamic_stages) = dynamic_stages
            && let Ok(dynamic_stage) = dynamic_stages.join("copied", StartAt::Now)
        {
            assert!(dynamic_stages.join("none is left", StartAt::Now).is_err());
            drop(dynamic_stage.poller());
        }
        Self { dynamic_stages: Arc::clone(&self.dynamic_stages), waits: self.waits }
    }
}

impl WaitStrategy for Sits {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.waits.next(waiting)
    }
}

/// The call must not wait for a lock that its own thread holds.
fn strategy_may_take_a_dynamic_stage_in_its_clone<K: Kind>() {
    let shared = Arc::default();
    let wait = Sits { dynamic_stages: Arc::clone(&shared), waits: Blocking::default() };
    let ring = K::ring(8, Page::default).wait_strategy(wait).dynamic_stages(2);
    let (mut producer, mut consumers) = ring.stage("all").poller().build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    *shared.lock().unwrap() = Some(dynamic_stages.clone());
    let mut late = dynamic_stages.join("late", StartAt::Now).unwrap().poller();
    assert_eq!(dynamic_stages.free(), 1, "the other dynamic stage is free again");
    pass(&mut producer, &mut late, 1);
    *shared.lock().unwrap() = None;
}

// ---- stopping one stage ----

/// In LMAX, halting one processor of a group left its siblings in an endless loop.
fn stage_that_is_stopped_leaves_its_siblings_running<K: Kind>() {
    let names = ["left", "middle", "right"];
    for (stopped, is_on_one_thread) in
        names.into_iter().flat_map(|name| [(name, false), (name, true)])
    {
        let mut graph = Graph::new();
        for name in names {
            let stage = Stage::new(name);
            let stage = if is_on_one_thread { stage.on_thread("one") } else { stage };
            graph.stage(stage).read_handler(Reader::default());
        }
        let ring = K::ring(4, Page::default).wait_strategy(Blocking { yields: 0 }).graph(graph);
        let (mut producer, consumers) =
            ring.stage("last").read_handler(Reader::default()).build().unwrap();
        let running = consumers.start().unwrap();
        publish_all(&mut producer, 20);
        assert!(running.stop_handle("unknown").is_none());
        running.stop_handle(stopped).unwrap().stop();
        publish_all(&mut producer, 20);
        for stage in running.shutdown().unwrap().stages() {
            let is_stopped = stage.name() == stopped;
            let outcome = if is_stopped { Outcome::Stopped } else { Outcome::Drained };
            assert_eq!(*stage.outcome(), outcome, "{} when {stopped} stops", stage.name());
            assert!(is_stopped || stage.processed() == 40);
        }
    }
}

fn stage_downstream_of_a_stopped_one_depends_on_its_upstream_stages<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, Page::default)
        .stage("write")
        .write_handler(Writer(|sequence| [sequence / 20, sequence]))
        .stage("stopped")
        .read_handler(Reader::default())
        .stage("last")
        .read_handler(Reader::default())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for half in 0..2 {
        (0..20).for_each(|_| _ = producer.publish(|page| *page = Page::of(half)).unwrap());
        running.stop_handle("stopped").unwrap().stop();
    }
    assert_eq!(running.shutdown().unwrap().take::<Reader>("last").unwrap().events, 40);
}

fn stopped_handler_is_returned<K: Kind>() {
    let ring = with_all::<K>(K::ring(4, Page::default).dynamic_stages(1));
    let (mut producer, consumers) = ring.build().unwrap();
    let late = consumers.dynamic_stages().join("late", StartAt::Now).unwrap();
    let late = late.read_handler(Reader::default());
    let running = consumers.start().unwrap();
    let stops = [running.stop_handle("all").unwrap(), late.stop_handle()];
    let late = thread::spawn(move || late.run());
    publish_all(&mut producer, 20);
    stops.iter().for_each(|stop| stop.stop());
    let mut late = late.join().unwrap();
    let reader = late.take_handler::<Reader>().unwrap();
    assert_eq!((reader.events, reader.shutdowns), (late.processed(), 1));
    let mut report = running.join().unwrap();
    let processed = report.stages().next().unwrap().processed();
    let reader = report.take::<Reader>("all").unwrap();
    assert_eq!((reader.events, reader.shutdowns), (processed, 1));
}

fn last_stage_that_is_stopped_halts_the_ring<K: Kind>() {
    let (mut producer, consumers) = with_all::<K>(K::ring(4, Page::default)).build().unwrap();
    let running = consumers.start().unwrap();
    running.stop_handle("all").unwrap().stop();
    let report = running.join().unwrap();
    assert_eq!(*report.stages().next().unwrap().outcome(), Outcome::Stopped);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
}

fn late_stop_does_not_meet_the_next_consumer_of_a_dynamic_stage<K: Kind>() {
    let (mut producer, _stays, dynamic_stages) = ring_with_poller::<K>(4, 1);
    let sit = || dynamic_stages.join("late", StartAt::Now).unwrap().read_handler(Reader::default());
    let before = sit();
    let stop = before.stop_handle();
    stop.stop();
    assert_eq!(*before.run().outcome(), Outcome::Stopped);
    let after = sit();
    stop.stop();
    publish_all(&mut producer, 1);
    producer.close();
    assert_eq!(*after.run().outcome(), Outcome::Drained);
}

fn stage_that_tries_an_event_for_ever_can_be_stopped<K: Kind>() {
    let ring = K::ring(4, Page::default).stage("tries").read(|_, _, _| Action::Retry(PATIENCE));
    let (mut producer, consumers) = with_all::<K>(ring).build().unwrap();
    let running = consumers.start().unwrap();
    publish_all(&mut producer, 1);
    running.stop_handle("tries").unwrap().stop();
    let report = running.shutdown().unwrap();
    let ends: Vec<_> = report.stages().map(|stage| (stage.outcome(), stage.processed())).collect();
    assert_eq!(ends, [(&Outcome::Stopped, 0), (&Outcome::Drained, 1)]);
}
