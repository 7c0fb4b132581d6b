//! Several writers: their claims, and what happens when one of them dies.

use loom::sync::Arc;
use loom::thread;

use super::{Segment, check};
use crate::fences::Fences;
use crate::protocol::claiming::Claiming;
use crate::protocol::seats::{Side, Start};
use crate::protocol::stamps::Fate;
use crate::protocol::{Silence, parking};
use crate::sync::{AtomicU32, Ordering, fence};

/// Where a writer dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dies {
    BeforeTheSwap,
    BeforeThePublication,
    Never,
}

impl Segment {
    /// A writer beside others, beside which nobody parks.
    fn unfenced_multi_writer(&self, seat: usize) -> Claiming {
        Claiming::join(self.shared(), seat, Fences::Registered).unwrap()
    }

    fn multi_writer(&self, seat: usize) -> Claiming {
        Claiming::join(self.shared(), seat, Fences::Full).unwrap()
    }

    /// Writes an event that is claimed.
    fn write_claimed(&self, sequence: u64) {
        self.slot(sequence).with_mut(|slot| {
            // SAFETY: M1: the sequence is claimed; loom checks that no other thread has the slot.
            unsafe { *slot = sequence + 1 }
        });
    }

    /// Publishes up to `most` events. Returns how many.
    fn try_write_several(&self, claiming: &mut Claiming, most: u64) -> u64 {
        let Some(claimed) = claiming.claim(self.shared(), most) else { return 0 };
        claimed.clone().for_each(|sequence| self.write_claimed(sequence));
        let count = claimed.end - claimed.start;
        claiming.seal(self.shared(), claimed, Fate::Published);
        count
    }

    /// Publishes an event, and parks until there is room.
    fn wait_and_write_several(&self, claiming: &mut Claiming) {
        let shared = self.shared();
        while self.try_write_several(claiming, 1) == 0 {
            let place = &shared.words.slots.0;
            parking::park(place, None, || false, || shared.has_room_to_claim());
        }
    }

    /// Publishes `count` events in one claim, or dies meanwhile.
    fn write_or_die(&self, claiming: &mut Claiming, count: u64, dies: Dies) {
        let (shared, seat) = (self.shared(), claiming.tenure.index);
        match dies {
            Dies::Never => assert!(self.try_write_several(claiming, count) > 0),
            Dies::BeforeTheSwap => self.writers[seat].claim.0.record(shared.next_claim(), count),
            Dies::BeforeThePublication => {
                if let Some(claimed) = claiming.claim(shared, count) {
                    self.write_claimed(claimed.start); // and does not publish it
                }
            }
        }
    }

    /// Checks what a repair relies on: a sequence that is claimed is in the record of a living writer,
    /// or is seen to be sealed.
    ///
    /// This loads the stamp, where a repair swaps it: loom gives a swap no value that another thread
    /// has replaced before, even if nothing orders the two.
    fn check_record(&self, sequence: u64) {
        let shared = self.shared();
        if shared.is_claimed(sequence) && !shared.may_be_alive(sequence, &[]) {
            assert!(shared.fate(sequence).is_some(), "{sequence} is claimed, and in no record");
        }
    }

    /// Returns what has become of the first sequences.
    fn fates<const N: usize>(&self) -> [Option<Fate>; N] {
        std::array::from_fn(|sequence| self.shared().fate(sequence as u64))
    }
}

/// One writer dies, and the other one publishes two events. Everything that was claimed is published or
/// skipped once.
fn check_death(dies: Dies, count: u64) {
    check(move || {
        let segment = Segment::with_writers(16, 1, 2);
        let [mut dying, mut alive] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let tenure = dying.tenure;
        let others = [(); 2].map(|()| Arc::clone(&segment));
        let [first, second] = others;
        let dead = thread::spawn(move || first.write_or_die(&mut dying, count, dies));
        let alive = thread::spawn(move || {
            (0..2).for_each(|_| assert_eq!(second.try_write_several(&mut alive, 1), 1));
        });
        dead.join().unwrap(); // the kernel says that it is dead
        while !segment.shared().repair(&[tenure]) {
            thread::yield_now();
        }
        alive.join().unwrap();
        let claimed = segment.shared().next_claim() as usize;
        let fates = segment.fates::<6>();
        let (done, rest) = fates.split_at(claimed);
        assert!(rest.iter().all(Option::is_none), "{fates:?}");
        let published = done.iter().filter(|&&fate| fate == Some(Fate::Published)).count();
        let skipped = done.iter().filter(|&&fate| fate == Some(Fate::Skipped)).count();
        let expected = match dies {
            Dies::BeforeTheSwap => (2, 0),
            Dies::BeforeThePublication => (2, count as usize),
            Dies::Never => (2 + count as usize, 0),
        };
        assert_eq!((published, skipped), expected, "{fates:?}");
    });
}

/// P10: the record of a claim that was not made is no reason to skip what another writer has.
#[test]
fn loom_a_claim_is_repaired_that_may_not_have_been_made() {
    check_death(Dies::BeforeTheSwap, 1);
}

/// P10: a claim that was made and not published is skipped.
#[test]
fn loom_a_claim_is_repaired_that_was_not_published() {
    check_death(Dies::BeforeThePublication, 1);
}

/// P10: the same with a claim of several sequences, whose record has two words.
#[test]
fn loom_a_claim_of_two_is_repaired() {
    check_death(Dies::BeforeThePublication, 2);
}

/// P10: what is published before the death is not skipped.
#[test]
fn loom_a_claim_is_not_repaired_that_was_published() {
    check_death(Dies::Never, 1);
}

/// P10: a record of two sequences that is being replaced by one of one sequence hides neither of them.
#[test]
fn loom_a_record_that_changes_hides_no_claim() {
    check(|| {
        let segment = Segment::with_writers(16, 1, 2);
        let [dying, mut alive] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        // Its record has each sequence that the other one claims.
        segment.writers[dying.tenure.index].claim.0.record(0, 4);
        let other = Arc::clone(&segment);
        let repairs = thread::spawn(move || _ = other.shared().repair(&[dying.tenure]));
        assert_eq!(segment.try_write_several(&mut alive, 2), 2);
        assert_eq!(segment.try_write_several(&mut alive, 1), 1);
        repairs.join().unwrap();
        let expected = [Some(Fate::Published); 3];
        assert_eq!(segment.fates::<3>(), expected);
    });
}

/// P10: a sequence that is in its writer's record no more is seen to be sealed, whichever words of the
/// next record are visible.
#[test]
fn loom_a_claim_is_recorded_until_it_is_sealed() {
    check(|| {
        let segment = Segment::with_writers(16, 1, 1);
        let mut claiming = segment.unfenced_multi_writer(0);
        let other = Arc::clone(&segment);
        let checks = thread::spawn(move || [0, 1].map(|sequence| other.check_record(sequence)));
        assert_eq!(segment.try_write_several(&mut claiming, 2), 2);
        assert_eq!(segment.try_write_several(&mut claiming, 1), 1);
        checks.join().unwrap();
    });
}

/// P3 and P10: the same if its writer leaves, and the next one has the seat.
#[test]
fn loom_a_claim_is_sealed_before_its_seat_is_taken() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 1);
        let mut leaving = segment.unfenced_multi_writer(0);
        let other = Arc::clone(&segment);
        let checks = thread::spawn(move || other.check_record(0));
        assert_eq!(segment.try_write_several(&mut leaving, 1), 1);
        leaving.leave(segment.shared());
        segment.unfenced_multi_writer(0);
        checks.join().unwrap();
    });
}

/// P10: of two dead writers, one of which has lost the race, neither holds up the repair.
#[test]
fn loom_two_dead_writers_are_repaired() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let [mut lost, mut dying] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let dead = [lost.tenure, dying.tenure];
        let other = Arc::clone(&segment);
        let loses = thread::spawn(move || other.write_or_die(&mut lost, 1, Dies::BeforeTheSwap));
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        loses.join().unwrap();
        assert!(segment.shared().repair(&dead), "both are dead");
        assert_eq!(segment.fates::<2>(), [Some(Fate::Skipped), None]);
    });
}

/// P10: the next writer on the seat of one that lost a race, and died, does not hold up the repair of
/// what others claim.
#[test]
fn loom_a_writer_that_joins_holds_up_no_repair() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let [mut lost, mut dying] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        segment.write_or_die(&mut lost, 1, Dies::BeforeTheSwap);
        assert!(segment.shared().repair(&[lost.tenure]));
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let repairs = thread::spawn(move || {
            assert!(other.shared().repair(&[dying.tenure]), "the next one claims nothing");
        });
        segment.unfenced_multi_writer(0);
        repairs.join().unwrap();
        assert_eq!(segment.fates::<1>(), [Some(Fate::Skipped)]);
    });
}

/// P11: two processes repair the same claim, beside a writer that uses the slot again. A sequence that
/// was skipped is not skipped a second time, a lap later.
#[test]
fn loom_two_repair_the_same_claim() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let [mut dying, mut alive] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let tenure = dying.tenure;
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let repairs = thread::spawn(move || _ = other.shared().repair(&[tenure]));
        assert!(segment.shared().repair(&[tenure]));
        assert_eq!(segment.try_write_several(&mut alive, 1), 1);
        repairs.join().unwrap();
        let shared = segment.shared();
        assert_eq!(shared.fate(1), Some(Fate::Published));
        assert_eq!(shared.next_claim(), 2);
    });
}

/// P3 and P10: a process that repairs late, while the seat has its next writer, skips nothing of that
/// one.
#[test]
fn loom_a_late_repair_leaves_the_next_writer_alone() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 1);
        let mut dying = segment.unfenced_multi_writer(0);
        let tenure = dying.tenure;
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let late = thread::spawn(move || _ = other.shared().repair(&[tenure]));
        assert!(segment.shared().repair(&[tenure]));
        let seat = segment.shared().free_seats(Side::Writers).next().unwrap();
        let mut next = segment.unfenced_multi_writer(seat);
        assert_eq!(segment.try_write_several(&mut next, 1), 1);
        assert_eq!(next.claim(segment.shared(), 1), Some(2..3));
        assert!(segment.shared().repair(&[tenure]), "it waits for no claim of the next writer");
        late.join().unwrap();
        assert_eq!(segment.fates::<3>(), [Some(Fate::Skipped), Some(Fate::Published), None]);
        assert_eq!(segment.writers[0].holder.0.tenure(), next.tenure.number);
    });
}

/// P10: a writer that finds no room after it has lost a race holds up no repair.
#[test]
fn loom_a_writer_that_gives_up_withdraws_its_record() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let [mut dying, mut alive] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let (tenure, other) = (dying.tenure, Arc::clone(&segment));
        let dead = thread::spawn(move || _ = dying.claim(other.shared(), 1));
        let written = segment.try_write_several(&mut alive, 1);
        dead.join().unwrap();
        assert!(segment.shared().repair(&[tenure]), "nobody claims anything now");
        assert!(written == 1 || segment.shared().fate(0) == Some(Fate::Skipped));
    });
}

/// P11: two writers without readers: one does not write to a slot in which the other one still writes.
#[test]
fn loom_a_writer_waits_for_the_event_a_lap_before() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let [mut first, mut second] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || other.try_write_several(&mut first, 1));
        let written = (0..2).map(|_| segment.try_write_several(&mut second, 1)).sum::<u64>();
        assert_eq!(written + writer.join().unwrap(), segment.shared().next_claim());
    });
}

/// P11: a claim of two sequences waits for the events a lap before both of them.
#[test]
fn loom_a_claim_of_two_waits_for_both_events_a_lap_before() {
    check(|| {
        let segment = Segment::with_writers(8, 1, 2);
        let [mut first, mut second] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        assert_eq!(segment.try_write_several(&mut first, 1), 1);
        let claimed = second.claim(segment.shared(), 1).unwrap();
        (2..8).for_each(|_| assert_eq!(segment.try_write_several(&mut first, 1), 1));
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            other.write_claimed(claimed.start);
            second.seal(other.shared(), claimed, Fate::Published);
        });
        assert!(segment.try_write_several(&mut first, 2) > 0);
        writer.join().unwrap();
    });
}

/// P2, P4 and P11: two writers and a reader: each event is read once, before its slot is written again.
#[test]
fn loom_events_of_two_writers_are_read_once() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let mut reading = segment.unfenced_reader(0, Start::Newest);
        let writers = [0, 1].map(|seat| {
            let mut claiming = segment.unfenced_multi_writer(seat);
            let other = Arc::clone(&segment);
            thread::spawn(move || other.try_write_several(&mut claiming, 1))
        });
        let read = (0..2).filter(|_| segment.read(&mut reading).is_ok()).count() as u64;
        let written = writers.map(|writer| writer.join().unwrap()).iter().sum::<u64>();
        assert!(read <= written && written > 0);
    });
}

/// P4: a reader joins beside two writers that lap the ring, and begins with no event that is
/// overwritten.
#[test]
fn loom_a_reader_joins_beside_two_writers() {
    check(|| {
        let segment = Segment::with_writers(2, 1, 2);
        let [mut first, mut second] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        (0..2).for_each(|_| assert_eq!(segment.try_write_several(&mut first, 1), 1));
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let mut reading = other.reader(0, Start::Oldest);
            let first = reading.next();
            if let Ok(sequence) = other.read(&mut reading) {
                assert_eq!(sequence, first);
            }
        });
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || other.try_write_several(&mut first, 1));
        segment.try_write_several(&mut second, 1);
        writer.join().unwrap();
        reader.join().unwrap();
    });
}

/// P4: the limit of a writer that died between its two looks at the seats is no grant of the next one.
#[test]
fn loom_a_writer_joins_while_a_reader_joins() {
    check(|| {
        let segment = Segment::with_writers(2, 1, 2);
        let mut dead = segment.unfenced_multi_writer(0);
        (0..2).for_each(|_| assert_eq!(segment.try_write_several(&mut dead, 1), 1));
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let mut reading = other.reader(0, Start::Oldest);
            let _ = other.read(&mut reading);
        });
        // P4, Release: the first half of `grant`.
        segment.words.granted.0.store(4, Ordering::Release);
        let mut next = segment.unfenced_multi_writer(1);
        (0..2).for_each(|_| _ = segment.try_write_several(&mut next, 1));
        reader.join().unwrap();
    });
}

/// P4: a limit is never ahead of what is claimed, so a reader does not begin behind that.
///
/// The fence stands for that of `join`. Loom runs the limit and the fence of the writer in one step, so
/// a full fence here would carry what the limit has to carry.
#[test]
fn loom_a_limit_carries_what_is_claimed() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 1);
        let mut claiming = segment.unfenced_multi_writer(0);
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let oldest = other.shared().oldest();
            fence(Ordering::Acquire); // P4
            assert!(oldest <= other.shared().next_claim());
        });
        (0..2).for_each(|_| assert_eq!(segment.try_write_several(&mut claiming, 1), 1));
        reader.join().unwrap();
    });
}

/// P5: a writer that parks because another one has not published the event one lap before is woken by
/// the publication.
#[test]
fn loom_a_parked_writer_is_woken_by_another_writer() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let [mut first, mut second] = [0, 1].map(|seat| segment.multi_writer(seat));
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || other.wait_and_write_several(&mut first));
        segment.wait_and_write_several(&mut second);
        writer.join().unwrap();
        assert_eq!(segment.shared().next_claim(), 2);
    });
}

/// P5: two writers that park for the same slots are woken by the releases of a reader.
#[test]
fn loom_two_parked_writers_are_woken_by_a_release() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let mut reading = segment.reader(0, Start::Newest);
        let writers = [0, 1].map(|seat| {
            let mut claiming = segment.multi_writer(seat);
            let other = Arc::clone(&segment);
            thread::spawn(move || other.wait_and_write_several(&mut claiming))
        });
        let read = [(); 2].map(|()| segment.wait_and_read(&mut reading));
        assert_eq!(read, [Some(0), Some(1)]);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
}

/// P6 and P11: a writer that parks because a dead one has not published the event one lap before is
/// woken by the repair.
#[test]
fn loom_a_parked_writer_is_woken_by_the_repair() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let mut dying = segment.unfenced_multi_writer(0);
        let mut alive = segment.multi_writer(1);
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let watcher = thread::spawn(move || {
            assert!(other.shared().repair(&[dying.tenure]));
            other.shared().words.slots.0.wake_all();
        });
        segment.wait_and_write_several(&mut alive);
        watcher.join().unwrap();
        assert_eq!(segment.shared().fate(1), Some(Fate::Published));
    });
}

/// P5 and P11: a reader that is parked behind a dead writer's claim is woken by the repair, and
/// goes on behind it.
#[test]
fn loom_a_reader_passes_over_a_skipped_event() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let mut reading = segment.reader(0, Start::Newest);
        let mut dying = segment.unfenced_multi_writer(0);
        let mut alive = segment.multi_writer(1);
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            assert!(other.shared().repair(&[dying.tenure]));
            other.shared().words.events.0.wake_all();
            assert_eq!(other.try_write_several(&mut alive, 1), 1);
        });
        assert_eq!(segment.wait_and_read(&mut reading), Some(1));
        writer.join().unwrap();
    });
}

/// P2, P5 and P11: a reader that passes over a skipped event releases its slot, and wakes the writer
/// that waits for it.
#[test]
fn loom_a_reader_that_passes_over_makes_room() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let mut reading = segment.reader(0, Start::Newest);
        let mut dying = segment.unfenced_multi_writer(0);
        let mut alive = segment.multi_writer(1);
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        assert!(segment.shared().repair(&[dying.tenure]));
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || other.wait_and_write_several(&mut alive));
        assert_eq!(segment.wait_and_read(&mut reading), Some(1));
        writer.join().unwrap();
    });
}

/// P11: what a poll returns ends before a skipped event.
#[test]
fn loom_no_skipped_event_is_read() {
    check(|| {
        let segment = Segment::with_writers(8, 1, 2);
        let mut reading = segment.unfenced_reader(0, Start::Newest);
        let [mut dying, mut alive] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        assert_eq!(segment.try_write_several(&mut alive, 1), 1);
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let reader = thread::spawn(move || {
            let read = (0..3).filter_map(|_| other.read(&mut reading).ok());
            assert!([0, 2].starts_with(&read.collect::<Vec<_>>()));
        });
        assert!(segment.shared().repair(&[dying.tenure]));
        assert_eq!(segment.try_write_several(&mut alive, 1), 1);
        reader.join().unwrap();
    });
}

/// P6 and P10: a reader that is parked at a closed segment, behind a dead writer's claim, is woken by
/// the repair, and finds the end.
#[test]
fn loom_a_reader_parked_before_the_end_is_woken_by_the_repair() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let mut dying = segment.unfenced_multi_writer(0);
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let watcher = thread::spawn(move || {
            other.shared().close();
            assert!(other.shared().repair(&[dying.tenure]));
            other.shared().words.events.0.wake_all();
        });
        assert_eq!(segment.wait_and_read(&mut reading), None);
        assert_eq!(segment.fates::<1>(), [Some(Fate::Skipped)]);
        watcher.join().unwrap();
    });
}

/// P7 and P10: a segment that is closed before a dead writer's claim is skipped does not end before
/// that, because there may be events behind the claim.
#[test]
fn loom_a_closed_segment_ends_behind_the_claims_of_the_dead() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let mut reading = segment.unfenced_reader(0, Start::Newest);
        let [mut dying, mut last] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        segment.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            assert_eq!(other.try_write_several(&mut last, 1), 1);
            last.leave(other.shared());
            other.shared().close();
            assert!(other.shared().repair(&[dying.tenure]));
        });
        let mut has_read = false;
        for _ in 0..3 {
            match segment.read(&mut reading) {
                Ok(sequence) => has_read = sequence == 1,
                Err(Silence::Closed) => assert!(has_read),
                Err(Silence::Empty) => {}
            }
        }
        writer.join().unwrap();
    });
}

/// P3 and P10: a writer that leaves has sealed what it claimed, so a repair that finds its seat free
/// skips nothing of it.
#[test]
fn loom_a_writer_that_leaves_has_published() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let [dying, mut leaving] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        segment.writers[0].claim.0.record(0, 1); // it lost the race
        let other = Arc::clone(&segment);
        let repairs = thread::spawn(move || _ = other.shared().repair(&[dying.tenure]));
        assert_eq!(segment.try_write_several(&mut leaving, 1), 1);
        leaving.leave(segment.shared());
        repairs.join().unwrap();
        assert_eq!(segment.fates::<1>(), [Some(Fate::Published)]);
    });
}

/// P3 and P10: the same if the next writer has the seat meanwhile, whose record is empty.
#[test]
fn loom_a_writer_whose_seat_is_taken_has_published() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let [dying, mut leaving] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        segment.writers[0].claim.0.record(0, 1); // it lost the race
        let other = Arc::clone(&segment);
        let repairs = thread::spawn(move || _ = other.shared().repair(&[dying.tenure]));
        assert_eq!(segment.try_write_several(&mut leaving, 1), 1);
        leaving.leave(segment.shared());
        segment.unfenced_multi_writer(1);
        repairs.join().unwrap();
        assert_eq!(segment.fates::<1>(), [Some(Fate::Published)]);
    });
}

/// P3 and P11: the slot of a dead writer is written again only after its death is known.
#[test]
fn loom_a_dead_writer_writes_no_more() {
    check(|| {
        let segment = Segment::with_writers(1, 1, 2);
        let pipe = Arc::new(AtomicU32::new(1));
        let [mut dying, mut alive] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let tenure = dying.tenure;
        let (other, held) = (Arc::clone(&segment), Arc::clone(&pipe));
        let dead = thread::spawn(move || {
            other.write_or_die(&mut dying, 1, Dies::BeforeThePublication);
            // The kernel orders what is done before a death.
            held.store(0, Ordering::Release);
        });
        let other = Arc::clone(&segment);
        let watcher = thread::spawn(move || {
            if pipe.load(Ordering::Acquire) == 0 {
                let _ = other.shared().repair(&[tenure]);
            }
        });
        segment.try_write_several(&mut alive, 1);
        dead.join().unwrap();
        watcher.join().unwrap();
    });
}

/// P7: of two writers that leave at the same time, one closes the segment, and all that they published
/// is read before the end.
#[test]
fn loom_the_last_of_two_writers_closes() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let mut reading = segment.unfenced_reader(0, Start::Newest);
        let writers = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let leaving = writers.map(|mut claiming| {
            let other = Arc::clone(&segment);
            thread::spawn(move || {
                assert_eq!(other.try_write_several(&mut claiming, 1), 1);
                claiming.leave(other.shared());
                other.shared().close_after_last(|_| true)
            })
        });
        let closed = leaving.map(|writer| writer.join().unwrap());
        assert!(closed[0] || closed[1]);
        assert_eq!(
            [(); 3].map(|()| segment.read(&mut reading)),
            [Ok(0), Ok(1), Err(Silence::Closed)]
        );
    });
}

/// P7: a writer that joins while the last one leaves has a segment that stays open, or finds it closed.
#[test]
fn loom_a_writer_joins_while_the_last_one_leaves() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let leaving = segment.unfenced_multi_writer(0);
        let other = Arc::clone(&segment);
        let joins = thread::spawn(move || {
            let joined = Claiming::join(other.shared(), 1, Fences::Registered);
            assert_eq!(joined.is_none(), other.shared().is_closed());
            joined.is_some()
        });
        leaving.leave(segment.shared());
        let has_closed = segment.shared().close_after_last(|_| true);
        let has_joined = joins.join().unwrap();
        assert!(!(has_closed && has_joined));
        assert!(has_closed || has_joined);
    });
}

/// P6: a reader that is parked is woken when the last writer leaves.
#[test]
fn loom_a_parked_reader_is_woken_by_the_last_writer() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 1);
        let mut reading = segment.reader(0, Start::Newest);
        let leaving = segment.multi_writer(0);
        let other = Arc::clone(&segment);
        let writer = thread::spawn(move || {
            leaving.leave(other.shared());
            assert!(other.shared().close_after_last(|_| true));
        });
        assert_eq!(segment.wait_and_read(&mut reading), None);
        writer.join().unwrap();
    });
}

/// P7: the close carries what other writers published that have left before.
#[test]
fn loom_the_last_writer_carries_what_others_published() {
    check(|| {
        let segment = Segment::with_writers(4, 1, 2);
        let mut reading = segment.unfenced_reader(0, Start::Newest);
        let [mut first, last] = [0, 1].map(|seat| segment.unfenced_multi_writer(seat));
        let (other, another) = (Arc::clone(&segment), Arc::clone(&segment));
        let writer = thread::spawn(move || {
            assert_eq!(other.try_write_several(&mut first, 1), 1);
            first.leave(other.shared());
        });
        let closes = thread::spawn(move || {
            last.leave(another.shared());
            another.shared().close_after_last(|_| true);
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
        closes.join().unwrap();
    });
}
