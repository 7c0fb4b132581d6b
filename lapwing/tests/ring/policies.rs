//! Tests what `WhenFull` does over many calls: that each event is received or counted as dropped,
//! and which producer counts it. Not here: what one call answers (`answers`).

use std::thread;

use crate::common::{Kind, MOMENT, repeats, watched};
use crate::rings::{Another, ring_with_poller, with_pollers};
use lapwing::Disruptor;
use lapwing::producer::WhenFull;
use lapwing::wait::Blocking;

crate::common::for_both_producers! {
    miri_every_event_is_received_or_counted,
    miri_an_event_that_is_dropped_leaves_those_in_the_ring,
    a_parked_producer_goes_on_with_one_slot_if_no_more_are_freed,
}

/// The events of each producer arrive in order, and the others are counted by the producer that
/// made them.
fn miri_every_event_is_received_or_counted<K: Another>() {
    let events = repeats(30_000);
    let ring = K::ring(8, || (0, 0)).stage("all").poller();
    let (producer, [mut poller]) = with_pollers(ring, ["all"]);
    let producers = [K::another(&producer), K::another(&producer), Some(producer)];
    let producers: Vec<_> = producers.into_iter().flatten().collect();
    let mut received = vec![0_u64; producers.len()];
    thread::scope(|scope| {
        let publish = |(id, mut producer): (usize, crate::common::ProducerOf<_, K>)| {
            scope.spawn(move || {
                let accepted = (0..events).filter(|&number| {
                    let fill = |event: &mut (usize, u64)| *event = (id, number);
                    producer.publish_or(WhenFull::DropNew, fill).unwrap().is_some()
                });
                (accepted.count() as u64, producer.dropped())
            })
        };
        let threads: Vec<_> = producers.into_iter().enumerate().map(publish).collect();
        let mut last = vec![None; threads.len()];
        while let Ok(mut batch) = poller.wait() {
            for (_, &(id, number)) in batch.iter() {
                assert!(last[id] < Some(number));
                last[id] = Some(number);
                received[id] += 1;
            }
        }
        for (id, thread) in threads.into_iter().enumerate() {
            let (accepted, dropped) = thread.join().unwrap();
            assert_eq!((accepted, accepted + dropped), (received[id], events), "of producer {id}");
        }
    });
}

fn miri_an_event_that_is_dropped_leaves_those_in_the_ring<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    for number in 0..5 {
        let sequence = producer.publish_or(WhenFull::DropNew, |event| *event = number).unwrap();
        assert_eq!(sequence, (number < 2).then_some(number));
    }
    poller.poll().unwrap().consume(1);
    assert_eq!(producer.publish_or(WhenFull::DropNew, |event| *event = 5), Ok(Some(2)));
    assert_eq!(producer.publish_or(WhenFull::DropNew, |_| unreachable!()), Ok(None));
    assert_eq!(crate::rings::events(&mut poller), [1, 5]);
    assert_eq!(producer.dropped(), 4);
}

/// The producer first parks until a quarter of the ring is free, which here never happens.
fn a_parked_producer_goes_on_with_one_slot_if_no_more_are_freed<K: Kind>() {
    for _ in 0..5 {
        let ring = K::ring(8, || 0_u64).producer_wait_strategy(Blocking { yields: 0 });
        let (mut producer, [mut poller]) = with_pollers(ring.stage("all").poller(), ["all"]);
        producer.publish_batch(8, |_| {}).unwrap();
        thread::scope(|scope| {
            let publisher = scope.spawn(|| producer.publish(|_| {}));
            thread::sleep(MOMENT); // so that it has parked; what is checked holds in any case
            poller.poll_max(1).unwrap().consume_all();
            assert_eq!(publisher.join().unwrap(), Ok(8));
        });
    }
}

#[test]
fn a_clone_counts_its_own_dropped_events() {
    watched(|| {
        let ring = Disruptor::multi_producer(1, || 0_u64).stage("poller").poller();
        let (mut first, [_poller]) = with_pollers(ring, ["poller"]);
        first.publish(|_| {}).unwrap();
        first.publish_or(WhenFull::DropNew, |_| unreachable!()).unwrap();
        let mut second = first.clone();
        assert_eq!(second.dropped(), 0);
        second.publish_batch_or(1, WhenFull::DropNew, |_| unreachable!()).unwrap();
        second.publish_or(WhenFull::DropNew, |_| unreachable!()).unwrap();
        assert_eq!((first.dropped(), second.dropped()), (1, 2));
    });
}
