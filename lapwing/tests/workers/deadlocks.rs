//! A worker that publishes to its own full ring, and would wait for itself, gets an error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use crate::common::{Kind, PATIENCE};
use crate::feed::Feed;
use crate::group::{Group, Ready, Sharing, does, notices};
use crate::handlers::{Call, Turn};
use lapwing::error::PublishError::{self, WouldDeadlock};
use lapwing::{Action, Sequence, Stage};

crate::for_each_group! {
    a_worker_that_would_wait_for_its_own_or_its_taken_over_event_gets_an_error,
    an_idle_worker_that_would_wait_for_itself_gets_an_error,
}

crate::common::for_both_producers! {
    an_idle_worker_waits_for_one_on_another_thread,
}

fn a_worker_that_would_wait_for_its_own_or_its_taken_over_event_gets_an_error<K: Kind + 'static>(
    sharing: Sharing,
) {
    for stoppers in [0, 1] {
        let (tell, told) = mpsc::channel();
        let slot: Arc<Mutex<Option<Feed<K>>>> = Arc::default();
        let (feed_slot, has_stopped) = (Arc::clone(&slot), AtomicBool::new(stoppers == 0));
        let says = move |turn: &Turn| {
            if turn.sequence == 0 && !has_stopped.swap(true, Ordering::Relaxed) {
                return Ok(Action::Stop);
            }
            if turn.sequence == 0 {
                let feed = &mut *feed_slot.lock().unwrap();
                tell.send(feed.as_mut().unwrap().publish_until_the_end()).unwrap();
            }
            Ok(Action::Continue)
        };
        let group = Group::of(1 + stoppers, sharing);
        let Ready { mut feed, consumers, book } =
            Group { capacity: 2, does: does(says), ..group }.build::<K>();
        feed.publish_of(0, 1);
        *slot.lock().unwrap() = Some(feed);
        let running = consumers.start().unwrap();
        assert_eq!(told.recv_timeout(PATIENCE), Ok(WouldDeadlock));
        running.shutdown().unwrap();
        book.assert_no_faults();
    }
}

/// Returns the result of publishing to the full ring when the first worker of `group` starts.
fn publish_at_the_start<K: Kind + 'static>(group: Group) -> Result<Sequence, PublishError> {
    let (tell, told) = mpsc::channel();
    let slot: Arc<Mutex<Option<Feed<K>>>> = Arc::default();
    let feed_slot = Arc::clone(&slot);
    let notices = notices(move |worker, call| {
        if worker == 0 && matches!(call, Call::Start) {
            let mut feed = feed_slot.lock().unwrap().take().unwrap();
            tell.send(feed.publish(0)).unwrap();
        }
    });
    let Ready { mut feed, consumers, book } = Group { capacity: 2, notices, ..group }.build::<K>();
    feed.publish_of(0, 2);
    *slot.lock().unwrap() = Some(feed);
    let running = consumers.start().unwrap();
    let result = told.recv_timeout(PATIENCE).unwrap();
    running.shutdown().unwrap();
    book.assert_no_faults();
    result
}

fn an_idle_worker_that_would_wait_for_itself_gets_an_error<K: Kind + 'static>(sharing: Sharing) {
    assert_eq!(publish_at_the_start::<K>(Group::of(1, sharing)), Err(WouldDeadlock));
    let others_rest = Group { up_to: Some(3), ..Group::of(1, sharing) };
    assert_eq!(publish_at_the_start::<K>(others_rest), Err(WouldDeadlock));
    let stage = Stage::new("work").on_thread("all");
    let others_are_here = Group { stage, ..Group::of(3, sharing) };
    assert_eq!(publish_at_the_start::<K>(others_are_here), Err(WouldDeadlock));
}

fn an_idle_worker_waits_for_one_on_another_thread<K: Kind + 'static>() {
    assert_eq!(publish_at_the_start::<K>(Group::of(2, Sharing::Any)), Ok(2));
}
