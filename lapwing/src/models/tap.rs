//! Models of taps: a writer that never waits, and readers that count what they miss.

use loom::thread;

use super::check_without_fences;
use crate::error::TapError;
use crate::sync::Arc;
use crate::tap::slot::{Absent, Slots};
use crate::tap::{TapReader, TapWriter, tap};

/// Writes an entry whose event is its sequence plus 10.
fn write(slots: &Slots<u64>, position: u64) -> bool {
    slots.write(position, position, &(position + 10))
}

/// Writes `count` events and closes the tap.
fn write_all(mut writer: TapWriter<u64>, count: u64) {
    for sequence in 0..count {
        writer.write(sequence, &(sequence + 10));
    }
}

/// Reads until the tap is closed; returns the sequences.
fn drain(reader: &mut TapReader<u64>) -> Vec<u64> {
    let mut sequences = Vec::new();
    loop {
        match reader.try_next() {
            Ok(reading) => {
                assert_eq!(reading.event, reading.sequence + 10);
                sequences.push(reading.sequence);
            }
            Err(TapError::Empty) => thread::yield_now(),
            Err(TapError::Closed) => return sequences,
        }
    }
}

/// O20: a reader that finds a slot open reads what was written there, whatever else it has seen.
#[test]
fn loom_tap_slot_hands_on_its_entry() {
    check_without_fences(|| {
        let slots = Arc::new(Slots::new(1).unwrap());
        let written = Arc::clone(&slots);
        let writer = thread::spawn(move || assert!(write(&written, 0)));
        match slots.read(0) {
            Ok(found) => assert_eq!(found.event, 10),
            Err(absent) => assert_eq!(absent, Absent::PassedOver), // not written yet
        }
        writer.join().unwrap();
    });
}

/// O21: a slot is written again only after all readers have left it; otherwise the write is
/// refused.
#[test]
fn loom_tap_slot_is_written_after_its_readers() {
    check_without_fences(|| {
        let slots = Arc::new(Slots::new(1).unwrap());
        assert!(write(&slots, 0));
        let read = |slots: Arc<Slots<u64>>| match slots.read(0) {
            Ok(found) => assert_eq!(found.event, 10),
            Err(absent) => assert_eq!(absent, Absent::Overwritten),
        };
        let (first, second) = (Arc::clone(&slots), Arc::clone(&slots));
        let first = thread::spawn(move || read(first));
        let second = thread::spawn(move || read(second));
        let is_written = write(&slots, 1);
        let seen = slots.read(1).map(|found| found.event);
        assert_eq!(seen, if is_written { Ok(11) } else { Err(Absent::PassedOver) });
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// O20: readers that enter a slot at the same time all read its entry.
#[test]
fn loom_tap_slot_admits_readers_at_once() {
    check_without_fences(|| {
        let slots = Arc::new(Slots::new(1).unwrap());
        assert!(write(&slots, 0));
        let read = |slots: &Slots<u64>| assert_eq!(slots.read(0).map(|found| found.event), Ok(10));
        let shared = Arc::clone(&slots);
        let other = thread::spawn(move || read(&shared));
        read(&slots);
        other.join().unwrap();
    });
}

/// O22: every entry below the head has been written, so a reader that is not a lap behind gets it.
#[test]
fn loom_tap_loses_nothing_that_there_is_room_for() {
    check_without_fences(|| {
        let (writer, mut reader) = tap(2).unwrap();
        let thread = thread::spawn(move || write_all(writer, 2));
        assert_eq!(drain(&mut reader), [0, 1]);
        assert_eq!(reader.missed(), 0);
        thread.join().unwrap();
    });
}

/// O20 to O22: the entries received and missed are all that were written, even if a reader blocks a
/// slot.
#[test]
fn loom_tap_counts_exactly() {
    check_without_fences(|| {
        let (writer, mut reader) = tap(1).unwrap();
        let thread = thread::spawn(move || write_all(writer, 3));
        let sequences = drain(&mut reader);
        assert!(sequences.is_sorted_by(|earlier, later| earlier < later));
        assert_eq!(reader.received() + reader.missed(), 3);
        thread.join().unwrap();
    });
}

/// O20 to O22: the latest entry is at least as new as the one that was there before the call.
#[test]
fn loom_tap_latest_is_not_old() {
    check_without_fences(|| {
        let (mut writer, mut reader) = tap(2).unwrap();
        writer.write(0, &10);
        writer.write(1, &11);
        let thread = thread::spawn(move || {
            writer.write(2, &12);
            writer
        });
        let newest = reader.latest().unwrap();
        assert!(newest.sequence >= 1 && newest.event == newest.sequence + 10);
        drop(thread.join());
        drain(&mut reader);
        assert_eq!(reader.received() + reader.missed(), 3);
    });
}
