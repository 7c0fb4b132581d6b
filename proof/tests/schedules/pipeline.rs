//! One producer and three stages in a row, of which the first two write and the last is a poller.
//! Four threads, or three if the first two stages share one.
//!
//! ```text
//! producer ──> [ring] ──> add ──> double ──> poller
//! ```

use lapwing::error::RingError;
use lapwing::{Disruptor, Stage};

use crate::event::Event;
use crate::explore::{PARK, explore};
use crate::feed::{claim_each, publish, publish_pairs, publish_what_fits};
use crate::record::{changed, merged, start_reader};

fn pipeline(add: Stage, double: Stage) {
    let (mut producer, mut consumers) = Disruptor::single_producer(2, Event::default)
        .wait_strategy(PARK)
        .producer_wait_strategy(PARK)
        .stage(add)
        .write(|event, _, _| event.change(|value| value + 1))
        .stage(double)
        .write(|event, _, _| event.change(|value| value * 2))
        .stage("poller")
        .poller()
        .build()
        .unwrap();
    let reader = start_reader(&mut consumers, "poller");
    let running = consumers.start().unwrap();
    let accepted = merged([
        publish(&mut producer, 10..12),
        publish_pairs(&mut producer, 20..24),
        claim_each(&mut producer, 30..33),
        publish_what_fits(&mut producer, 40..43),
    ]);
    assert_eq!(accepted.len(), 11);
    running.shutdown().unwrap();
    let (seen, end) = reader.join().unwrap();
    assert_eq!((seen, end), (changed(&accepted, |value| (value + 1) * 2), RingError::Closed));
}

#[test]
fn pipeline_of_stages_that_write() {
    explore("pipeline", || pipeline(Stage::new("add"), Stage::new("double").max_batch(1)));
}

#[test]
fn pipeline_whose_stages_share_a_thread() {
    explore("shared thread", || {
        pipeline(Stage::new("add").on_thread("both"), Stage::new("double").on_thread("both"));
    });
}
