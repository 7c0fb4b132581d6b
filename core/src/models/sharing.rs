//! Models of a thread that runs several stages and parks until any word advances, and of idle
//! workers of which an event wakes one. A lost wake-up shows as a deadlock. Not here: how workers
//! share the events of their group (`lapwing::models`).

use loom::thread;

use super::rings::Upstream;
use super::{Advice, Publisher, Single, Taker, check, check_less, graph, ring_of};
use crate::error::PollError;
use crate::words::{Placed, Words};
use crate::{
    Awaited, Control, EventCount, Factory, Graph, ONLY_GENERATION, Ring, Room, Sharing, StageIndex,
    Turn, Wait, Waits,
};

/// A ring of one slot whose stages may share a thread.
fn shared_ring(upstream: Upstream<'_>) -> (Publisher<Single>, Ring<u64>) {
    let waits = Waits { parks: true, shares_threads: true };
    let room = Room::reserve(&mut Words::private(), 1, false).unwrap();
    let ring = room.into_ring(&mut Words::private(), Factory::of(|| 0), graph(upstream), 0, waits);
    (Publisher::only(&ring, Advice::default()), ring)
}

/// Two stages that run on one thread.
struct Together([Taker; 2]);

impl Awaited for Together {
    fn is_over(&self) -> bool {
        self.0.iter().any(|stage| stage.reader.is_ready())
    }

    fn event_count(&self) -> Option<&EventCount> {
        self.0[0].reader.ring().control().anything()
    }
}

impl Together {
    fn of(ring: &Ring<u64>, stages: [StageIndex; 2]) -> Self {
        Self(stages.map(|stage| Taker::of_stage(ring, stage)))
    }

    /// Parks until each stage has finished the first event.
    fn finish_one(mut self) -> Self {
        let control = self.0[0].reader.ring().control().clone();
        loop {
            for stage in &mut self.0 {
                match stage.take() {
                    Ok(_) | Err(PollError::Empty) => {}
                    Err(why) => panic!("the ring is open: {why:?}"),
                }
            }
            if self.0.iter().all(|stage| stage.reader.next() == 1) {
                return self;
            }
            control.park(&Wait { awaited: &self, deadline: None, sleeper: None });
        }
    }
}

/// O6: a publication wakes the thread.
#[test]
fn loom_shared_thread_parks_on_publication() {
    check(|| {
        let (mut producer, ring) = shared_ring(&[&[], &[0]]);
        let both = Together::of(&ring, [0, 1]);
        let both = thread::spawn(move || both.finish_one());
        producer.publish(1).unwrap();
        drop((both.join().unwrap(), producer));
    });
}

/// O6: a release of an upstream stage on another thread wakes the thread.
#[test]
fn loom_shared_thread_parks_on_another_stage() {
    check_less(|| {
        let (mut producer, ring) = shared_ring(&[&[], &[0], &[0]]);
        let mut before = Taker::of_stage(&ring, 0);
        let both = Together::of(&ring, [1, 2]);
        producer.publish(1).unwrap();
        let both = thread::spawn(move || both.finish_one());
        before.take().unwrap();
        drop((both.join().unwrap(), before, producer));
    });
}

/// O7: the upstream stage leaves on another thread, which wakes the thread.
#[test]
fn loom_shared_thread_parks_on_one_that_leaves() {
    check_less(|| {
        let (mut producer, ring) = shared_ring(&[&[], &[0], &[0]]);
        let before = Taker::of_stage(&ring, 0);
        let both = Together::of(&ring, [1, 2]);
        producer.publish(1).unwrap();
        let both = thread::spawn(move || both.finish_one());
        drop(before);
        drop((both.join().unwrap(), producer));
    });
}

/// O6: a release of one of the stages wakes a producer that is parked on a full ring.
#[test]
fn loom_shared_thread_wakes_a_producer() {
    check_less(|| {
        let (mut producer, ring) = shared_ring(&[&[], &[0]]);
        let both = Together::of(&ring, [0, 1]);
        producer.publish(1).unwrap();
        let both = thread::spawn(move || both.finish_one());
        producer.publish(2).unwrap();
        drop((both.join().unwrap(), producer));
    });
}

/// An idle worker, which waits for an event that any worker of its group may take.
struct Idle {
    control: Placed<Control>,
    sharing: Sharing,
    worker: usize,
}

impl Awaited for Idle {
    fn is_over(&self) -> bool {
        self.control.claimed() > self.control.sequence_of(0)
    }

    fn event_count(&self) -> Option<&EventCount> {
        Some(self.control.published())
    }

    fn turn(&self) -> Option<Turn<'_>> {
        Some(self.control.turn_of(0, self.worker))
    }
}

impl Idle {
    fn of(control: &Placed<Control>, worker: usize) -> Self {
        // SAFETY: I12: the idle ones move only the word of their group, and access no event.
        let sharing = unsafe { Sharing::of(control.clone(), 0) };
        Self { control: control.clone(), sharing, worker }
    }

    /// Parks until it has taken an event.
    fn take_one(&self) {
        loop {
            let next = self.control.sequence_of(0);
            let is_there = self.control.claimed() > next;
            if is_there && self.sharing.try_move_word(0, next, next + 1) {
                return;
            }
            self.control.park(&Wait { awaited: self, deadline: None, sleeper: None });
        }
    }
}

/// O29: two idle workers take one event each. One of them has the watch, and the other one parks
/// until it is handed the watch.
#[test]
fn loom_two_idle_ones_take_an_event_each() {
    check_less(|| {
        let mut graph = Graph::new(vec![Box::default()]);
        graph.share(0, 2);
        let ring = ring_of(2, false, graph);
        let mut producer = Publisher::only(&ring, Advice::default());
        let [one, other] = [0, 1].map(|worker| Idle::of(ring.control(), worker));
        let other = thread::spawn(move || other.take_one());
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer.publish(2).unwrap();
            producer
        });
        one.take_one();
        other.join().unwrap();
        drop(publisher.join());
    });
}

/// O7 and O10: a worker that is not active, and parks whatever its wait strategy is, learns that it
/// is to stop.
#[test]
fn loom_stop_against_an_idle_worker() {
    check(|| {
        let mut graph = Graph::new(vec![Box::default()]);
        let word = graph.share(0, 1)[1];
        let control = ring_of(1, false, graph).control().clone();
        let other = control.clone();
        let stopper = thread::spawn(move || other.stop(word, ONLY_GENERATION));
        control.park_idle(word, || control.is_stopping(word, ONLY_GENERATION));
        assert!(control.is_stopping(word, ONLY_GENERATION));
        stopper.join().unwrap();
    });
}
