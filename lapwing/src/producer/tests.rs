//! The ring's total of dropped events, compared with the counts of its producers.

use std::thread;

use crate::producer::WhenFull;
use crate::sync::Ordering;
use crate::{Disruptor, MultiProducer};

#[test]
fn the_total_of_the_ring_is_the_sum_of_what_its_producers_dropped() {
    let (producer, mut consumers) =
        Disruptor::multi_producer(4, || 0_u64).stage("all").poller().build().unwrap();
    let _poller = consumers.take_poller("all").unwrap(); // never polls
    let publish = |mut producer: MultiProducer<u64>| {
        let drop_new = WhenFull::DropNew;
        (0..1_000).for_each(|_| _ = producer.publish_or(drop_new, |_| {}).unwrap());
        producer.publish_batch_or(3, drop_new, |_| unreachable!()).unwrap();
        producer.dropped()
    };
    let threads = [0; 3].map(|_| {
        let producer = producer.clone();
        thread::spawn(move || publish(producer))
    });
    let dropped: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(dropped, 3 * 1_000 + 3 * 3 - 4);
    assert_eq!(producer.shared.watched.words.dropped.load(Ordering::Relaxed), dropped);
}
