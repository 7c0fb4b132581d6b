//! Workers by key that route events, handle them, leave them to each other, and change their number.

use loom::cell::UnsafeCell;
use loom::thread;

use super::workers::{read, ring_with_group, work, workers};
use super::{check_less, check_without_fences};
use crate::SingleProducer;
use crate::consumer::{Reader, SharedKeys, Source, Worker};
use crate::memory::Room;
use crate::sync::Arc;

/// A key of the first of two workers; of the only one, any.
const FIRST: u64 = 0;
/// A key of the second of two workers.
const SECOND: u64 = 1;

/// A ring with two workers by key, of which `size` are to work, and a stage after them. One event is
/// routed at a time.
fn by_key(size: usize) -> (SingleProducer<u64>, Worker<u64>, Worker<u64>, Reader<u64>) {
    let owners = Room::reserve(4).unwrap();
    let (producer, ring, group, after) = ring_with_group(4, 2, size, Some(owners));
    let keys: SharedKeys<u64> = std::sync::Arc::new(|event: &u64| *event);
    let [first, second] = workers(&ring, &group, Some(keys)).try_into().ok().unwrap();
    (producer, first, second, after)
}

fn publish(producer: &mut SingleProducer<u64>, keys: &[u64]) {
    for &key in keys {
        producer.publish(|event| *event = key).unwrap();
    }
}

/// O28, I12: an owner touches its event only when whoever looked at its key is done with that.
#[test]
fn loom_a_key_is_read_before_its_event_is_handled() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[SECOND]);
        let owner = thread::spawn(move || {
            let seen = work(&mut second);
            (seen, second)
        });
        assert_eq!(work(&mut first), []);
        let (seen, second) = owner.join().unwrap();
        assert!(seen.iter().all(|&sequence| sequence == 0));
        drop((producer, first, second, after));
    });
}

/// O28: two route at once, and each event is routed once.
#[test]
fn loom_two_route_one_after_another() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST, FIRST]);
        let other = thread::spawn(move || {
            assert_eq!(work(&mut second), []);
            second
        });
        let mut seen = work(&mut first);
        seen.extend(work(&mut first));
        let second = other.join().unwrap();
        seen.extend(work(&mut first));
        seen.extend(work(&mut first));
        assert_eq!(seen, [0, 1]);
        drop((producer, first, second, after));
    });
}

/// O25: what is routed to a worker that was idle holds the stage after the group.
#[test]
fn loom_a_worker_that_joins_by_key_holds_its_events() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, mut after) = by_key(1);
        publish(&mut producer, &[SECOND]);
        first.group().resize(2);
        let reader = thread::spawn(move || (read(&mut after), after));
        let events = second.poll().unwrap();
        assert_eq!(work(&mut first), []); // goes past it
        second.ring().buffer.watch_write(events.clone());
        second.release(events.end);
        let (mut seen, mut after) = reader.join().unwrap();
        seen.extend(read(&mut after));
        assert_eq!(seen, [0]);
        drop((producer, first, second));
    });
}

/// O28: a key's new worker comes after all that its old one did.
#[test]
fn loom_resize_by_key_keeps_the_order() {
    check_without_fences(|| {
        let (mut producer, mut first, mut second, after) = by_key(1);
        publish(&mut producer, &[SECOND, SECOND]);
        assert_eq!(first.poll().unwrap(), 0..1);
        first.group().resize(2);
        // What a handler would know of its key, wherever it keeps it.
        let state = Arc::new(UnsafeCell::new(0));
        let of_second = Arc::clone(&state);
        let joiner = thread::spawn(move || {
            if let Ok(events) = second.poll() {
                assert_eq!(events, 1..2);
                of_second.with(|_| ());
            }
            second
        });
        state.with_mut(|_| ());
        first.release(1);
        let second = joiner.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O6: a worker parks until its event is published and routed, by itself or by another, who does nothing
/// more afterwards.
#[test]
fn loom_park_until_a_key_is_routed() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        let owner = thread::spawn(move || {
            assert_eq!(second.wait(None).unwrap(), 1..2);
            second
        });
        publish(&mut producer, &[SECOND]);
        assert_eq!(first.wait(None).unwrap(), 0..1);
        let second = owner.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O26 and O7: a worker is routed to by one that has not yet heard that it is not to work any more. It slept
/// for ever, with an event that nobody else could have.
#[test]
fn loom_a_worker_that_goes_to_sleep_is_routed_to() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[SECOND]);
        let group = Arc::clone(first.group());
        let sleeper = thread::spawn(move || {
            group.resize(1);
            (second.wait(None).ok(), second)
        });
        let of_first = work(&mut first);
        if !of_first.is_empty() {
            // There is nothing for the other.
            producer.close();
        }
        let (of_second, second) = sleeper.join().unwrap();
        assert_eq!(of_first.is_empty(), of_second == Some(0..1));
        drop((producer, first, second, after));
    });
}

/// O26 and O27: what was routed to a worker that leaves is handled by one that sleeps.
#[test]
fn loom_a_worker_takes_over_what_was_routed_to_another() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        let events = first.poll().unwrap();
        let leaver = thread::spawn(move || {
            first.ring().buffer.watch_write(events);
            first.leave();
            first
        });
        let events = second.wait(None).unwrap();
        assert_eq!(events, 0..1);
        second.ring().buffer.watch_write(events.clone());
        second.release(events.end);
        let first = leaver.join().unwrap();
        drop((producer, first, second, after));
    });
}

/// O6: a worker waits for the end of a closed ring, that is for another one's event, which it may have to
/// route, and which the other leaves to it.
#[test]
fn loom_workers_by_key_drain_a_closed_ring() {
    check_less(|| {
        let (mut producer, mut first, mut second, after) = by_key(2);
        publish(&mut producer, &[FIRST]);
        drop(producer);
        let drain = |worker: &mut Worker<u64>| {
            let mut seen = Vec::new();
            while let Ok(events) = worker.wait(None) {
                worker.release(events.end);
                seen.extend(events);
            }
            seen
        };
        let owner = thread::spawn(move || {
            // Its first event is too much for it.
            let has_left = first.wait(None).is_ok() && !first.leave();
            (has_left, first)
        });
        let seen = drain(&mut second);
        let (has_left, first) = owner.join().unwrap();
        assert!(has_left);
        assert_eq!(seen, [0]);
        drop((first, second, after));
    });
}
