//! An observer shows what a monitor of the ring shows.

use lapwing::Disruptor;
use std::time::Duration;

use lapwing::graph::{Graph, StartAt};
use lapwing::monitor::{Monitor, Part, RingState, StageState};
use lapwing::observe::{Observer, ProcessState};
use lapwing::producer::WhenFull;

use crate::common::{Kind, wait_until};
use crate::{files_of, observer_of, unique_name};

crate::common::for_both_producers! {
    an_observer_shows_what_a_monitor_shows,
    dropped_events_and_refused_claims_are_seen_from_outside,
    a_consumer_in_a_dynamic_stage_has_its_name_outside,
    a_ring_keeps_its_last_figures_after_it_is_dropped,
    the_verdicts_are_those_of_a_monitor,
}

/// Checks that both show the same: the table, and the graph.
fn assert_same(inside: &Monitor, outside: &Observer) {
    let [inside, outside] = [inside, outside.monitor()].map(|monitor| {
        let mut snapshot = monitor.snapshot();
        snapshot.stages.iter_mut().for_each(|stage| stage.state_for = Duration::ZERO);
        snapshot
    });
    assert_eq!(inside.to_string(), outside.to_string());
    assert_eq!(inside.to_dot(), outside.to_dot());
    assert_eq!(inside.to_mermaid(), outside.to_mermaid());
}

fn an_observer_shows_what_a_monitor_shows<K: Kind>() {
    let name = unique_name();
    let mut graph = Graph::new();
    let decode = graph.stage("decode").poller_mut();
    let price = graph.stage("price").after(decode).workers(3).read(|_| |_: &u64, _, _| {});
    let journal = graph.stage("journal").acknowledged().after(decode).poller();
    graph.stage("out").after(price).after(journal).poller();
    let ring = K::ring(8, || 0_u64).observable(&name).name("orders \"1\"").dynamic_stages(2);
    let (mut producer, mut consumers) = ring.graph(graph).build().unwrap();
    let (inside, outside) = (producer.monitor(), observer_of(&name));
    assert_same(&inside, &outside);

    let mut decode = consumers.take_poller_mut("decode").unwrap();
    let mut journal = consumers.take_poller("journal").unwrap();
    let out = consumers.take_poller("out").unwrap();
    let acknowledger = consumers.take_acknowledger("journal").unwrap();
    producer.publish_batch(5, |_| {}).unwrap();
    assert_same(&inside, &outside);
    decode.poll_max(4).unwrap().consume_all();
    assert_same(&inside, &outside);
    journal.poll_max(3).unwrap().consume_all();
    acknowledger.acknowledge(2).unwrap();
    assert_same(&inside, &outside);
    drop(out);
    assert_same(&inside, &outside);

    let running = consumers.start().unwrap();
    let has_finished = |monitor: &Monitor| monitor.snapshot().stages[1].sequence == 4;
    wait_until(|| has_finished(&inside) && has_finished(outside.monitor()));
    decode.poll().unwrap().consume_all();
    journal.poll().unwrap().consume_all();
    acknowledger.acknowledge(5).unwrap();
    producer.close();
    drop((producer, decode, journal));
    running.join().unwrap();
    assert_eq!(inside.snapshot().state, RingState::Closed);
    assert_same(&inside, &outside);
}

fn dropped_events_and_refused_claims_are_seen_from_outside<K: Kind>() {
    let name = unique_name();
    let ring = K::ring(4, || 0_u64).observable(&name).first_sequence(1000).stage("all").poller();
    let (mut producer, _consumers) = ring.build().unwrap();
    let (inside, outside) = (producer.monitor(), observer_of(&name));
    assert_same(&inside, &outside);
    producer.publish_batch(3, |_| {}).unwrap();
    drop(producer.claim().unwrap()); // given up
    assert_same(&inside, &outside);
    for _ in 0..3 {
        let _ = producer.publish_or(WhenFull::DropNew, |_| {});
    }
    assert!(outside.monitor().snapshot().dropped >= 2);
    assert_same(&inside, &outside);
    let claim = producer.try_claim();
    assert_same(&inside, &outside);
    drop(claim);
}

fn a_consumer_in_a_dynamic_stage_has_its_name_outside<K: Kind>() {
    let name = unique_name();
    let ring = K::ring(8, || 0_u64).observable(&name).dynamic_stages(2).stage("all").poller();
    let (mut producer, consumers) = ring.build().unwrap();
    let (inside, outside) = (producer.monitor(), observer_of(&name));
    let dynamic = consumers.dynamic_stages();
    let first = dynamic.join("first ä", StartAt::Now).unwrap().poller();
    let long = "long ".repeat(40);
    let second = dynamic.join(long.as_str(), StartAt::Now).unwrap().poller();
    producer.publish(|_| {}).unwrap();
    let names = || {
        let snapshot = outside.monitor().snapshot();
        snapshot.stages.into_iter().map(|stage| stage.name).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["all", "first ä", &long[..120]]);
    drop(first);
    assert_eq!(names(), ["all", &long[..120]]);
    drop(second);
    assert_same(&inside, &outside);
    let third = dynamic.join("third", StartAt::Oldest).unwrap();
    assert_eq!(names(), ["all", "third"]);
    assert_same(&inside, &outside);
    drop(third);
}

fn a_ring_keeps_its_last_figures_after_it_is_dropped<K: Kind>() {
    let name = unique_name();
    let ring = K::ring(8, || 0_u64).observable(&name).stage("all").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut poller = consumers.take_poller("all").unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    poller.poll_max(2).unwrap().consume_all();
    let outside = observer_of(&name);
    assert_eq!(outside.process().unwrap(), ProcessState::Running);
    drop((producer, consumers, poller));
    assert_eq!(outside.process().unwrap(), ProcessState::Dropped);
    assert_eq!(files_of(&name), []);
    let snapshot = outside.monitor().snapshot();
    assert_eq!((snapshot.published, snapshot.state), (3, RingState::Halted));
    assert_eq!(snapshot.stages[0].state, StageState::Left);
}

fn the_verdicts_are_those_of_a_monitor<K: Kind>() {
    let name = unique_name();
    let ring = K::ring(4, || 0_u64).observable(&name).stage("a").poller().stage("b").poller();
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut a = consumers.take_poller("a").unwrap();
    let outside = observer_of(&name);
    producer.publish_batch(4, |_| {}).unwrap();
    let before = outside.monitor().snapshot();
    a.poll().unwrap().consume_all();
    let after = outside.monitor().snapshot();
    let limit = Part::Stage { name: "b".to_owned() };
    assert_eq!(after.since(&before).bottleneck(), Some(&limit));
    let stall = outside.monitor().stall().unwrap();
    assert_eq!((stall.culprit, stall.ring), (limit, name));
}

/// A ring of which nothing but the name is set is called like its file.
#[test]
fn an_observable_ring_without_a_name_had_the_name_ring() {
    let name = unique_name();
    let ring = Disruptor::single_producer(8, || 0_u64).observable(&name).stage("all").poller();
    let (producer, _consumers) = ring.build().unwrap();
    assert_eq!(producer.monitor().snapshot().ring, name);
}
