//! Tests that Lapwing avoids the traps of other ring buffers, which are numbered. If a trap does
//! not compile, its test is a `compile_fail` doctest, which is named here beside a test of what
//! does run. Not here: traps 12 to 16 (`traps_12_to_16.rs`).

use std::hint;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crate::common::{
    Kind, Lcg, MOMENT, ON_PURPOSE, PATIENCE, ProducerOf, quiet_panics, repeats, threads_named,
    unique_prefix, wait_until_no_thread_named,
};
use lapwing::consumer::Outcome;
use lapwing::error::{
    BatchError, BuildError, HaltCause, PollError, PublishError, TryPublishError, WhenFullError,
};
use lapwing::graph::Graph;
use lapwing::producer::WhenFull;
use lapwing::wait::Yielding;
use lapwing::{EventHandler, Poller, Sequence};

crate::common::for_both_producers! {
    trap_01_what_a_closure_keeps_of_its_events_is_a_copy,
    trap_02_batch_of_no_or_too_many_events_does_not_move_the_cursor,
    trap_03_stage_of_another_ring_cannot_be_waited_for,
    trap_03_last_stage_gates_the_producer,
    trap_03_layer_that_names_no_stage_depends_on_the_previous_one,
    trap_04_panic_in_a_fill_closure_does_not_hang_the_end,
    trap_05_panic_of_a_handler_ends_its_dependents_and_a_blocked_producer,
    trap_06_ring_that_is_given_up_at_any_step_leaves_no_thread,
    trap_07_dropped_poller_frees_the_producer,
    trap_07_forgotten_poller_holds_its_events,
    trap_08_producer_is_dropped_on_the_thread_of_its_poller,
    trap_09_single_event_wakes_a_parked_thread,
    trap_10_first_event_arrives_alone,
    trap_11_first_lap_is_not_overwritten,
}

fn ring_with_poller<K: Kind>(capacity: usize) -> (ProducerOf<u64, K>, Poller<u64>) {
    let (producer, mut consumers) =
        K::ring(capacity, || 0).stage("poller").poller().build().unwrap();
    let poller = consumers.take_poller("poller").unwrap();
    (producer, poller)
}

/// Keeping the reference does not compile: see `Producer`, and `Batch` for events of a poller.
fn trap_01_what_a_closure_keeps_of_its_events_is_a_copy<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    let mut kept = Vec::new();
    producer.publish(|event| kept.push(mem::replace(event, 1))).unwrap();
    producer
        .publish_batch(1, |slots| kept.extend(slots.iter_mut().map(|event| mem::replace(event, 2))))
        .unwrap();
    kept.iter_mut().for_each(|event| *event = 666);
    assert_eq!(poller.poll().unwrap().as_slice(), [1, 2]);
}

fn trap_02_batch_of_no_or_too_many_events_does_not_move_the_cursor<K: Kind>() {
    let (mut producer, mut poller) = ring_with_poller::<K>(4);
    producer.publish(|event| *event = 1).unwrap();
    let mut batch = poller.poll().unwrap();
    for requested in [usize::MAX, usize::MAX - 3, 5] {
        let error = BatchError::TooLarge { requested, capacity: 4 };
        assert_eq!(producer.publish_batch(requested, |_| unreachable!()), Err(error));
    }
    assert_eq!(producer.publish_batch(0, |_| unreachable!()), Err(BatchError::Zero));
    assert_eq!(producer.try_publish_batch(4, |_| unreachable!()), Err(BatchError::Full));
    assert_eq!(producer.try_publish_batch(3, |_| {}), Ok(1..4));
    assert_eq!(batch.as_slice(), [1]);
    batch.consume_all();
}

/// Using the stage of another ring is refused, because an id contains its graph.
fn trap_03_stage_of_another_ring_cannot_be_waited_for<K: Kind>() {
    let mut foreign = Graph::<u64>::new();
    let id = foreign.stage("foreign").poller();
    let mut own = Graph::new();
    own.stage("stage").after(id).read(|_, _, _| {});
    let ring = K::ring(4, || 0_u64).graph(own);
    assert_eq!(ring.build().err(), Some(BuildError::UnknownStage { stage: "stage".to_owned() }));
    assert!(K::ring(4, || 0_u64).graph(foreign).build().is_ok());
}

fn trap_03_last_stage_gates_the_producer<K: Kind>() {
    let mut graph = Graph::new();
    graph.stage("lone").poller();
    let first = graph.stage("first").poller();
    graph.stage("last").after(first).poller();
    let (mut producer, mut consumers) = K::ring(2, || 0_u64).graph(graph).build().unwrap();
    let mut pollers = ["lone", "first", "last"].map(|name| consumers.take_poller(name).unwrap());
    producer.publish_batch(2, |_| {}).unwrap();
    pollers[1].poll().unwrap().consume_all();
    pollers[2].poll().unwrap().consume_all();
    let held = pollers[0].poll().unwrap();
    assert_eq!(producer.try_publish(|event| *event = 5), Err(TryPublishError::Full));
    assert_eq!(held.as_slice(), [0, 0]);
}

fn trap_03_layer_that_names_no_stage_depends_on_the_previous_one<K: Kind>() {
    let mut graph = Graph::new();
    graph.stage("lone").poller();
    let ring = K::ring(1, || 0_u64).stage("first").poller().graph(graph);
    let (mut producer, mut consumers) = ring.build().unwrap();
    let mut first = consumers.take_poller("first").unwrap();
    let mut lone = consumers.take_poller("lone").unwrap();
    producer.publish(|event| *event = 1).unwrap();
    assert_eq!(lone.poll().err(), Some(PollError::Empty));
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    first.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    lone.poll().unwrap().consume_all();
    assert_eq!(producer.try_publish(|_| {}), Ok(1));
}

fn trap_04_panic_in_a_fill_closure_does_not_hang_the_end<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) = K::ring(4, || 0_u64)
        .stage("all")
        .read(|event, _, _| assert_eq!(*event, 1))
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    for _ in 0..10 {
        let publish = || producer.publish(|_| panic!("{ON_PURPOSE}"));
        assert!(catch_unwind(AssertUnwindSafe(publish)).is_err());
        producer.publish(|event| *event = 1).unwrap();
    }
    drop(producer);
    running.join().unwrap();
}

fn trap_05_panic_of_a_handler_ends_its_dependents_and_a_blocked_producer<K: Kind>() {
    quiet_panics();
    let (mut producer, consumers) = K::ring(2, || 0_u64)
        .stage("bad")
        .read(|_, sequence, _| assert!(sequence < 3, "{ON_PURPOSE}"))
        .stage("after")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let running = consumers.start().unwrap();
    let stopped = (0..100).find_map(|_| producer.publish(|_| {}).err());
    assert_eq!(stopped, Some(PublishError::Halted(HaltCause::StageFailed)));
    let failed = running.join().unwrap_err();
    assert!(failed.report().stages().any(|stage| *stage.outcome() == Outcome::Halted));
}

fn trap_06_ring_that_is_given_up_at_any_step_leaves_no_thread<K: Kind>() {
    let prefix = unique_prefix();
    let name = |stage: u64| format!("{prefix}{stage}");
    for steps in 0..7 {
        let mut ring = K::ring(2, || 0_u64).wait(Yielding::default());
        for step in 0..steps {
            ring = match step {
                0 | 3 => ring.stage(name(step)).read(|_, _, _| {}),
                1 => ring.stage(name(step)).pin(0).write(|_, _, _| {}),
                2 => ring.side_by_side(|side| {
                    side.stage(name(step)).read(|_, _, _| {}).stage(name(20)).poller()
                }),
                4 => ring.stage(name(step)).read_local(|| -> Never { unreachable!() }),
                _ => ring.stage(name(step)).poller(),
            };
        }
        assert_eq!(threads_named(&prefix), 0);
        drop(ring);
        assert_eq!(threads_named(&prefix), 0);
    }
    let ring =
        K::ring(2, || 0_u64).stage(name(0)).read(|_, _, _| {}).stage(name(1)).read(|_, _, _| {});
    let (mut producer, consumers) = ring.build().unwrap();
    assert_eq!(threads_named(&prefix), 0);
    drop(consumers);
    assert_eq!(producer.publish(|_| {}), Err(PublishError::Halted(HaltCause::StageDropped)));
    assert_eq!(threads_named(&prefix), 0);
    let ring =
        K::ring(2, || 0_u64).stage(name(0)).read(|_, _, _| {}).stage(name(1)).read(|_, _, _| {});
    let (producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    drop((producer, running));
    wait_until_no_thread_named(&prefix);
}

/// A handler that is never created.
enum Never {}

impl EventHandler<u64> for Never {
    fn on_event(&mut self, _: &u64, _: Sequence, _: bool) {}
}

fn trap_07_dropped_poller_frees_the_producer<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .side_by_side(|side| side.stage("gone").poller().stage("reader").read(|_, _, _| {}))
        .build()
        .unwrap();
    let gone = consumers.take_poller("gone").unwrap();
    let running = consumers.start().unwrap();
    (0..4).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    drop(gone);
    (0..40).for_each(|_| _ = producer.publish(|_| {}).unwrap());
    running.shutdown().unwrap();
}

fn trap_07_forgotten_poller_holds_its_events<K: Kind>() {
    let (mut producer, poller) = ring_with_poller::<K>(4);
    crate::common::forget(poller);
    (0..4).for_each(|_| _ = producer.try_publish(|_| {}).unwrap());
    assert_eq!(producer.try_publish(|_| {}), Err(TryPublishError::Full));
    assert_eq!(
        producer.publish_or(WhenFull::Timeout(MOMENT), |_| {}),
        Err(WhenFullError::TimedOut)
    );
}

fn trap_08_producer_is_dropped_on_the_thread_of_its_poller<K: Kind>() {
    let (mut producer, mut consumers) = K::ring(4, || 0_u64)
        .stage("first")
        .poller()
        .stage("second")
        .read(|_, _, _| {})
        .build()
        .unwrap();
    let mut first = consumers.take_poller("first").unwrap();
    let running = consumers.start().unwrap();
    producer.publish_batch(3, |_| {}).unwrap();
    drop(producer);
    assert!(!running.is_finished());
    first.poll().unwrap().consume_all();
    assert_eq!(first.poll().err(), Some(PollError::Closed));
    assert_eq!(running.join().unwrap().stages().next().unwrap().processed(), 3);
}

/// Covered by the models of O6 and O7. `waiting.rs` tests every strategy and depth.
fn trap_09_single_event_wakes_a_parked_thread<K: Kind>() {
    let mut pause = Lcg(9);
    let (mut producer, mut poller) = ring_with_poller::<K>(2);
    let sleeper = thread::spawn(move || {
        (0..repeats(1_000)).for_each(|_| poller.wait().unwrap().consume(1));
        poller // stays alive until the last call of the producer has returned
    });
    for number in 0..repeats(1_000) {
        (0..pause.below(repeats(2_000))).for_each(|_| hint::spin_loop());
        assert_eq!(producer.publish_or(WhenFull::Timeout(PATIENCE), |_| {}), Ok(Some(number)));
    }
    sleeper.join().unwrap();
}

fn trap_10_first_event_arrives_alone<K: Kind>() {
    for capacity in [1, 2, 4, 64] {
        let (mut producer, mut poller) = ring_with_poller::<K>(capacity);
        producer.publish(|event| *event = 7).unwrap();
        assert_eq!(poller.wait_timeout(PATIENCE).unwrap().as_slice(), [7]);
    }
}

fn trap_11_first_lap_is_not_overwritten<K: Kind>() {
    for capacity in [1, 2, 4, 64] {
        let (mut producer, mut poller) = ring_with_poller::<K>(capacity as usize);
        let published =
            (0..).take_while(|&number| producer.try_publish(|event| *event = number).is_ok());
        assert_eq!(published.count() as u64, capacity);
        assert!(poller.poll().unwrap().as_slice().iter().copied().eq(0..capacity));
    }
}
