//! Tests what a monitor shows of the A/B tests of a ring's ends, and a ring without such tests.

use lapwing::Disruptor;
use lapwing::channel;
use lapwing::monitor::{AbTest, AbTestSubject};

/// Passes a million events through a ring of 1,024 slots, and returns the A/B tests of its ends.
fn after_a_stream(are_on: bool) -> Vec<AbTest> {
    let (mut producer, mut consumers) = Disruptor::single_producer(1 << 10, || 0_u64)
        .ab_tests(are_on)
        .stage("sum")
        .poller()
        .build()
        .unwrap();
    let mut sum = consumers.take_poller("sum").unwrap();
    for _ in 0..1 << 11 {
        producer.publish_batch(512, |_| {}).unwrap();
        sum.poll().unwrap().consume_all();
    }
    producer.monitor().ab_tests()
}

#[test]
fn a_monitor_shows_what_was_tested_and_measured() {
    let tests = after_a_stream(true);
    if cfg!(lapwing_plain) {
        assert!(tests.is_empty(), "there is no advice to test");
        return;
    }
    if cfg!(target_arch = "x86_64") && !cfg!(miri) {
        let slots = tests.iter().find(|test| test.subject == AbTestSubject::PrefetchSlots).unwrap();
        let last = slots.last.unwrap();
        assert!(slots.stage.is_none() && slots.tests > 0 && last.on > 0.0 && last.off > 0.0);
        assert!(
            tests.iter().any(|test| test.subject == AbTestSubject::PrefetchBatch && test.tests > 0)
        );
    }
}

#[test]
fn a_ring_that_is_built_without_tests_runs_none() {
    assert!(after_a_stream(false).is_empty());
}

#[test]
fn tests_of_an_end_go_with_it() {
    let (producer, mut consumers) =
        Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build().unwrap();
    let _all = consumers.take_poller("all").unwrap();
    let of_producers =
        || producer.monitor().ab_tests().iter().filter(|test| test.stage.is_none()).count();
    let of_one = of_producers();
    let clones = [0; 3].map(|_| producer.clone());
    assert_eq!(of_producers(), 4 * of_one);
    drop(clones);
    assert_eq!(of_producers(), of_one);
}

#[test]
fn a_channel_without_tests_moves_its_values() {
    let builder = channel::Builder::new(64).ab_tests(false).sender_wait(lapwing::wait::BusySpin);
    let (mut sender, mut receiver) = builder.spsc().unwrap();
    (0..64).for_each(|value| sender.send(value).unwrap());
    assert!(receiver.try_iter().eq(0..64));
}
