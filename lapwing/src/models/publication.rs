//! Models of an event's way: published, read, passed on, and its slot written again.

use loom::thread;

use super::{
    Taken, acknowledged, check, check_without_fences, in_parts, multi, multi_ring, side_by_side,
    single, single_ring, spinning, take, take_by_spinning,
};
use crate::error::{BatchError, TryPublishError};
use crate::producer::Single;
use crate::protocol::failures::Failures;
use crate::protocol::memory::Reserved;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::tuning::own_count::COUNTS;
use crate::wait::BusySpin;
use crate::{Action, Builder, MultiProducer, Poller};

/// O1: an event that is read has been written.
#[test]
fn loom_publish_then_read() {
    publish_then_read();
}

/// O1: the same with a producer that keeps a count of its claims.
#[test]
fn loom_publish_then_read_of_one_that_counts() {
    COUNTS.set(true);
    publish_then_read();
    COUNTS.set(false);
}

/// Publishes two events while another thread polls.
fn publish_then_read() {
    check_without_fences(|| {
        let (mut producer, mut poller) = single(2);
        let publisher = thread::spawn(move || {
            for value in 7..9 {
                producer.publish(|event| *event = value).unwrap();
            }
            producer // not dropped here: closing is another model
        });
        let mut seen = take(&mut poller).unwrap_or_default();
        seen.extend(take(&mut poller).unwrap_or_default());
        let producer = publisher.join().unwrap();
        seen.extend(take(&mut poller).unwrap_or_default());
        assert_eq!(seen, [(0, 7), (1, 8)]);
        drop(producer);
    });
}

/// O2: no more slots are free than the ring has, also while one is claimed and freed.
#[test]
fn loom_no_more_slots_are_free_than_there_are() {
    check_without_fences(|| {
        let (mut producer, mut poller) = multi(1);
        let looker = producer.clone();
        let other = thread::spawn(move || {
            assert!(looker.free_slots() <= 1);
            looker
        });
        producer.publish(|event| *event = 7).unwrap();
        assert_eq!(take(&mut poller).unwrap(), [(0, 7)]);
        drop((other.join().unwrap(), producer, poller));
    });
}

/// O1: the same with a consumer that spins until an event is available.
#[test]
fn loom_publish_then_read_by_one_that_spins() {
    check_without_fences(|| {
        let (mut producer, mut poller) = spinning(2);
        let publisher = thread::spawn(move || {
            for value in 7..9 {
                producer.publish(|event| *event = value).unwrap();
            }
            producer
        });
        for (sequence, event) in poller.wait().unwrap().iter() {
            assert_eq!(*event, sequence + 7);
        }
        drop(publisher.join());
    });
}

/// O2: a slot is written again only after its reader has released it.
#[test]
fn loom_wrap_waits_for_reader() {
    check_without_fences(|| {
        let (mut producer, mut poller) = single(1);
        producer.publish(|event| *event = 1).unwrap();
        let publisher = thread::spawn(move || {
            match producer.try_publish(|event| *event = 2) {
                Ok(sequence) => assert_eq!(sequence, 1),
                Err(error) => assert_eq!(error, TryPublishError::Full),
            }
            producer
        });
        assert_eq!(take(&mut poller).unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O2 and I15: the last stage acquires the cache lines of its events, which loom treats as a write.
/// It does so after the upstream stage has read them, and before producers may write there.
#[test]
fn loom_lines_are_taken_while_nobody_else_has_them() {
    check_without_fences(|| {
        let (mut producer, mut consumers) =
            multi_ring(1).stage("first").poller().stage("second").poller().build().unwrap();
        let mut first = consumers.take_poller("first").unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let reader = thread::spawn(move || {
            assert_eq!(take(&mut first).unwrap(), [(0, 1)]);
            first
        });
        let publisher = thread::spawn(move || {
            let _ = producer.try_publish(|event| *event = 2);
            producer
        });
        if let Ok(events) = take(&mut second) {
            assert_eq!(events, [(0, 1)]);
        }
        drop((reader.join(), publisher.join()));
    });
}

/// O2 and I15: of two stages side by side, the last one acquires a cache line, after the other has
/// read there and before producers may write.
#[test]
fn loom_lines_are_taken_by_the_last_of_stages_side_by_side() {
    check_without_fences(|| {
        let (mut producer, mut left, mut right) = side_by_side();
        producer.publish(|event| *event = 1).unwrap();
        let reader = thread::spawn(move || {
            assert_eq!(take(&mut left).unwrap(), [(0, 1)]);
            left
        });
        assert_eq!(take(&mut right).unwrap(), [(0, 1)]);
        let _ = producer.try_publish(|event| *event = 2);
        drop((reader.join(), producer));
    });
}

/// O3: a stage sees what the upstream stage wrote, and only after that stage has finished.
#[test]
fn loom_dependent_stage() {
    dependent_stage(|| single_ring(2), |second| take(second).ok());
}

/// O3: the same with a stage that spins.
#[test]
fn loom_a_stage_that_spins_comes_after_the_one_before_it() {
    dependent_stage(|| single_ring(2).wait(BusySpin), take_by_spinning);
}

/// A stage changes an event in one thread, while a downstream stage polls once in another.
fn dependent_stage(
    ring: fn() -> Builder<'static, u64, Single>,
    poll_once: fn(&mut Poller<u64>) -> Option<Taken>,
) {
    check_without_fences(move || {
        let (mut producer, mut consumers) =
            ring().stage("first").poller_mut().stage("second").poller().build().unwrap();
        let mut first = consumers.take_poller_mut("first").unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        producer.publish(|event| *event = 1).unwrap();
        let writer = thread::spawn(move || {
            for (_, event) in first.poll().unwrap().iter_mut() {
                *event += 10;
            }
            first
        });
        if let Some(events) = poll_once(&mut second) {
            assert_eq!(events, [(0, 11)]);
        }
        drop(writer.join());
    });
}

/// O4 and O12: two producers, whose events have one order and are seen only once they are stamped.
#[test]
fn loom_multi_producer_stamps() {
    check_without_fences(|| {
        let (mut first, mut poller) = multi(2);
        let mut second = first.clone();
        let one = thread::spawn(move || {
            first.publish(|event| *event = 1).unwrap();
            first
        });
        let two = thread::spawn(move || {
            second.publish(|event| *event = 2).unwrap();
            second
        });
        let mut seen = take(&mut poller).unwrap_or_default();
        let ends = (one.join().unwrap(), two.join().unwrap());
        seen.extend(take(&mut poller).unwrap_or_default());
        seen.sort_unstable_by_key(|&(_, event)| event);
        assert_eq!(seen.iter().map(|&(_, event)| event).collect::<Vec<_>>(), [1, 2]);
        drop(ends);
    });
}

/// O4: a batch that crosses the wrap.
#[test]
fn loom_multi_producer_stamps_of_batches() {
    check_without_fences(|| {
        let (mut producer, mut poller) = multi(2);
        producer.publish(|event| *event = 1).unwrap();
        assert_eq!(take(&mut poller).unwrap(), [(0, 1)]);
        let batch = thread::spawn(move || {
            producer
                .publish_batch(2, |events| events.iter_mut().for_each(|event| *event = 2))
                .unwrap();
            producer
        });
        let mut seen = take(&mut poller).unwrap_or_default();
        let end = batch.join().unwrap();
        // A poll returns events up to the wrap at most.
        (0..2).for_each(|_| seen.extend(take(&mut poller).unwrap_or_default()));
        assert_eq!(seen, [(1, 2), (2, 2)]);
        drop(end);
    });
}

/// O2 for several producers: a claim of the next lap is granted only after the reader has released
/// the slot.
#[test]
fn loom_multi_producer_wrap() {
    check_without_fences(|| {
        let (mut first, mut poller) = multi(1);
        let mut second = first.clone();
        first.publish(|event| *event = 1).unwrap();
        let again = thread::spawn(move || {
            let _ = second.try_publish(|event| *event = 2);
            second
        });
        let _ = first.try_publish(|event| *event = 3);
        assert_eq!(take(&mut poller).unwrap(), [(0, 1)]);
        drop(again.join());
    });
}

/// O12: two producers each claim as many slots as are free, and never the same slot.
#[test]
fn loom_claims_up_to_share_what_is_free() {
    check_without_fences(|| {
        let (first, mut poller) = multi(2);
        let second = first.clone();
        let other = thread::spawn(move || fill_up(second));
        let (first, by_first) = fill_up(first);
        let (second, by_second) = other.join().unwrap();
        assert_eq!(by_first + by_second, 2, "all that is free, and nothing twice");
        assert_eq!(take(&mut poller).unwrap(), [(0, 7), (1, 7)]);
        drop((first, second));
    });
}

/// O2 and O12: a claim of as many slots as are free does not include the event that is being read.
#[test]
fn loom_claim_up_to_waits_for_reader() {
    check_without_fences(|| {
        let (mut producer, mut poller) = multi(2);
        producer.publish(|event| *event = 1).unwrap();
        let publisher = thread::spawn(move || fill_up(producer));
        assert_eq!(take(&mut poller).unwrap()[0], (0, 1));
        let (producer, claimed) = publisher.join().unwrap();
        assert!((1..=2).contains(&claimed));
        drop(producer);
    });
}

/// O6: a parked producer that claims as many slots as are free goes on once there is one.
#[test]
fn loom_park_until_one_slot_of_several_is_free() {
    check(|| {
        let (mut producer, mut poller) = in_parts(2);
        producer.publish_batch(2, |_| {}).unwrap();
        let publisher = thread::spawn(move || {
            assert_eq!(producer.claim_up_to(2).unwrap().len(), 1);
            producer
        });
        assert_eq!(take(&mut poller).unwrap().len(), 1);
        drop(publisher.join());
    });
}

/// Publishes as many events of 7 as there are free slots; returns their number.
fn fill_up(mut producer: MultiProducer<u64>) -> (MultiProducer<u64>, u64) {
    let claimed = match producer.try_claim_up_to(usize::MAX) {
        Ok(mut batch) => {
            batch.slots().iter_mut().for_each(|event| *event = 7);
            batch.publish().map(|range| range.end - range.start).unwrap()
        }
        Err(error) => {
            assert_eq!(error, BatchError::Full);
            0
        }
    };
    (producer, claimed)
}

/// O5: a downstream stage skips a claim that was given up.
#[test]
fn loom_tombstone_downstream() {
    check_without_fences(|| {
        let (mut producer, mut consumers) =
            multi_ring(4).stage("first").poller().stage("second").poller().build().unwrap();
        let mut first = consumers.take_poller("first").unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        let publisher = thread::spawn(move || {
            *producer.claim().unwrap() = 99; // not published
            producer.publish(|event| *event = 1).unwrap();
            producer
        });
        let reader = thread::spawn(move || {
            assert!(take(&mut first).unwrap_or_default().iter().all(|&(_, event)| event == 1));
            first
        });
        assert!(take(&mut second).unwrap_or_default().iter().all(|&(_, event)| event == 1));
        drop((publisher.join(), reader.join()));
    });
}

/// O5: a claim that was given up is not skipped before the events that precede it are read, even if
/// these were found by an earlier poll.
#[test]
fn loom_tombstone_behind_an_event_that_is_known() {
    check_without_fences(|| {
        let (mut producer, mut poller) = multi(4);
        let publisher = thread::spawn(move || {
            producer.publish(|event| *event = 7).unwrap();
            producer.publish(|event| *event = 8).unwrap();
            drop(producer.claim().unwrap());
            producer
        });
        let mut take_one = || {
            let mut batch = poller.poll().ok()?;
            batch.iter().next().map(|(sequence, event)| (sequence, *event))
        };
        let mut seen: Vec<_> = (0..2).filter_map(|_| take_one()).collect();
        let producer = publisher.join().unwrap();
        while let Some(event) = take_one() {
            seen.push(event);
        }
        assert_eq!(seen, [(0, 7), (1, 8)]);
        drop(producer);
    });
}

/// O17: a downstream stage sees that the stage before it has skipped an event as failed.
#[test]
fn loom_failed_event_is_seen_downstream() {
    check_without_fences(|| {
        let (mut producer, mut consumers) = single_ring(1)
            .stage("first")
            .read(|_, _, _| Action::Skip)
            .stage("second")
            .poller()
            .build()
            .unwrap();
        let mut second = consumers.take_poller("second").unwrap();
        let first = consumers.into_iter().next().unwrap();
        producer.publish(|event| *event = 1).unwrap();
        drop(producer);
        let skipper = thread::spawn(move || assert_eq!(first.run().skipped(), 1));
        if let Ok(batch) = second.poll() {
            assert!(batch.is_failed(0));
        }
        skipper.join().unwrap();
    });
}

/// O17: two workers of a group skip an event each, in any order. A stage downstream of them learns
/// that there are failed events up to the later one.
#[test]
fn loom_two_workers_skip_an_event_each() {
    check_without_fences(|| {
        let failures = Arc::new(Failures::new(Reserved::reserve(2).unwrap()));
        let others = Arc::clone(&failures);
        let other = thread::spawn(move || others.mark(0));
        failures.mark(1);
        other.join().unwrap();
        assert!(failures.is_any_from(0) && failures.is_any_from(1) && !failures.is_any_from(2));
    });
}

/// O3: a stage downstream of an acknowledged one sees what the acknowledging thread did before.
#[test]
fn loom_acknowledgement_comes_after_what_it_says() {
    check_without_fences(|| {
        let (mut producer, mut journal, mut reply, disk) = acknowledged(1);
        let is_on_disk = Arc::new(AtomicU64::new(0));
        producer.publish(|event| *event = 1).unwrap();
        take(&mut journal).unwrap();
        let writer = thread::spawn({
            let is_on_disk = Arc::clone(&is_on_disk);
            move || {
                // O13, Relaxed: the acknowledgement carries it.
                is_on_disk.store(1, Ordering::Relaxed);
                disk.acknowledge(1).unwrap();
                disk
            }
        });
        if take(&mut reply).is_ok() {
            // O13, Relaxed: as above.
            assert_eq!(is_on_disk.load(Ordering::Relaxed), 1);
        }
        drop((writer.join(), journal, producer));
    });
}

/// O3: of two acknowledgements by two threads the later event counts, whichever thread is first.
#[test]
fn loom_an_acknowledgement_never_goes_back() {
    check_without_fences(|| {
        let (mut producer, mut journal, mut reply, first) = acknowledged(2);
        let second = first.clone();
        producer.publish_batch(2, |_| {}).unwrap();
        take(&mut journal).unwrap();
        let other = thread::spawn(move || first.acknowledge(1).unwrap());
        second.acknowledge(2).unwrap();
        other.join().unwrap();
        assert_eq!(take(&mut reply).unwrap().len(), 2);
        drop((second, journal, producer));
    });
}
