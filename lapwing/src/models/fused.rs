//! Models of threads that run several stages, park until any word advances, and are woken by other
//! threads. A missing wake-up shows as a deadlock. Not here: stages with a thread of their own
//! (`lapwing_core::models::parking`).

use loom::sync::mpsc;
use loom::thread;

use super::{PARK, check, check_less, multi_ring, single_ring, take};
use crate::consumer::{Consumer, Outcome, StageReport};
use crate::error::{HaltCause, PublishError};
use crate::graph::{Graph, Placement};
use crate::producer::Sequencer;
use crate::{Action, Builder, Disruptor, Sequence, Stage};

/// A stage on the thread that two stages share.
fn shared(name: &str) -> Stage {
    Stage::new(name).on_thread("both")
}

/// A handler that halts the ring at the event `last`.
fn until(last: Sequence) -> impl FnMut(&u64, Sequence, bool) -> Action {
    move |_, sequence, _| if sequence == last { Action::Halt } else { Action::Continue }
}

/// Two stages one after the other on one thread, until the event `last`.
fn two_until<S: Sequencer>(
    ring: Builder<'static, u64, S>,
    last: Sequence,
) -> Builder<'static, u64, S> {
    ring.stage(shared("a")).read(|_, _, _| {}).stage(shared("b")).read(until(last))
}

fn outcomes(finished: &[StageReport]) -> Vec<&Outcome> {
    finished.iter().map(StageReport::outcome).collect()
}

/// O6: two producers publish at once.
#[test]
fn loom_fused_park_on_publication() {
    check_less(|| {
        let (mut first, consumers) = two_until(multi_ring(2), 1).build().unwrap();
        let mut second = first.clone();
        let publish = move || {
            second.publish(|event| *event = 1).unwrap_or_default();
            second
        };
        let other = thread::spawn(publish);
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        first.publish(|event| *event = 1).unwrap_or_default();
        assert_eq!(both.join().unwrap(), 2);
        drop((first, other.join()));
    });
}

/// O6: a claim is given up, and an event waits behind it.
#[test]
fn loom_fused_park_behind_a_claim_that_is_given_up() {
    check(|| {
        let (mut first, consumers) = two_until(multi_ring(2), 1).build().unwrap();
        let mut second = first.clone();
        let claim = first.claim().unwrap();
        second.publish(|event| *event = 1).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        drop(claim);
        assert_eq!(both.join().unwrap(), 2);
        drop((first, second));
    });
}

/// O6: an upstream stage on another thread wakes them, and they wake a downstream one.
#[test]
fn loom_fused_park_between_stages_of_other_threads() {
    check_less(|| {
        let (mut producer, mut consumers) = single_ring(2)
            .stage("before")
            .poller()
            .stage(shared("a"))
            .read(|_, _, _| {})
            .stage(shared("b"))
            .read(|_, _, _| {})
            .stage("after")
            .poller()
            .build()
            .unwrap();
        let mut before = consumers.take_poller("before").unwrap();
        let mut after = consumers.take_poller("after").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        let upstream = thread::spawn(move || {
            take(&mut before).unwrap();
            before
        });
        assert_eq!(after.wait().unwrap().as_slice(), [1]);
        drop((after, upstream.join()));
        assert_eq!(both.join().unwrap(), 2);
    });
}

/// O6: the gate of a full ring is a stage that shares its thread.
#[test]
fn loom_fused_gate_of_a_full_ring() {
    check(|| {
        let (mut producer, consumers) = two_until(single_ring(1), 1).build().unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        producer.publish(|event| *event = 2).unwrap_or_default();
        assert_eq!(both.join().unwrap(), 2);
        drop(producer);
    });
}

/// O6: the same for a producer that is parked until a quarter of the ring is free. One of the
/// stage's turns must wake it; the model ends only with the event that the producer then publishes.
#[test]
fn loom_fused_gate_until_there_is_room() {
    check_less(|| {
        let (mut producer, consumers) = single_ring(8)
            .stage(shared("a"))
            .read(|_, _, _| {})
            .stage(shared("b").max_batch(1))
            .read(until(8))
            .build()
            .unwrap();
        producer.publish_batch(8, |_| {}).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        producer.publish(|event| *event = 2).unwrap_or_default();
        assert_eq!(both.join().unwrap(), 2);
        drop(producer);
    });
}

/// O7 and O9: a close wakes the thread.
#[test]
fn loom_fused_close_against_park() {
    check(|| {
        let (producer, consumers) = two_until(single_ring(1), 0).build().unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers));
        drop(producer);
        let finished = both.join().unwrap();
        assert_eq!(outcomes(&finished), [&Outcome::Drained; 2]);
    });
}

/// O7 and O10: a halt wakes the thread.
#[test]
fn loom_fused_halt_against_park() {
    check(|| {
        let (producer, consumers) = two_until(single_ring(1), 0).build().unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers));
        producer.shared().control().halt(HaltCause::Requested.core());
        let finished = both.join().unwrap();
        assert_eq!(outcomes(&finished), [&Outcome::Halted; 2]);
        drop(producer);
    });
}

/// O7 and O10: a halt wakes a producer whose gate is a stage that shares its thread.
#[test]
fn loom_fused_halt_against_full_ring() {
    check(|| {
        let (mut producer, consumers) = two_until(single_ring(1), 0).build().unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        assert_eq!(
            producer.publish(|event| *event = 2),
            Err(PublishError::Halted(HaltCause::Requested))
        );
        assert_eq!(both.join().unwrap(), 2);
    });
}

/// Sends a message when it is dropped.
struct Tells(mpsc::Sender<()>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

/// O7 and O10: one of the two stages is stopped while their thread is parked; the other one
/// continues.
#[test]
fn loom_fused_stop_of_one_against_park() {
    check(|| {
        // Nothing else may wake the thread before the handler is dropped.
        let (dropped, has_left) = mpsc::channel();
        let handler = Tells(dropped);
        let (mut producer, consumers) = single_ring(1)
            .stage(shared("a"))
            .read(move |_, _, _| _ = &handler)
            .stage(shared("b"))
            .read(until(0))
            .build()
            .unwrap();
        let consumers: Vec<_> = consumers.into_iter().collect();
        let stop = consumers[0].stop_handle();
        let both = thread::spawn(move || Consumer::run_together(consumers));
        stop.stop();
        has_left.recv().unwrap();
        producer.publish(|event| *event = 1).unwrap_or_default();
        let finished = both.join().unwrap();
        assert_eq!(outcomes(&finished), [&Outcome::Stopped, &Outcome::Halted]);
        drop(producer);
    });
}

/// O6: one of the two stages has left, and the other one waits for what that one waited for.
#[test]
fn loom_fused_park_behind_one_that_has_left() {
    check(|| {
        let (mut producer, consumers) = single_ring(2)
            .stage(shared("a"))
            .read(|_, _, _| Action::Stop)
            .stage(shared("b"))
            .read(until(1))
            .build()
            .unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers));
        producer.publish(|event| *event = 1).unwrap();
        producer.publish(|event| *event = 2).unwrap_or_default();
        let finished = both.join().unwrap();
        assert_eq!(outcomes(&finished), [&Outcome::Stopped, &Outcome::Halted]);
        drop(producer);
    });
}

/// O7: the stage that they depend on leaves, on another thread.
#[test]
fn loom_fused_park_on_one_that_leaves() {
    check_less(|| {
        let mut graph = Graph::new();
        let before = graph.stage("before").poller();
        graph.stage(shared("a")).after(before).read(|_, _, _| Action::Stop);
        graph.stage(shared("b")).after(before).read(until(0));
        let (mut producer, mut consumers) = single_ring(1).graph(graph).build().unwrap();
        let before = consumers.take_poller("before").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        drop(before);
        assert_eq!(both.join().unwrap(), 2);
        drop(producer);
    });
}

/// O6: a worker shares its thread with the stage downstream of its group. The other worker, on
/// another thread, may get the event.
#[test]
fn loom_fused_worker_beside_the_stage_after_its_group() {
    check(|| {
        let (mut producer, consumers) = Disruptor::single_producer(1, || 0_u64)
            .wait_strategy(PARK)
            .placement(Placement::thread_per_stage().group("both", ["work-0", "b"]))
            .stage("work")
            .workers(2)
            .read(|_| |_: &u64, _, _| {})
            .stage("b")
            .read(|event, _, _| assert_eq!(*event, 1))
            .build()
            .unwrap();
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let mut both: Vec<_> = consumers.into_iter().collect();
        let other = both.remove(1);
        let other = thread::spawn(move || other.run().processed());
        let finished = Consumer::run_together(both);
        assert_eq!(outcomes(&finished), [&Outcome::Drained; 2]);
        assert_eq!(
            (finished[0].processed() + other.join().unwrap(), finished[1].processed()),
            (1, 1)
        );
    });
}

/// O6: the stages are downstream of an acknowledged one.
#[test]
fn loom_fused_park_on_an_acknowledgement() {
    check_less(|| {
        let mut graph = Graph::new();
        let journal = graph.stage("journal").acknowledged().poller();
        graph.stage("a").after(journal).on_thread("both").read(|_, _, _| Action::Stop);
        graph.stage("b").after(journal).on_thread("both").read(|_, _, _| Action::Stop);
        let (mut producer, mut consumers) = single_ring(1).graph(graph).build().unwrap();
        let mut journal = consumers.take_poller("journal").unwrap();
        let disk = consumers.take_acknowledger("journal").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        take(&mut journal).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers).len());
        disk.acknowledge(1).unwrap();
        assert_eq!(both.join().unwrap(), 2);
        drop((producer, journal, disk));
    });
}

/// O6: a thread of two stages is parked until any word advances: first the publication. The release
/// of the first stage, for the second, happens on the thread itself.
#[test]
fn loom_park_on_anything() {
    check_less(|| {
        let (mut producer, consumers) = single_ring(1)
            .stage("a")
            .on_thread("both")
            .read(|_, _, _| {})
            .stage("b")
            .on_thread("both")
            .read(|_, _, _| Action::Halt)
            .build()
            .unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers));
        producer.publish(|event| *event = 1).unwrap_or_default();
        assert_eq!(both.join().unwrap().len(), 2);
        drop(producer);
    });
}

/// O6: the same, where a stage on another thread releases events.
#[test]
fn loom_park_on_anything_for_another_stage() {
    check_less(|| {
        let mut graph = Graph::new();
        let before = graph.stage("before").poller();
        graph.stage("a").after(before).on_thread("both").read(|_, _, _| Action::Stop);
        graph.stage("b").after(before).on_thread("both").read(|_, _, _| Action::Stop);
        let (mut producer, mut consumers) = single_ring(1).graph(graph).build().unwrap();
        let mut before = consumers.take_poller("before").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let both = thread::spawn(move || Consumer::run_together(consumers));
        take(&mut before).unwrap();
        assert_eq!(both.join().unwrap().len(), 2);
        drop((producer, before));
    });
}
