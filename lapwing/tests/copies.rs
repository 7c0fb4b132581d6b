//! Lone events that their producer copies for whoever waits for them.

mod common;

use std::thread;

use lapwing::wait::{Adaptive, Blocking, BusySpin, Sleeping, WaitStrategy, Yielding};
use lapwing::{Disruptor, PollError, Poller, SingleProducer, Stopped};

/// What a producer settles now and then, such as whether its events are lone, it has settled by then.
const SETTLES: u64 = 3 * 4096;

/// Has padding after its first byte and its last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Padded {
    side: u8,
    price: u32,
    quantity: u16,
    order: u64,
    flag: u8,
}

impl Padded {
    fn of(number: u64) -> Self {
        let (side, quantity) = (number as u8, number as u16);
        Self { side, price: number as u32, quantity, order: number, flag: !side }
    }
}

/// A ring whose lone events are copied, and its two ends.
fn ring<E: Copy + Default + Send + Sync>(
    slots: usize,
    wait: impl WaitStrategy,
) -> (SingleProducer<E>, Poller<E>) {
    let (producer, mut consumers) = Disruptor::single_producer(slots, E::default)
        .copy_lone_events()
        .wait(wait)
        .then_poller("all")
        .build()
        .unwrap();
    (producer, consumers.take_poller("all").unwrap())
}

/// What one poll finds, all of it consumed.
fn take(poller: &mut Poller<u64>) -> Result<Vec<u64>, PollError> {
    let mut batch = poller.poll()?;
    let events = batch.iter().map(|(sequence, event)| {
        assert_eq!(sequence, *event, "each event is its sequence");
        *event
    });
    Ok(events.collect())
}

/// `count` events there and back, one at a time, each made by `event`.
fn exchange<E: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync>(
    wait: impl WaitStrategy,
    count: u64,
    event: fn(u64) -> E,
) {
    let (mut there, mut numbers) = ring::<E>(16, wait.clone());
    let (mut back, mut answers) = ring::<E>(16, wait);
    let echo = move || {
        for _ in 0..count {
            let mut batch = numbers.wait().unwrap();
            let received = batch.as_slice()[0];
            batch.consume(1);
            drop(batch);
            back.publish(|event| *event = received).unwrap();
        }
        (numbers, back) // whose drop would end the rings while the last call is under way
    };
    let mut call = |number| {
        there.publish(|slot| *slot = event(number)).unwrap();
        let mut batch = answers.wait().unwrap();
        assert!(batch.iter().eq([(number, &event(number))]), "{number}");
    };
    common::watched(|| {
        thread::scope(|scope| {
            let ends = scope.spawn(echo);
            (0..count).for_each(&mut call);
            drop(ends.join().unwrap());
        });
    });
}

#[test]
fn lone_events_of_any_size_come_back_as_they_were_sent() {
    fn bytes<const N: usize>(number: u64) -> [u8; N] {
        std::array::from_fn(|place| (number as usize * 7 + place) as u8)
    }
    let count = common::repeats(SETTLES);
    exchange(BusySpin, count, |number| number);
    exchange(BusySpin, count, Padded::of);
    exchange(BusySpin, count, |number| [number, !number, number << 7, 1, 2, number ^ 77]);
    exchange(BusySpin, count, |number| [number; 7]); // too large for a copy
    exchange(BusySpin, count, bytes::<1>);
    exchange(BusySpin, count, bytes::<13>);
    exchange(BusySpin, count, bytes::<31>);
    exchange(BusySpin, count, |number| u128::from(number) << 64 | 5); // aligned to more than a word, on some CPUs
    exchange(BusySpin, count, |number| if number % 3 == 0 { "fizz" } else { "" }); // pointers
    exchange(BusySpin, count, |_| ());
}

#[test]
fn every_strategy_sees_lone_events() {
    let count = common::repeats(SETTLES);
    exchange(Adaptive::default(), count, |number| number);
    exchange(Yielding::default(), count, |number| number);
    exchange(Sleeping::default(), count / 64 + 1, |number| number);
    exchange(Blocking::default(), count / 64 + 1, |number| number);
}

#[test]
fn what_was_published_before_a_poll_is_found_by_it_whether_or_not_it_was_copied() {
    let (mut producer, mut poller) = ring::<u64>(1 << 15, BusySpin);
    let mut next = 0;
    for _ in 0..3 {
        for burst in [1, 3, 5000, 1, 2, 9000] {
            assert_eq!(take(&mut poller), Err(PollError::Empty));
            for _ in 0..burst {
                producer.publish(|event| *event = next).unwrap();
                next += 1;
            }
            let first = next - burst;
            let mut found = Vec::new();
            while let Ok(events) = take(&mut poller) {
                found.extend(events);
            }
            assert!(found.into_iter().eq(first..next), "{first}..{next}");
        }
        for _ in 0..SETTLES {
            producer.publish(|event| *event = next).unwrap();
            assert_eq!(take(&mut poller), Ok(vec![next]));
            next += 1;
        }
    }
}

/// The slot of the event that `producer` publishes.
fn slot_of(producer: &mut SingleProducer<u64>, value: u64) -> *const u64 {
    let mut slot = std::ptr::null();
    producer.publish(|event| (*event, slot) = (value, &raw const *event)).unwrap();
    slot
}

/// Where a copy is of use and can be made: what is looked at lies elsewhere.
#[cfg(all(target_arch = "x86_64", not(any(miri, lapwing_portable))))]
#[test]
fn a_lone_event_is_looked_at_in_its_copy_and_one_of_a_stream_in_its_slot() {
    let (mut producer, mut poller) = ring::<u64>(1 << 15, BusySpin);
    for number in 0..3 {
        let slot = slot_of(&mut producer, number);
        let mut batch = poller.poll().unwrap();
        assert_ne!(batch.as_slice().as_ptr(), slot);
        batch.consume_all();
    }
    let first = slot_of(&mut producer, 3);
    for value in 4..4 + SETTLES {
        producer.publish(|event| *event = value).unwrap();
    }
    assert_eq!(poller.poll().unwrap().as_slice().as_ptr(), first);
}

/// As somebody else may write to it.
#[test]
fn an_event_that_stages_may_change_is_looked_at_in_its_slot() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .copy_lone_events()
        .then_poller("read")
        .then_poller_mut("write")
        .build()
        .unwrap();
    let mut reader = consumers.take_poller("read").unwrap();
    for number in 0..3 {
        let slot = slot_of(&mut producer, number);
        let mut batch = reader.poll().unwrap();
        assert_eq!(batch.as_slice().as_ptr(), slot);
        batch.consume_all();
    }
}

#[test]
fn a_batch_published_together_is_found_together() {
    let (mut producer, mut poller) = ring::<u64>(8, BusySpin);
    for round in 0..100 {
        let events = producer
            .publish_batch(2, |slots| {
                slots.iter_mut().zip(2 * round..).for_each(|(slot, value)| *slot = value);
            })
            .unwrap();
        let mut found = take(&mut poller).unwrap();
        found.extend(take(&mut poller).unwrap_or_default()); // the rest, after the wrap
        assert!(found.into_iter().eq(events));
    }
}

#[test]
fn an_event_that_was_not_consumed_comes_again() {
    let (mut producer, mut poller) = ring::<u64>(8, BusySpin);
    producer.publish(|event| *event = 0).unwrap();
    for _ in 0..3 {
        assert_eq!(poller.poll().unwrap().as_slice(), [0]);
        assert_eq!(poller.wait().unwrap().as_slice(), [0]);
    }
    producer.publish(|event| *event = 1).unwrap();
    assert_eq!(poller.poll().unwrap().as_slice(), [0, 1]);
    assert_eq!(take(&mut poller), Ok(vec![0, 1]));
    assert_eq!(take(&mut poller), Err(PollError::Empty));
}

#[test]
fn what_a_stage_writes_is_seen_by_the_next_one() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .copy_lone_events()
        .then_poller_mut("write")
        .then_poller("read")
        .build()
        .unwrap();
    let mut writer = consumers.take_poller_mut("write").unwrap();
    let mut reader = consumers.take_poller("read").unwrap();
    for number in 0..20 {
        producer.publish(|event| *event = number).unwrap();
        writer.poll().unwrap().iter_mut().for_each(|(_, event)| *event += 100);
        assert!(reader.poll().unwrap().iter().eq([(number, &(number + 100))]));
    }
}

#[test]
fn stages_side_by_side_and_after_each_other_see_the_same() {
    let count = common::repeats(SETTLES);
    let sum = |events: u64| events * (events - 1) / 2;
    let (mut left, mut right, mut last) = (0, 0, 0);
    let (mut producer, consumers) = Disruptor::single_producer(64, Padded::default)
        .copy_lone_events()
        .then_all(|side| {
            side.read("left", |event, sequence, _| {
                assert_eq!(*event, Padded::of(sequence));
                left += event.order;
            })
            .read_batch("right", |events, _| {
                right += events.iter().map(|event| event.order).sum::<u64>()
            })
        })
        .then("last", |event, sequence, _| {
            assert_eq!(*event, Padded::of(sequence));
            last += event.order;
        })
        .build()
        .unwrap();
    let monitor = producer.monitor();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for number in 0..count {
            producer.publish(|event| *event = Padded::of(number)).unwrap();
            // Some of them lone.
            while number % 3 == 0 && monitor.snapshot().stages[2].sequence <= number {
                thread::yield_now();
            }
        }
        running.shutdown().unwrap();
    });
    assert_eq!([left, right, last], [sum(count); 3]);
}

#[test]
fn a_ring_that_begins_elsewhere_copies_as_well() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .copy_lone_events()
        .first_sequence(1000)
        .then_poller("all")
        .build()
        .unwrap();
    let mut poller = consumers.take_poller("all").unwrap();
    for number in 1000..1100 {
        assert_eq!(take(&mut poller), Err(PollError::Empty));
        producer.publish(|event| *event = number).unwrap();
        assert_eq!(take(&mut poller), Ok(vec![number]));
    }
}

#[test]
fn the_end_of_a_ring_is_seen_after_its_last_event() {
    let (mut producer, mut poller) = ring::<u64>(8, BusySpin);
    producer.publish(|event| *event = 0).unwrap();
    assert_eq!(take(&mut poller), Ok(vec![0]));
    producer.publish(|event| *event = 1).unwrap();
    drop(producer);
    assert_eq!(take(&mut poller), Ok(vec![1]));
    assert_eq!(poller.poll().err(), Some(PollError::Closed));
    assert_eq!(poller.wait().err(), Some(Stopped::Closed));
}

#[test]
fn who_waits_for_a_copy_learns_of_a_close() {
    let (mut producer, mut poller) = ring::<u64>(8, BusySpin);
    producer.publish(|event| *event = 0).unwrap();
    assert_eq!(take(&mut poller), Ok(vec![0]));
    let waiter = thread::spawn(move || poller.wait().err());
    thread::yield_now();
    producer.close();
    assert_eq!(waiter.join().unwrap(), Some(Stopped::Closed));
}

#[test]
fn a_consumer_that_joins_sees_lone_events() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .copy_lone_events()
        .seats(1)
        .then_poller("all")
        .build()
        .unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    producer.publish(|event| *event = 0).unwrap();
    let mut late = consumers.seats().take("late", lapwing::StartAt::Now).unwrap().poller();
    assert_eq!(late.poll().err(), Some(PollError::Empty));
    for number in 1..20 {
        producer.publish(|event| *event = number).unwrap();
        assert!(late.poll().unwrap().iter().eq([(number, &number)]));
        drop(take(&mut all).unwrap());
    }
}

/// Else what is stored for each event lay across two lines in one process of four.
#[test]
fn ends_of_a_ring_begin_on_a_line() {
    assert_eq!((align_of::<SingleProducer<u8>>(), align_of::<Poller<u8>>()), (64, 64));
}
