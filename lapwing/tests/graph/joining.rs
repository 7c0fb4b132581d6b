//! Tests consumers that join and leave while others publish: where one starts, that no consumer
//! misses an event, that the others continue, and the errors of a refused join.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::common::{
    Kind, Lcg, Many, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, wait_until, watched,
};
use lapwing::consumer::{Failure, Outcome};
use lapwing::error::{HaltCause, PollError, PublishError, RingError, SeatError, TryPublishError};
use lapwing::graph::{Graph, Seats, StartAt};
use lapwing::producer::Sequencer;
use lapwing::wait::{Blocking, BusySpin, Step, WaitStrategy, Waiting, Yielding};
use lapwing::{Action, Consumers, Disruptor, EventHandler, Poller, Producer, Sequence, Stage};

crate::common::for_both_producers! {
    consumers_that_join_under_load_miss_nothing_and_are_never_overrun,
    consumers_that_join_after_a_writer_see_what_it_wrote,
    consumers_that_leave_under_load_take_no_event_from_others,
    handlers_that_are_stopped_under_load_take_no_event_from_others,
    miri_consumers_come_and_go_under_load,
    consumer_that_joins_now_starts_at_the_cursor,
    consumer_that_joins_at_the_oldest_gets_what_the_ring_holds,
    consumer_that_joins_at_a_sequence_starts_there_or_gets_the_valid_range,
    consumer_in_a_seat_holds_the_producer_back_until_it_leaves,
    producer_that_waits_for_a_seat_continues_when_its_consumer_leaves,
    consumer_in_a_seat_parks_and_is_woken_although_others_spin,
    seat_and_name_are_free_again_when_their_consumer_leaves,
    seat_that_is_refused_returns_the_reason,
    closed_ring_can_be_joined_to_drain_it,
    consumer_that_begins_at_the_end_has_drained_the_ring,
    halted_ring_cannot_be_joined,
    seat_stays_free_when_no_consumer_is_left,
    ring_stays_alive_as_long_as_a_seat_is_taken,
    consumer_in_a_seat_that_never_ran_leaves,
    consumer_in_a_seat_that_panics_halts_the_ring,
    consumer_in_a_seat_drains_what_was_accepted,
    stage_that_is_stopped_leaves_its_siblings_running,
    stage_downstream_of_a_stopped_one_depends_on_its_upstream_stages,
    stopped_handler_is_returned,
    last_stage_that_is_stopped_halts_the_ring,
    late_stop_does_not_meet_the_next_consumer_of_a_seat,
    stage_that_is_stopped_leaves_those_on_its_thread_running,
    stage_that_tries_an_event_for_ever_can_be_stopped,
    consumer_in_a_seat_may_stop_skip_and_survive_a_panic,
    consumer_in_a_seat_waits_for_the_acknowledgement_of_a_writer,
    consumer_in_a_seat_learns_which_events_failed_before_it,
    strategy_may_take_a_seat_in_its_clone,
}

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

/// Checks that sequences have no gap, from the first one on.
#[derive(Default)]
struct Contiguous(Option<Sequence>);

impl Contiguous {
    #[track_caller]
    fn see(&mut self, page: &Page, sequence: Sequence) {
        page.check(sequence);
        if let Some(last) = self.0.replace(sequence) {
            assert_eq!(sequence, last + 1, "an event was lost or came twice");
        }
    }
}

/// Publishes an event that equals its sequence. Returns false once the ring has ended.
fn publish<S: Sequencer>(producer: &mut Producer<Page, S>) -> bool {
    let Ok(mut claim) = producer.claim() else { return false };
    *claim = Page::of(claim.sequence());
    claim.publish().is_ok()
}

/// Returns a ring of pages with one poller, its seats, and the poller.
fn ring_with_poller<K: Kind>(
    capacity: usize,
    seats: usize,
) -> (ProducerOf<Page, K>, Poller<Page>, Seats<Page>) {
    let ring = K::ring(capacity, Page::default).seats(seats).stage("stays").poller();
    let (producer, mut consumers) = ring.build().unwrap();
    let poller = consumers.take_poller("stays").unwrap();
    (producer, poller, consumers.seats())
}

/// Publishes `count` pages and consumes them.
fn pass<S: Sequencer>(producer: &mut Producer<Page, S>, poller: &mut Poller<Page>, count: u64) {
    for _ in 0..count {
        assert!(publish(producer));
        let (sequence, page) = poller.poll().unwrap().iter().next().map(|(s, e)| (s, *e)).unwrap();
        page.check(sequence);
    }
}

// ---- under load ----

/// Each of `joiners` threads joins `times` times, in every possible way, and reads up to 60 events
/// each time. Returns how many events they saw.
fn join_again_and_again(seats: &Seats<Page>, joiners: u64, times: u64) -> u64 {
    let seen = AtomicU64::new(0);
    thread::scope(|scope| {
        for joiner in 0..joiners {
            let seen = &seen;
            scope.spawn(move || {
                let mut random = Lcg(joiner);
                for time in 0..times {
                    let mut poller =
                        join_somewhere(seats, &format!("{joiner}-{time}"), &mut random);
                    let first = poller.sequence();
                    let mut contiguous = Contiguous::default();
                    let end = first + random.below(60);
                    while poller.sequence() < end {
                        let mut batch = poller.wait().unwrap();
                        assert!(batch.first_sequence() >= first);
                        // Leaves the rest of the last batch.
                        let left = (end - batch.first_sequence()) as usize;
                        for (sequence, page) in batch.iter().take(left) {
                            assert!(contiguous.0.is_some() || sequence == first);
                            contiguous.see(page, sequence);
                        }
                    }
                    seen.fetch_add(poller.sequence() - first, Ordering::Relaxed);
                }
            });
        }
    });
    seen.into_inner()
}

/// Joins at the next event, at the oldest event, or at a sequence between the two.
fn join_somewhere(seats: &Seats<Page>, name: &str, random: &mut Lcg) -> Poller<Page> {
    let mut start = [StartAt::Now, StartAt::Oldest, StartAt::Sequence(0)][random.below(3) as usize];
    loop {
        match seats.take(name, start) {
            Ok(seat) => {
                if let StartAt::Sequence(requested) = start {
                    assert_eq!(seat.sequence(), requested);
                }
                return seat.poller();
            }
            Err(SeatError::OutOfRange { oldest, newest, .. }) => {
                assert!(oldest <= newest);
                start = StartAt::Sequence(oldest + (newest - oldest) / 2);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Runs `consumers`, whose stage "all" checks every event, and a producer that publishes while
/// `body` runs. Then checks that the stage has seen every event.
fn under_load<K: Kind, R>(
    mut producer: ProducerOf<Page, K>,
    consumers: Consumers<'_, Page>,
    body: impl FnOnce() -> R,
) -> R {
    let is_done = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        let publisher = scope.spawn({
            let is_done = Arc::clone(&is_done);
            move || {
                let mut published = 0;
                while !is_done.load(Ordering::Relaxed) && publish(&mut producer) {
                    published += 1;
                }
                published
            }
        });
        let result = body();
        is_done.store(true, Ordering::Relaxed);
        let published: u64 = publisher.join().unwrap();
        let report = running.shutdown().unwrap();
        for stage in report.stages().filter(|stage| stage.outcome() != &Outcome::Stopped) {
            assert_eq!(stage.processed(), published, "{}", stage.name());
        }
        result
    })
}

/// A consumer that joins must not be overwritten while it reads, nor start past its first event. In
/// a small ring, a producer reads the gate all the time.
fn consumers_that_join_under_load_miss_nothing_and_are_never_overrun<K: Kind>() {
    let mut all = Contiguous::default();
    let (producer, consumers) = K::ring(4, Page::default)
        .seats(3)
        .stage("all")
        .read(|page, sequence, _| all.see(page, sequence))
        .build()
        .unwrap();
    let seats = consumers.seats();
    let seen =
        under_load::<K, _>(producer, consumers, || join_again_and_again(&seats, 3, repeats(700)));
    assert!(seen > 0);
    assert_eq!(seats.free(), 3);
}

#[test]
fn consumers_that_join_among_several_producers_are_never_overrun() {
    watched(|| {
        let mut handled = 0;
        let (producer, consumers) = Disruptor::multi_producer(16, Page::default)
            .seats(2)
            .stage("all")
            .read(|page, sequence, _| {
                page.check(sequence);
                handled += 1;
            })
            .build()
            .unwrap();
        let seats = consumers.seats();
        let (is_done, published) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            let running = consumers.start_scoped(scope).unwrap();
            for _ in 0..2 {
                let (mut producer, is_done, published) = (producer.clone(), &is_done, &published);
                scope.spawn(move || {
                    while !is_done.load(Ordering::Relaxed) {
                        drop(producer.claim().unwrap()); // given up, so consumers skip it
                        assert!(publish(&mut producer));
                        published.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            let mut random = Lcg(1);
            for time in 0..repeats(500) {
                let mut poller = join_somewhere(&seats, &format!("{time}"), &mut random);
                for (sequence, page) in poller.wait().unwrap().iter() {
                    page.check(sequence);
                }
            }
            is_done.store(true, Ordering::Relaxed);
            drop(producer);
            running.join().unwrap();
        });
        assert_eq!(handled, published.into_inner());
    });
}

/// A seat parallel to a stage that writes would be a data race.
fn consumers_that_join_after_a_writer_see_what_it_wrote<K: Kind>() {
    let (mut first, mut all) = (Contiguous::default(), Contiguous::default());
    let mut ring = K::ring(16, Page::default).seats(2).stage("first").read(|page, _, _| _ = page);
    ring = ring.stage("erase").write(|page, sequence, _| {
        first.see(page, sequence);
        *page = Page::of(u64::MAX);
    });
    let (producer, consumers) = ring
        .stage("write")
        .write(|page, sequence, _| *page = Page::of(sequence))
        .side_by_side(|side| {
            side.stage("all")
                .read(|page, sequence, _| all.see(page, sequence))
                .stage("beside")
                .read(|page, sequence, _| page.check(sequence))
        })
        .build()
        .unwrap();
    let seats = consumers.seats();
    under_load::<K, _>(producer, consumers, || join_again_and_again(&seats, 2, repeats(500)));
}

/// Pollers that leave with unconsumed events, or in the middle of a batch.
fn consumers_that_leave_under_load_take_no_event_from_others<K: Kind>() {
    let mut all = Contiguous::default();
    let (producer, consumers) = K::ring(8, Page::default)
        .seats(2)
        .stage("all")
        .read(|page, sequence, _| all.see(page, sequence))
        .build()
        .unwrap();
    let seats = consumers.seats();
    under_load::<K, _>(producer, consumers, || {
        let mut stays = seats.take("stays", StartAt::Now).unwrap().poller();
        let mut contiguous = Contiguous::default();
        for time in 0..repeats(500) {
            let mut leaves = seats.take("leaves", StartAt::Oldest).unwrap().poller();
            let held = leaves.sequence();
            // The producer stops one lap after `leaves`, which holds its first event.
            assert_eq!(leaves.wait().unwrap().first_sequence(), held);
            if time % 2 == 0 {
                leaves.poll().unwrap().consume(1);
            }
            drop(leaves);
            // No consumer gates it any longer, so the event it held is overwritten.
            while stays.sequence() < held + 10 {
                for (sequence, page) in stays.wait().unwrap().iter() {
                    contiguous.see(page, sequence);
                }
            }
        }
    });
}

/// The same with handlers on threads.
fn handlers_that_are_stopped_under_load_take_no_event_from_others<K: Kind>() {
    let mut all = Contiguous::default();
    let (producer, consumers) = K::ring(8, Page::default)
        .seats(2)
        .stage("all")
        .read(|page, sequence, _| all.see(page, sequence))
        .build()
        .unwrap();
    let seats = consumers.seats();
    under_load::<K, _>(producer, consumers, || {
        for time in 0..repeats(100) {
            let seat = seats.take("late", StartAt::Now).unwrap();
            let start = seat.sequence();
            let (seen, is_seen) = mpsc::channel();
            let mut contiguous = Contiguous::default();
            let consumer = seat.read(|page, sequence, _| {
                contiguous.see(page, sequence);
                let _ = seen.send(sequence);
            });
            let stop = consumer.stop_handle();
            thread::scope(|scope| {
                let thread = scope.spawn(move || consumer.run());
                assert_eq!(is_seen.iter().nth(time as usize % 20), Some(start + time % 20));
                stop.stop();
                let finished = thread.join().unwrap();
                assert_eq!(*finished.outcome(), Outcome::Stopped);
                assert!(finished.processed() > time % 20);
            });
        }
    });
}

fn miri_consumers_come_and_go_under_load<K: Kind>() {
    let mut all = Contiguous::default();
    let (producer, consumers) = K::ring(4, Page::default)
        .seats(1)
        .stage("all")
        .read(|page, sequence, _| all.see(page, sequence))
        .build()
        .unwrap();
    let seats = consumers.seats();
    under_load::<K, _>(producer, consumers, || join_again_and_again(&seats, 1, 3));
}

// ---- where a consumer starts ----

fn consumer_that_joins_now_starts_at_the_cursor<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(8, 1);
    for _ in 0..5 {
        assert!(publish(&mut producer));
    }
    let mut late = seats.take("late", StartAt::Now).unwrap().poller();
    assert_eq!((late.sequence(), late.poll().err()), (5, Some(PollError::Empty)));
    assert!(publish(&mut producer));
    let first = late.poll().unwrap().iter().next().map(|(sequence, page)| (sequence, page.0[0]));
    assert_eq!(first, Some((5, 5)));
    assert_eq!(stays.poll().unwrap().len(), 6);
}

fn consumer_that_joins_at_the_oldest_gets_what_the_ring_holds<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(8, 1);
    pass(&mut producer, &mut stays, 5);
    // Finished by all consumers and still available: no producer could overwrite it.
    assert_eq!(seats.take("late", StartAt::Oldest).unwrap().sequence(), 0);
    pass(&mut producer, &mut stays, 95);
    let late = seats.take("late", StartAt::Oldest).unwrap();
    let oldest = late.sequence();
    assert!((92..=100).contains(&oldest), "{oldest}");
    let mut late = late.poller();
    while late.sequence() < 100 {
        let mut contiguous = Contiguous::default();
        late.poll().unwrap().iter().for_each(|(sequence, page)| contiguous.see(page, sequence));
    }
}

fn consumer_that_joins_at_a_sequence_starts_there_or_gets_the_valid_range<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(8, 1);
    pass(&mut producer, &mut stays, 20);
    for _ in 0..4 {
        assert!(publish(&mut producer));
    }
    let error = seats.take("late", StartAt::Sequence(3)).unwrap_err();
    let SeatError::OutOfRange { requested: 3, oldest, newest: 24 } = error else {
        panic!("{error:?}");
    };
    assert!((16..=20).contains(&oldest), "unfinished events are still available: {oldest}");
    for granted in oldest..=24 {
        let seat = seats.take("late", StartAt::Sequence(granted)).unwrap();
        assert_eq!(seat.sequence(), granted);
        match seat.poller().poll() {
            Ok(mut batch) => {
                let (sequence, page) = batch.iter().next().unwrap();
                assert_eq!(sequence, granted);
                page.check(granted);
            }
            Err(error) => assert_eq!((granted, error), (24, PollError::Empty)),
        }
    }
    let error = seats.take("late", StartAt::Sequence(25)).unwrap_err();
    assert_eq!(error, SeatError::OutOfRange { requested: 25, oldest, newest: 24 });
    assert_eq!(seats.free(), 1);
}

/// A consumer must not start at the claim counter, past a claim that is still held. If it were the
/// only consumer, the slot of that claim would be granted a second time.
#[test]
fn consumer_that_joins_now_starts_at_a_claim_that_is_held() {
    let (mut first, stays, seats) = ring_with_poller::<Many>(2, 1);
    let mut second = first.clone();
    let held = first.claim().unwrap();
    assert!(publish(&mut second));
    let mut late = seats.take("late", StartAt::Now).unwrap().poller();
    drop(stays);
    assert_eq!(late.sequence(), 0);
    assert_eq!(second.try_publish(|_| {}), Err(TryPublishError::Full));
    held.publish().unwrap();
    late.poll().unwrap().consume_all();
    assert_eq!(second.try_publish(|_| {}), Ok(2));
}

// ---- what waits for it, and what wakes it ----

fn consumer_in_a_seat_holds_the_producer_back_until_it_leaves<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(4, 1);
    let late = seats.take("late", StartAt::Now).unwrap();
    pass(&mut producer, &mut stays, 4);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    let mut late = late.poller();
    late.poll().unwrap().consume(1);
    assert_eq!(producer.try_publish(|page| *page = Page::of(4)), Ok(4));
    stays.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    drop(late);
    assert_eq!(producer.try_publish(|_| {}), Ok(5));
}

fn producer_that_waits_for_a_seat_continues_when_its_consumer_leaves<K: Kind>() {
    for _ in 0..repeats(200) {
        let (mut producer, consumers) = K::ring(2, Page::default)
            .producer_wait(Blocking::default())
            .seats(1)
            .stage("all")
            .read(|page, sequence, _| page.check(sequence))
            .build()
            .unwrap();
        let late = consumers.seats().take("late", StartAt::Now).unwrap();
        let running = consumers.start().unwrap();
        let publisher = thread::spawn(move || (0..10).all(|_| publish(&mut producer)));
        wait_until(|| running.backlog()[0].events == 0);
        drop(late);
        assert!(publisher.join().unwrap());
        assert_eq!(running.shutdown().unwrap().stages().next().unwrap().processed(), 10);
    }
}

/// The other threads of this ring never park, so they do not check for parked threads by default.
fn consumer_in_a_seat_parks_and_is_woken_although_others_spin<K: Kind>() {
    let (mut producer, consumers) = K::ring(8, Page::default)
        .wait(Yielding::default())
        .producer_wait(BusySpin)
        .seats(1)
        .stage("all")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let late = Stage::new("late").wait(Blocking { yields: 0 });
    let mut late = consumers.seats().take(late, StartAt::Now).unwrap().poller();
    let running = consumers.start().unwrap();
    for sequence in 0..repeats(500) {
        thread::scope(|scope| {
            let publisher = scope.spawn(|| assert!(publish(&mut producer)));
            let mut batch = late.wait_timeout(PATIENCE).unwrap();
            assert_eq!(batch.iter().next().map(|(found, _)| found), Some(sequence));
            publisher.join().unwrap();
        });
    }
    running.shutdown().unwrap();
}

// ---- seats ----

fn seat_and_name_are_free_again_when_their_consumer_leaves<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(4, 1);
    for _ in 0..20 {
        assert_eq!(seats.free(), 1);
        let mut late = seats.take("late", StartAt::Now).unwrap().poller();
        assert_eq!(seats.free(), 0);
        pass(&mut producer, &mut stays, 3);
        assert_eq!(late.poll().unwrap().first_sequence() % 3, 0);
    }
}

fn seat_that_is_refused_returns_the_reason<K: Kind>() {
    let (_producer, _stays, seats) = ring_with_poller::<K>(4, 2);
    let take = |stage: Stage| seats.take(stage, StartAt::Now).err();
    let named = |name: &str| Stage::new(name);
    let duplicate = |stage: &str| Some(SeatError::DuplicateName { stage: stage.to_owned() });
    assert_eq!(take(named("stays")), duplicate("stays"));
    let one = seats.take("one", StartAt::Now).unwrap();
    assert_eq!(take(named("one")), duplicate("one"));
    let _two = seats.take("two", StartAt::Now).unwrap();
    assert_eq!(take(named("three")), Some(SeatError::NoFreeSeat { seats: 2 }));
    drop(one);
    for stage in ["", "nul\0"] {
        let error = SeatError::InvalidName { stage: stage.to_owned() };
        assert_eq!(take(named(stage)), Some(error));
    }
    let error = SeatError::ZeroMaxBatch { stage: "one".to_owned() };
    assert_eq!(take(named("one").max_batch(0)), Some(error));
    let error = SeatError::Acknowledged { stage: "one".to_owned() };
    assert_eq!(take(named("one").acknowledged()), Some(error));
    assert_eq!(take(named("one")), None, "a name that was refused is free");

    let (_producer, _stays, seats) = ring_with_poller::<K>(4, 0);
    assert_eq!(seats.take("one", StartAt::Now).unwrap_err(), SeatError::NoSeats);
}

fn closed_ring_can_be_joined_to_drain_it<K: Kind>() {
    let (mut producer, stays, seats) = ring_with_poller::<K>(8, 2);
    for _ in 0..5 {
        assert!(publish(&mut producer));
    }
    producer.close();
    let mut now = seats.take("now", StartAt::Now).unwrap().poller();
    assert_eq!(now.poll().err(), Some(PollError::Closed));
    let mut late = seats.take("late", StartAt::Sequence(2)).unwrap().poller();
    assert_eq!(late.wait().unwrap().iter().map(|(sequence, _)| sequence).sum::<u64>(), 2 + 3 + 4);
    assert_eq!(late.wait().err(), Some(RingError::Closed));
    drop(stays);
}

/// The ring is not halted, although its only stage leaves before it has read the event.
fn consumer_that_begins_at_the_end_has_drained_the_ring<K: Kind>() {
    let (mut producer, stays, seats) = ring_with_poller::<K>(8, 1);
    assert!(publish(&mut producer));
    producer.close();
    let late = seats.take("late", StartAt::Now).unwrap().read(|_, _, _| {});
    let finished = late.run();
    assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Drained, 0));
    drop(stays);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Closed));
}

fn halted_ring_cannot_be_joined<K: Kind>() {
    let (mut producer, stays, seats) = ring_with_poller::<K>(8, 1);
    drop(stays);
    assert_eq!(
        seats.take("late", StartAt::Now).unwrap_err(),
        SeatError::Halted(HaltCause::NoConsumers)
    );

    let (producer_of_two, consumers) =
        K::ring(8, Page::default).seats(1).stage("all").read(|_, _, _| {}).build().unwrap();
    let seats = consumers.seats();
    consumers.start().unwrap().halt();
    assert_eq!(
        seats.take("late", StartAt::Now).unwrap_err(),
        SeatError::Halted(HaltCause::Requested)
    );
    assert_eq!(seats.free(), 1);
    drop(producer_of_two);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
}

fn seat_stays_free_when_no_consumer_is_left<K: Kind>() {
    let (_producer, stays, seats) = ring_with_poller::<K>(8, 1);
    drop(stays);
    for _ in 0..2 {
        let error = seats.take("late", StartAt::Now).unwrap_err();
        assert_eq!(error, SeatError::Halted(HaltCause::NoConsumers));
        assert_eq!(seats.free(), 1);
    }
}

fn ring_stays_alive_as_long_as_a_seat_is_taken<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(4, 2);
    pass(&mut producer, &mut stays, 10);
    let mut one = seats.take("one", StartAt::Now).unwrap().poller();
    drop(stays);
    pass(&mut producer, &mut one, 10);
    assert!(publish(&mut producer));
    let mut two = seats.take("two", StartAt::Oldest).unwrap().poller();
    drop(one);
    let mut contiguous = Contiguous::default();
    while two.sequence() < 21 {
        two.poll().unwrap().iter().for_each(|(sequence, page)| contiguous.see(page, sequence));
    }
    pass(&mut producer, &mut two, 10);
    drop(two);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
}

fn consumer_in_a_seat_that_never_ran_leaves<K: Kind>() {
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(2, 1);
    let consumer = seats.take("late", StartAt::Now).unwrap().read(|_, _, _| {});
    pass(&mut producer, &mut stays, 2);
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    drop(consumer);
    pass(&mut producer, &mut stays, 2);
}

fn consumer_in_a_seat_that_panics_halts_the_ring<K: Kind>() {
    quiet_panics();
    let (mut producer, stays, seats) = ring_with_poller::<K>(2, 1);
    let seat = seats.take("late", StartAt::Now).unwrap();
    let consumer = seat.read(|_, _, _| panic!("{ON_PURPOSE}"));
    assert!(publish(&mut producer));
    let finished = consumer.run();
    let message = ON_PURPOSE.to_owned();
    assert_eq!(*finished.outcome(), Outcome::Panicked { message, sequence: 0 });
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageFailed)));
    assert_eq!(seats.free(), 1);
    drop(stays);
}

fn consumer_in_a_seat_drains_what_was_accepted<K: Kind>() {
    let (mut producer, consumers) =
        K::ring(8, Page::default).seats(1).stage("all").read(|_, _, _| {}).build().unwrap();
    let late = consumers.seats().take("late", StartAt::Now).unwrap();
    let (go_on, gate) = mpsc::channel::<()>();
    let late = late.read(move |page, sequence, _| {
        let _ = gate.recv();
        page.check(sequence);
    });
    let late = thread::spawn(move || late.run());
    let running = consumers.start().unwrap();
    for _ in 0..8 {
        assert!(publish(&mut producer));
    }
    running.shutdown().unwrap(); // does not wait for the poller
    drop(go_on);
    let finished = late.join().unwrap();
    assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Drained, 8));
}

// ---- stopping one stage ----

/// In LMAX, halting one processor of a group left its siblings in an endless loop.
fn stage_that_is_stopped_leaves_its_siblings_running<K: Kind>() {
    let names = ["left", "middle", "right"];
    for stopped in names {
        let mut graph = Graph::new();
        for name in names {
            graph.stage(name).read(|page: &Page, sequence, _| page.check(sequence));
        }
        let ring = K::ring(4, Page::default).wait(Blocking::default()).graph(graph);
        let (mut producer, consumers) = ring.stage("last").read(|_, _, _| {}).build().unwrap();
        let running = consumers.start().unwrap();
        assert!((0..20).all(|_| publish(&mut producer)));
        running.stop_handle(stopped).unwrap().stop();
        assert!((0..20).all(|_| publish(&mut producer)));
        assert!(running.stop_handle("unknown").is_none());
        for stage in running.shutdown().unwrap().stages() {
            let expected =
                if stage.name() == stopped { Outcome::Stopped } else { Outcome::Drained };
            assert_eq!(*stage.outcome(), expected, "{} when {stopped} stops", stage.name());
            assert!(stage.name() == stopped || stage.processed() == 40);
        }
    }
}

fn stage_downstream_of_a_stopped_one_depends_on_its_upstream_stages<K: Kind>() {
    let seen = AtomicU64::new(0);
    let (mut producer, consumers) = K::ring(4, Page::default)
        .stage("write")
        .write(|page, sequence, _| *page = Page::of(sequence + 1))
        .stage("stopped")
        .read(|_, _, _| {})
        .stage("last")
        .read(|page, sequence, _| {
            page.check(sequence + 1);
            seen.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        assert!((0..20).all(|_| publish(&mut producer)));
        running.stop_handle("stopped").unwrap().stop();
        assert!((0..20).all(|_| publish(&mut producer)));
        running.shutdown().unwrap();
    });
    assert_eq!(seen.into_inner(), 40);
}

/// Counts its calls.
#[derive(Default)]
struct Counting {
    events: u64,
    shutdowns: u64,
}

impl EventHandler<Page> for Counting {
    fn on_event(&mut self, page: &Page, sequence: Sequence, _: bool) {
        page.check(sequence);
        self.events += 1;
    }

    fn on_shutdown(&mut self) {
        self.shutdowns += 1;
    }
}

fn stopped_handler_is_returned<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, Page::default)
        .seats(1)
        .stage("counting")
        .read_handler(Counting::default())
        .build()
        .unwrap();
    let late = consumers.seats().take("late", StartAt::Now).unwrap();
    let late = late.read_handler(Counting::default());
    let running = consumers.start().unwrap();
    let stops = [running.stop_handle("counting").unwrap(), late.stop_handle()];
    let late = thread::spawn(move || late.run());
    assert!((0..20).all(|_| publish(&mut producer)));
    stops.iter().for_each(|stop| stop.stop());
    let mut late = late.join().unwrap();
    let handler = late.take_handler::<Counting>().unwrap();
    assert_eq!((handler.events, handler.shutdowns), (late.processed(), 1));
    let mut report = running.join().unwrap();
    let processed = report.stages().next().unwrap().processed();
    let handler = report.take::<Counting>("counting").unwrap();
    assert_eq!((handler.events, handler.shutdowns), (processed, 1));
}

fn last_stage_that_is_stopped_halts_the_ring<K: Kind>() {
    let (mut producer, consumers) =
        K::ring(4, Page::default).stage("all").read(|_, _, _| {}).build().unwrap();
    let running = consumers.start().unwrap();
    running.stop_handle("all").unwrap().stop();
    let report = running.join().unwrap();
    assert_eq!(*report.stages().next().unwrap().outcome(), Outcome::Stopped);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::NoConsumers)));
}

fn late_stop_does_not_meet_the_next_consumer_of_a_seat<K: Kind>() {
    let (mut producer, _stays, seats) = ring_with_poller::<K>(4, 1);
    let before = seats.take("late", StartAt::Now).unwrap().read(|_, _, _| {});
    let stop = before.stop_handle();
    stop.stop();
    assert_eq!(*before.run().outcome(), Outcome::Stopped);
    let after = seats.take("late", StartAt::Now).unwrap().read(|_, _, _| {});
    stop.stop();
    assert!(publish(&mut producer));
    producer.close();
    assert_eq!(*after.run().outcome(), Outcome::Drained);
}

fn stage_that_is_stopped_leaves_those_on_its_thread_running<K: Kind>() {
    for stopped in ["left", "right"] {
        let (mut producer, consumers) = K::ring(4, Page::default)
            .wait(Blocking { yields: 0 })
            .stage("left")
            .on_thread("both")
            .read(|page, sequence, _| page.check(sequence))
            .stage("right")
            .on_thread("both")
            .read(|page, sequence, _| page.check(sequence))
            .build()
            .unwrap();
        let running = consumers.start().unwrap();
        assert!((0..20).all(|_| publish(&mut producer)));
        running.stop_handle(stopped).unwrap().stop();
        assert!((0..20).all(|_| publish(&mut producer)));
        for stage in running.shutdown().unwrap().stages() {
            let is_stopped = *stage.outcome() == Outcome::Stopped;
            assert_eq!(is_stopped, stage.name() == stopped);
            assert!(is_stopped || stage.processed() == 40);
        }
    }
}

fn stage_that_tries_an_event_for_ever_can_be_stopped<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, Page::default)
        .stage("tries")
        .read(|_, _, _| Action::Retry(PATIENCE))
        .stage("goes on")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    assert!(publish(&mut producer));
    running.stop_handle("tries").unwrap().stop();
    let report = running.shutdown().unwrap();
    let ends: Vec<_> = report.stages().map(|stage| (stage.outcome(), stage.processed())).collect();
    assert_eq!(ends, [(&Outcome::Stopped, 0), (&Outcome::Drained, 1)]);
}

/// A seat needs no marks of failed events, because no stage depends on it.
fn consumer_in_a_seat_may_stop_skip_and_survive_a_panic<K: Kind>() {
    quiet_panics();
    let (mut producer, mut stays, seats) = ring_with_poller::<K>(8, 1);
    let late = Stage::new("late").on_panic(Action::Skip);
    let late = seats.take(late, StartAt::Now).unwrap().read(|_, sequence, _| match sequence {
        0 => panic!("{ON_PURPOSE}"),
        1 => Action::Skip,
        2 => Action::Continue,
        _ => Action::Stop,
    });
    pass(&mut producer, &mut stays, 5);
    let late = late.run();
    assert_eq!((late.outcome(), late.processed(), late.skipped()), (&Outcome::Stopped, 3, 2));
    assert_eq!(seats.free(), 1);
    pass(&mut producer, &mut stays, 10);
}

fn consumer_in_a_seat_waits_for_the_acknowledgement_of_a_writer<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(8, Page::default)
        .seats(1)
        .stage("write")
        .acknowledged()
        .write(|page, sequence, _| {
            *page = Page::of(sequence + 1);
        })
        .stage("last")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let acknowledger = consumers.take_acknowledger("write").unwrap();
    let mut late = consumers.seats().take("late", StartAt::Now).unwrap().poller();
    let running = consumers.start().unwrap();
    assert!(publish(&mut producer) && publish(&mut producer));
    assert_eq!(late.poll().err(), Some(PollError::Empty));
    acknowledger.acknowledge(1).unwrap();
    let mut batch = late.wait().unwrap();
    assert_eq!(batch.len(), 1);
    batch.iter().for_each(|(sequence, page)| page.check(sequence + 1));
    drop(batch);
    acknowledger.acknowledge(2).unwrap();
    assert_eq!(late.wait().unwrap().len(), 1);
    running.shutdown().unwrap();
}

/// Counts failed and other events.
#[derive(Default)]
struct Judging {
    good: u64,
    failed: u64,
}

impl EventHandler<Page> for Judging {
    fn on_event(&mut self, _: &Page, sequence: Sequence, _: bool) {
        assert_eq!(sequence % 3, 0);
        self.good += 1;
    }

    fn on_failed_event(&mut self, _: &Page, sequence: Sequence, _: bool, _: &Failure<'_>) {
        assert_ne!(sequence % 3, 0);
        self.failed += 1;
    }
}

fn consumer_in_a_seat_learns_which_events_failed_before_it<K: Kind>() {
    let (mut producer, consumers) = K::ring(4, Page::default)
        .seats(1)
        .stage("fails")
        .write(|_, sequence, _| if sequence % 3 == 0 { Action::Continue } else { Action::Skip })
        .build()
        .unwrap();
    let late = consumers.seats().take("late", StartAt::Now).unwrap();
    let late = late.read_handler(Judging::default());
    let running = consumers.start().unwrap();
    let late = thread::spawn(move || late.run());
    assert!((0..30).all(|_| publish(&mut producer)));
    running.shutdown().unwrap();
    let judging = late.join().unwrap().take_handler::<Judging>().unwrap();
    assert_eq!((judging.good, judging.failed), (10, 20));
}

/// A strategy whose `clone` takes a seat.
struct Sits {
    seats: Arc<Mutex<Option<Seats<Page>>>>,
    waits: Blocking,
}

impl Clone for Sits {
    fn clone(&self) -> Self {
        let seats = self.seats.lock().unwrap().clone();
        if let Some(seats) = seats
            && let Ok(seat) = seats.take("copied", StartAt::Now)
        {
            assert!(seats.take("none is left", StartAt::Now).is_err());
            drop(seat.poller());
        }
        Self { seats: Arc::clone(&self.seats), waits: self.waits }
    }
}

impl WaitStrategy for Sits {
    const PARKS: bool = true;

    fn next(&mut self, waiting: &Waiting<'_>) -> Step {
        self.waits.next(waiting)
    }
}

/// The call must not wait for a lock that its own thread holds.
fn strategy_may_take_a_seat_in_its_clone<K: Kind>() {
    let shared = Arc::default();
    let wait = Sits { seats: Arc::clone(&shared), waits: Blocking::default() };
    let ring = K::ring(8, Page::default).wait(wait).seats(2);
    let (mut producer, mut consumers) = ring.stage("all").poller().build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let seats = consumers.seats();
    *shared.lock().unwrap() = Some(seats.clone());
    let mut late = seats.take("late", StartAt::Now).unwrap().poller();
    assert_eq!(seats.free(), 1, "the other seat is free again");
    assert!(publish(&mut producer));
    assert_eq!(late.poll().unwrap().len(), 1);
    *shared.lock().unwrap() = None;
}
