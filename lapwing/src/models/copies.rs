//! Lone events that are seen by a copy, which the next one overwrites.

use loom::thread;

use super::{Taken, check_without_fences, spinning_over_copies, take, take_by_spinning};
use crate::Poller;
use crate::newest::Newest;
use crate::sync::Arc;

/// O34 and O35: a copy that is looked at while the next one takes its place is that of the event whose end shows, or none.
#[test]
fn loom_a_copy_is_that_of_its_event() {
    check_without_fences(|| {
        let newest = Arc::new(Newest::default());
        let given = Arc::clone(&newest);
        let thread = thread::spawn(move || [1, 2].map(|end| given.give_word(end, end)));
        let end = newest.end();
        if end != 0
            && let Some(copy) = newest.copy(end, size_of::<u64>())
        {
            assert_eq!(copy[0], end);
        }
        thread.join().unwrap();
    });
}

/// O34: a reader that has taken one event takes the next as soon as it is there, by `look` or else by a poll.
fn arrive_one_by_one(look: fn(&mut Poller<u64>) -> Option<Taken>) {
    check_without_fences(move || {
        let (mut producer, mut poller) = spinning_over_copies(2);
        producer.publish(|event| *event = 1).unwrap();
        assert_eq!(take(&mut poller).unwrap(), [(0, 1)]);
        let thread = thread::spawn(move || {
            producer.publish(|event| *event = 2).unwrap();
            producer
        });
        let early = look(&mut poller);
        let producer = thread.join().unwrap();
        let seen = early.unwrap_or_else(|| take(&mut poller).unwrap());
        assert_eq!(seen, [(1, 2)]);
        drop(producer);
    });
}

#[test]
fn loom_a_lone_event_is_seen_by_its_copy() {
    arrive_one_by_one(take_by_spinning);
}

#[test]
fn loom_a_lone_event_is_polled_by_its_copy() {
    arrive_one_by_one(|poller| take(poller).ok());
}
