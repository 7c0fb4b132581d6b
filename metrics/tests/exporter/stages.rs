//! The figures of stages, also of those that stall, leave and join.

use std::thread;

use lapwing::Disruptor;
use lapwing::graph::{DynamicStages, StartAt};
use lapwing_metrics::Exporter;

use super::recorded::{RING, Recorded};

#[test]
fn each_figure_of_a_stage_is_recorded() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .stage("decode")
        .poller()
        .stage("sum")
        .poller()
        .build()
        .unwrap();
    let mut decode = consumers.take_poller("decode").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    producer.publish_batch(5, |_| {}).unwrap();
    decode.poll_max(2).unwrap().consume_all();
    decode.poll_max(1).unwrap().consume_all();
    let batch = decode.poll().unwrap();

    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_finished_total decode"], 3.0);
    assert_eq!(recorded["lapwing_stage_batches_total decode"], 2.0);
    assert_eq!(recorded["lapwing_stage_lag decode"], 2.0);
    assert_eq!(recorded["lapwing_stage_available decode"], 2.0);
    assert_eq!(recorded["lapwing_stage_state decode has a batch"], 1.0);
    assert_eq!(recorded["lapwing_stage_finished_total sum"], 0.0);
    assert_eq!(recorded["lapwing_stage_lag sum"], 5.0);
    assert_eq!(recorded["lapwing_stage_available sum"], 3.0);
    assert_eq!(recorded["lapwing_stage_state sum not polled"], 1.0);
    for zero in ["parks_total", "wakes_total", "unacknowledged", "unacknowledged_seconds"] {
        assert_eq!(recorded[&format!("lapwing_stage_{zero} sum")], 0.0);
    }

    drop(batch);
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_state decode has a batch"], 0.0);
    assert_eq!(recorded["lapwing_stage_state decode not polled"], 1.0);
}

#[test]
fn the_parks_and_the_wake_ups_of_a_thread_are_counted() {
    let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .stage("sum")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    let running = consumers.start().unwrap();
    let (mut parks, mut wakes, mut finished) = (0.0, 0.0, 0.0);
    let mut published = 0.0;
    // A park may end by itself, so it takes several of them.
    while wakes == 0.0 {
        let recorded = Recorded::by(&mut exporter);
        parks += recorded["lapwing_stage_parks_total sum"];
        wakes += recorded["lapwing_stage_wakes_total sum"];
        finished += recorded["lapwing_stage_finished_total sum"];
        if recorded["lapwing_stage_state sum parked"] == 1.0 {
            producer.publish(|_| {}).unwrap();
            published += 1.0;
        }
        thread::yield_now();
    }
    assert!(parks >= wakes);
    running.shutdown().unwrap();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(finished + recorded["lapwing_stage_finished_total sum"], published);
    assert_eq!(recorded["lapwing_stage_state sum drained"], 1.0);
}

#[test]
fn a_stage_that_stalls_is_stuck_until_it_goes_on() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .parallel(|parallel| parallel.stage("fast").poller().stage("stuck").poller())
        .build()
        .unwrap();
    let mut fast = consumers.take_poller("fast").unwrap();
    let mut stuck = consumers.take_poller("stuck").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    producer.publish_batch(3, |_| {}).unwrap();
    fast.poll().unwrap().consume_all();
    let stalled = loop {
        let recorded = Recorded::by(&mut exporter);
        if recorded["lapwing_stalled_seconds"] > 0.0 {
            break recorded;
        }
    };
    assert_eq!(stalled["lapwing_stage_stuck_seconds stuck"], stalled["lapwing_stalled_seconds"]);
    assert_eq!(stalled["lapwing_stage_stuck_seconds fast"], 0.0);

    stuck.poll().unwrap().consume_all();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_stuck_seconds stuck"], 0.0);
    assert_eq!(recorded["lapwing_stalled_seconds"], 0.0);
}

#[test]
fn an_event_that_is_not_acknowledged_is_a_stall() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .stage("journal")
        .acknowledged()
        .poller()
        .build()
        .unwrap();
    let acknowledger = consumers.take_acknowledger("journal").unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    producer.publish_batch(3, |_| {}).unwrap();
    journal.poll().unwrap().consume_all();
    acknowledger.acknowledge(1).unwrap();
    let stalled = loop {
        let recorded = Recorded::by(&mut exporter);
        if recorded["lapwing_stalled_seconds"] > 0.0 {
            break recorded;
        }
    };
    assert_eq!(stalled["lapwing_stage_unacknowledged journal"], 2.0);
    let seconds = stalled["lapwing_stage_unacknowledged_seconds journal"];
    assert_eq!(seconds, stalled["lapwing_stalled_seconds"]);

    acknowledger.acknowledge(3).unwrap();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_unacknowledged journal"], 0.0);
    assert_eq!(recorded["lapwing_stage_unacknowledged_seconds journal"], 0.0);
}

#[test]
fn a_stage_that_has_left_lags_behind_nothing() {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .stage("stays")
        .poller()
        .stage("leaves")
        .poller()
        .build()
        .unwrap();
    let mut stays = consumers.take_poller("stays").unwrap();
    let mut leaves = consumers.take_poller("leaves").unwrap();
    let mut exporter = Exporter::new(producer.monitor());
    producer.publish_batch(3, |_| {}).unwrap();
    stays.poll().unwrap().consume_all();
    leaves.poll_max(1).unwrap().consume_all();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_lag leaves"], 2.0);
    assert_eq!(recorded["lapwing_stage_finished_total leaves"], 1.0);

    drop(leaves);
    producer.publish_batch(5, |_| {}).unwrap(); // "stays" is behind
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_lag leaves"], 0.0);
    assert_eq!(recorded["lapwing_stage_finished_total leaves"], 0.0);
    assert_eq!(recorded["lapwing_stage_state leaves not polled"], 0.0);
    assert_eq!(recorded["lapwing_stage_state leaves left"], 1.0);
}

/// Returns a call that lets as many events pass the stage "all", the dynamic stage beside it, and an
/// exporter.
fn ring_with_a_dynamic_stage() -> (impl FnMut(usize), DynamicStages<u64>, Exporter) {
    let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
        .name(RING)
        .dynamic_stages(1)
        .stage("all")
        .poller()
        .build()
        .unwrap();
    let mut all = consumers.take_poller("all").unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    let exporter = Exporter::new(producer.monitor());
    let pass = move |count| {
        producer.publish_batch(count, |_| {}).unwrap();
        all.poll().unwrap().consume_all();
    };
    (pass, dynamic_stages, exporter)
}

#[test]
fn a_consumer_that_joins_and_leaves_is_recorded_as_left_once() {
    let (mut pass, dynamic_stages, mut exporter) = ring_with_a_dynamic_stage();
    pass(3);
    assert_eq!(Recorded::by(&mut exporter).get("lapwing_stage_lag audit"), None);

    // It has missed three events.
    let mut audit = dynamic_stages.join("audit", StartAt::Now).unwrap().poller();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_finished_total audit"], 0.0);
    pass(4);
    audit.poll_max(1).unwrap().consume_all();
    audit.poll_max(1).unwrap().consume_all();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_finished_total audit"], 2.0);
    assert_eq!(recorded["lapwing_stage_lag audit"], 2.0);

    drop(audit);
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_lag audit"], 0.0);
    assert_eq!(recorded["lapwing_stage_available audit"], 0.0);
    assert_eq!(recorded["lapwing_stage_state audit not polled"], 0.0);
    assert_eq!(recorded["lapwing_stage_state audit left"], 1.0);
    assert_eq!(recorded["lapwing_stage_finished_total audit"], 0.0);
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded.get("lapwing_stage_lag audit"), None);
    assert_eq!(recorded["lapwing_stage_lag all"], 0.0);

    // Another consumer of this name, which has missed events too.
    pass(5);
    let mut audit = dynamic_stages.join("audit", StartAt::Now).unwrap().poller();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_finished_total audit"], 0.0);
    assert_eq!(recorded["lapwing_stage_state audit left"], 0.0);
    pass(1);
    audit.poll().unwrap().consume_all();
    let recorded = Recorded::by(&mut exporter);
    assert_eq!(recorded["lapwing_stage_finished_total audit"], 1.0);
    assert_eq!(recorded["lapwing_stage_batches_total audit"], 1.0);
}

#[test]
fn a_name_that_passes_on_between_two_records_adds_no_missed_events() {
    let (mut pass, dynamic_stages, mut exporter) = ring_with_a_dynamic_stage();
    let mut audit = dynamic_stages.join("audit", StartAt::Now).unwrap().poller();
    exporter.record();
    pass(1);
    audit.poll().unwrap().consume_all();
    assert_eq!(Recorded::by(&mut exporter)["lapwing_stage_finished_total audit"], 1.0);

    drop(audit);
    pass(5);
    let mut audit = dynamic_stages.join("audit", StartAt::Now).unwrap().poller();
    assert_eq!(Recorded::by(&mut exporter)["lapwing_stage_finished_total audit"], 0.0);
    pass(2);
    audit.poll().unwrap().consume_all();
    assert_eq!(Recorded::by(&mut exporter)["lapwing_stage_finished_total audit"], 2.0);
}
