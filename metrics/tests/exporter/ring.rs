//! The figures of a ring.

use lapwing::Disruptor;
use lapwing::producer::WhenFull;
use lapwing_metrics::Exporter;

use super::recorded::{RING, Recorded};

#[test]
fn each_figure_of_a_ring_is_recorded() {
    let (mut producer, mut consumers) =
        Disruptor::single_producer(4, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    for price in 0..6 {
        producer.publish_or(WhenFull::DropNew, |event| *event = price).unwrap();
    }
    ticks.poll_max(1).unwrap().consume_all();

    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_published_total"], 4.0);
    assert_eq!(recorded["lapwing_dropped_total"], 2.0);
    assert_eq!(recorded["lapwing_capacity"], 4.0);
    assert_eq!(recorded["lapwing_free_slots"], 1.0);
    assert_eq!(recorded["lapwing_waiting_producers"], 0.0);
    assert_eq!(recorded["lapwing_ring_state open"], 1.0);
    assert_eq!(recorded["lapwing_stalled_seconds"], 0.0);
    assert_eq!(recorded["lapwing_claim_held_seconds"], 0.0);
    assert_eq!(recorded["lapwing_idle_seconds"], 0.0);
}

#[test]
fn a_counter_begins_at_zero_and_does_not_need_a_recorder_to_go_on() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .first_sequence(1_000)
        .stage("ticks")
        .poller()
        .build()
        .unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_published_total"], 0.0);
    assert_eq!(recorded["lapwing_stage_finished_total ticks"], 0.0);

    producer.publish_batch(3, |_| {}).unwrap();
    ticks.poll().unwrap().consume_all();
    exporter.record(); // without a recorder
    producer.publish(|_| {}).unwrap();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_published_total"], 4.0);
    assert_eq!(recorded["lapwing_stage_finished_total ticks"], 5.0);
}

#[test]
fn an_earlier_state_is_recorded_as_zero() {
    let (producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_ring_state open"], 1.0);
    assert_eq!(recorded.get("lapwing_ring_state closed"), None);

    drop(producer);
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_ring_state open"], 0.0);
    assert_eq!(recorded["lapwing_ring_state closed"], 1.0);
}

#[test]
fn each_interval_counts_for_the_part_that_limited_the_ring() {
    let (mut producer, mut consumers) =
        Disruptor::single_producer(4, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    exporter.record(); // nothing is published
    producer.publish_batch(2, |_| {}).unwrap();
    ticks.poll().unwrap().consume_all();
    exporter.record(); // the stage keeps up
    producer.publish_batch(4, |_| {}).unwrap();
    exporter.record(); // no slot is free
    let recorded = Recorded::by(&mut exporter); // as before

    let intervals = |part| recorded[&format!("lapwing_limited_intervals_total {part}")];
    assert_eq!(intervals("none"), 1.0);
    assert_eq!(intervals("producers"), 1.0);
    assert_eq!(intervals("stage ticks"), 2.0);
}

#[test]
fn a_claim_that_is_held_and_an_idle_ring_have_durations() {
    let (mut producer, mut consumers) =
        Disruptor::multi_producer(8, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let idle = |recorded: Recorded| recorded["lapwing_idle_seconds"] > 0.0;
    while !idle(Recorded::by(&mut exporter)) {}

    let claim = producer.claim().unwrap();
    let is_held = |recorded: &Recorded| recorded["lapwing_claim_held_seconds"] > 0.0;
    let held = loop {
        let recorded = Recorded::by(&mut exporter);
        if is_held(&recorded) {
            break recorded;
        }
    };
    assert_eq!(held["lapwing_stalled_seconds"], held["lapwing_claim_held_seconds"]);
    assert_eq!(held["lapwing_idle_seconds"], 0.0);

    claim.publish().unwrap();
    ticks.poll().unwrap().consume_all();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_claim_held_seconds"], 0.0);
    assert_eq!(recorded["lapwing_stalled_seconds"], 0.0);
}
