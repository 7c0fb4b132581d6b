//! Defects of the graph: which consumer holds back which thread, and what each is notified of.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use lapwing::Stage;
use lapwing::consumer::Outcome;
use lapwing::error::{BuildError, HaltCause, PollError, PublishError, TakeError, TryPublishError};
use lapwing::graph::{Graph, StartAt};

use crate::common::wait_until;
use crate::dynamic::{Contiguous, Page, join, under_load};
use crate::setup::{Kind, Setup};
use crate::spy::{Call, Spy, publish, value_of, values};

for_each_setup! {
    b06a_stages_that_have_not_started_hold_their_events,
    b06b_every_last_stage_gates_the_producer,
    b06c_stage_that_is_named_twice_runs_once,
    b07_poller_sees_a_ring_that_is_exactly_full,
    b08_consumer_that_joins_beside_a_fast_producer_is_not_overrun,
    b10_wait_that_makes_no_progress_announces_no_batch,
    b12_consumers_that_leave_at_the_same_time_free_the_producer,
    b24_stage_that_never_runs_blocks_no_producer,
    b26_stages_of_equal_handlers_are_told_apart,
}

/// Before 3.3.6 (issues 155, 172): sequences gated only once their processors had started.
fn b06a_stages_that_have_not_started_hold_their_events<K: Kind>(setup: Setup<K>) {
    let (mut producer, consumers) = setup
        .ring(4, || 0)
        .stage("first")
        .read_handler(Spy::default())
        .stage("second")
        .read_handler(Spy::default())
        .build()
        .unwrap();
    publish(&mut producer, 0..4);
    assert_eq!(producer.try_publish(|event| *event = 666), Err(TryPublishError::Full));
    let mut report = consumers.start().unwrap().shutdown().unwrap();
    for name in ["first", "second"] {
        assert_eq!(report.take::<Spy>(name).unwrap().events(), values(0..4));
    }
}

/// 2.8 and 3.1: consumers of the DSL were missing from the gating sequences.
fn b06b_every_last_stage_gates_the_producer<K: Kind>(setup: Setup<K>) {
    for held in ["alone", "short", "long"] {
        let mut graph = Graph::new();
        graph.stage("alone").poller();
        let first = graph.stage("first").poller();
        graph.stage("short").after(first).poller();
        let second = graph.stage("second").after(first).poller();
        graph.stage("long").after(second).after(first).poller();
        let (mut producer, mut consumers) = setup.ring(2, || 0).graph(graph).build().unwrap();
        let names = ["alone", "first", "short", "second", "long"];
        let mut pollers = names.map(|name| consumers.take_poller(name).unwrap());
        publish(&mut producer, 0..2);
        for (poller, _) in pollers.iter_mut().zip(names).filter(|(_, name)| *name != held) {
            poller.poll().unwrap().consume_all();
        }
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full), "{held}");
        let last = names.iter().position(|name| *name == held).unwrap();
        pollers[last].poll().unwrap().consume(1);
        publish(&mut producer, 2..3);
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full), "{held}");
    }
}

/// Issue 262: a processor that was named by `after` was registered and started twice.
fn b06c_stage_that_is_named_twice_runs_once<K: Kind>(setup: Setup<K>) {
    let mut graph = Graph::new();
    let first = graph.stage("first").read_handler(Spy::default());
    let second = graph.stage("second").after(first).after(first).read_handler(Spy::default());
    graph.stage("third").after(first).after(second).after(second).read_handler(Spy::default());
    let (mut producer, consumers) = setup.ring(4, || 0).graph(graph).build().unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..9);
    let mut report = running.shutdown().unwrap();
    assert!(report.stages().map(|stage| stage.name()).eq(["first", "second", "third"]));
    for name in ["first", "second", "third"] {
        let spy: Spy = report.take(name).unwrap();
        spy.assert_one_life();
        assert_eq!(spy.events(), values(0..9), "{name}");
    }
}

/// Issue 84: the poller read the wrong sequence and saw nothing of a full ring.
fn b07_poller_sees_a_ring_that_is_exactly_full<K: Kind>(setup: Setup<K>) {
    for capacity in [1, 2, 4, 8] {
        let (mut producer, mut poller) = setup.ring_with_poller(capacity as usize);
        for lap in 0..3 {
            publish(&mut producer, lap * capacity..(lap + 1) * capacity);
            let mut batch = poller.poll().unwrap();
            let seen = batch.iter().map(|(sequence, event)| (*event, sequence));
            assert!(seen.eq(values(lap * capacity..(lap + 1) * capacity)));
            drop(batch);
            assert_eq!(poller.poll().err(), Some(PollError::Empty));
        }
    }
}

/// Before 3.3.5 (issues 291, 505): a fence was missing, so a producer did not see a consumer that
/// had just joined, and overwrote its next event. The model of O15 covers it. The ring of this test
/// is so small that the producer reads the gate all the time.
fn b08_consumer_that_joins_beside_a_fast_producer_is_not_overrun<K: Kind>(setup: Setup<K>) {
    for capacity in [1, 2] {
        let mut all = Contiguous::default();
        let (producer, consumers) = setup
            .ring(capacity, Page::default)
            .dynamic_stages(1)
            .stage("all")
            .read(|page, sequence, _| all.see(page, sequence))
            .build()
            .unwrap();
        let dynamic_stages = consumers.dynamic_stages();
        under_load::<K>(producer, consumers, |_| {
            for start in
                [StartAt::Now, StartAt::Oldest].into_iter().cycle().take(setup.events(500) as usize)
            {
                drop(join(&dynamic_stages, start, 2));
            }
        });
    }
}

/// Issue 259: a wait that ended without an event was announced as a batch of size 0.
fn b10_wait_that_makes_no_progress_announces_no_batch<K: Kind>(setup: Setup<K>) {
    let waits = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&waits);
    let ends_early = move || count.fetch_add(1, SeqCst) % 4 != 3;
    let stage = Stage::new("spy").timeout_after(Duration::from_nanos(1));
    let stage = setup.disturbed_stage(stage, ends_early);
    let (mut producer, consumers) =
        setup.ring(4, || 0).stage(stage).read_handler(Spy::default()).build().unwrap();
    let running = consumers.start().unwrap();
    // One wait in four is not disturbed, so one has expired by then. A later event may end each
    // wait.
    wait_until(|| waits.load(SeqCst) > 8);
    for sequence in 0..setup.events(50) {
        let before = waits.load(SeqCst);
        wait_until(|| waits.load(SeqCst) > before);
        publish(&mut producer, sequence..sequence + 1);
    }
    let spy: Spy = running.shutdown().unwrap().take("spy").unwrap();
    assert!(spy.announced().iter().all(|&(size, depth)| size > 0 && depth >= size), "{spy:?}");
    assert_eq!(spy.announced().len(), spy.batches().len());
    assert!(spy.0.iter().any(|call| matches!(call, Call::Timeout(_))));
}

/// 2.10: removing two sequences at the same time, or an absent one, broke the group. Here a
/// consumer leaves by being dropped, which happens once.
fn b12_consumers_that_leave_at_the_same_time_free_the_producer<K: Kind>(setup: Setup<K>) {
    for _ in 0..setup.events(40) {
        let (mut producer, mut consumers) = setup
            .ring(2, || 0)
            .parallel(|parallel| {
                let parallel = ["a", "b", "c"]
                    .into_iter()
                    .fold(parallel, |parallel, name| parallel.stage(name).poller());
                parallel.stage("stays").poller()
            })
            .build()
            .unwrap();
        let leaving = ["a", "b", "c"].map(|name| consumers.take_poller(name).unwrap());
        let mut stays = consumers.take_poller("stays").unwrap();
        publish(&mut producer, 0..2);
        stays.poll().unwrap().consume_all();
        thread::scope(|scope| {
            for poller in leaving {
                scope.spawn(move || drop(poller));
            }
            publish(&mut producer, 2..4); // waits for the last one that leaves
        });
        assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
        assert_eq!(stays.poll().unwrap().as_slice(), [value_of(2), value_of(3)]);
    }
}

/// Open: a processor that is added after the start gates the producer and is never started. Here a
/// stage is added before the ring exists, and a stage that is dropped before it ran halts the ring.
fn b24_stage_that_never_runs_blocks_no_producer<K: Kind>(setup: Setup<K>) {
    let ring = setup.ring(2, || 0).parallel(|parallel| {
        parallel
            .stage("runs")
            .read(|_, _, _| {})
            .stage("never runs")
            .read(|_, _, _| {})
            .stage("poller")
            .poller()
    });
    let (mut producer, mut consumers) = ring.build().unwrap();
    assert!(matches!(consumers.take_poller("runs").err(), Some(TakeError::WrongType { .. })));
    drop(consumers.take_poller("poller").unwrap());
    let mut consumers = consumers.into_iter();
    let runs = consumers.next().unwrap();
    thread::scope(|scope| {
        let runs = scope.spawn(|| runs.run());
        publish(&mut producer, 0..2);
        let blocked = scope.spawn(move || producer.publish(|_| {}).unwrap_err());
        drop(consumers); // also drops the stage that never ran
        assert_eq!(blocked.join().unwrap(), PublishError::Halted(HaltCause::StageDropped));
        assert_eq!(*runs.join().unwrap().outcome(), Outcome::Halted);
    });
}

/// Open: handlers are looked up by identity, so one that is registered twice is found once. Here a
/// handler belongs to its stage, and stages differ by name.
fn b26_stages_of_equal_handlers_are_told_apart<K: Kind>(setup: Setup<K>) {
    let ring = setup.ring(4, || 0).stage("spy").read_handler(Spy::default());
    let twice = ring.stage("spy").read_handler(Spy::default()).build();
    assert_eq!(twice.err(), Some(BuildError::DuplicateName { stage: "spy".to_owned() }));
    let spy = Spy::default();
    let ring = setup.ring(4, || 0).stage("first").read_handler(spy.clone());
    let (mut producer, consumers) = ring.stage("second").read_handler(spy).build().unwrap();
    let running = consumers.start().unwrap();
    publish(&mut producer, 0..4);
    let mut report = running.shutdown().unwrap();
    for name in ["first", "second"] {
        let spy: Spy = report.take(name).unwrap();
        spy.assert_one_life();
        assert_eq!(spy.events(), values(0..4), "{name}");
    }
}
