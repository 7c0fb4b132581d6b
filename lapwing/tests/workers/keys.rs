//! The key function of a group: how keys are spread, and what happens while it runs.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::{Kind, ON_PURPOSE, quiet_panics, repeats, wait_until};
use crate::feed::Feed;
use crate::group::{Group, Ready, Run, Sharing, notices};
use crate::handlers::Call;
use lapwing::consumer::Outcome;
use lapwing::error::PublishError;
use lapwing::{Action, Stage};

crate::common::for_both_producers! {
    keys_are_spread_over_all_workers,
    a_panic_of_the_key_function_halts_the_ring_and_is_reported,
    a_key_function_that_would_wait_for_the_ring_gets_an_error,
}

/// Returns which of four workers had which of the events `0..100`.
fn owners<K: Kind>(key: fn(&u64) -> u64) -> BTreeSet<(usize, u64)> {
    let owners = Arc::new(Mutex::new(BTreeSet::new()));
    let read = |worker| {
        let owners = Arc::clone(&owners);
        move |event: &u64, _, _| _ = owners.lock().unwrap().insert((worker, *event))
    };
    let ring = K::ring(64, || 0_u64).stage("work").workers(4).by_key(key).read(read);
    let (mut producer, consumers) = ring.build().unwrap();
    let running = consumers.start().unwrap();
    (0..200).for_each(|value| _ = producer.publish(|event| *event = value % 100).unwrap());
    running.shutdown().unwrap();
    std::mem::take(&mut *owners.lock().unwrap())
}

fn keys_are_spread_over_all_workers<K: Kind>() {
    // The second function is a bad hash: multiples of a power of two, like addresses.
    for (key, least) in [((|event| *event) as fn(&u64) -> u64, 10), (|event| event << 12, 1)] {
        let owners = owners::<K>(key);
        assert_eq!(owners.len(), 100, "each key has one worker");
        for worker in 0..4 {
            let share = owners.iter().filter(|(owner, _)| *owner == worker).count();
            assert!((least..=50 - least).contains(&share), "worker={worker}, share={share}");
        }
    }
}

fn a_panic_of_the_key_function_halts_the_ring_and_is_reported<K: Kind>() {
    quiet_panics();
    for _ in 0..repeats(50) {
        // Nothing is useful here: the owner of the event is unknown.
        let stage = Stage::new("work").on_panic(Action::Skip);
        let key = Arc::new(|trade: &crate::feed::Trade| {
            assert!(trade.number != 5, "{ON_PURPOSE}: five");
            trade.number
        });
        let group = Group { stage, key, capacity: 4, ..Group::of(3, Sharing::ByKey) };
        let Run { mut feed, running, book } = group.start::<K>();
        book.keys_may_move(); // the key function does not follow the book's
        feed.publish_until_the_end();
        let failed = running.join().unwrap_err();
        // The ring may be halted before the call that has published the fatal event returns.
        assert!(feed.published() >= 5);
        let message = format!("{ON_PURPOSE}: five");
        let panicked = Outcome::Panicked { message, sequence: 5 };
        let outcomes = failed.report().stages().map(|worker| worker.outcome());
        let (of_router, of_others): (Vec<_>, Vec<_>) = outcomes.partition(|one| **one == panicked);
        assert_eq!(of_router.len(), 1, "one worker asked");
        assert_eq!(of_others, [&Outcome::Halted; 2]);
        assert_eq!(book.tries(5), 0);
    }
}

/// The worker that called the key function is no longer wanted; the event must still be handled.
/// The other worker is held in a timeout while the first one routes.
fn a_key_function_that_would_wait_for_the_ring_gets_an_error<K: Kind + 'static>() {
    let [is_held, is_free] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let (hand_over, feeds) = mpsc::channel::<Feed<K>>();
    let (tell, told) = mpsc::channel();
    let feeds = Mutex::new(feeds);
    let key = Arc::new(move |trade: &crate::feed::Trade| {
        if trade.key == 1 {
            let mut feed = feeds.lock().unwrap().recv().unwrap();
            let results = [feed.publish(0).err(), feed.publish(0).err()];
            tell.send((results, feed)).unwrap();
        }
        0
    });
    let (held, free, timeouts) = (Arc::clone(&is_held), Arc::clone(&is_free), AtomicU32::new(0));
    let notices = notices(move |worker, call| {
        // Between two timeouts it has gone through the routed events.
        let is_idle = matches!(call, Call::Timeout(1..));
        if worker == 0 && is_idle && timeouts.fetch_add(1, Ordering::Relaxed) == 1 {
            held.store(true, Ordering::Release);
            wait_until(|| free.load(Ordering::Acquire));
        }
    });
    let stage = Stage::new("work").timeout_after(Duration::from_millis(1));
    let group = Group { stage, key, notices, capacity: 2, ..Group::of(2, Sharing::ByKey) };
    let Ready { mut feed, consumers, book } = group.build::<K>();
    let running = consumers.start().unwrap();
    feed.publish(0).unwrap(); // makes both workers the team
    wait_until(|| book.finished() == 1 && is_held.load(Ordering::Acquire));
    book.keys_may_move();
    running.workers("work").unwrap().resize(1).unwrap();
    feed.publish(1).unwrap();
    hand_over.send(feed).unwrap();
    let (results, feed) = told.recv().unwrap();
    assert_eq!(results, [None, Some(PublishError::WouldDeadlock)]);
    is_free.store(true, Ordering::Release);
    let end = Run { feed, running, book }.drain();
    assert_eq!(end.published, 3);
}
