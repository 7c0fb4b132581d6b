//! Two producers and a diamond: two stages side by side, and one after both. Six threads.
//!
//! ```text
//! producer ──┐          ┌──> left ───┐
//!            ├─> [ring] ┤            ├──> last
//! producer ──┘          └──> right ──┘
//! ```

use lapwing::wait::Blocking;
use lapwing::{Disruptor, MultiProducer};
use shuttle::thread;

use crate::event::{Event, Log, Seen, in_order};
use crate::explore::explore;

/// Publishes three events and gives up one claim. Returns what was accepted.
fn publish(mut producer: MultiProducer<Event>, first: u64) -> Seen {
    let mut accepted = Seen::new();
    for value in first..first + 3 {
        if value == first + 1 {
            drop(producer.claim().unwrap());
        }
        let sequence = producer.publish(|event| event.write(value)).unwrap();
        accepted.push((sequence, value));
    }
    accepted
}

fn diamond() {
    let park = Blocking { yields: 0 };
    let [left, right, last] = [(); 3].map(|()| Log::default());
    let (producer, consumers) = Disruptor::multi_producer(2, Event::default)
        .wait(park)
        .producer_wait(park)
        .side_by_side(|side| {
            side.stage("left").read(left.reader()).stage("right").read(right.reader())
        })
        .stage("last")
        .read(last.reader())
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let other = producer.clone();
    let producers = [(producer, 100), (other, 200)]
        .map(|(producer, first)| thread::spawn(move || publish(producer, first)));
    let accepted = in_order(producers.map(|thread| thread.join().unwrap()));
    running.join().unwrap();
    for log in [left, right, last] {
        assert_eq!(log.seen(), accepted);
    }
}

#[test]
fn a_diamond_with_two_producers() {
    explore("diamond", diamond);
}
