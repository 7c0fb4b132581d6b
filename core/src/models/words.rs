//! Models of words by themselves: the flags of an event count, the places of waiting producers, the
//! watch, the grants.

use loom::thread;

use super::{check, check_less, check_without_fences};
use crate::parking::asymmetric::AsymmetricFence;
use crate::parking::event_count::{ENDED, FOLLOW_UP};
use crate::parking::watch::Watch;
use crate::stages::DynamicStages;
use crate::sync::{Arc, AtomicU8, AtomicU64, Ordering};
use crate::{EventCount, Places};

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

/// O6: a producer that waits for other producers is woken at its place.
#[test]
fn loom_a_place_is_woken() {
    check(|| {
        let shared = Arc::new((Places::new(true), AtomicU64::new(0)));
        let sleeper = Arc::clone(&shared);
        let sleeper = thread::spawn(move || {
            let (places, word) = &*sleeper;
            let is_over = || word.load(Ordering::Relaxed) != 0;
            while !is_over() {
                places.park(0, None, is_over);
            }
        });
        let (places, word) = &*shared;
        word.store(1, Ordering::Relaxed);
        places.wake(0);
        sleeper.join().unwrap();
    });
}

/// O29: what all followers must see wakes each of them, not only the first.
#[test]
fn loom_what_all_followers_must_see_wakes_each() {
    check_less(|| {
        let watch = Arc::new(Watch::new(3));
        let has_stopped = Arc::new(AtomicU8::new(0));
        assert!(watch.turn(0).take_watch());
        let followers = [1, 2].map(|waiter| {
            let (watch, has_stopped) = (Arc::clone(&watch), Arc::clone(&has_stopped));
            thread::spawn(move || {
                let is_over = || has_stopped.load(Ordering::Relaxed) != 0;
                watch.turn(waiter).follow(AsymmetricFence::Full, || None, is_over)
            })
        });
        has_stopped.store(1, Ordering::Relaxed);
        AsymmetricFence::Full.light();
        watch.wake_all();
        assert_eq!(followers.map(|follower| follower.join().unwrap()), [false; 2]);
    });
}

/// O29: the watch is handed to a worker that has just found something else to do, and that worker
/// passes it on.
#[test]
fn loom_a_watch_is_handed_to_one_that_goes() {
    check_less(|| {
        let fence = AsymmetricFence::detect();
        let watch = Arc::new(Watch::new(3));
        assert!(watch.turn(2).take_watch());
        let has_something = Arc::new(AtomicU8::new(0));
        let first = (Arc::clone(&watch), Arc::clone(&has_something));
        let goes = thread::spawn(move || {
            let (watch, has_something) = first;
            let turn = watch.turn(0);
            if turn.follow(fence, || None, || has_something.load(Ordering::Relaxed) == 1) {
                turn.hand_on_watch(fence);
            }
        });
        let second = Arc::clone(&watch);
        let stays = thread::spawn(move || {
            let turn = second.turn(1);
            while !turn.take_watch() && !turn.follow(fence, || None, || false) {}
            turn.hand_on_watch(fence);
        });
        has_something.store(1, Ordering::Relaxed);
        watch.turn(2).hand_on_watch(fence);
        goes.join().unwrap();
        stays.join().unwrap();
    });
}

/// O15: of two grants at the same time the greater one counts, since a producer may act on it.
#[test]
fn loom_a_grant_never_goes_back() {
    check_without_fences(|| {
        let dynamic = Arc::new(DynamicStages::new(1, 1, 1));
        let others = Arc::clone(&dynamic);
        let other = thread::spawn(move || others.raise_granted(1));
        dynamic.raise_granted(2);
        other.join().unwrap();
        assert_eq!(dynamic.granted(), 2);
    });
}
