//! Models: loom runs each one, the protocol of this crate in a few threads, through every interleaving.
//! Each comment begins with the row of `docs` that the model proves.
//!
//! A thread stands for a process. Events are cells that loom watches, so a slot that is written while
//! it is read fails the model. A lost wake-up fails it as a deadlock.

use std::time::Duration;

mod several;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::fences::Fences;
use crate::protocol::reading::Reading;
use crate::protocol::seats::{Side, Start, Tenure, is_held};
use crate::protocol::writing::Writing;
use crate::protocol::{Shared, Silence, parking};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::words::{Seat, Words, WriterSeat};

/// A segment without a mapping.
struct Segment {
    words: Words,
    seats: Vec<Seat>,
    writers: Vec<WriterSeat>,
    stamps: Vec<AtomicU64>,
    /// Each has the sequence of its event, plus one.
    slots: Vec<UnsafeCell<u64>>,
}

impl Segment {
    fn new(capacity: usize, seats: usize) -> Arc<Self> {
        Self::with_writers(capacity, seats, 0)
    }

    /// A segment with seats for several writers.
    fn with_writers(capacity: usize, seats: usize, writers: usize) -> Arc<Self> {
        let slots = (0..capacity).map(|_| UnsafeCell::new(0)).collect();
        let seats = (0..seats).map(|_| Seat::default()).collect();
        let stamps = if writers == 0 { 0 } else { capacity };
        let stamps = (0..stamps).map(|_| AtomicU64::new(0)).collect();
        let writers = (0..writers).map(|_| WriterSeat::default()).collect();
        Arc::new(Self { words: Words::default(), seats, writers, stamps, slots })
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            words: &self.words,
            seats: &self.seats,
            writers: &self.writers,
            stamps: &self.stamps,
            capacity: self.slots.len() as u64,
        }
    }

    fn slot(&self, sequence: u64) -> &UnsafeCell<u64> {
        &self.slots[sequence as usize % self.slots.len()]
    }

    fn writer(&self) -> Writing {
        Writing::new(self.shared(), Fences::Full)
    }

    /// A writer beside which nobody parks. Its light fence is nothing here: a full one in a model is
    /// stronger than in the memory model, and could hide what is missing beside it.
    fn unfenced_writer(&self) -> Writing {
        Writing::new(self.shared(), Fences::Registered)
    }

    fn reader(&self, index: usize, start: Start) -> Reading {
        let (tenure, next) = self.shared().join(index, start, Fences::Full.code());
        Reading::new(tenure, next, Fences::Full)
    }

    /// A reader beside which no writer parks. As for `unfenced_writer`.
    fn unfenced_reader(&self, index: usize, start: Start) -> Reading {
        let (tenure, next) = self.shared().join(index, start, Fences::Registered.code());
        Reading::new(tenure, next, Fences::Registered)
    }

    /// Publishes the next event. The writer may write it.
    fn write(&self, writing: &mut Writing) {
        let sequence = writing.next();
        self.slot(sequence).with_mut(|slot| {
            // SAFETY: M1: the sequence is granted; loom checks that no other thread has the slot.
            unsafe { *slot = sequence + 1 }
        });
        writing.publish(self.shared(), 1);
    }

    /// Publishes an event if there is room.
    fn try_write(&self, writing: &mut Writing) -> bool {
        let has_room = writing.known_room() > 0 || writing.look(self.shared()) > 0;
        if has_room {
            self.write(writing);
        }
        has_room
    }

    /// Publishes an event, and parks until there is room.
    fn wait_and_write(&self, writing: &mut Writing) {
        let shared = self.shared();
        while !self.try_write(writing) {
            let next = writing.next();
            parking::park(&shared.words.slots.0, None, || false, || shared.has_room(next));
        }
    }

    /// Reads the next event, and does not release it.
    fn read_only(&self, reading: &mut Reading) -> Result<u64, Silence> {
        let sequence = reading.poll(self.shared())?.start;
        let event = self.slot(sequence).with(|slot| {
            // SAFETY: M2: it is published and not released; loom checks that nobody writes it.
            unsafe { *slot }
        });
        assert_eq!(event, sequence + 1);
        Ok(sequence)
    }

    /// Reads and releases the next event.
    fn read(&self, reading: &mut Reading) -> Result<u64, Silence> {
        let sequence = self.read_only(reading)?;
        reading.release(self.shared(), sequence + 1);
        Ok(sequence)
    }

    /// Reads the next event, and parks until there is one. `None` if the segment is closed.
    fn wait_and_read(&self, reading: &mut Reading) -> Option<u64> {
        let shared = self.shared();
        loop {
            match self.read(reading) {
                Ok(sequence) => return Some(sequence),
                Err(Silence::Closed) => return None,
                Err(Silence::Empty) => {}
            }
            parking::park(&shared.words.events.0, None, || false, || reading.is_ready(shared));
        }
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    check_up_to(2, model);
}

/// Checks with at least this many preemptions.
fn check_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    let bound = builder.preemption_bound.map_or(preemptions, |bound| bound.max(preemptions));
    builder.preemption_bound = Some(bound);
    // `ci/models.sh` adds them up.
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&executions);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    println!("executions: {}", executions.load(Ordering::Relaxed));
}

/// P1 and P2: a slot is written again after it was read.
#[test]
fn loom_an_event_is_read_before_its_slot_is_written_again() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.unfenced_reader(0, Start::Newest);
        let mut writing = segment.unfenced_writer();
        let other = Arc::clone(&segment);
        let writer =
            thread::spawn(move || (0..2).filter(|_| other.try_write(&mut writing)).count());
        let read = (0..2).filter(|_| segment.read(&mut reading).is_ok()).count();
        assert!(read <= writer.join().unwrap());
    });
}

/// P5: a reader that parks is woken by the event, and by the close.
#[test]
fn loom_a_parked_reader_is_woken() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut writing = segment.writer();
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            assert!(other.try_write(&mut writing));
            other.shared().close();
        });
        assert_eq!(segment.wait_and_read(&mut reading), Some(0));
        assert_eq!(segment.wait_and_read(&mut reading), None);
        writer.join().unwrap();
    });
}

/// P5: two readers that park at the same place are both woken.
#[test]
fn loom_two_parked_readers_are_woken() {
    check(|| {
        let segment = Segment::new(1, 2);
        let readers = [0, 1].map(|index| {
            let mut reading = segment.reader(index, Start::Newest);
            let other = Arc::clone(&segment);
            thread::spawn(move || other.wait_and_read(&mut reading))
        });
        let mut writing = segment.writer();
        assert!(segment.try_write(&mut writing));
        for reader in readers {
            assert_eq!(reader.join().unwrap(), Some(0));
        }
    });
}

/// P5: a writer that parks is woken by the release.
#[test]
fn loom_a_parked_writer_is_woken_by_a_release() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut writing = segment.writer();
        assert!(segment.try_write(&mut writing));
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || assert_eq!(other.read(&mut reading), Ok(0)));
        segment.wait_and_write(&mut writing);
        reader.join().unwrap();
    });
}

/// P3 and P5: a writer that parks is woken when its reader leaves, and does not write what that one
/// reads.
#[test]
fn loom_a_parked_writer_is_woken_by_a_reader_that_leaves() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut writing = segment.writer();
        assert!(segment.try_write(&mut writing));
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            assert_eq!(other.read_only(&mut reading), Ok(0));
            reading.leave(other.shared());
        });
        segment.wait_and_write(&mut writing);
        reader.join().unwrap();
    });
}

/// P7: what is published before a close is not lost.
#[test]
fn loom_the_last_event_is_read_before_the_end() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut writing = segment.unfenced_writer();
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            assert!(other.try_write(&mut writing));
            other.shared().close();
        });
        let mut read = 0;
        for _ in 0..2 {
            match segment.read(&mut reading) {
                Ok(_) => read += 1,
                Err(Silence::Closed) => assert_eq!(read, 1),
                Err(Silence::Empty) => {}
            }
        }
        writer.join().unwrap();
    });
}

/// Lets a reader join beside a writer that laps the ring.
fn check_join(start: Start, before: usize) {
    check(move || {
        let segment = Segment::new(2, 1);
        let mut writing = segment.unfenced_writer();
        for _ in 0..before {
            assert!(segment.try_write(&mut writing));
        }
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let mut reading = other.reader(0, start);
            let first = reading.next();
            if let Ok(sequence) = other.read(&mut reading) {
                assert_eq!(sequence, first);
            }
        });
        for _ in 0..3 {
            segment.try_write(&mut writing);
        }
        reader.join().unwrap();
    });
}

/// P4: a reader that joins is seen by the writer, or sees how far the writer may go.
#[test]
fn loom_a_reader_joins_at_the_newest_event() {
    check_join(Start::Newest, 1);
}

/// P4: the same at the oldest event.
#[test]
fn loom_a_reader_joins_at_the_oldest_event() {
    check_join(Start::Oldest, 3);
}

/// P4: a writer takes over after the last one died between its two looks at the seats. The limit
/// that this one left is no grant.
#[test]
fn loom_a_writer_takes_over_while_a_reader_joins() {
    check(|| {
        let segment = Segment::new(2, 1);
        let mut dead = segment.unfenced_writer();
        for _ in 0..2 {
            assert!(segment.try_write(&mut dead));
        }
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let mut reading = other.reader(0, Start::Oldest);
            let _ = other.read(&mut reading);
        });
        // P4, Release: the first half of `look`.
        segment.words.granted.0.store(4, Ordering::Release);
        let mut writing = segment.unfenced_writer();
        for _ in 0..2 {
            segment.try_write(&mut writing);
        }
        reader.join().unwrap();
    });
}

/// P3: a reader that leaves has read its events before the writer writes there.
#[test]
fn loom_a_reader_that_leaves_has_read() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut writing = segment.unfenced_writer();
        assert!(segment.try_write(&mut writing));
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            assert_eq!(other.read_only(&mut reading), Ok(0));
            other.shared().leave(reading.tenure);
        });
        segment.try_write(&mut writing);
        reader.join().unwrap();
    });
}

/// P3: the same if another reader has taken the seat meanwhile, and the writer sees only that one.
#[test]
fn loom_a_reader_whose_seat_is_taken_has_read() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut writing = segment.unfenced_writer();
        assert!(segment.try_write(&mut writing));
        let others = [(); 2].map(|()| Arc::clone(&segment));
        let [first, second] = others;
        let first = thread::spawn(move || {
            assert_eq!(first.read_only(&mut reading), Ok(0));
            first.shared().leave(reading.tenure);
        });
        let second = thread::spawn(move || {
            if let Some(index) = second.shared().free_seats(Side::Readers).next() {
                second.reader(index, Start::Newest);
            }
        });
        segment.try_write(&mut writing);
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// P4: what a dead writer wrote and did not publish is not read, although the slot had an older event.
#[test]
fn loom_a_reader_joins_after_an_unpublished_event() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut dead = segment.unfenced_writer();
        assert!(segment.try_write(&mut dead));
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            if dead.look(other.shared()) > 0 {
                // SAFETY: M1: it is granted.
                other.slot(1).with_mut(|slot| unsafe { *slot = 7 });
            }
            let mut writing = other.unfenced_writer();
            other.try_write(&mut writing);
        });
        let mut reading = segment.reader(0, Start::Oldest);
        let _ = segment.read(&mut reading);
        writer.join().unwrap();
    });
}

/// P3: a watcher that finds the pipe of a seat without a holder does not clear the seat under its
/// next reader. The reader gives up the seat before the pipe, and the next one holds the pipe
/// before the seat.
#[test]
fn loom_a_seat_is_not_cleared_under_its_next_reader() {
    check(|| {
        let segment = Segment::new(1, 1);
        let pipe = Arc::new(AtomicU32::new(1));
        let reading = segment.reader(0, Start::Newest);
        let (other, held) = (Arc::clone(&segment), Arc::clone(&pipe));
        let reader = thread::spawn(move || {
            reading.leave(other.shared());
            // The kernel orders what is done before a close and after an open.
            held.store(0, Ordering::Release);
            held.store(1, Ordering::Release);
            let next = other.reader(0, Start::Newest);
            assert_eq!(next.tenure.number, 3);
        });
        let number = segment.shared().holder(Side::Readers, 0).tenure();
        if is_held(number) && pipe.load(Ordering::Acquire) == 0 {
            assert!(!segment.shared().clear(Tenure { index: 0, number }));
        }
        reader.join().unwrap();
        assert_eq!(segment.shared().holder(Side::Readers, 0).tenure(), 3);
    });
}

/// P5: a writer that parks because of where a reader began is woken when the reader begins later
/// instead. Shows with three preemptions.
#[test]
fn loom_a_parked_writer_is_woken_by_a_reader_that_joins() {
    check_up_to(3, || {
        let segment = Segment::new(1, 1);
        let mut writing = segment.writer();
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || (0..3).for_each(|_| other.wait_and_write(&mut writing)));
        let mut reading = segment.reader(0, Start::Newest);
        while reading.next() < 3 {
            segment.wait_and_read(&mut reading);
        }
        writer.join().unwrap();
    });
}

/// P4: a reader that joins a lap late takes nothing back that the writer was granted.
#[test]
fn loom_a_reader_joins_a_lap_late() {
    check(|| {
        let segment = Segment::new(1, 1);
        let mut writing = segment.unfenced_writer();
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let mut reading = other.reader(0, Start::Newest);
            let _ = other.read(&mut reading);
        });
        for _ in 0..4 {
            segment.try_write(&mut writing);
        }
        reader.join().unwrap();
    });
}

/// P6: a reader that sleeps without a mark is woken by the close.
#[test]
fn loom_a_sleeping_reader_is_woken_by_the_close() {
    check(|| {
        let segment = Segment::new(1, 1);
        let reading = segment.reader(0, Start::Newest);
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || other.shared().close());
        let shared = segment.shared();
        let is_over = || reading.is_ready(shared);
        while !is_over() {
            // Loom has no time, so it sleeps until it is woken.
            parking::sleep(&shared.words.events.0, Duration::ZERO, is_over);
        }
        writer.join().unwrap();
    });
}

/// P3: a reader that died has read its events before the writer sees that its seat was cleared.
#[test]
fn loom_a_dead_reader_has_read() {
    check(|| {
        let segment = Segment::new(1, 1);
        let pipe = Arc::new(AtomicU32::new(1));
        let mut reading = segment.reader(0, Start::Newest);
        let tenure = reading.tenure;
        let mut writing = segment.unfenced_writer();
        assert!(segment.try_write(&mut writing));
        let (other, held) = (Arc::clone(&segment), Arc::clone(&pipe));
        let reader = thread::spawn(move || {
            assert_eq!(other.read_only(&mut reading), Ok(0));
            // The kernel orders what is done before a death.
            held.store(0, Ordering::Release);
        });
        let other = Arc::clone(&segment);
        let watcher = thread::spawn(move || {
            if pipe.load(Ordering::Acquire) == 0 {
                assert!(other.shared().clear(tenure));
            }
        });
        segment.try_write(&mut writing);
        reader.join().unwrap();
        watcher.join().unwrap();
    });
}

/// P4: a writer takes over from one that was granted more than a reader that died in `join` would
/// allow. The limit stays, so a later reader does not begin where the dead writer wrote.
#[test]
fn loom_a_writer_that_takes_over_lowers_no_limit() {
    check(|| {
        let segment = Segment::new(8, 2);
        let (shared, [first, second]) =
            (segment.shared(), [0, 1].map(|index| &segment.seats[index]));
        // P3 and P4, Relaxed, here and below: one thread.
        let sit = |seat: &Seat, sequence, tenure| {
            seat.sequence.0.store(sequence, Ordering::Relaxed);
            seat.holder.0.tenure.store(tenure, Ordering::Relaxed);
        };
        let mut dead = segment.unfenced_writer();
        (0..8).for_each(|_| assert!(segment.try_write(&mut dead)));
        // The writer has stored 10 as its limit, and then sees a reader at 1.
        sit(first, 1, 1);
        assert_eq!(dead.look(shared), 1);
        // A second reader finds that limit, so it begins at 2. The first one leaves.
        sit(second, 2, 0);
        sit(first, 8, 2);
        segment.write(&mut dead);
        // The writer is granted more, does not see the second reader, and writes without publishing.
        assert_eq!(dead.look(shared), 2);
        for sequence in [9, 10] {
            // SAFETY: M1: it is granted.
            segment.slot(sequence).with_mut(|slot| unsafe { *slot = 777 });
        }
        // The second reader takes its seat and dies.
        sit(second, 2, 1);
        segment.writer().look(shared);
        assert!(shared.clear(Tenure { index: 1, number: 1 }));
        let mut reading = segment.reader(1, Start::Oldest);
        while segment.read(&mut reading).is_ok() {} // checks what it reads
    });
}
