//! The figures of a ring.

use lapwing::Disruptor;
use lapwing::producer::WhenFull;
use lapwing_metrics::Exporter;
use metrics_util::debugging::DebuggingRecorder;

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
fn a_counter_begins_at_zero_and_adds_what_has_happened() {
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
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_published_total"], 3.0);
    assert_eq!(recorded["lapwing_stage_finished_total ticks"], 5.0);
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_published_total"], 0.0);
    assert_eq!(recorded["lapwing_stage_finished_total ticks"], 0.0);
}

/// Counters that took the totals of a ring would stand still until the second ring had as many
/// events, and both states would be present.
#[test]
fn a_second_ring_of_the_same_name_continues_the_figures() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    for events in [5, 2] {
        let ring = Disruptor::single_producer(8, || 0_u64).name(RING).stage("ticks").poller();
        let (mut producer, consumers) = ring.build().unwrap();
        let mut exporter = Exporter::new(producer.monitor());
        producer.publish_batch(events, |_| {}).unwrap();
        metrics::with_local_recorder(&recorder, || exporter.record());
        if events == 5 {
            drop(consumers); // halts the ring
            metrics::with_local_recorder(&recorder, || exporter.record());
        }
    }
    let recorded = Recorded::of(&snapshotter);
    assert_eq!(recorded["lapwing_published_total"], 7.0);
    assert_eq!(recorded["lapwing_ring_state open"], 1.0);
    assert_eq!(recorded["lapwing_ring_state halted"], 0.0);
    assert_eq!(recorded["lapwing_stage_state ticks not polled"], 1.0);
    assert_eq!(recorded["lapwing_stage_state ticks left"], 0.0);
}

#[test]
fn one_state_is_present() {
    let (producer, _consumers) =
        Disruptor::single_producer(8, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let states = ["open", "closing", "closed", "halted"];
    let mut present = || {
        let recorded = Recorded::by(&mut exporter);
        states.map(|state| recorded[&format!("lapwing_ring_state {state}")])
    };
    assert_eq!(present(), [1.0, 0.0, 0.0, 0.0]);
    drop(producer);
    assert_eq!(present(), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn each_interval_counts_for_the_part_that_limited_the_ring() {
    let (mut producer, mut consumers) =
        Disruptor::single_producer(4, || 0_u64).name(RING).stage("ticks").poller().build().unwrap();
    let mut ticks = consumers.take_poller("ticks").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let idle = Recorded::by(&mut exporter);
    producer.publish_batch(2, |_| {}).unwrap();
    ticks.poll().unwrap().consume_all();
    let keeps_up = Recorded::by(&mut exporter);
    producer.publish_batch(4, |_| {}).unwrap(); // no slot is free
    let is_full = Recorded::by(&mut exporter);

    assert_eq!(idle["lapwing_limited_intervals_total none"], 1.0);
    assert_eq!(keeps_up["lapwing_limited_intervals_total producers"], 1.0);
    assert_eq!(is_full["lapwing_limited_intervals_total stage ticks"], 1.0);
    assert_eq!(is_full.get("lapwing_limited_intervals_total producers"), None);
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
