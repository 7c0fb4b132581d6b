//! Models of workers that claim, finish, leave and park, against producers, downstream stages, and
//! each other.
//!
//! Threads that only load a word are spawned. Threads that load and then swap it run on the main
//! thread, which loom schedules first. Loom remembers only the last access to a word. If the
//! swapping thread is not first, its own load hides the load of the other thread. Loom then does
//! not try the schedule in which that load follows the swap.

use std::iter;

use lapwing_core::memory::Reserved;
use lapwing_core::{
    Control, Factory, Graph, ONLY_GENERATION, Place, Placed, Room, StageIndex, UNLIMITED, View,
    Waits, Words,
};
use loom::thread::{self, JoinHandle};

use super::{PARK, check, check_less, check_without_fences, single_ring};
use crate::consumer::{Exclusive, Outcome, Seen, SharedKeys, Source, StageReader, Worker};
use crate::description::Description;
use crate::error::{HaltCause, PollError};
use crate::group::Group;
use crate::producer::Producer;
use crate::ring::{Ring, Shared};
use crate::ring_file::MonitorWords;
use crate::sync::{Arc, AtomicU8};
use crate::wait::{Step, WaitStrategy, Waiting};
use crate::watched::Watched;
use crate::{Sequence, SingleProducer};

/// A ring with a group of `workers`, of which `size` are active, and a stage downstream of it. They
/// have the words 0 and 1, and one more for each worker. With `owners`, the group routes by key.
pub(super) fn ring_with_group(
    capacity: usize,
    workers: usize,
    size: usize,
    owners: Option<Reserved<AtomicU8>>,
) -> (SingleProducer<u64>, Ring<u64>, Arc<Group>, StageReader<u64>) {
    ring_with(capacity, workers, true, |control, words| Group::new(control, words, size, owners))
}

/// The same with the group that `make` returns. If a thread `parks`, the others check for it.
pub(super) fn ring_with(
    capacity: usize,
    workers: usize,
    parks: bool,
    make: impl FnOnce(Placed<Control>, Box<[usize]>) -> Group,
) -> (SingleProducer<u64>, Ring<u64>, Arc<Group>, StageReader<u64>) {
    let graph = Graph::new(vec![Box::default(), Box::from([0])]);
    let (ring, words) = ring(capacity, graph, workers, parks);
    let group = Arc::new(make(ring.control().clone(), words));
    let after = reader(&ring, Place::Stage(1), PARK);
    (Producer::new(ring.clone(), Box::new(PARK)), ring, group, after)
}

/// A ring of this graph, whose first stage is a group. Returns the words of the group too.
fn ring(
    capacity: usize,
    mut graph: Graph,
    workers: usize,
    parks: bool,
) -> (Ring<u64>, Box<[StageIndex]>) {
    let words = graph.share(0, workers);
    let waits = Waits { parks, shares_threads: false };
    let mut place = Words::private();
    let (of_monitors, names) = MonitorWords::place(&mut place, &graph);
    let room = Room::reserve(&mut place, capacity, false).unwrap();
    let core = room.into_ring(&mut place, Factory::of(|| 0), graph, 0, waits);
    let description = Description::new(String::new(), iter::empty(), names);
    let control = core.control().clone();
    let watched = Watched::new(View::of(&control), description, of_monitors, None);
    (Ring::new(core, Shared::new(control, watched, Vec::new())), words)
}

/// The reader of a stage, or of a worker, which may change its events.
fn reader(ring: &Ring<u64>, place: Place, wait: impl WaitStrategy) -> StageReader<u64> {
    let is_worker = matches!(place, Place::Group(_));
    // SAFETY: I5: the events are `Sync`.
    unsafe { StageReader::new(ring.clone(), (place, None), is_worker, Box::new(wait), UNLIMITED) }
}

pub(super) fn workers(
    ring: &Ring<u64>,
    group: &Arc<Group>,
    keys: Option<SharedKeys<u64>>,
    wait: impl WaitStrategy,
) -> Vec<Worker<u64>> {
    let worker = |index| {
        let source = reader(ring, Place::Group(0), wait.clone());
        Worker::new(source, Arc::clone(group), index, keys.clone())
    };
    (0..group.max()).map(worker).collect()
}

/// A ring with a group of workers and a stage downstream of it.
fn group_and_stage(
    capacity: usize,
    count: usize,
    size: usize,
) -> (SingleProducer<u64>, Vec<Worker<u64>>, StageReader<u64>) {
    let (producer, ring, group, after) = ring_with_group(capacity, count, size, None);
    (producer, workers(&ring, &group, None, PARK), after)
}

/// A ring with a group of workers and no other stage.
fn group(capacity: usize, count: usize) -> (SingleProducer<u64>, Vec<Worker<u64>>) {
    let (ring, words) = ring(capacity, Graph::new(vec![Box::default()]), count, true);
    let group = Arc::new(Group::new(ring.control().clone(), words, count, None));
    let workers = workers(&ring, &group, None, PARK);
    (Producer::new(ring, Box::new(PARK)), workers)
}

/// Writes to and finishes the events that one poll finds; returns them.
pub(super) fn work(worker: &mut Worker<u64>) -> Vec<Sequence> {
    match worker.poll() {
        Ok(events) => {
            worker.release(events.end);
            events.collect()
        }
        Err(error) => {
            assert_eq!(error, PollError::Empty);
            Vec::new()
        }
    }
}

/// Reads and finishes the events that one poll of the downstream stage finds; returns them.
pub(super) fn read(after: &mut StageReader<u64>) -> Vec<Sequence> {
    match Source::poll(after) {
        Ok(events) => {
            after.release(events.end);
            events.collect()
        }
        Err(_) => Vec::new(),
    }
}

/// O25: a slot is written again only after the worker that has its event has finished it.
#[test]
fn loom_no_event_is_overwritten_while_a_worker_has_it() {
    check_without_fences(|| {
        let (mut producer, mut workers) = group(1, 2);
        producer.publish(|event| *event = 1).unwrap();
        let publisher = thread::spawn(move || {
            let _ = producer.try_publish(|event| *event = 2);
            producer
        });
        assert_eq!(work(&mut workers[1]), [0]);
        drop((publisher.join(), workers));
    });
}

/// O25, I12: two workers claim at once, and no event is claimed twice.
#[test]
fn loom_two_workers_never_get_one_event() {
    check_without_fences(|| {
        let (mut producer, mut workers) = group(2, 2);
        producer.publish_batch(2, |_| {}).unwrap();
        let mut other = workers.remove(1);
        let thread = thread::spawn(move || {
            let claimed = work(&mut other);
            (claimed, other)
        });
        let mut claimed = work(&mut workers[0]);
        let (of_other, other) = thread.join().unwrap();
        claimed.extend(of_other);
        claimed.sort_unstable();
        assert_eq!(claimed, [0, 1]);
        drop((producer, workers, other));
    });
}

/// O25 and O3: a stage downstream of a group sees what the workers wrote, and only after they have
/// finished.
#[test]
fn loom_stage_after_a_group() {
    check_without_fences(|| {
        let (mut producer, mut workers, mut after) = group_and_stage(2, 2, 2);
        producer.publish_batch(2, |_| {}).unwrap();
        let reader = thread::spawn(move || (read(&mut after), after));
        assert_eq!(work(&mut workers[1]), [0]);
        assert_eq!(work(&mut workers[0]), [1]);
        let (mut seen, mut after) = reader.join().unwrap();
        seen.extend(read(&mut after));
        assert_eq!(seen, [0, 1]);
        drop((producer, workers));
    });
}

/// O6: a stage is parked on a group whose workers claim and finish, while the claim of one of them
/// fails. The bound of that worker falls for a moment below what the other has finished. A stage
/// that then parked on the publication, because it found no worker behind, would never be woken.
#[test]
fn loom_park_while_a_worker_claims_in_vain() {
    check_less(|| {
        let (mut producer, mut workers, mut after) = group_and_stage(2, 2, 2);
        producer.publish(|_| {}).unwrap();
        let mut other = workers.remove(1);
        let claimer = thread::spawn(move || {
            work(&mut other);
            other
        });
        let reader = thread::spawn(move || {
            assert_eq!(after.wait(None).unwrap(), 0..1);
            after
        });
        work(&mut workers[0]);
        drop((claimer.join(), reader.join(), producer, workers));
    });
}

/// O6: a producer is parked on a full ring until a worker has claimed and finished the event.
#[test]
fn loom_park_on_full_ring_of_a_group() {
    check(|| {
        let (mut producer, mut workers) = group(1, 1);
        producer.publish(|event| *event = 1).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        work(&mut workers[0]);
        drop((publisher.join(), workers));
    });
}

/// O6: two workers share the last event of a closed ring: one takes it, the other one waits until
/// it is finished. The decision to park and the choice of the event count must come from one load
/// of the group's word. With two loads, a worker may park on the publication although the event has
/// just been claimed.
#[test]
fn loom_two_workers_share_the_last_event() {
    check(|| {
        let (mut producer, mut workers) = group(2, 2);
        let drain = |worker: &mut Worker<u64>| {
            let mut claimed = Vec::new();
            while let Ok(events) = worker.wait(None) {
                worker.release(events.end);
                claimed.extend(events);
            }
            claimed
        };
        let mut other = workers.remove(1);
        let thread = thread::spawn(move || (drain(&mut other), other));
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let mut claimed = drain(&mut workers[0]);
        let (of_other, other) = thread.join().unwrap();
        claimed.extend(of_other);
        assert_eq!(claimed, [0]);
        drop((workers, other));
    });
}

/// O26 and O7: a worker that is parked because it is inactive is woken when it becomes active.
#[test]
fn loom_resize_against_sleep() {
    check(|| {
        let (mut producer, mut workers, after) = group_and_stage(2, 2, 1);
        producer.publish(|event| *event = 1).unwrap();
        let mut second = workers.remove(1);
        let group = Arc::clone(second.group());
        let resizer = thread::spawn(move || group.resize(2));
        assert_eq!(second.wait(None).unwrap(), 0..1);
        resizer.join().unwrap();
        drop((producer, workers, second, after));
    });
}

/// Parks while another thread leaves only the first worker active.
#[derive(Clone)]
struct ParksAsItBecomesInactive(Arc<Group>, Resizer);

/// The thread that does so.
type Resizer = std::sync::Arc<std::sync::Mutex<Option<JoinHandle<()>>>>;

impl WaitStrategy for ParksAsItBecomesInactive {
    const PARKS: bool = true;

    fn next(&mut self, _: &Waiting<'_>) -> Step {
        let group = Arc::clone(&self.0);
        *self.1.lock().unwrap() = Some(thread::spawn(move || group.resize(1)));
        Step::Park
    }
}

/// O26 and O7: a worker that becomes inactive while it is parked for an event wakes, and rests.
#[test]
fn loom_resize_against_a_parked_worker() {
    check(|| {
        let (producer, ring, group, after) = ring_with_group(2, 2, 2, None);
        let resizer = Resizer::default();
        let wait = ParksAsItBecomesInactive(Arc::clone(&group), Resizer::clone(&resizer));
        let mut second = Worker::new(reader(&ring, Place::Group(0), wait), group, 1, None);
        second.wait_once(None);
        resizer.lock().unwrap().take().unwrap().join().unwrap();
        assert!(second.is_resting());
        drop((producer, second, after));
    });
}

/// O10: a worker that is parked until an upstream stage has finished an event learns of a halt.
#[test]
fn loom_halt_against_a_worker_behind_another_stage() {
    check(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .stage("before")
            .poller()
            .stage("work")
            .workers(1)
            .read(|_| |_: &u64, _, _| {})
            .build()
            .unwrap();
        let before = consumers.take_poller("before").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let ring = producer.shared();
        let halter = thread::spawn(move || ring.control().halt(HaltCause::Requested.core()));
        let worker = consumers.into_iter().next().unwrap();
        assert_eq!(*worker.run().outcome(), Outcome::Halted);
        halter.join().unwrap();
        drop((producer, before));
    });
}

/// O7: a worker that is parked because it is inactive learns that the ring is closed.
#[test]
fn loom_close_against_an_inactive_worker() {
    check(|| {
        let (producer, mut workers, after) = group_and_stage(2, 2, 1);
        let mut inactive = workers.remove(1);
        let closer = thread::spawn(move || drop(producer));
        assert!(inactive.wait(None).is_err());
        closer.join().unwrap();
        drop((workers, inactive, after));
    });
}

/// O10: a worker that is parked because it is inactive learns that it is to stop.
#[test]
fn loom_stop_against_an_inactive_worker() {
    stop_against_park(1);
}

/// O10: a worker that is parked until there is an event learns that it is to stop.
#[test]
fn loom_stop_against_a_parked_worker() {
    stop_against_park(2);
}

/// Stops the second worker of a group, of which `size` are active, while it waits.
fn stop_against_park(size: usize) {
    check(move || {
        let (producer, mut workers, after) = group_and_stage(2, 2, size);
        let mut second = workers.remove(1);
        let group = Arc::clone(second.group());
        let stopper = thread::spawn(move || group.control.stop(group.word_of(1), ONLY_GENERATION));
        assert!(matches!(second.wait_once(None), Seen::Expired));
        stopper.join().unwrap();
        drop((producer, workers, second, after));
    });
}

/// O26 and O27: a parked worker takes over the events that another one leaves behind, with what was
/// done to them.
#[test]
fn loom_a_worker_takes_over_what_another_left() {
    check(|| {
        let (mut producer, mut workers) = group(2, 2);
        producer.publish(|event| *event = 1).unwrap();
        let mut first = workers.remove(0);
        let events = first.poll().unwrap();
        let leaver = thread::spawn(move || {
            let _ = Source::events::<Exclusive>(&mut first, events);
            first.leave();
            first
        });
        let second = &mut workers[0];
        let events = second.wait(None).unwrap();
        assert_eq!(events, 0..1);
        second.release(events.end);
        let first = leaver.join().unwrap();
        drop((producer, workers, first));
    });
}

/// O27: of two workers, one takes over a claim that was left behind.
#[test]
fn loom_one_of_two_workers_takes_over_what_another_left() {
    check(|| {
        let (mut producer, mut workers) = group(2, 3);
        producer.publish(|event| *event = 1).unwrap();
        let mut first = workers.remove(0);
        assert_eq!(first.poll().unwrap(), 0..1);
        first.leave();
        let mut second = workers.remove(0);
        let taker = thread::spawn(move || (second.poll().is_ok(), second));
        let is_here = workers[0].poll().is_ok();
        let (is_there, second) = taker.join().unwrap();
        assert!(is_here != is_there, "by one of the two");
        drop((producer, workers, first, second));
    });
}

/// O26: in a closed ring, a worker stays until the claim of another one is finished, since that
/// claim may be left behind.
#[test]
fn loom_a_worker_stays_for_what_another_may_leave() {
    check(|| {
        let (mut producer, mut workers) = group(2, 2);
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let mut first = workers.remove(0);
        assert_eq!(first.poll().unwrap(), 0..1);
        let leaver = thread::spawn(move || {
            first.leave();
            first
        });
        assert_eq!(workers[0].wait(None).unwrap(), 0..1);
        workers[0].release(1);
        drop((leaver.join(), workers));
    });
}

/// O25 and O26: in a closed ring, an inactive worker stays while an event is not claimed, since the
/// worker that claims it may leave it behind.
#[test]
fn loom_an_inactive_worker_stays_for_an_event_that_is_not_claimed() {
    check(|| {
        let (mut producer, mut workers, after) = group_and_stage(2, 2, 1);
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let mut first = workers.remove(0);
        let leaver = thread::spawn(move || {
            assert_eq!(first.poll().unwrap(), 0..1);
            first.leave();
            first
        });
        assert_eq!(workers[0].wait(None).unwrap(), 0..1);
        workers[0].release(1);
        drop((leaver.join(), workers, after));
    });
}

/// O10: a worker that has events in hand learns of a halt before it gets them again.
#[test]
fn loom_halt_against_a_worker_with_events_in_hand() {
    check(|| {
        let (mut producer, mut workers) = group(1, 1);
        producer.publish(|event| *event = 1).unwrap();
        let ring = producer.shared();
        let halter = thread::spawn(move || ring.control().halt(HaltCause::Requested.core()));
        if workers[0].poll().is_ok() {
            halter.join().unwrap();
            assert_eq!(workers[0].poll(), Err(PollError::Halted(HaltCause::Requested)));
        }
        drop((producer, workers));
    });
}

/// O26: of the last two workers that leave at once, one is the last, and halts the ring.
#[test]
fn loom_last_two_workers_leave() {
    check(|| {
        let (producer, mut workers) = group(2, 2);
        let ring = producer.shared();
        let mut other = workers.remove(1);
        let leaver = thread::spawn(move || (other.leave(), other));
        let is_last = workers[0].leave();
        let (other_is_last, other) = leaver.join().unwrap();
        assert!(is_last != other_is_last);
        assert!(ring.control().is_halted());
        drop((producer, workers, other));
    });
}

/// O29: two idle workers get one event each. One of them has the watch, and the other one parks
/// until it is handed the watch.
#[test]
fn loom_two_idle_workers_get_an_event_each() {
    check_less(|| {
        let (mut producer, mut workers) = group(2, 2);
        let mut other = workers.remove(1);
        let thread = thread::spawn(move || (other.wait(None).unwrap(), other));
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        let event = workers[0].wait(None).unwrap();
        let (of_other, other) = thread.join().unwrap();
        assert_eq!(event.start.min(of_other.start)..event.end.max(of_other.end), 0..2);
        drop((publisher.join(), workers, other));
    });
}
