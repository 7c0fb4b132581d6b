//! Models of published marks: the word next to an event that shows a waiting reader that the event
//! is published. Not here: the channels that use them (`lapwing::models`).

use std::sync::atomic::{AtomicU64, Ordering};

use loom::thread;

use super::{Advice, ONE, PARK, Rest, Single, check, check_without_fences, graph};
use crate::error::PollError;
use crate::words::Words;
use crate::{
    Control, Factory, HasPublishedMark, Place, Producer, PublishedMark, Reader, Room, UNLIMITED,
    Wait, Waits,
};

/// A number behind a published mark. Loom watches the slot, so the number itself is no word of
/// loom.
#[derive(Default)]
#[repr(C)]
struct MessageSlot {
    mark: PublishedMark,
    value: AtomicU64,
}

// SAFETY: I13: the published mark is the first field, and this file makes no mutable reference to a
// message slot.
unsafe impl HasPublishedMark for MessageSlot {}

struct Sender(Producer<MessageSlot, Single>);

impl Sender {
    /// Publishes `value`, for which there is a free slot, and then sets its published mark.
    fn send(&mut self, value: u64) {
        let claim = self.0.claim(|_, why| Err(why)).unwrap();
        // O30, Relaxed: released with the cursor (O1) and with the published mark.
        claim.value.store(value, Ordering::Relaxed);
        let mark = &raw const claim.mark;
        let sequence = claim.publish().unwrap_or_else(|_| panic!("the ring is open"));
        // SAFETY: I4: the producer holds the ring.
        unsafe { &*mark }.set(sequence);
    }
}

/// The only reader. It leaves when it is dropped.
struct Receiver(Reader<MessageSlot, Advice>);

impl Receiver {
    /// Returns the first value that a poll finds, after releasing it.
    fn try_receive(&mut self) -> Result<u64, PollError> {
        let known = self.0.next_known();
        let next = known.map_or_else(|| self.0.poll(UNLIMITED), Ok)?.start;
        // O30, Relaxed: acquired with the published mark, or with the cursor (O1).
        let value = self.0.events(next..next + 1)[0].value.load(Ordering::Relaxed);
        self.0.release(next + 1);
        Ok(value)
    }

    /// Returns the next value. After each failed poll, the thread does what `rest` says.
    fn receive(&mut self, rest: Rest) -> Result<u64, PollError> {
        loop {
            match self.try_receive() {
                Err(PollError::Empty) => {}
                result => return result,
            }
            let control = self.0.ring().control().clone();
            (rest.run)(&control, &Wait { awaited: &self.0, deadline: None, sleeper: None });
            self.0.tell();
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Polls the published mark until the wait seems to be over, and never parks.
const POLLS: Rest = Rest::of(|_: &Control, wait: &Wait<'_>| {
    while !wait.awaited.seems_over() {
        thread::yield_now();
    }
});

/// A ring whose events have published marks, and whose reader takes a single event if its published
/// mark shows.
fn ends(capacity: usize) -> (Sender, Receiver) {
    let mut room = Room::reserve(&mut Words::private(), capacity, false).unwrap();
    room.look_at_published_marks();
    let waits = Waits { parks: true, shares_threads: false };
    let ring = room.into_ring(
        &mut Words::private(),
        Factory::of(MessageSlot::default),
        graph(ONE),
        0,
        waits,
    );
    // SAFETY: I5: the events are `Sync`.
    let mut reader =
        unsafe { Reader::new(ring.clone(), Place::Stage(0), false, UNLIMITED, Advice::default()) };
    reader.expect_one(true);
    (Sender(Producer::only(ring, Advice::default())), Receiver(reader))
}

/// O30: a reader whose last poll failed uses only the published mark of the next event, and then
/// that of the one after it.
#[test]
fn loom_a_mark_shows_its_event() {
    check_without_fences(|| {
        let (mut sender, mut receiver) = ends(2);
        let thread = thread::spawn(move || {
            sender.send(1);
            sender.send(2);
            sender
        });
        let values = [(); 2].map(|()| {
            loop {
                match receiver.try_receive() {
                    Ok(value) => return value,
                    Err(_) => thread::yield_now(),
                }
            }
        });
        assert_eq!(values, [1, 2]);
        drop(thread.join());
    });
}

/// I15 and O30: the published mark of an event is set after its publication, when the reader may
/// have finished it with a batch. The reader leaves the cache lines of the batch, since its store
/// would undo the published mark.
#[test]
fn loom_lines_are_left_beside_a_late_mark() {
    check_without_fences(|| {
        let (mut sender, mut receiver) = ends(2);
        receiver.0.expect_one(false);
        let thread = thread::spawn(move || {
            sender.send(1);
            sender.send(2);
            sender
        });
        while receiver.0.next() < 2 {
            match receiver.0.poll(UNLIMITED) {
                Ok(batch) => receiver.0.release(batch.end),
                Err(_) => thread::yield_now(),
            }
        }
        drop(thread.join());
    });
}

/// O30: a producer checks for parked threads before it sets the published mark, so a parked reader
/// uses the cursor.
#[test]
fn loom_a_parked_reader_needs_no_mark() {
    check(|| {
        let (mut sender, mut receiver) = ends(1);
        let thread = thread::spawn(move || {
            sender.send(1);
            sender
        });
        assert_eq!(receiver.receive(PARK), Ok(1));
        drop(thread.join());
    });
}

/// O30: a reader that polls the published mark of the next event learns of a close.
#[test]
fn loom_a_reader_that_polls_a_mark_learns_of_a_close() {
    check(|| {
        let (sender, mut receiver) = ends(1);
        let thread = thread::spawn(move || drop(sender));
        assert_eq!(receiver.receive(POLLS), Err(PollError::Closed));
        thread.join().unwrap();
    });
}

/// O30: the same with a reader that only polls the ring.
#[test]
fn loom_a_reader_of_marks_that_tries_learns_of_a_close() {
    check(|| {
        let (sender, mut receiver) = ends(1);
        let thread = thread::spawn(move || drop(sender));
        while receiver.try_receive() == Err(PollError::Empty) {
            thread::yield_now();
        }
        assert_eq!(receiver.try_receive(), Err(PollError::Closed));
        thread.join().unwrap();
    });
}
