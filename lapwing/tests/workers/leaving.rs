//! Workers that stop, by what their handler says or by a stop handle: the others get what they
//! leave, and the last one halts the ring.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::common::{Kind, Lcg, MOMENT, repeats, wait_until};
use crate::group::{Group, Sharing, Wait, does};
use crate::handlers::Turn;
use lapwing::Action;
use lapwing::consumer::Outcome;
use lapwing::error::{HaltCause, PublishError};

crate::for_each_group! {
    lmax_trap_17_a_worker_that_stops_drops_no_claimed_event,
    miri_lmax_trap_17_shutdown_ends_although_workers_have_left,
    a_worker_that_stops_while_the_ring_drains_leaves_its_events_to_an_idle_one,
    a_worker_that_leaves_is_replaced_by_a_parked_one,
    the_last_worker_that_leaves_halts_the_ring,
    workers_that_are_stopped_leave_the_others_running,
    a_parked_worker_that_is_stopped_ends,
    workers_that_are_stopped_under_load_and_resizes_lose_nothing,
}

/// LMAX's worker dropped its claimed event when it was halted.
fn lmax_trap_17_a_worker_that_stops_drops_no_claimed_event<K: Kind>(sharing: Sharing) {
    for _ in 0..repeats(200) {
        let has_stopped = AtomicBool::new(false);
        let says = move |turn: &Turn| {
            // The other events of its claim follow.
            let is_first = turn.sequence % 8 == 1 && !has_stopped.swap(true, Ordering::Relaxed);
            Ok(if is_first { Action::Stop } else { Action::Continue })
        };
        let group = Group { capacity: 64, does: does(says), ..Group::of(2, sharing) };
        let mut ready = Group { check: Some("check".into()), ..group }.build::<K>();
        ready.feed.publish_all(64);
        let end = ready.start().drain();
        assert_eq!(end.count(&Outcome::Stopped), 1);
        assert_eq!(end.count(&Outcome::Drained), 1);
    }
}

/// LMAX's shutdown waited for dead workers.
fn miri_lmax_trap_17_shutdown_ends_although_workers_have_left<K: Kind>(sharing: Sharing) {
    for round in 0..repeats(200) {
        let capacity = [1, 4, 64][round as usize % 3];
        let stops = Arc::new(AtomicU64::new(0));
        let stopped = Arc::clone(&stops);
        let says = move |turn: &Turn| {
            // The first three workers stop at different times, the last one never does.
            if turn.worker == 3 || turn.turn < 2 * turn.worker as u64 {
                return Ok(Action::Continue);
            }
            stopped.fetch_add(1, Ordering::Relaxed);
            Ok(Action::Stop)
        };
        let check = (round % 2 == 0).then(|| "check".into());
        let group = Group { capacity, check, does: does(says), ..Group::of(4, sharing) };
        let end = group.share::<K>(30);
        assert_eq!(end.count(&Outcome::Stopped) as u64, stops.load(Ordering::Relaxed));
    }
}

fn a_worker_that_stops_while_the_ring_drains_leaves_its_events_to_an_idle_one<K: Kind>(
    sharing: Sharing,
) {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(Some(gate));
    let says = move |_: &Turn| {
        let gate = gate.lock().unwrap().take();
        let Some(gate) = gate else { return Ok(Action::Continue) };
        let _ = gate.recv();
        Ok(Action::Stop)
    };
    let mut run = Group { does: does(says), ..Group::of(2, sharing) }.start::<K>();
    run.feed.publish_all(1);
    wait_until(|| run.book.tries(0) == 1);
    run.running.close();
    thread::sleep(MOMENT); // the other worker is idle, and must not end
    assert!(!run.running.is_finished());
    drop(go);
    let end = run.drain();
    assert_eq!(end.count(&Outcome::Stopped), 1);
    assert_eq!(end.book.tries(0), 2);
}

fn a_worker_that_leaves_is_replaced_by_a_parked_one<K: Kind>(sharing: Sharing) {
    for wait in [Wait::Adaptive, Wait::BusySpin] {
        let says = |turn: &Turn| {
            let stops = turn.worker == 0 && turn.turn == 5;
            Ok(if stops { Action::Stop } else { Action::Continue })
        };
        let group = Group { capacity: 4, wait, up_to: Some(2), ..Group::of(1, sharing) };
        let mut run = Group { does: does(says), ..group }.start::<K>();
        let group = run.group();
        run.feed.publish_all(20);
        let end = run.drain();
        assert!(end.report.stages().map(|worker| worker.processed()).eq([5, 15]));
        group.resize(2).unwrap();
        assert_eq!(group.size(), 1, "one is left");
    }
}

fn the_last_worker_that_leaves_halts_the_ring<K: Kind>(sharing: Sharing) {
    for workers in 1..=3 {
        let group = Group { does: does(|_| Ok(Action::Stop)), ..Group::of(workers, sharing) };
        let mut run = Group { check: Some("check".into()), ..group }.start::<K>();
        let error = run.feed.publish_until_the_end();
        assert_eq!(error, PublishError::Halted(HaltCause::NoConsumers));
        let end = run.end();
        assert!(end.error.is_some());
        let (stopped, halted) = (end.count(&Outcome::Stopped), end.count(&Outcome::Halted));
        assert_eq!((stopped, halted), (workers - 1, 1), "the last one has halted the ring");
        assert_eq!((end.processed(), end.book.finished()), (0, 0));
    }
}

fn workers_that_are_stopped_leave_the_others_running<K: Kind>(sharing: Sharing) {
    let events = repeats(3_000);
    let mut run = Group { events, ..Group::of(3, sharing) }.start::<K>();
    assert!(run.running.stop_handle("work").is_none(), "a group, not a worker");
    for worker in 0..2 {
        run.feed.publish_all(events / 3);
        run.stop(worker);
    }
    run.feed.publish_all(events - events / 3 * 2);
    // A worker that has not seen the stop before the ring is drained ends as drained.
    wait_until(|| run.group().size() == 1);
    let end = run.drain();
    assert_eq!(end.outcomes(), [Outcome::Stopped, Outcome::Stopped, Outcome::Drained]);
}

fn a_parked_worker_that_is_stopped_ends<K: Kind>(sharing: Sharing) {
    let wait = Wait::ParksAtOnce;
    let mut run = Group { wait, up_to: Some(2), ..Group::of(1, sharing) }.start::<K>();
    run.stop(1); // the worker that is not wanted
    run.resize(2);
    wait_until(|| run.group().size() == 1);
    run.feed.publish_all(20);
    run.book.wait_for(20);
    run.stop(0); // the last worker
    assert_eq!(run.feed.publish_until_the_end(), PublishError::Halted(HaltCause::NoConsumers));
    assert!(run.end().error.is_some());
}

fn workers_that_are_stopped_under_load_and_resizes_lose_nothing<K: Kind>(sharing: Sharing) {
    for round in 0..repeats(100) {
        let (mut chance, mut leavers) = (Lcg(round), vec![0, 1, 2, 3]);
        let mut run = Group { up_to: Some(5), events: 500, ..Group::of(2, sharing) }.start::<K>();
        for _ in 0..repeats(50) {
            run.feed.publish_all(10);
            match chance.below(4) {
                0 if !leavers.is_empty() => {
                    let leaver = chance.below(leavers.len() as u64) as usize;
                    run.stop(leavers.swap_remove(leaver));
                }
                1.. => run.resize(1 + chance.below(5) as usize),
                _ => {}
            }
        }
        run.drain();
    }
}
