//! The order in which the stages of one thread get events, and in which batches. Not here: which
//! thread that is (`placement`), and how its stages wait and end (`together`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::common::{Kind, PATIENCE, repeats};
use crate::shapes::threads;
use crate::start;
use lapwing::graph::Placement;
use lapwing::producer::Sequencer;
use lapwing::{Builder, Sequence, Stage};

crate::common::for_both_producers! {
    a_pipeline_on_one_thread_has_its_order_at_every_size_of_ring_and_batch,
    stages_around_one_on_another_thread_share_their_state,
    acknowledgements_hold_back_the_next_stage_on_the_thread,
    batches_of_a_shared_thread_fit_the_first_level_cache,
    batches_of_a_shared_thread_respect_their_maximum,
    the_next_stage_gets_what_the_one_before_has_just_handled,
}

// ---- order ----

/// Checks that each of four stages after one another gets an event after the one before it, for
/// `events` events. `stage` makes a stage of its name.
fn assert_pipeline_keeps_its_order<S: Sequencer>(
    ring: Builder<'_, u64, S>,
    stage: impl Fn(&str) -> Stage,
    events: u64,
) {
    let add = |more: u64| move |event: &mut u64, _: Sequence, _: bool| *event = *event * 10 + more;
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let (mut producer, consumers) = ring
        .stage(stage("one"))
        .write(add(1))
        .stage(stage("two"))
        .write(add(2))
        .stage(stage("three"))
        .write(add(3))
        .stage(stage("check"))
        .read(move |event, sequence, _| {
            assert_eq!(*event, sequence * 1000 + 123);
            counter.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    thread::scope(|scope| {
        let running = consumers.start_scoped(scope).unwrap();
        for value in 0..events {
            producer.publish(|event| *event = value).unwrap();
        }
        running.shutdown().unwrap();
    });
    assert_eq!(count.load(Ordering::Relaxed), events);
}

/// The stages name the thread, or the placement has only one.
fn a_pipeline_on_one_thread_has_its_order_at_every_size_of_ring_and_batch<K: Kind>() {
    for (capacity, longest, events) in [
        (1, 1, 2_000),
        (2, 3, 2_000),
        (8, 8, 50_000),
        (64, 1, 2_000),
        (64, 7, 2_000),
        (1024, 64, 2_000),
    ] {
        for is_named in [false, true] {
            let ring = K::ring(capacity, || 0_u64);
            let ring = if is_named { ring } else { ring.placement(threads(1)) };
            let stage = |name: &str| {
                let stage = Stage::new(name);
                let stage = if is_named { stage.on_thread("all") } else { stage };
                // Two stages with that maximum, two without.
                if ["two", "check"].contains(&name) { stage.max_batch(longest) } else { stage }
            };
            assert_pipeline_keeps_its_order(ring, stage, repeats(events));
        }
    }
}

/// Like the risk engine of an exchange: it holds money before the match and frees it afterwards.
fn stages_around_one_on_another_thread_share_their_state<K: Kind>() {
    let events = repeats(50_000);
    let risk = Arc::new(Mutex::new((0_u64, 0_u64)));
    let (before, after) = (Arc::clone(&risk), Arc::clone(&risk));
    let (mut producer, running) = start(
        K::ring(64, || 0_u64)
            .stage("hold")
            .on_thread("risk")
            .read_batch(move |orders, _| {
                before.lock().unwrap().0 += orders.len() as u64;
            })
            .stage("match")
            .write(|order, _, _| *order += 1)
            .stage("free")
            .on_thread("risk")
            .read_batch(move |orders, first| {
                let mut risk = after.lock().unwrap();
                risk.1 += orders.len() as u64;
                assert!(risk.0 >= first + orders.len() as u64, "held before it is freed");
            }),
    );
    for _ in 0..events {
        producer.publish(|order| *order = 1).unwrap();
    }
    running.shutdown().unwrap();
    assert_eq!(*risk.lock().unwrap(), (events, events));
}

fn acknowledgements_hold_back_the_next_stage_on_the_thread<K: Kind>() {
    let (tell, told) = mpsc::channel();
    let tell_too = tell.clone();
    let (mut producer, mut consumers) = K::ring(8, || 0_u64)
        .placement(threads(1))
        .stage("journal")
        .acknowledged()
        .read(move |_, sequence, _| {
            tell.send(("journal", sequence)).unwrap();
        })
        .stage("reply")
        .read(move |_, sequence, _| tell_too.send(("reply", sequence)).unwrap())
        .build()
        .unwrap();
    let disk = consumers.take_acknowledger("journal").unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(2, |_| {}).unwrap();
    for expected in [("journal", 0), ("journal", 1)] {
        assert_eq!(told.recv_timeout(PATIENCE), Ok(expected));
    }
    for sequence in 0..2 {
        assert!(told.try_recv().is_err(), "nothing is on disk yet");
        disk.acknowledge(sequence + 1).unwrap(); // wakes the thread
        assert_eq!(told.recv_timeout(PATIENCE), Ok(("reply", sequence)));
    }
    running.shutdown().unwrap();
}

// ---- batches ----

/// Returns the lengths of the batches of two stages over a ring of `E` that was full before they
/// began.
fn batches_of<K: Kind, E: Clone + Default + Send + Sync + 'static>(
    placement: Placement,
    capacity: usize,
    longest: usize,
) -> Vec<(&'static str, usize)> {
    let (tell, told) = mpsc::channel();
    let note = |name: &'static str| {
        let tell = tell.clone();
        move |events: &[E], _: Sequence| tell.send((name, events.len())).unwrap()
    };
    let (mut producer, consumers) = K::ring(capacity, E::default)
        .placement(placement)
        .stage("a")
        .max_batch(longest)
        .read_batch(note("a"))
        .stage("b")
        .max_batch(longest)
        .read_batch(note("b"))
        .build()
        .unwrap();
    producer.publish_batch(capacity, |_| {}).unwrap();
    drop((producer, tell));
    consumers.start().unwrap().join().unwrap();
    told.iter().collect()
}

fn batches_of_a_shared_thread_fit_the_first_level_cache<K: Kind>() {
    let one = || threads(1);
    let turns = |events: usize, count: usize| [("a", events), ("b", events)].repeat(count);
    // 16 KiB of events at a time, at least 16 events.
    assert_eq!(batches_of::<K, u64>(one(), 8192, 8192), turns(2048, 4));
    assert_eq!(batches_of::<K, [u64; 16]>(one(), 512, 512), turns(128, 4));
    assert_eq!(batches_of::<K, [[u64; 32]; 16]>(one(), 64, 64), turns(16, 4));
    assert_eq!(batches_of::<K, ()>(one(), 1 << 15, 1 << 15), turns(1 << 14, 2));
    // A stage alone on its thread passes nothing to another one through the cache.
    let each = batches_of::<K, u64>(Placement::thread_per_stage(), 8192, 8192);
    assert_eq!(each, [("a", 8192), ("b", 8192)]);
}

fn batches_of_a_shared_thread_respect_their_maximum<K: Kind>() {
    let turns = batches_of::<K, u64>(threads(1), 64, 10);
    assert!(turns.iter().all(|&(_, events)| events <= 10), "{turns:?}");
    assert_eq!(turns.iter().map(|&(_, events)| events).sum::<usize>(), 128);
}

fn the_next_stage_gets_what_the_one_before_has_just_handled<K: Kind>() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        move |_: &[u64], first: Sequence| order.lock().unwrap().push((name, first))
    };
    let (mut producer, consumers) = K::ring(64, || 0_u64)
        .placement(threads(1))
        .stage("a")
        .read_batch(note("a"))
        .stage("b")
        .read_batch(note("b"))
        .stage("c")
        .read_batch(note("c"))
        .build()
        .unwrap();
    producer.publish_batch(48, |_| {}).unwrap();
    drop(producer);
    consumers.start().unwrap().join().unwrap();
    let turn = |first| ["a", "b", "c"].map(|name| (name, first));
    assert_eq!(*order.lock().unwrap(), [turn(0), turn(16), turn(32)].concat());
}
