//! Models of an event's way: published, read, passed on, and its slot written again.

use std::mem;

use loom::thread;

use super::{
    Claims, Multi, ONE, Publisher, Single, TWO, Taken, Taker, acknowledged, check_without_fences,
    counting, expecting, fill, graph, multi, multi_ring, parallel, ring_of, single, single_ring,
};
use crate::error::ClaimError;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::{Graph, Place, Sharing, Span, UNLIMITED};

/// O1: an event that is read has been written.
#[test]
fn loom_publish_then_read() {
    publish_then_read(single);
}

/// O1: the same with a producer that keeps a count of its claims.
#[test]
fn loom_publish_then_read_of_one_that_counts() {
    publish_then_read(counting);
}

/// Publishes two events while another thread polls.
fn publish_then_read(ring: fn(usize) -> (Publisher<Single>, Taker)) {
    check_without_fences(move || {
        let (mut producer, mut stage) = ring(2);
        let publisher = thread::spawn(move || {
            for value in 7..9 {
                producer.publish(value).unwrap();
            }
            producer // not dropped here: closing is another model
        });
        let mut seen = stage.take_any();
        seen.extend(stage.take_any());
        let producer = publisher.join().unwrap();
        seen.extend(stage.take_any());
        assert_eq!(seen, [(0, 7), (1, 8)]);
        drop(producer);
    });
}

/// O2: no more slots are free than the ring has, also while one is claimed and freed.
#[test]
fn loom_no_more_slots_are_free_than_there_are() {
    check_without_fences(|| {
        let (mut producer, mut stage) = multi(1);
        let control = producer.control();
        let other = thread::spawn(move || assert!(control.free_slots() <= 1));
        producer.publish(7).unwrap();
        assert_eq!(stage.take().unwrap(), [(0, 7)]);
        other.join().unwrap();
        drop((producer, stage));
    });
}

/// O1: the same with a consumer that spins until an event is available.
#[test]
fn loom_publish_then_read_by_one_that_spins() {
    check_without_fences(|| {
        let (mut producer, mut stage) = single(2);
        let publisher = thread::spawn(move || {
            for value in 7..9 {
                producer.publish(value).unwrap();
            }
            producer
        });
        for (sequence, event) in stage.wait_by_spinning().unwrap() {
            assert_eq!(event, sequence + 7);
        }
        drop(publisher.join());
    });
}

/// O2: a slot is written again only after its reader has released it.
#[test]
fn loom_wrap_waits_for_reader() {
    check_without_fences(|| {
        let (mut producer, mut stage) = single(1);
        producer.publish(1).unwrap();
        let publisher = thread::spawn(move || {
            assert!(matches!(producer.try_publish(2), Ok(1) | Err(ClaimError::Full)));
            producer
        });
        assert_eq!(stage.take().unwrap(), [(0, 1)]);
        drop(publisher.join());
    });
}

/// O2 and I15: the last stage acquires the cache lines of its events, which loom treats as a write.
/// It does so after the upstream stage has read them, and before producers may write there.
#[test]
fn loom_lines_are_taken_while_nobody_else_has_them() {
    check_without_fences(|| {
        let (mut producer, ring) = multi_ring(1, TWO);
        let (mut first, mut second) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        producer.publish(1).unwrap();
        let reader = thread::spawn(move || {
            assert_eq!(first.take().unwrap(), [(0, 1)]);
            first
        });
        let publisher = thread::spawn(move || {
            let _ = producer.try_publish(2);
            producer
        });
        if let Ok(events) = second.take() {
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
        let (mut producer, mut left, mut right) = parallel();
        producer.publish(1).unwrap();
        let reader = thread::spawn(move || {
            assert_eq!(left.take().unwrap(), [(0, 1)]);
            left
        });
        assert_eq!(right.take().unwrap(), [(0, 1)]);
        let _ = producer.try_publish(2);
        drop((reader.join(), producer));
    });
}

/// O3: a stage sees what the upstream stage wrote, and only after that stage has finished.
#[test]
fn loom_dependent_stage() {
    dependent_stage(Taker::take_any);
}

/// O3: the same with a stage that spins.
#[test]
fn loom_a_stage_that_spins_comes_after_the_one_before_it() {
    dependent_stage(Taker::take_by_spinning);
}

/// A stage changes an event in one thread, while a downstream stage polls once in another.
fn dependent_stage(poll_once: fn(&mut Taker) -> Taken) {
    check_without_fences(move || {
        let (mut producer, ring) = single_ring(2, TWO);
        let (mut first, mut second) = (Taker::exclusive(&ring, 0), Taker::of_stage(&ring, 1));
        producer.publish(1).unwrap();
        let writer = thread::spawn(move || {
            first.take().unwrap();
            first
        });
        let seen = poll_once(&mut second);
        assert!(seen.is_empty() || seen == [(0, 11)], "{seen:?}");
        drop(writer.join());
    });
}

/// O4 and O12: two producers, whose events have one order and are seen only once they are stamped.
#[test]
fn loom_multi_producer_stamps() {
    check_without_fences(|| {
        let (mut first, mut stage) = multi(2);
        let mut second = first.clone();
        let one = thread::spawn(move || {
            first.publish(1).unwrap();
            first
        });
        let two = thread::spawn(move || {
            second.publish(2).unwrap();
            second
        });
        let mut seen = stage.take_any();
        let ends = (one.join().unwrap(), two.join().unwrap());
        seen.extend(stage.take_any());
        seen.sort_unstable_by_key(|&(_, event)| event);
        assert_eq!(seen.iter().map(|&(_, event)| event).collect::<Vec<_>>(), [1, 2]);
        drop(ends);
    });
}

/// O4: a batch that crosses the wrap.
#[test]
fn loom_multi_producer_stamps_of_batches() {
    check_without_fences(|| {
        let (mut producer, mut stage) = multi(2);
        producer.publish(1).unwrap();
        assert_eq!(stage.take().unwrap(), [(0, 1)]);
        let batch = thread::spawn(move || {
            producer.publish_batch(2, 2).unwrap();
            producer
        });
        let mut seen = stage.take_any();
        let end = batch.join().unwrap();
        // A poll returns events up to the wrap at most.
        (0..2).for_each(|_| seen.extend(stage.take_any()));
        assert_eq!(seen, [(1, 2), (2, 2)]);
        drop(end);
    });
}

/// O2 for several producers: a claim of the next lap is granted only after the reader has released
/// the slot.
#[test]
fn loom_multi_producer_wrap() {
    check_without_fences(|| {
        let (mut first, mut stage) = multi(1);
        let mut second = first.clone();
        first.publish(1).unwrap();
        let again = thread::spawn(move || {
            assert!(matches!(second.try_publish(2), Ok(1) | Err(ClaimError::Full)));
            second
        });
        assert_eq!(stage.take().unwrap(), [(0, 1)]);
        drop((again.join(), first));
    });
}

/// O12: the producer of the last claim expects the counter unchanged, while another one claims.
#[test]
fn loom_claim_in_a_row_against_another() {
    check_without_fences(|| {
        let (mut first, mut stage) = expecting(4);
        let mut second = first.clone();
        first.publish(1).unwrap();
        let another = thread::spawn(move || {
            second.publish(2).unwrap();
            second
        });
        first.publish(3).unwrap();
        let end = another.join().unwrap();
        let mut seen = stage.take().unwrap();
        seen.sort_unstable_by_key(|&(_, event)| event);
        assert_eq!(seen.iter().map(|&(_, event)| event).collect::<Vec<_>>(), [1, 2, 3]);
        drop((first, end));
    });
}

/// O12: two producers each claim as many slots as are free, and never the same slot.
#[test]
fn loom_claims_up_to_share_what_is_free() {
    check_without_fences(|| {
        let (first, mut stage) = multi(2);
        let second = first.clone();
        let other = thread::spawn(move || fill_up(second));
        let (first, by_first) = fill_up(first);
        let (second, by_second) = other.join().unwrap();
        assert_eq!(by_first + by_second, 2, "all that is free, and nothing twice");
        assert_eq!(stage.take().unwrap(), [(0, 7), (1, 7)]);
        drop((first, second));
    });
}

/// O2 and O12: a claim of as many slots as are free does not include the event that is being read.
#[test]
fn loom_claim_up_to_waits_for_reader() {
    check_without_fences(|| {
        let (mut producer, mut stage) = multi(2);
        producer.publish(1).unwrap();
        let publisher = thread::spawn(move || fill_up(producer));
        assert_eq!(stage.take().unwrap()[0], (0, 1));
        let (producer, claimed) = publisher.join().unwrap();
        assert!((1..=2).contains(&claimed));
        drop(producer);
    });
}

/// Publishes as many events of 7 as there are free slots; returns their number.
fn fill_up<C: Claims>(mut producer: Publisher<C>) -> (Publisher<C>, u64) {
    let claimed = match producer.try_claim_up_to(2) {
        Ok(mut batch) => {
            fill(&mut batch, 7);
            batch.publish().map(|range| range.end - range.start).ok().unwrap()
        }
        Err(error) => {
            assert_eq!(error, ClaimError::Full);
            0
        }
    };
    (producer, claimed)
}

/// O5: a downstream stage skips a claim that was given up.
#[test]
fn loom_tombstone_downstream() {
    check_without_fences(|| {
        let (mut producer, ring) = multi_ring(4, TWO);
        let (mut first, mut second) = (Taker::of_stage(&ring, 0), Taker::of_stage(&ring, 1));
        let publisher = thread::spawn(move || {
            *producer.try_claim().unwrap() = 99; // not published
            producer.publish(1).unwrap();
            producer
        });
        let reader = thread::spawn(move || {
            assert!(first.take_any().iter().all(|&(_, event)| event == 1));
            first
        });
        assert!(second.take_any().iter().all(|&(_, event)| event == 1));
        drop((publisher.join(), reader.join()));
    });
}

/// O5: a claim that was given up is not skipped before the events that precede it are read, even if
/// these were found by an earlier poll.
#[test]
fn loom_tombstone_behind_an_event_that_is_known() {
    check_without_fences(|| {
        let (mut producer, mut stage) = multi(4);
        let publisher = thread::spawn(move || {
            producer.publish(7).unwrap();
            producer.publish(8).unwrap();
            drop(producer.try_claim().unwrap());
            producer
        });
        // Polls each time, and finishes one event of those that the poll shows.
        let mut take_one = || {
            let events = stage.reader.poll(UNLIMITED).ok()?;
            stage.finish(events.start..events.start + 1).pop()
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

/// O5: the same for a worker of a group, which claims one of the events that it has found.
#[test]
fn loom_tombstone_behind_an_event_that_a_worker_has_found() {
    check_without_fences(|| {
        let mut graph = graph(ONE);
        graph.share(0, 1);
        let ring = ring_of(4, true, graph);
        let mut producer = Publisher::one_more(&ring);
        let publisher = thread::spawn(move || {
            producer.publish(7).unwrap();
            producer.publish(8).unwrap();
            drop(producer.try_claim().unwrap());
            producer
        });
        let mut worker = Taker::new(&ring, Place::Group(0), false, UNLIMITED);
        let (mut next, mut given_up) = (0, Vec::new());
        let mut claim_one = || {
            worker.reader.seek(next);
            let found = worker.reader.find(4).unwrap();
            match found {
                Span::Empty => {}
                Span::Events(_) => next += 1,
                Span::Tombstones(end) => given_up.extend(mem::replace(&mut next, end)..end),
            }
            found != Span::Empty
        };
        (0..2).for_each(|_| _ = claim_one());
        let producer = publisher.join().unwrap();
        while claim_one() {}
        assert_eq!((next, given_up), (3, vec![2]));
        drop(producer);
    });
}

/// O3: a stage downstream of an acknowledged one sees what the acknowledging thread did before.
#[test]
fn loom_acknowledgement_comes_after_what_it_says() {
    check_without_fences(|| {
        let (mut producer, mut journal, mut reply, disk) = acknowledged(1);
        let is_on_disk = Arc::new(AtomicU64::new(0));
        producer.publish(1).unwrap();
        journal.take().unwrap();
        let control = producer.control();
        let writer = thread::spawn({
            let is_on_disk = Arc::clone(&is_on_disk);
            move || {
                // O13, Relaxed: the acknowledgement carries it.
                is_on_disk.store(1, Ordering::Relaxed);
                control.acknowledge(disk, 1);
            }
        });
        if reply.take().is_ok() {
            // O13, Relaxed: as above.
            assert_eq!(is_on_disk.load(Ordering::Relaxed), 1);
        }
        writer.join().unwrap();
        drop((journal, producer));
    });
}

/// O3: of two acknowledgements by two threads the later event counts, whichever thread is first.
#[test]
fn loom_an_acknowledgement_never_goes_back() {
    check_without_fences(|| {
        let (mut producer, mut journal, mut reply, disk) = acknowledged(2);
        producer.publish_batch(2, 1).unwrap();
        journal.take().unwrap();
        let control = producer.control();
        let other = thread::spawn(move || control.acknowledge(disk, 1));
        producer.control().acknowledge(disk, 2);
        other.join().unwrap();
        assert_eq!(reply.take().unwrap().len(), 2);
        drop((journal, producer));
    });
}

/// O38: the slot of a claim is claimed again by another thread while this one asks whether its own
/// claim is open. It is not.
#[test]
fn loom_a_claim_whose_slot_is_claimed_again_is_not_open() {
    a_claim_whose_slot_is_claimed_again_is_not_open(false);
}

/// O38: the same while the gate goes back, as it does when a worker stores the start of a claim that
/// another worker has made long ago.
#[test]
fn loom_a_claim_is_not_open_when_the_gate_goes_back() {
    a_claim_whose_slot_is_claimed_again_is_not_open(true);
}

fn a_claim_whose_slot_is_claimed_again_is_not_open(goes_back: bool) {
    check_without_fences(move || {
        let mut graph = Graph::new(vec![Box::default()]);
        let words = graph.share(0, 1);
        let ring = ring_of(1, true, graph);
        let mut first = Publisher::<Multi>::one_more(&ring);
        let (mut second, control) = (first.clone(), first.control());
        let own = first.publish(1).unwrap();
        // SAFETY: I12: the model moves only the words of this group, and accesses no event.
        let sharing = unsafe { Sharing::of(control.clone(), words[0]) };
        // Not by the other thread: its loads of the stamp would hide those of this one.
        assert!(sharing.try_move_word(words[0], 0, 1));
        let other = thread::spawn(move || {
            second.try_publish(2).unwrap();
            if goes_back {
                sharing.move_word(words[1], 0);
            }
            second
        });
        assert!(!control.is_claim_held(own));
        drop((first, other.join().unwrap()));
    });
}
