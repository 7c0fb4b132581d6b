//! Models of threads that park, and of the threads that wake them. A lost wake-up shows as a
//! deadlock.

use loom::thread;

use super::{
    PARK, SLEEP, acknowledged, check, check_less, check_up_to, check_without_fences, multi,
    side_by_side, single, single_ring, take,
};
use crate::consumer::Consumer;
use crate::error::{HaltCause, PublishError, RingError};
use crate::graph::Graph;
use crate::protocol::parking::asymmetric::AsymmetricFence;
use crate::protocol::parking::event_count::{ENDED, EventCount, FOLLOW_UP};
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::{Action, Disruptor, Poller, SingleProducer};

/// O6: an empty ring with one producer.
#[test]
fn loom_park_on_publication() {
    check(|| {
        let (mut producer, mut poller) = single(2);
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer
        });
        assert_eq!(poller.wait().unwrap().as_slice(), [1]);
        drop(publisher.join());
    });
}

/// O6: an empty ring with several producers.
#[test]
fn loom_park_on_publication_multi() {
    check(|| {
        let (mut producer, mut poller) = multi(2);
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer
        });
        assert_eq!(poller.wait().unwrap().as_slice(), [1]);
        drop(publisher.join());
    });
}

/// O6: a woken thread parks again while the next event is published. The publisher that woke it has
/// cleared the mark, and must not mistake the new mark for the old one.
#[test]
fn loom_park_twice_on_publication() {
    check(|| {
        let (mut producer, mut poller) = single(2);
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 1).unwrap();
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        let mut events = Vec::new();
        while events.len() < 2 {
            events.extend(poller.wait().unwrap().iter().map(|(_, event)| *event));
        }
        assert_eq!(events, [1, 2]);
        drop(publisher.join());
    });
}

/// O6: two producers publish at once, and one of them finds that the other has cleared the mark.
#[test]
fn loom_park_on_two_publications() {
    check(|| {
        let (mut first, mut poller) = multi(2);
        let mut second = first.clone();
        let publisher = thread::spawn(move || {
            first.publish(|event| *event = 1).unwrap();
            first
        });
        let other = thread::spawn(move || {
            second.publish(|event| *event = 1).unwrap();
            second
        });
        let mut events = 0;
        while events < 2 {
            events += poller.wait().unwrap().iter().count();
        }
        drop((publisher.join(), other.join()));
    });
}

/// O6: the producer stops counting its claims. On a system without an asymmetric fence, its
/// publications still run the fence.
#[test]
fn loom_park_on_publication_of_one_that_stops_counting() {
    check(|| {
        let (mut producer, mut poller) = single(2);
        let publisher = thread::spawn(move || {
            producer.shared().control.follow_up_publications(false);
            producer.publish(|event| *event = 1).unwrap();
            producer
        });
        assert_eq!(poller.wait().unwrap().as_slice(), [1]);
        drop(publisher.join());
    });
}

/// O6: two stages are parked on one publication, and both are woken.
#[test]
fn loom_two_stages_park_on_publication() {
    check(|| {
        let (mut producer, mut left, mut right) = side_by_side();
        let one = thread::spawn(move || {
            assert_eq!(left.wait().unwrap().as_slice(), [1]);
            left
        });
        let two = thread::spawn(move || {
            assert_eq!(right.wait().unwrap().as_slice(), [1]);
            right
        });
        producer.publish(|event| *event = 1).unwrap();
        drop((one.join(), two.join()));
    });
}

/// O6: a claim that is given up wakes the stage that waits behind it.
#[test]
fn loom_park_behind_a_claim_that_is_given_up() {
    check(|| {
        let (mut first, mut poller) = multi(2);
        let mut second = first.clone();
        let giver = thread::spawn(move || {
            drop(first.claim().unwrap());
            first
        });
        second.publish(|event| *event = 1).unwrap();
        assert_eq!(poller.wait().unwrap().as_slice(), [1]);
        drop(giver.join());
    });
}

/// O6: a stage is parked on an upstream stage.
#[test]
fn loom_park_on_upstream_stage() {
    check(|| {
        let (mut producer, mut consumers) =
            single_ring(2).stage("first").poller().stage("second").poller().build().unwrap();
        let mut first = consumers.take_poller("first").unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let upstream = thread::spawn(move || {
            take(&mut first).unwrap();
            first
        });
        assert_eq!(second.wait().unwrap().as_slice(), [1]);
        drop(upstream.join());
    });
}

/// O6: a stage is parked on the acknowledgement of its upstream stage.
#[test]
fn loom_park_on_an_acknowledgement() {
    check(|| {
        let (mut producer, mut journal, mut reply, disk) = acknowledged(2);
        producer.publish(|event| *event = 1).unwrap();
        take(&mut journal).unwrap();
        let writer = thread::spawn(move || {
            disk.acknowledge(1).unwrap();
            disk
        });
        assert_eq!(reply.wait().unwrap().as_slice(), [1]);
        drop((writer.join(), journal, producer));
    });
}

/// O6 and O13: a producer is parked on a full ring.
#[test]
fn loom_park_on_full_ring() {
    check(|| {
        let (mut producer, mut poller) = single(1);
        producer.publish(|event| *event = 1).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        assert_eq!(take(&mut poller).unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O6: a full ring of eight slots, where a patient producer waits until two are free. It is woken
/// then, whichever of the two releases it parks between. (Its patience has no time limit here.)
#[test]
fn loom_park_until_there_is_room() {
    check(|| {
        let (mut producer, mut poller) = single(8);
        producer.publish_batch(8, |_| {}).unwrap();
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        for _ in 0..2 {
            poller.poll_max(1).unwrap().consume_all();
        }
        drop(publisher.join());
    });
}

/// O6: the same with two producers, which park on the same event count and may take each other's
/// slot.
#[test]
fn loom_two_producers_park_until_there_is_room() {
    check(|| {
        let (mut first, mut poller) = multi(8);
        let mut second = first.clone();
        first.publish_batch(8, |_| {}).unwrap();
        let one = thread::spawn(move || {
            first.publish(|event| *event = 2).unwrap();
            first
        });
        let other = thread::spawn(move || {
            second.publish(|event| *event = 2).unwrap();
            second
        });
        // Three releases free enough slots even if one of the two has claimed before the check.
        poller.poll_max(3).unwrap().consume_all();
        drop((one.join(), other.join()));
    });
}

/// O6: a full ring with two stages at its gate, each of which may be the last. A producer that
/// parked on one of them while the other was behind would never be woken.
#[test]
fn loom_park_on_full_ring_with_two_gates() {
    check(|| {
        let (mut producer, mut left, mut right) = side_by_side();
        producer.publish(|event| *event = 1).unwrap();
        let one = thread::spawn(move || {
            take(&mut left).unwrap();
            left
        });
        let two = thread::spawn(move || {
            take(&mut right).unwrap();
            right
        });
        producer.publish(|event| *event = 2).unwrap();
        drop((one.join(), two.join()));
    });
}

/// O6: the same for a stage that joins two others.
#[test]
fn loom_park_on_two_upstream_stages() {
    check(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .side_by_side(|side| side.stage("left").poller().stage("right").poller())
            .stage("join")
            .poller()
            .build()
            .unwrap();
        let mut left = consumers.take_poller("left").unwrap();
        let mut right = consumers.take_poller("right").unwrap();
        let mut join = consumers.take_poller("join").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let one = thread::spawn(move || {
            take(&mut left).unwrap();
            left
        });
        let two = thread::spawn(move || {
            take(&mut right).unwrap();
            right
        });
        assert_eq!(join.wait().unwrap().as_slice(), [1]);
        drop((one.join(), two.join()));
    });
}

/// O6: a stage joins two others, one of which has left. The stage upstream of that one may finish
/// between the two checks of the waiter, while the other is behind. A waiter that chose where to
/// park after its check would never be woken.
#[test]
fn loom_park_where_one_has_left_and_another_is_behind() {
    check_up_to(4, || {
        let mut graph = Graph::new();
        let before = graph.stage("before").poller();
        let left = graph.stage("left").after(before).poller();
        let beside = graph.stage("beside").poller();
        graph.stage("join").after(left).after(beside).poller();
        let (mut producer, mut consumers) = single_ring(1).graph(graph).build().unwrap();
        let mut before = consumers.take_poller("before").unwrap();
        drop(consumers.take_poller("left").unwrap());
        let mut beside = consumers.take_poller("beside").unwrap();
        let mut join = consumers.take_poller("join").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let one = thread::spawn(move || {
            take(&mut before).unwrap();
            before
        });
        let two = thread::spawn(move || {
            take(&mut beside).unwrap();
            beside
        });
        assert_eq!(join.wait().unwrap().as_slice(), [1]);
        drop((one.join(), two.join()));
    });
}

/// O6: two producers are parked on one full ring, and both are woken.
#[test]
fn loom_two_producers_park_on_full_ring() {
    check_less(|| {
        let (mut first, mut poller) = multi(2);
        let mut second = first.clone();
        first.publish_batch(2, |slots| slots.iter_mut().for_each(|event| *event = 1)).unwrap();
        let one = thread::spawn(move || {
            first.publish(|event| *event = 2).unwrap();
            first
        });
        let two = thread::spawn(move || {
            second.publish(|event| *event = 3).unwrap();
            second
        });
        assert_eq!(take(&mut poller).unwrap().len(), 2);
        drop((one.join(), two.join()));
    });
}

/// O6: another producer takes the slot that has just become free, and its event is consumed while
/// this producer parks. If this one chose where to park after its check, it would stay parked
/// beside a free slot.
#[test]
fn loom_park_on_full_ring_while_another_claims() {
    check(|| {
        let (mut first, mut poller) = multi(1);
        let mut second = first.clone();
        first.publish(|event| *event = 1).unwrap();
        let other = thread::spawn(move || {
            take(&mut poller).unwrap();
            if second.try_publish(|event| *event = 2).is_ok() {
                take(&mut poller).unwrap();
            }
            (second, poller)
        });
        first.publish(|event| *event = 3).unwrap();
        drop(other.join());
    });
}

/// O7 and O10: a halt wakes a parked stage.
#[test]
fn loom_halt_against_park() {
    check(|| {
        let (producer, mut poller) = single(2);
        let ring = producer.shared();
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        assert_eq!(poller.wait().err(), Some(RingError::Halted(HaltCause::Requested)));
        halter.join().unwrap();
        drop(producer);
    });
}

/// O7 and O10: a halt wakes a producer that is parked on a full ring.
#[test]
fn loom_halt_against_park_on_full_ring() {
    check(|| {
        let (mut producer, poller) = single(1);
        producer.publish(|event| *event = 1).unwrap();
        let leaver = thread::spawn(move || drop(poller)); // the last consumer: halts
        assert_eq!(
            producer.publish(|event| *event = 2),
            Err(PublishError::Halted(HaltCause::NoConsumers))
        );
        leaver.join().unwrap();
    });
}

/// O7 and O9: a close wakes a parked stage.
#[test]
fn loom_close_against_park() {
    check(|| {
        let (producer, mut poller) = single(2);
        let closer = thread::spawn(move || drop(producer));
        assert_eq!(poller.wait().err(), Some(RingError::Closed));
        closer.join().unwrap();
    });
}

/// A ring with one producer in which no thread parks with a mark, so that no thread checks for
/// parked ones.
fn sleeping(capacity: usize) -> (SingleProducer<u64>, Poller<u64>) {
    let ring = Disruptor::single_producer(capacity, || 0_u64).wait(SLEEP).producer_wait(SLEEP);
    let (producer, mut consumers) = ring.stage("a").poller().build().unwrap();
    (producer, consumers.take_poller("a").unwrap())
}

/// O7 and O10: a halt wakes a stage that sleeps without a mark.
#[test]
fn loom_halt_against_sleep() {
    check(|| {
        let (producer, mut poller) = sleeping(2);
        let ring = producer.shared();
        let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
        assert_eq!(poller.wait().err(), Some(RingError::Halted(HaltCause::Requested)));
        halter.join().unwrap();
        drop(producer);
    });
}

/// O7 and O9: a close wakes a stage that sleeps without a mark.
#[test]
fn loom_close_against_sleep() {
    check(|| {
        let (producer, mut poller) = sleeping(2);
        let closer = thread::spawn(move || drop(producer));
        assert_eq!(poller.wait().err(), Some(RingError::Closed));
        closer.join().unwrap();
    });
}

/// O6: a close wakes a producer that is parked in the queue of those that wait for others. Both run
/// the full fence, so there is no light one that would hide its absence.
#[test]
fn loom_close_against_a_queued_producer() {
    check_without_fences(|| {
        let (producer, poller) = multi(1);
        let ring = producer.shared();
        let closer = thread::spawn(move || ring.control.close());
        let control = &*producer.shared().control;
        while control.life.is_open() {
            control.places.park(0, None, || !control.life.is_open());
        }
        closer.join().unwrap();
        drop(poller);
    });
}

/// O7 and O10: a halt wakes a producer that sleeps without a mark on a full ring.
#[test]
fn loom_halt_against_sleep_on_full_ring() {
    check(|| halt_against_full_ring(|_| {}));
}

/// O7 and O10: the same for a producer that parks where no thread checks for parked ones.
#[test]
fn loom_halt_against_park_that_nobody_looks_for() {
    check(|| halt_against_full_ring(|producer| producer.set_wait(PARK)));
}

/// Halts a full ring while its producer waits.
fn halt_against_full_ring(prepare: impl Fn(&mut SingleProducer<u64>)) {
    let (mut producer, poller) = sleeping(1);
    prepare(&mut producer);
    let ring = producer.shared();
    producer.publish(|event| *event = 1).unwrap();
    let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
    assert_eq!(
        producer.publish(|event| *event = 2),
        Err(PublishError::Halted(HaltCause::Requested))
    );
    halter.join().unwrap();
    drop(poller);
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

/// O6: a thread wakes the parked threads even if a flag of the word is raised and lowered
/// meanwhile.
#[test]
fn loom_wake_while_a_flag_comes_and_goes() {
    check(|| {
        let shared = Arc::new((EventCount::default(), AtomicU64::new(0)));
        let [flagger, sleeper] = [Arc::clone(&shared), Arc::clone(&shared)];
        let flagger = thread::spawn(move || {
            flagger.0.raise(FOLLOW_UP);
            flagger.0.lower(FOLLOW_UP);
        });
        let sleeper = thread::spawn(move || {
            let (place, word) = &*sleeper;
            let is_over = || word.load(Ordering::Relaxed) != 0;
            while !is_over() {
                place.park(AsymmetricFence::Full, || None, is_over);
            }
        });
        let (place, word) = &*shared;
        word.store(1, Ordering::Relaxed);
        AsymmetricFence::Full.light();
        place.notify();
        flagger.join().unwrap();
        sleeper.join().unwrap();
    });
}

/// O32: a flag is raised while another thread raises and lowers another flag of the word.
#[test]
fn loom_a_flag_is_raised_while_another_comes_and_goes() {
    check(|| {
        let place = Arc::new(EventCount::default());
        let other = Arc::clone(&place);
        let flagger = thread::spawn(move || {
            other.raise(FOLLOW_UP);
            other.lower(FOLLOW_UP);
        });
        place.raise(ENDED);
        flagger.join().unwrap();
        assert_eq!(place.flags(), ENDED);
    });
}

/// Halts a ring, which may be closed before, while a stage is parked on an upstream stage.
fn halt_against_park_on_upstream_stage(is_closed: bool) {
    let (mut producer, mut consumers) =
        single_ring(2).stage("first").poller().stage("second").poller().build().unwrap();
    let first = consumers.take_poller("first").unwrap();
    let mut second = consumers.take_poller("second").unwrap();
    producer.publish(|event| *event = 1).unwrap();
    let ring = producer.shared();
    let open = if is_closed {
        drop(producer);
        None
    } else {
        Some(producer)
    };
    let halter = thread::spawn(move || ring.control.halt(HaltCause::Requested));
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
