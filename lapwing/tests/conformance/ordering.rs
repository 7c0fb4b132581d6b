//! C01 to C07: which stage sees which events, in which order, and after which stages.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use lapwing::error::PollError;
use lapwing::graph::{Graph, StartAt};

use crate::setup::{Kind, Setup};
use crate::spy::{Spy, publish, values};

for_each_setup! {
    c01_one_consumer_sees_the_events_of_one_producer_in_order,
    c02_every_stage_of_a_multicast_sees_every_event,
    c03_each_stage_of_a_pipeline_sees_the_writes_of_the_previous_one,
    c04_join_of_a_diamond_sees_the_writes_of_both_sides,
    c05_stage_waits_only_for_the_stages_that_it_names,
    c06_consumer_that_joins_late_begins_at_the_cursor,
    c07_events_published_before_the_start_are_delivered,
}

fn c01_one_consumer_sees_the_events_of_one_producer_in_order<K: Kind>(setup: Setup<K>) {
    let events = setup.events(1_000);
    let (mut producer, consumers) =
        setup.ring(8, || 0).stage("all").read_handler(Spy::default()).build().unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..events);
    let spy: Spy = running.shutdown().unwrap().take("all").unwrap();
    assert_eq!(spy.events(), values(0..events));
}

fn c02_every_stage_of_a_multicast_sees_every_event<K: Kind>(setup: Setup<K>) {
    let events = setup.events(300);
    let (mut producer, consumers) = setup
        .ring(8, || 0)
        .parallel(|parallel| {
            let names = ["left", "middle", "right"].into_iter();
            names.fold(parallel, |parallel, name| parallel.stage(name).read_handler(Spy::default()))
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..events);
    let mut report = running.shutdown().unwrap();
    for name in ["left", "middle", "right"] {
        assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..events), "{name}");
    }
}

fn c03_each_stage_of_a_pipeline_sees_the_writes_of_the_previous_one<K: Kind>(setup: Setup<K>) {
    let events = setup.events(300);
    let mut ring = setup.ring(8, || [0_u64; 4]);
    for stage in 1..4 {
        ring =
            ring.stage(format!("stage {stage}")).write(move |event: &mut [u64; 4], sequence, _| {
                let (before, after) = event.split_at_mut(stage);
                assert!(
                    before.iter().all(|field| *field == sequence),
                    "an earlier stage is behind"
                );
                assert!(after.iter().all(|field| *field != sequence), "a later stage is ahead");
                after[0] = sequence;
            });
    }
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    for sequence in 0..events {
        let fill = |event: &mut [u64; 4]| *event = [sequence, u64::MAX, u64::MAX, u64::MAX];
        assert_eq!(producer.publish(fill), Ok(sequence));
    }
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == events));
}

/// Parallel stages get `&E`, so the fields that they write are atomic.
#[derive(Default)]
struct Halves {
    left: AtomicU64,
    right: AtomicU64,
}

fn c04_join_of_a_diamond_sees_the_writes_of_both_sides<K: Kind>(setup: Setup<K>) {
    let events = setup.events(300);
    let (mut producer, consumers) = setup
        .ring(8, Halves::default)
        .parallel(|parallel| {
            parallel
                .stage("left")
                .read(|halves, sequence, _| halves.left.store(sequence + 1, Relaxed))
                .stage("right")
                .read(|halves, sequence, _| halves.right.store(sequence + 2, Relaxed))
        })
        .stage("join")
        .read(|halves, sequence, _| {
            let seen = (halves.left.load(Relaxed), halves.right.load(Relaxed));
            assert_eq!(seen, (sequence + 1, sequence + 2));
        })
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..events {
        producer.publish(|_| {}).unwrap();
    }
    let report = running.shutdown().unwrap();
    assert!(report.stages().all(|stage| stage.processed() == events));
}

fn c05_stage_waits_only_for_the_stages_that_it_names<K: Kind>(setup: Setup<K>) {
    let mut graph = Graph::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| graph.stage(name).poller());
    graph.stage("after a and b").after(a).after(b).poller();
    let after_c = graph.stage("after c").after(c).poller();
    graph.stage("after b and that").after(b).after(after_c).poller();
    let (mut producer, mut consumers) = setup.ring(4, || 0).graph(graph).build().unwrap();
    let mut take = |name| consumers.take_poller(name).unwrap();
    let [mut a, mut b, mut c] = ["a", "b", "c"].map(&mut take);
    let mut joins = ["after a and b", "after c", "after b and that"].map(&mut take);
    let mut sees = || joins.each_mut().map(|join| join.poll().is_ok());
    publish(&mut producer, 0..1);
    assert_eq!(sees(), [false, false, false]);
    a.wait().unwrap().consume_all();
    assert_eq!(sees(), [false, false, false]);
    b.wait().unwrap().consume_all();
    assert_eq!(sees(), [true, false, false]);
    c.wait().unwrap().consume_all();
    assert_eq!(sees(), [true, true, false]);
    joins[1].wait().unwrap().consume_all();
    assert_eq!(joins[2].wait().unwrap().len(), 1);
    assert_eq!(joins[1].poll().err(), Some(PollError::Empty));
}

fn c06_consumer_that_joins_late_begins_at_the_cursor<K: Kind>(setup: Setup<K>) {
    let ring = setup.ring(8, || 0).dynamic_stages(1).stage("early").read_handler(Spy::default());
    let (mut producer, consumers) = ring.build().unwrap();
    let dynamic_stages = consumers.dynamic_stages();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..5);
    let dynamic_stage = dynamic_stages.join("late", StartAt::Now).unwrap();
    assert_eq!(dynamic_stage.sequence(), 5);
    let late = dynamic_stage.read_handler(Spy::default());
    let late = thread::spawn(move || late.run());
    publish(&mut producer, 5..20);
    let early: Spy = running.shutdown().unwrap().take("early").unwrap();
    assert_eq!(early.events(), values(0..20));
    let mut late = late.join().unwrap();
    assert_eq!(late.take_handler::<Spy>().unwrap().events(), values(5..20));
}

fn c07_events_published_before_the_start_are_delivered<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(8, || 0)
        .stage("first")
        .read_handler(Spy::default())
        .stage("second")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    publish(&mut producer, 0..8);
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    for name in ["first", "second"] {
        assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..8), "{name}");
    }
}
