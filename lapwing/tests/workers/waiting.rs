//! What a group does while it waits: whom an event wakes, what a slow event holds up, timeouts, and
//! what a backlog and a monitor show meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use crate::common::{Kind, PATIENCE, repeats, wait_until};
use crate::group::{Before, Group, Sharing, Wait, does, notices};
use crate::handlers::{Call, Does, Turn};
use lapwing::lifecycle::Backlog;
use lapwing::monitor::StageState;
use lapwing::{Action, Stage};

crate::for_each_group! {
    a_single_event_after_an_idle_period_is_handled,
    a_slow_event_holds_only_its_own_worker,
    lmax_trap_17_a_backlog_and_a_monitor_show_what_is_not_finished,
    lmax_trap_17_timeouts_are_called_while_nothing_comes,
    a_resting_worker_on_a_shared_thread_gets_no_timeouts,
}

crate::common::for_both_producers! {
    an_event_wakes_no_more_idle_workers_than_it_needs,
    idle_workers_wake_each_other_until_all_have_something,
    a_worker_that_rested_for_laps_gets_events_again,
    a_worker_takes_no_more_than_its_share,
}

fn one_by_one() -> Stage {
    Stage::new("work").max_batch(1)
}

/// A worker that is held at the first event until the test opens the gate.
fn hold_the_first() -> (Arc<AtomicBool>, Option<Does>) {
    let is_open = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&is_open);
    let says = move |turn: &Turn| {
        wait_until(|| turn.sequence > 0 || gate.load(Ordering::Acquire));
        Ok(Action::Continue)
    };
    (is_open, does(says))
}

fn a_single_event_after_an_idle_period_is_handled<K: Kind>(sharing: Sharing) {
    for before in [Before::Nothing, Before::Stage, Before::Group] {
        let events = repeats(1_000);
        let wait = Wait::ParksAtOnce;
        let group = Group { capacity: 2, wait, up_to: Some(4), ..Group::of(3, sharing) };
        let mut run = Group { before, events, check: Some("check".into()), ..group }.start::<K>();
        run.feed.publish_and(events, |event| {
            wait_until(|| run.running.backlog().iter().all(|stage| stage.events == 0));
            assert_eq!(run.book.finished(), event + 1);
        });
        run.drain();
    }
}

/// By key, the events of one of seven keys wait with the slow one, and those of some do not.
fn a_slow_event_holds_only_its_own_worker<K: Kind>(sharing: Sharing) {
    let (is_open, does) = hold_the_first();
    let group = Group { stage: one_by_one(), does, ..Group::of(2, sharing) };
    let mut run = Group { capacity: 64, ..group }.start::<K>();
    run.feed.publish_of(0, 1);
    wait_until(|| run.book.tries(0) == 1);
    (1..7).cycle().take(60).for_each(|key| run.feed.publish_of(key, 1));
    let others = if sharing == Sharing::Any { 60 } else { 10 };
    wait_until(|| run.book.finished() >= others);
    is_open.store(true, Ordering::Release);
    run.drain();
}

fn lmax_trap_17_a_backlog_and_a_monitor_show_what_is_not_finished<K: Kind>(sharing: Sharing) {
    let (is_open, does) = hold_the_first();
    let group = Group { stage: one_by_one(), does, ..Group::of(2, sharing) };
    let group = Group { capacity: 64, check: Some("check".into()), ..group };
    let mut run = group.start::<K>();
    let backlog = |events| ["work", "check"].map(|name| Backlog { stage: name.into(), events });
    let monitor = run.feed.producer.monitor();
    assert_eq!(run.running.backlog(), backlog(0));
    (0..8).for_each(|event| run.feed.publish_of(event % 7, 1));
    let others = if sharing == Sharing::Any { 7 } else { 1 };
    wait_until(|| run.book.tries(0) == 1 && run.book.finished() >= others);
    assert_eq!(run.running.backlog(), backlog(8), "the first event is not finished");
    let snapshot = monitor.snapshot();
    let [work, check] = &snapshot.stages[..] else { panic!("{snapshot:?}") };
    assert_eq!((work.name.as_str(), check.name.as_str()), ("work", "check"));
    assert_eq!((work.sequence, work.lag, work.state), (0, 8, StageState::InHandler));
    assert_eq!((&check.upstream[..], check.available), (&["work".to_owned()][..], 0));
    is_open.store(true, Ordering::Release);
    wait_until(|| run.running.backlog() == backlog(0));
    run.drain();
    let snapshot = monitor.snapshot();
    assert!(snapshot.stages.iter().all(|stage| stage.sequence == 8 && stage.lag == 0));
    assert!(snapshot.stages.iter().all(|stage| stage.state == StageState::Drained));
    assert!(snapshot.stages[0].batches >= 8);
}

// ---- timeouts ----

/// Has each timeout of a worker sent to the test, with the number of the worker.
fn alarms(group: Group) -> (Group, mpsc::Receiver<(usize, u64)>) {
    let (tell, told) = mpsc::channel();
    let notices = notices(move |worker, call| {
        if let Call::Timeout(next_sequence) = *call {
            let _ = tell.send((worker, next_sequence));
        }
    });
    let stage = group.stage.timeout_after(Duration::from_millis(1));
    (Group { stage, notices, ..group }, told)
}

fn lmax_trap_17_timeouts_are_called_while_nothing_comes<K: Kind>(sharing: Sharing) {
    for wait in Wait::ALL {
        let (group, alarms) = alarms(Group { wait, ..Group::of(2, sharing) });
        let mut run = group.start::<K>();
        assert_eq!(alarms.recv_timeout(PATIENCE).unwrap().1, 0);
        run.feed.publish_all(1);
        wait_until(|| alarms.recv_timeout(PATIENCE).unwrap().1 == 1);
        run.drain();
    }
}

fn a_resting_worker_on_a_shared_thread_gets_no_timeouts<K: Kind>(sharing: Sharing) {
    let stage = Stage::new("work").on_thread("all");
    let (group, alarms) = alarms(Group { stage, up_to: Some(3), ..Group::of(1, sharing) });
    let run = group.start::<K>();
    let next = || alarms.recv_timeout(PATIENCE).unwrap().0;
    assert!((0..20).all(|_| next() == 0), "the others rest");
    run.resize(3);
    let mut seen = [false; 3];
    while seen != [true; 3] {
        seen[next()] = true;
    }
    run.drain();
}

// ---- groups whose workers take any event ----

/// The first worker watches. It wakes another watcher while it handles the event, and no other
/// worker wakes.
fn an_event_wakes_no_more_idle_workers_than_it_needs<K: Kind>() {
    let events = repeats(200);
    let group = Group { wait: Wait::ParksAtOnce, events, ..Group::of(8, Sharing::Any) };
    let mut run = group.start::<K>();
    let monitor = run.running.monitor();
    let all_sleep = |handled| {
        wait_until(|| {
            let work = &monitor.snapshot().stages[0];
            work.sequence == handled && work.state == StageState::Parked
        });
    };
    all_sleep(0);
    run.feed.publish_and(events, |event| all_sleep(event + 1));
    let wakes = monitor.snapshot().stages[0].wakes;
    assert!(wakes <= 3 * events, "{events} events woke workers {wakes} times");
    run.drain();
}

/// Each event is held until all are handled at the same time, by workers that slept. No worker may
/// claim two events, because the second would never be handled. A worker whose last events came one
/// at a time, because it was the last to wake, must not claim two either.
fn idle_workers_wake_each_other_until_all_have_something<K: Kind>() {
    const WORKERS: u64 = 8;
    for batch in [1, WORKERS] {
        let at_work = Arc::new(AtomicU64::new(0));
        let begun = Arc::clone(&at_work);
        let says = move |turn: &Turn| {
            begun.fetch_add(1, Ordering::Relaxed);
            let round = turn.sequence / WORKERS + 1;
            wait_until(|| begun.load(Ordering::Relaxed) >= round * WORKERS);
            Ok(Action::Continue)
        };
        let rounds = repeats(100);
        let (wait, stage, does) = (Wait::ParksAtOnce, one_by_one(), does(says));
        let group = Group::of(WORKERS as usize, Sharing::Any);
        let events = rounds * WORKERS;
        let mut run = Group { capacity: 16, wait, stage, does, events, ..group }.start::<K>();
        for round in 1..=rounds {
            (0..WORKERS / batch).for_each(|_| run.feed.publish_batch(batch as usize));
            wait_until(|| at_work.load(Ordering::Relaxed) == round * WORKERS);
        }
        run.drain();
    }
}

/// Each worker handles one of two events that meet. In between, the first worker handles some laps
/// of events alone.
fn a_worker_that_rested_for_laps_gets_events_again<K: Kind>() {
    let both = Barrier::new(2);
    let says = move |turn: &Turn| {
        if turn.key == 1 {
            both.wait();
        }
        Ok(Action::Continue)
    };
    let group = Group { capacity: 4, stage: one_by_one(), ..Group::of(2, Sharing::Any) };
    let mut run = Group { does: does(says), ..group }.start::<K>();
    for (workers, key, events) in [(2, 1, 2), (1, 0, 16), (2, 1, 2)] {
        run.resize(workers);
        run.feed.publish_of(key, events);
        wait_until(|| run.running.backlog()[0].events == 0);
    }
    run.drain();
}

fn a_worker_takes_no_more_than_its_share<K: Kind>() {
    let (is_open, does) = hold_the_first();
    let group = Group { capacity: 64, does, ..Group::of(2, Sharing::Any) };
    let mut ready = group.build::<K>();
    ready.feed.publish_all(8);
    let run = ready.start();
    wait_until(|| run.book.finished() >= 4); // the other half of them
    is_open.store(true, Ordering::Release);
    run.drain();
}
