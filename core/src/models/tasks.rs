//! Models of tasks that wait where threads park: waits of `parking` by wakers, and what only a task can
//! do. A lost wake-up shows as a deadlock.

use std::sync::Arc as SharedArc;
use std::task::{Poll, Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;

use super::parking::{
    close_against_a_wait, halt_against_a_wait, stop_against_a_wait, two_wait_for_one_publication,
    two_wait_on_a_full_ring, waits_for_a_publication, waits_for_a_publication_multi,
    waits_for_an_upstream_stage, waits_for_two_publications, waits_on_a_full_ring,
    waits_on_a_full_ring_with_two_gates, waits_twice,
};
use super::{
    FreeSlot, PARK, Publisher, Rest, Taker, check, check_less, check_without_fences, parallel,
    single,
};
use crate::claims::Claims;
use crate::{Awaited, Control, TaskPlace};

/// Waits as a task of which a thread runs nothing else.
const AS_TASK: Rest =
    Rest { run: |control, wait| Task::default().wait(control, wait.awaited), is_patient: false };

/// A waker that a thread waits for.
#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Wake for Signal {
    fn wake(self: SharedArc<Self>) {
        *self.is_woken.lock().unwrap() = true;
        self.woken.notify_one();
    }
}

impl Signal {
    /// Waits until it is woken, once for each time.
    fn sleep(&self) {
        let mut is_woken = self.is_woken.lock().unwrap();
        while !*is_woken {
            is_woken = self.woken.wait(is_woken).unwrap();
        }
        *is_woken = false;
    }
}

/// The wait of a task, and its waker.
#[derive(Default)]
struct Task {
    place: Option<TaskPlace>,
    signal: SharedArc<Signal>,
}

impl Task {
    fn poll(&mut self, control: &Control, awaited: &dyn Awaited) -> Poll<()> {
        let waker = Waker::from(SharedArc::clone(&self.signal));
        control.poll_wait(awaited, &mut self.place, &waker)
    }

    fn wait(&mut self, control: &Control, awaited: &dyn Awaited) {
        while self.poll(control, awaited).is_pending() {
            self.signal.sleep();
        }
    }

    /// Polls the wait of `stage` once.
    fn poll_stage(&mut self, stage: &Taker) -> Poll<()> {
        self.poll(stage.reader.ring().control(), &stage.reader)
    }

    /// Polls the wait for a free slot once.
    fn poll_room<C: Claims>(&mut self, producer: &Publisher<C>) -> Poll<()> {
        let control = producer.control();
        self.poll(&control, &FreeSlot { control: &control, is_patient: false })
    }
}

/// O6: an empty ring with one producer.
#[test]
fn loom_task_waits_for_a_publication() {
    waits_for_a_publication(AS_TASK);
}

/// O6: an empty ring with several producers.
#[test]
fn loom_task_waits_for_a_publication_multi() {
    waits_for_a_publication_multi(AS_TASK);
}

/// O6: a woken task waits again while the next event is published.
#[test]
fn loom_task_waits_twice() {
    waits_twice(AS_TASK);
}

/// O6: two producers publish at once, and one of them finds that the other has cleared the mark.
#[test]
fn loom_task_waits_for_two_publications() {
    waits_for_two_publications(AS_TASK);
}

/// O6: one publication wakes two tasks.
#[test]
fn loom_two_tasks_wait_for_one_publication() {
    two_wait_for_one_publication(AS_TASK, AS_TASK);
}

/// O6: one publication wakes a task and a thread that is parked.
#[test]
fn loom_a_task_and_a_thread_wait_for_one_publication() {
    two_wait_for_one_publication(AS_TASK, PARK);
}

/// O6: a task waits for an upstream stage.
#[test]
fn loom_task_waits_for_an_upstream_stage() {
    waits_for_an_upstream_stage(AS_TASK);
}

/// O6: a producer waits on a full ring as a task.
#[test]
fn loom_task_waits_on_a_full_ring() {
    waits_on_a_full_ring(AS_TASK);
}

/// O6: two producers wait on one full ring as tasks, and both are woken.
#[test]
fn loom_two_tasks_wait_on_a_full_ring() {
    two_wait_on_a_full_ring(AS_TASK);
}

/// O6: a full ring with two stages at its gate, each of which may be the last. The task has a place at
/// one of them after the other.
#[test]
fn loom_task_waits_on_a_full_ring_with_two_gates() {
    waits_on_a_full_ring_with_two_gates(AS_TASK);
}

/// O7: a halt wakes a task.
#[test]
fn loom_halt_against_a_task() {
    halt_against_a_wait(AS_TASK);
}

/// O7: a close wakes a task.
#[test]
fn loom_close_against_a_task() {
    close_against_a_wait(AS_TASK);
}

/// O7 and O10: a task whose stage is stopped is woken, and the ring continues.
#[test]
fn loom_stop_against_a_task() {
    stop_against_a_wait(AS_TASK);
}

/// O6: publications run no fence before a task has waited, and a full one from then on.
#[test]
fn loom_task_waits_for_a_publication_that_runs_the_fence_for_it() {
    check_without_fences(|| {
        let (mut producer, stage) = single(2);
        assert!(Task::default().poll_stage(&stage).is_pending()); // asks for the fence
        let mut stage = stage.resting(AS_TASK);
        producer.publish(1).unwrap(); // clears the mark
        assert_eq!(stage.take().unwrap(), [(0, 1)]);
        let publisher = thread::spawn(move || {
            producer.publish(2).unwrap();
            producer
        });
        assert_eq!(stage.wait().unwrap(), [(1, 2)]);
        drop(publisher.join());
    });
}

/// O6: so do releases.
#[test]
fn loom_task_waits_for_a_release_that_runs_the_fence_for_it() {
    check_without_fences(|| {
        let (producer, mut stage) = single(1);
        let mut producer = producer.resting(AS_TASK);
        producer.publish(1).unwrap();
        assert!(Task::default().poll_room(&producer).is_pending()); // asks for the fence
        assert_eq!(stage.take().unwrap(), [(0, 1)]); // clears the mark
        producer.publish(2).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(3).unwrap();
            producer
        });
        assert_eq!(stage.take().unwrap(), [(1, 2)]);
        drop(publisher.join());
    });
}

/// O6: a wait is dropped after its first poll, at any step of a publication, and the stage waits
/// again. It finds the event, or is woken by it.
#[test]
fn loom_a_wait_that_is_dropped_is_begun_again() {
    check(|| {
        let (mut producer, stage) = single(2);
        let mut stage = stage.resting(AS_TASK);
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer
        });
        let mut dropped = Task::default();
        let _may_be_ready = dropped.poll_stage(&stage);
        drop(dropped);
        assert_eq!(stage.wait().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: a wait is dropped while another stage waits for the same event, which is woken all the same.
#[test]
fn loom_a_wait_that_is_dropped_takes_no_wake_up_with_it() {
    check_less(|| {
        let (mut producer, left, right) = parallel();
        let mut left = left.resting(AS_TASK);
        let one = thread::spawn(move || {
            assert_eq!(left.wait().unwrap(), [(0, 1)]);
            left
        });
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer
        });
        let mut dropped = Task::default();
        let _may_be_ready = dropped.poll_stage(&right);
        drop(dropped);
        drop((one.join(), publisher.join(), right));
    });
}

/// O6: a wait is polled by one waker and then by another, as a task is that moves to another runtime.
/// The last waker is called.
#[test]
fn loom_the_last_waker_is_called() {
    check(|| {
        let (mut producer, stage) = single(2);
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer
        });
        let mut task = Task::default();
        if task.poll_stage(&stage).is_pending() {
            task.signal = SharedArc::default();
            task.wait(stage.reader.ring().control(), &stage.reader);
        }
        assert!(stage.reader.is_ready());
        drop((publisher.join(), stage));
    });
}
