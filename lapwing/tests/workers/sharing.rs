//! Each event goes to one worker, for each number of workers, capacity, longest batch and strategy:
//! none is lost, handled twice, early, overwritten or, by key, out of order.

use std::thread;

use crate::common::{Kind, Lcg, MOMENT, Many, repeats, watched};
use crate::feed::{Trade, publish_beside_others};
use crate::group::{Group, Sharing, Wait};
use lapwing::Stage;
use lapwing::consumer::Outcome;
use lapwing::error::TryPublishError;

crate::for_each_group! {
    lmax_trap_5_every_event_goes_to_one_worker_that_has_it_alone,
    miri_lmax_trap_5_every_event_goes_to_one_worker_that_has_it_alone,
    every_event_goes_to_one_worker_whatever_the_strategy,
    claims_that_were_given_up_are_passed_over,
    lmax_trap_6_workers_that_have_not_started_hold_their_events,
    lmax_trap_17_a_close_is_drained_by_all_workers,
    handlers_are_started_ended_and_returned_once_each,
    every_batch_is_announced_and_no_longer_than_the_stage_allows,
    a_halt_ends_every_worker,
    a_worker_that_is_dropped_without_having_run_halts_the_ring,
}

/// A group with a setting of the longest batch, or none.
fn group(workers: usize, sharing: Sharing, longest_batch: Option<usize>) -> Group {
    let work = Stage::new("work");
    let stage = if let Some(events) = longest_batch { work.max_batch(events) } else { work };
    Group { stage, ..Group::of(workers, sharing) }
}

/// LMAX's workers moved the group's sequence before their own. A producer that read the gate in
/// between took their slot.
fn lmax_trap_5_every_event_goes_to_one_worker_that_has_it_alone<K: Kind>(sharing: Sharing) {
    for workers in 1..=3 {
        for capacity in [1, 2, 4, 64, 1024] {
            for (longest_batch, wait) in [(None, Wait::Adaptive), (Some(1), Wait::Blocking)] {
                let alone = || Group { capacity, wait, ..group(workers, sharing, longest_batch) };
                let end = alone().share::<K>(repeats(1_500));
                assert_eq!(end.outcomes(), vec![Outcome::Drained; workers]);
                Group { check: Some("check".into()), ..alone() }.share::<K>(repeats(500));
            }
        }
    }
}

fn miri_lmax_trap_5_every_event_goes_to_one_worker_that_has_it_alone<K: Kind>(sharing: Sharing) {
    for workers in 1..=3 {
        Group { capacity: 1, ..Group::of(workers, sharing) }.share::<K>(12);
        let check = Some("check".into());
        Group { capacity: 4, check, wait: Wait::Blocking, ..Group::of(workers, sharing) }
            .share::<K>(20);
    }
}

fn every_event_goes_to_one_worker_whatever_the_strategy<K: Kind>(sharing: Sharing) {
    for wait in Wait::ALL {
        let events = wait.few_if_it_spins(repeats(2_000));
        Group { wait, ..Group::of(2, sharing) }.share::<K>(events);
    }
}

// ---- what producers do ----

#[test]
fn several_producers_and_several_workers_share_a_small_ring() {
    const PRODUCERS: u64 = 3;
    let events = repeats(20_000);
    for sharing in Sharing::BOTH {
        let group = Group { capacity: 4, events: PRODUCERS * events, ..Group::of(3, sharing) };
        let run = watched(|| group.start::<Many>());
        thread::scope(|scope| {
            for key in 0..PRODUCERS {
                let (mut producer, book) = (run.feed.producer.clone(), &run.book);
                scope.spawn(move || publish_beside_others(&mut producer, book, key, events));
            }
        });
        let end = watched(|| run.end());
        end.assert_each_once_but(&[]);
        assert_eq!(end.processed(), PRODUCERS * events);
    }
}

/// LMAX's workers did not check whether their claimed event was published if an earlier claim was
/// not.
#[test]
fn lmax_trap_4_nothing_is_handled_before_it_is_published() {
    for sharing in Sharing::BOTH {
        let mut run = Group::of(3, sharing).start::<Many>();
        let mut other = run.feed.producer.clone();
        let mut first = run.feed.producer.claim().unwrap();
        run.book.publishes(1);
        other.publish(|event| *event = Trade::new(1, 0, 1)).unwrap();
        thread::sleep(MOMENT);
        assert_eq!(run.book.finished(), 0, "the first claim is not published");
        *first = Trade::new(0, 0, 0);
        run.book.publishes(0);
        first.publish().unwrap();
        run.end().assert_each_once_but(&[]);
    }
}

fn claims_that_were_given_up_are_passed_over<K: Kind>(sharing: Sharing) {
    for capacity in [2, 16] {
        let events = repeats(2_000);
        let lines = 2 * events;
        let group = Group { capacity, up_to: Some(3), events: lines, ..Group::of(2, sharing) };
        let mut run = group.start::<K>();
        let mut chance = Lcg(7);
        for _ in 0..events {
            match chance.below(10) {
                0..3 => run.feed.give_up(),
                3 => run.resize(1 + chance.below(3) as usize),
                _ => run.feed.publish_all(1),
            }
        }
        run.drain();
    }
}

// ---- the begin and the end of a ring ----

/// LMAX's producers did not wait for workers that had not started.
fn lmax_trap_6_workers_that_have_not_started_hold_their_events<K: Kind>(sharing: Sharing) {
    for first_sequence in [0, 1_000_001] {
        let up_to = Some(3);
        let group = Group { capacity: 4, first_sequence, up_to, ..Group::of(2, sharing) };
        let mut ready = group.build::<K>();
        ready.feed.publish_all(4);
        assert_eq!(ready.feed.producer.try_publish(|_| {}), Err(TryPublishError::Full));
        let mut run = ready.start();
        run.feed.publish_all(10);
        run.drain();
    }
}

fn lmax_trap_17_a_close_is_drained_by_all_workers<K: Kind>(sharing: Sharing) {
    for round in 0..repeats(300) {
        let up_to = Some(2 + round as usize % 2);
        let mut run = Group { capacity: 16, up_to, ..Group::of(2, sharing) }.start::<K>();
        run.feed.publish_all(round % 13);
        run.drain();
    }
}

fn handlers_are_started_ended_and_returned_once_each<K: Kind>(sharing: Sharing) {
    for round in 0..repeats(200) {
        let mut run = Group { up_to: Some(3), ..Group::of(2, sharing) }.start::<K>();
        run.feed.publish_all(round % 5);
        if round % 3 == 0 {
            run.running.halt();
        }
        let mut end = run.end();
        let names: Vec<_> = end.report.stages().map(|worker| worker.name().to_owned()).collect();
        assert_eq!(names, ["work-0", "work-1", "work-2"]);
        for (calls, name) in end.calls().iter().zip(names) {
            assert_eq!((calls.starts, calls.shutdowns), (1, 1));
            assert_eq!(calls.thread, name);
        }
    }
}

fn every_batch_is_announced_and_no_longer_than_the_stage_allows<K: Kind>(sharing: Sharing) {
    // The default is a quarter of the ring. By key, one worker has all events.
    for (longest_batch, longest) in [(Some(1), 1), (Some(3), 3), (None, 8)] {
        let mut ready = Group { capacity: 32, ..group(2, sharing, longest_batch) }.build::<K>();
        ready.feed.publish_of(1, 32);
        let mut end = ready.start().drain();
        let batches: Vec<_> = end.calls().iter().flat_map(|calls| calls.batches.clone()).collect();
        assert_eq!(batches.iter().map(|(size, _)| size).sum::<u64>(), 32);
        assert!(batches.iter().all(|(size, depth)| (1..=*depth).contains(size)), "{batches:?}");
        assert_eq!(batches.iter().map(|(size, _)| *size).max(), Some(longest), "{batches:?}");
        assert_eq!(batches.iter().map(|(_, depth)| *depth).max(), Some(32), "all were available");
    }
}

fn a_halt_ends_every_worker<K: Kind>(sharing: Sharing) {
    for _ in 0..repeats(100) {
        let mut run = Group { up_to: Some(4), ..Group::of(2, sharing) }.start::<K>();
        run.feed.publish_all(1);
        run.running.halt();
        assert!(run.feed.publish(0).is_err());
        let end = run.end();
        assert_eq!(end.outcomes(), vec![Outcome::Halted; 4]);
        assert_eq!(end.error.unwrap(), "the ring was halted before every event was handled");
    }
}

fn a_worker_that_is_dropped_without_having_run_halts_the_ring<K: Kind>(sharing: Sharing) {
    let mut ready = Group::of(2, sharing).build::<K>();
    let mut consumers = ready.consumers.into_iter();
    assert_eq!(consumers.len(), 2);
    drop(consumers.next());
    assert!(ready.feed.publish(0).is_err());
    assert_eq!(*consumers.next().unwrap().run().outcome(), Outcome::Halted);
}
