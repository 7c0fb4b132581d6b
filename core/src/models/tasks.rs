//! Models of tasks that wait where threads park: the same waits by wakers. A lost wake-up shows as a
//! deadlock.

use std::sync::Arc as SharedArc;
use std::task::{Poll, Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;

use super::{
    BESIDE, PARK, Publisher, REQUESTED, Rest, Single, TWO, Taker, check, check_less, multi,
    parallel, single, single_ring,
};
use crate::error::PollError;
use crate::{Awaited, Claims, Control, ONLY_TURN, TaskPlace};

/// Waits as a task of which a thread runs nothing else.
const AS_TASK: Rest = |control, wait| Task::default().wait(control, wait.awaited);

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
}

fn as_task(mut stage: Taker) -> Taker {
    stage.rest = AS_TASK;
    stage
}

fn publishing_as_task<C: Claims>(mut producer: Publisher<C>) -> Publisher<C> {
    // Only a thread waits for a quarter of the ring.
    (producer.rest, producer.is_patient) = (AS_TASK, false);
    producer
}

/// A ring of two slots whose stage waits as a task.
fn single_with_task() -> (Publisher<Single>, Taker) {
    let (producer, stage) = single(2);
    (producer, as_task(stage))
}

/// O6: an empty ring with one producer.
#[test]
fn loom_task_waits_for_a_publication() {
    check(|| {
        let (mut producer, mut stage) = single_with_task();
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer
        });
        assert_eq!(stage.wait().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: an empty ring with several producers.
#[test]
fn loom_task_waits_for_a_publication_multi() {
    check(|| {
        let (mut producer, stage) = multi(2);
        let mut stage = as_task(stage);
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer
        });
        assert_eq!(stage.wait().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: a woken task waits again while the next event is published.
#[test]
fn loom_task_waits_twice() {
    check(|| {
        let (mut producer, mut stage) = single_with_task();
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer.publish(2).unwrap();
            producer
        });
        let mut events = Vec::new();
        while events.len() < 2 {
            events.extend(stage.wait().unwrap());
        }
        assert_eq!(events, [(0, 1), (1, 2)]);
        drop(publisher.join());
    });
}

/// O6: two producers publish at once, and one of them finds that the other has cleared the
/// mark.
#[test]
fn loom_task_waits_for_two_publications() {
    check(|| {
        let (mut first, stage) = multi(2);
        let (mut second, mut stage) = (first.clone(), as_task(stage));
        let publisher = thread::spawn(move || {
            first.publish(1).unwrap();
            first
        });
        let other = thread::spawn(move || {
            second.publish(1).unwrap();
            second
        });
        let mut events = 0;
        while events < 2 {
            events += stage.wait().unwrap().len();
        }
        drop((publisher.join(), other.join()));
    });
}

/// Two stages wait for one publication, the second one as `rest` says.
fn two_wait(rest: Rest) {
    check(move || {
        let (mut producer, left, mut right) = parallel();
        let mut left = as_task(left);
        right.rest = rest;
        let one = thread::spawn(move || {
            assert_eq!(left.wait().unwrap(), [(0, 1)]);
            left
        });
        let two = thread::spawn(move || {
            assert_eq!(right.wait().unwrap(), [(0, 1)]);
            right
        });
        producer.publish(1).unwrap();
        drop((one.join(), two.join()));
    });
}

/// O6: one publication wakes two tasks.
#[test]
fn loom_two_tasks_wait_for_one_publication() {
    two_wait(AS_TASK);
}

/// O6: one publication wakes a task and a thread that is parked.
#[test]
fn loom_a_task_and_a_thread_wait_for_one_publication() {
    two_wait(PARK);
}

/// O6: a task waits for an upstream stage.
#[test]
fn loom_task_waits_for_an_upstream_stage() {
    check(|| {
        let (mut producer, ring) = single_ring(2, TWO);
        let (mut first, second) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        let mut second = as_task(second);
        producer.publish(1).unwrap();
        let upstream = thread::spawn(move || {
            first.take().unwrap();
            first
        });
        assert_eq!(second.wait().unwrap(), [(0, 1)]);
        drop(upstream.join());
    });
}

/// O6: a producer waits on a full ring as a task.
#[test]
fn loom_task_waits_on_a_full_ring() {
    check(|| {
        let (producer, mut stage) = single(1);
        let mut producer = publishing_as_task(producer);
        producer.publish(1).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(2).unwrap();
            producer
        });
        assert_eq!(stage.take().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: two producers wait on one full ring as tasks, and both are woken.
#[test]
fn loom_two_tasks_wait_on_a_full_ring() {
    check_less(|| {
        let (first, mut stage) = multi(2);
        let mut first = publishing_as_task(first);
        let mut second = publishing_as_task(first.clone());
        first.publish_batch(2, 1).unwrap();
        let one = thread::spawn(move || {
            first.publish(2).unwrap();
            first
        });
        let two = thread::spawn(move || {
            second.publish(3).unwrap();
            second
        });
        assert_eq!(stage.take().unwrap().len(), 2);
        drop((one.join(), two.join()));
    });
}

/// O6: a full ring with two stages at its gate, each of which may be the last. The task has a place at
/// one of them after the other.
#[test]
fn loom_task_waits_on_a_full_ring_with_two_gates() {
    check(|| {
        let (producer, mut left, mut right) = parallel();
        let mut producer = publishing_as_task(producer);
        producer.publish(1).unwrap();
        let one = thread::spawn(move || {
            left.take().unwrap();
            left
        });
        let two = thread::spawn(move || {
            right.take().unwrap();
            right
        });
        producer.publish(2).unwrap();
        drop((one.join(), two.join()));
    });
}

/// O7: a halt wakes a task.
#[test]
fn loom_halt_against_a_task() {
    check(|| {
        let (producer, mut stage) = single_with_task();
        let control = producer.control();
        let halter = thread::spawn(move || control.halt(REQUESTED));
        assert_eq!(stage.wait(), Err(PollError::Halted(REQUESTED)));
        halter.join().unwrap();
        drop(producer);
    });
}

/// O7: a close wakes a task.
#[test]
fn loom_close_against_a_task() {
    check(|| {
        let (producer, mut stage) = single_with_task();
        let closer = thread::spawn(move || drop(producer));
        assert_eq!(stage.wait(), Err(PollError::Closed));
        closer.join().unwrap();
    });
}

/// O7 and O10: a task whose stage is stopped is woken, and the ring continues.
#[test]
fn loom_stop_against_a_task() {
    check(|| {
        let (mut producer, ring) = single_ring(1, BESIDE);
        let (stops, mut stays) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        let mut stops = as_task(stops);
        let stage = thread::spawn(move || assert_eq!(stops.run(), None));
        producer.control().stop(0, ONLY_TURN);
        stage.join().unwrap();
        producer.publish(0).unwrap();
        stays.wait_up_to(1);
    });
}

/// O6: a wait is dropped after its first poll, at any step of a publication, and the stage waits
/// again. It finds the event, or is woken by it.
#[test]
fn loom_a_wait_that_is_dropped_is_begun_again() {
    check(|| {
        let (mut producer, mut stage) = single_with_task();
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
        let mut left = as_task(left);
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
