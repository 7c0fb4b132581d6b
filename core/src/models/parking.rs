//! Models of threads that park, and of the threads that wake them. A lost wake-up shows as a
//! deadlock. `tasks` runs some of them with tasks that wait.

use loom::thread;

use super::{
    Advice, BESIDE, ONE, PARK, Publisher, REQUESTED, Rest, SLEEP, Single, TWO, Taker, acknowledged,
    check, check_less, check_up_to, check_without_fences, graph, multi, parallel, ring_of,
    ring_with, single, single_ring,
};
use crate::error::{Cause, ClaimError, PollError};
use crate::words::Placed;
use crate::{Awaited, Control, EventCount, Graph, ONLY_GENERATION, StageIndex, Turn, Wait};

/// O6: an empty ring with one producer.
#[test]
fn loom_park_on_publication() {
    waits_for_a_publication(PARK);
}

pub(super) fn waits_for_a_publication(rest: Rest) {
    check(move || {
        let (mut producer, stage) = single(2);
        let mut stage = stage.resting(rest);
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
fn loom_park_on_publication_multi() {
    waits_for_a_publication_multi(PARK);
}

pub(super) fn waits_for_a_publication_multi(rest: Rest) {
    check(move || {
        let (mut producer, stage) = multi(2);
        let mut stage = stage.resting(rest);
        let publisher = thread::spawn(move || {
            producer.publish(1).unwrap();
            producer
        });
        assert_eq!(stage.wait().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: a woken thread parks again while the next event is published. The publisher that woke it has
/// cleared the mark, and must not mistake the new mark for the old one.
#[test]
fn loom_park_twice_on_publication() {
    waits_twice(PARK);
}

pub(super) fn waits_twice(rest: Rest) {
    check(move || {
        let (mut producer, stage) = single(2);
        let mut stage = stage.resting(rest);
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

/// O6: two producers publish at once, and one of them finds that the other has cleared the mark.
#[test]
fn loom_park_on_two_publications() {
    waits_for_two_publications(PARK);
}

pub(super) fn waits_for_two_publications(rest: Rest) {
    check(move || {
        let (mut first, stage) = multi(2);
        let (mut second, mut stage) = (first.clone(), stage.resting(rest));
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

/// O6: the producer stops counting its claims. On a system without an asymmetric fence, its
/// publications still run the fence.
#[test]
fn loom_park_on_publication_of_one_that_stops_counting() {
    check(|| {
        let (mut producer, mut stage) = single(2);
        let publisher = thread::spawn(move || {
            producer.control().follow_up_publications(false);
            producer.publish(1).unwrap();
            producer
        });
        assert_eq!(stage.wait().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: two stages are parked on one publication, and both are woken.
#[test]
fn loom_two_stages_park_on_publication() {
    two_wait_for_one_publication(PARK, PARK);
}

pub(super) fn two_wait_for_one_publication(rest: Rest, other: Rest) {
    check(move || {
        let (mut producer, left, right) = parallel();
        let (mut left, mut right) = (left.resting(rest), right.resting(other));
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

/// O6: a claim that is given up wakes the stage that waits behind it.
#[test]
fn loom_park_behind_a_claim_that_is_given_up() {
    check(|| {
        let (mut first, mut stage) = multi(2);
        let mut second = first.clone();
        let giver = thread::spawn(move || {
            drop(first.try_claim().unwrap());
            first
        });
        second.publish(1).unwrap();
        assert_eq!(stage.wait().unwrap().pop().unwrap().1, 1);
        drop(giver.join());
    });
}

/// O6: a stage is parked on an upstream stage.
#[test]
fn loom_park_on_upstream_stage() {
    waits_for_an_upstream_stage(PARK);
}

pub(super) fn waits_for_an_upstream_stage(rest: Rest) {
    check(move || {
        let (mut producer, ring) = single_ring(2, TWO);
        let mut first = Taker::of_stage(&ring, 0);
        let mut second = Taker::of_stage(&ring, 1).resting(rest);
        producer.publish(1).unwrap();
        let upstream = thread::spawn(move || {
            first.take().unwrap();
            first
        });
        assert_eq!(second.wait().unwrap(), [(0, 1)]);
        drop(upstream.join());
    });
}

/// O6: a stage is parked on the acknowledgement of its upstream stage.
#[test]
fn loom_park_on_an_acknowledgement() {
    check(|| {
        let (mut producer, mut journal, mut reply, disk) = acknowledged(2);
        producer.publish(1).unwrap();
        journal.take().unwrap();
        let control = producer.control();
        let writer = thread::spawn(move || control.acknowledge(disk, 1));
        assert_eq!(reply.wait().unwrap(), [(0, 1)]);
        writer.join().unwrap();
        drop((journal, producer));
    });
}

/// O6 and O13: a producer is parked on a full ring.
#[test]
fn loom_park_on_full_ring() {
    waits_on_a_full_ring(PARK);
}

pub(super) fn waits_on_a_full_ring(rest: Rest) {
    check(move || {
        let (producer, mut stage) = single(1);
        let mut producer = producer.resting(rest);
        producer.publish(1).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(2).unwrap();
            producer
        });
        assert_eq!(stage.take().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: a full ring of eight slots, where a patient producer waits until two are free. It is woken
/// then, whichever of the two releases it parks between. (Its patience has no time limit here.)
#[test]
fn loom_park_until_there_is_room() {
    check(|| {
        let (mut producer, mut stage) = single(8);
        producer.publish_batch(8, 1).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(2).unwrap();
            producer
        });
        for _ in 0..2 {
            let next = stage.poll().unwrap().start;
            stage.finish(next..next + 1);
        }
        drop(publisher.join());
    });
}

/// O6: the same with two producers, which park on the same event count and may take each other's
/// slot.
#[test]
fn loom_two_producers_park_until_there_is_room() {
    check(|| {
        let (mut first, mut stage) = multi(8);
        let mut second = first.clone();
        first.publish_batch(8, 1).unwrap();
        let one = thread::spawn(move || {
            first.publish(2).unwrap();
            first
        });
        let other = thread::spawn(move || {
            second.publish(2).unwrap();
            second
        });
        // Three releases free enough slots even if one of the two has claimed before the check.
        let next = stage.poll().unwrap().start;
        stage.finish(next..next + 3);
        drop((one.join(), other.join()));
    });
}

/// O6: a full ring with two stages at its gate, each of which may be the last. A producer that
/// parked on one of them while the other was behind would never be woken.
#[test]
fn loom_park_on_full_ring_with_two_gates() {
    waits_on_a_full_ring_with_two_gates(PARK);
}

pub(super) fn waits_on_a_full_ring_with_two_gates(rest: Rest) {
    check(move || {
        let (producer, mut left, mut right) = parallel();
        let mut producer = producer.resting(rest);
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

/// O6: the same for a stage that joins two others.
#[test]
fn loom_park_on_two_upstream_stages() {
    check(|| {
        let (mut producer, ring) = single_ring(1, &[&[], &[], &[0, 1]]);
        let [mut left, mut right, mut join] = [0, 1, 2].map(|stage| Taker::of_stage(&ring, stage));
        producer.publish(1).unwrap();
        let one = thread::spawn(move || {
            left.take().unwrap();
            left
        });
        let two = thread::spawn(move || {
            right.take().unwrap();
            right
        });
        assert_eq!(join.wait().unwrap(), [(0, 1)]);
        drop((one.join(), two.join()));
    });
}

/// O6: a stage joins two others, one of which has left. The stage upstream of that one may finish
/// between the two checks of the waiter, while the other is behind. A waiter that chose where to
/// park after its check would never be woken.
#[test]
fn loom_park_where_one_has_left_and_another_is_behind() {
    check_up_to(4, || {
        let (mut producer, ring) = single_ring(1, &[&[], &[0], &[], &[1, 2]]);
        let mut before = Taker::of_stage(&ring, 0);
        drop(Taker::of_stage(&ring, 1));
        let (mut beside, mut join) = (Taker::of_stage(&ring, 2), Taker::of_stage(&ring, 3));
        producer.publish(1).unwrap();
        let one = thread::spawn(move || {
            before.take().unwrap();
            before
        });
        let two = thread::spawn(move || {
            beside.take().unwrap();
            beside
        });
        assert_eq!(join.wait().unwrap(), [(0, 1)]);
        drop((one.join(), two.join()));
    });
}

/// O6: two producers are parked on one full ring, and both are woken.
#[test]
fn loom_two_producers_park_on_full_ring() {
    two_wait_on_a_full_ring(PARK);
}

pub(super) fn two_wait_on_a_full_ring(rest: Rest) {
    check_less(move || {
        let (first, mut stage) = multi(2);
        let (mut first, mut second) = (first.clone().resting(rest), first.resting(rest));
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

/// O6: another producer takes the slot that has just become free, and its event is consumed while
/// this producer parks. If this one chose where to park after its check, it would stay parked
/// beside a free slot.
#[test]
fn loom_park_on_full_ring_while_another_claims() {
    check(|| {
        let (mut first, mut stage) = multi(1);
        let mut second = first.clone();
        first.publish(1).unwrap();
        let other = thread::spawn(move || {
            stage.take().unwrap();
            if second.try_publish(2).is_ok() {
                stage.take().unwrap();
            }
            (second, stage)
        });
        first.publish(3).unwrap();
        drop(other.join());
    });
}

/// O7 and O10: a halt wakes a parked stage.
#[test]
fn loom_halt_against_park() {
    halt_against_a_wait(PARK);
}

pub(super) fn halt_against_a_wait(rest: Rest) {
    check(move || {
        let (producer, stage) = single(2);
        let mut stage = stage.resting(rest);
        let control = producer.control();
        let halter = thread::spawn(move || control.halt(REQUESTED));
        assert_eq!(stage.wait(), Err(PollError::Halted(REQUESTED)));
        halter.join().unwrap();
        drop(producer);
    });
}

/// O7 and O10: a halt wakes a producer that is parked on a full ring.
#[test]
fn loom_halt_against_park_on_full_ring() {
    check(|| {
        let (mut producer, stage) = single(1);
        producer.publish(1).unwrap();
        let leaver = thread::spawn(move || drop(stage)); // the last consumer: halts
        assert_eq!(producer.publish(2), Err(ClaimError::Halted(Cause::NO_CONSUMERS)));
        leaver.join().unwrap();
    });
}

/// O7 and O9: a close wakes a parked stage.
#[test]
fn loom_close_against_park() {
    close_against_a_wait(PARK);
}

pub(super) fn close_against_a_wait(rest: Rest) {
    check(move || {
        let (producer, stage) = single(2);
        let mut stage = stage.resting(rest);
        let closer = thread::spawn(move || drop(producer));
        assert_eq!(stage.wait(), Err(PollError::Closed));
        closer.join().unwrap();
    });
}

/// A ring with one producer in which no thread parks with a mark, so that no thread checks for
/// parked ones.
fn sleeping(capacity: usize) -> (Publisher<Single>, Taker) {
    let ring = ring_with(capacity, false, graph(ONE), false);
    let producer = Publisher::only(&ring, Advice::default()).resting(SLEEP);
    let mut stage = Taker::of_stage(&ring, 0);
    stage.rest = SLEEP;
    (producer, stage)
}

/// O7 and O10: a halt wakes a stage that sleeps without a mark.
#[test]
fn loom_halt_against_sleep() {
    check(|| {
        let (producer, mut stage) = sleeping(2);
        let control = producer.control();
        let halter = thread::spawn(move || control.halt(REQUESTED));
        assert_eq!(stage.wait(), Err(PollError::Halted(REQUESTED)));
        halter.join().unwrap();
        drop(producer);
    });
}

/// O7 and O9: a close wakes a stage that sleeps without a mark.
#[test]
fn loom_close_against_sleep() {
    check(|| {
        let (producer, mut stage) = sleeping(2);
        let closer = thread::spawn(move || drop(producer));
        assert_eq!(stage.wait(), Err(PollError::Closed));
        closer.join().unwrap();
    });
}

/// O6: a close wakes a producer that is parked at the place of those that wait for other producers.
/// Both run the full fence, so there is no light one that would hide its absence.
#[test]
fn loom_close_against_a_queued_producer() {
    check_without_fences(|| {
        let (producer, stage) = multi(1);
        let (control, other) = (producer.control(), producer.control());
        let closer = thread::spawn(move || other.close());
        while control.is_open() {
            control.places().park(0, None, || !control.is_open());
        }
        closer.join().unwrap();
        drop((producer, stage));
    });
}

/// O7 and O10: a halt wakes a producer that sleeps without a mark on a full ring.
#[test]
fn loom_halt_against_sleep_on_full_ring() {
    check(|| halt_against_full_ring(SLEEP));
}

/// O7 and O10: the same for a producer that parks where no thread checks for parked ones.
#[test]
fn loom_halt_against_park_that_nobody_looks_for() {
    check(|| halt_against_full_ring(PARK));
}

/// Halts a full ring while its producer waits.
fn halt_against_full_ring(rest: Rest) {
    let (producer, stage) = sleeping(1);
    let mut producer = producer.resting(rest);
    let control = producer.control();
    producer.publish(1).unwrap();
    let halter = thread::spawn(move || control.halt(REQUESTED));
    assert_eq!(producer.publish(2), Err(ClaimError::Halted(REQUESTED)));
    halter.join().unwrap();
    drop(stage);
}

/// Halts a ring, which may be closed before, while a stage is parked on an upstream stage.
fn halt_against_park_on_upstream_stage(is_closed: bool) {
    let (mut producer, ring) = single_ring(2, TWO);
    let (first, mut second) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
    producer.publish(1).unwrap();
    let control = producer.control();
    let open = if is_closed {
        drop(producer);
        None
    } else {
        Some(producer)
    };
    let halter = thread::spawn(move || control.halt(REQUESTED));
    assert!(second.wait().is_err());
    halter.join().unwrap();
    drop((open, first));
}

/// O7: a stage is parked on an upstream stage when the ring is halted.
#[test]
fn loom_halt_against_park_on_upstream_stage() {
    check(|| halt_against_park_on_upstream_stage(false));
}

/// O10 and O7: the same in a ring that was closed before, and is not drained.
#[test]
fn loom_halt_of_a_closed_ring_against_park_on_upstream_stage() {
    check(|| halt_against_park_on_upstream_stage(true));
}

/// O10 and O7: a parked stage is stopped, and the ring continues.
#[test]
fn loom_stop_against_park() {
    stop_against_a_wait(PARK);
}

pub(super) fn stop_against_a_wait(rest: Rest) {
    check(move || {
        let (mut producer, ring) = single_ring(1, BESIDE);
        let mut stops = Taker::of_stage(&ring, 0).resting(rest);
        let mut stays = Taker::of_stage(&ring, 1);
        let stage = thread::spawn(move || assert_eq!(stops.run(), None));
        producer.control().stop(0, ONLY_GENERATION);
        stage.join().unwrap();
        producer.publish(0).unwrap();
        stays.wait_up_to(1);
    });
}

/// O10: a late stop of a consumer that has left does not undo the stop of the next one in that
/// dynamic stage.
#[test]
fn loom_a_late_stop_undoes_no_other() {
    check_without_fences(|| {
        let (producer, _stage) = single(1);
        let (control, other) = (producer.control(), producer.control());
        let late = thread::spawn(move || other.stop(0, 1));
        control.stop(0, 3);
        late.join().unwrap();
        assert!(control.is_stopping(0, 3));
    });
}

/// The wait of a worker for a stop, while another worker has the watch.
struct Follows {
    control: Placed<Control>,
    word: StageIndex,
}

impl Awaited for Follows {
    fn is_over(&self) -> bool {
        self.control.is_stopping(self.word, ONLY_GENERATION)
    }

    fn event_count(&self) -> Option<&EventCount> {
        Some(self.control.published())
    }

    fn turn(&self) -> Option<Turn<'_>> {
        Some(self.control.turn_of(0, 1))
    }
}

/// O7 and O10: a worker that follows the one with the watch learns that it is to stop, even if no
/// event comes and the watch is not handed on.
#[test]
fn loom_stop_against_a_worker_that_follows() {
    check(|| {
        let mut graph = Graph::new(vec![Box::default()]);
        let word = graph.share(0, 2)[2];
        let control = ring_of(2, false, graph).control().clone();
        assert!(control.turn_of(0, 0).take_watch());
        let awaited = Follows { control: control.clone(), word };
        let follower = thread::spawn(move || {
            let wait = Wait { awaited: &awaited, deadline: None, sleeper: None };
            awaited.control.park(&wait);
            assert!(awaited.is_over());
        });
        control.stop(word, ONLY_GENERATION);
        follower.join().unwrap();
    });
}
