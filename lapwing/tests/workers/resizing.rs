//! A group that is resized: no event is lost, and whether a worker is wanted decides whether it
//! gets events.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::common::{Kind, Lcg, MOMENT, repeats, wait_until};
use crate::group::{Group, Sharing, Wait, does};
use crate::handlers::Turn;
use lapwing::error::ResizeError;
use lapwing::{Action, Stage};

crate::for_each_group! {
    miri_resizing_under_load_loses_and_duplicates_no_event,
    resizing_under_load_loses_no_event_whatever_the_strategy,
    a_resize_before_the_start_and_after_the_close_loses_nothing,
    workers_that_are_added_take_what_waits_or_by_key_nothing_before_the_others_have_finished,
    an_unwanted_worker_gets_no_more_events,
    unwanted_workers_hold_back_nothing,
    workers_that_share_a_thread_take_turns,
}

/// Another thread resizes the group while it works.
fn miri_resizing_under_load_loses_and_duplicates_no_event<K: Kind>(sharing: Sharing) {
    for (max, capacity) in [(1, 8), (2, 2), (3, 64), (4, 8)] {
        let (events, is_over) = (repeats(8_000), &AtomicBool::new(false));
        let check = (max != 2).then(|| "check".into());
        let group = Group { up_to: Some(max), check, capacity, ..Group::of(1, sharing) };
        let mut run = Group { events, wait: Wait::Blocking, ..group }.start::<K>();
        let (group, sizes) = (run.group(), 1..=max);
        run.book.keys_may_move();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut chance = Lcg(max as u64);
                while !is_over.load(Ordering::Relaxed) {
                    group.resize(1 + chance.below(max as u64) as usize).unwrap();
                    assert!(sizes.contains(&group.size()));
                    thread::yield_now();
                }
            });
            run.feed.publish_all(events);
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(group.resize(max + 1), Err(ResizeError { requested: max + 1, max }));
        run.drain();
    }
}

fn resizing_under_load_loses_no_event_whatever_the_strategy<K: Kind>(sharing: Sharing) {
    for wait in Wait::ALL {
        let events = wait.few_if_it_spins(repeats(2_000));
        let check = Some("check".into());
        let group = Group { wait, check, up_to: Some(4), ..Group::of(2, sharing) };
        let mut run = Group { events, ..group }.start::<K>();
        let mut chance = Lcg(8);
        for _ in 0..events / 20 {
            run.feed.publish_all(20);
            run.resize(1 + chance.below(4) as usize);
        }
        run.drain();
    }
}

fn a_resize_before_the_start_and_after_the_close_loses_nothing<K: Kind>(sharing: Sharing) {
    let group = Group { capacity: 16, up_to: Some(3), ..Group::of(1, sharing) };
    let mut ready = group.build::<K>();
    let group = ready.consumers.workers("work").unwrap();
    ready.feed.publish_all(10);
    ready.book.keys_may_move();
    group.resize(3).unwrap();
    let run = ready.start();
    run.running.close();
    run.resize(2);
    run.drain();
    group.resize(1).unwrap();
}

/// The only worker is held at the first event when others are added.
fn workers_that_are_added_take_what_waits_or_by_key_nothing_before_the_others_have_finished<
    K: Kind,
>(
    sharing: Sharing,
) {
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let says = move |turn: &Turn| {
        if turn.sequence == 0 {
            let _ = gate.lock().unwrap().recv();
        }
        Ok(Action::Continue)
    };
    let group = Group { capacity: 16, up_to: Some(4), does: does(says), ..Group::of(1, sharing) };
    let mut run = Group { stage: Stage::new("work").max_batch(1), ..group }.start::<K>();
    run.feed.publish_of(0, 1);
    wait_until(|| run.book.tries(0) == 1);
    run.resize(4);
    (0..8).for_each(|event| run.feed.publish_of(event % 7, 1));
    if sharing == Sharing::Any {
        run.book.wait_for(8);
    } else {
        thread::sleep(MOMENT);
        assert!((1..9).all(|event| run.book.tries(event) == 0), "the first one is not finished");
    }
    drop(go);
    run.book.wait_for(9);
    run.drain();
}

fn an_unwanted_worker_gets_no_more_events<K: Kind>(sharing: Sharing) {
    let newest = Arc::new(AtomicUsize::new(0));
    let worker = Arc::clone(&newest);
    let says = move |turn: &Turn| {
        worker.store(turn.worker, Ordering::Relaxed);
        Ok(Action::Continue)
    };
    let events = 10_000;
    let group = Group { capacity: 4, does: does(says), events, ..Group::of(3, sharing) };
    let mut run = group.start::<K>();
    run.resize(1);
    // A worker may have been about to claim, but each of them only once.
    let (mut in_a_row, mut published) = (0, 0);
    while in_a_row < 100 {
        run.feed.publish_all(1);
        published += 1;
        run.book.wait_for(published);
        in_a_row = if newest.load(Ordering::Relaxed) == 0 { in_a_row + 1 } else { 0 };
    }
    run.drain();
}

fn unwanted_workers_hold_back_nothing<K: Kind>(sharing: Sharing) {
    // Few events: under oversubscription, each thread spins for its whole time slice.
    let (capacity, wait, check) = (2, Wait::BusySpin, Some("check".into()));
    let group = Group { capacity, wait, check, up_to: Some(8), ..Group::of(1, sharing) };
    let end = group.share::<K>(repeats(50));
    assert_eq!(end.report.stages().map(|stage| stage.processed()).max(), Some(end.published));
}

fn workers_that_share_a_thread_take_turns<K: Kind>(sharing: Sharing) {
    let events = repeats(3_000);
    let [stage, check] = ["work", "check"].map(|name| Stage::new(name).on_thread("one"));
    let group = Group { stage, check: Some(check), up_to: Some(3), ..Group::of(2, sharing) };
    let mut run = Group { events, ..group }.start::<K>();
    for event in 0..events as usize {
        run.feed.publish_all(1);
        run.resize(1 + event % 3);
    }
    run.drain();
}
