//! Writes while readers are in the slot. Outside of unit tests this would depend on timing.

use super::slot::{Absent, Slots, Visit};
use super::*;
use crate::error::TapError;

/// Enters the slot of `position` and stays there.
fn stay(ring: &TapRing<u64>, position: u64) -> Visit<'_, u64> {
    ring.slots.slot(position).enter(ring.slots.lap(position)).ok().unwrap()
}

/// Returns a tap and its ring, in which the first `count` numbers have been written.
fn written(capacity: usize, count: u64) -> (TapWriter<u64>, TapReader<u64>, Arc<TapRing<u64>>) {
    let (mut writer, reader) = tap(capacity).unwrap();
    for number in 0..count {
        assert!(writer.write(number, &number));
    }
    let ring = Arc::clone(&writer.ring);
    (writer, reader, ring)
}

#[test]
fn miri_write_passes_over_a_slot_with_a_reader_in_it() {
    let (mut writer, mut reader, ring) = written(2, 2);
    let visit = stay(&ring, 0);
    assert!(!writer.write(2, &2));
    assert!(writer.write(3, &3));
    assert_eq!((writer.written(), writer.passed_over()), (4, 1));
    drop(visit);
    let readings: Vec<_> =
        reader.try_iter().map(|reading| (reading.event, reading.missed)).collect();
    assert_eq!(readings, [(0, 0), (3, 2)]); // event 0 was not overwritten
    assert_eq!((reader.received(), reader.missed()), (2, 2));
}

#[test]
fn miri_slot_that_was_passed_over_is_written_in_the_next_lap() {
    let (mut writer, mut reader, ring) = written(1, 1);
    let visit = stay(&ring, 0);
    assert!(!writer.write(1, &1) && !writer.write(2, &2));
    drop(visit);
    assert!(writer.write(3, &3));
    let reading = reader.try_next().unwrap();
    assert_eq!((reading.event, reading.missed), (3, 3));
}

#[test]
fn miri_writer_waits_for_the_last_of_several_readers() {
    let (mut writer, _reader, ring) = written(1, 1);
    let (first, second) = (stay(&ring, 0), stay(&ring, 0));
    drop(first);
    assert!(!writer.write(1, &1));
    drop(second);
    assert!(writer.write(2, &2));
}

#[test]
fn events_passed_over_at_the_end_are_missed_when_the_reader_has_caught_up() {
    let (mut writer, mut reader, ring) = written(2, 2);
    let mut latest = reader.clone();
    assert_eq!(reader.try_iter().count(), 2);
    let visits = (stay(&ring, 0), stay(&ring, 1));
    assert!(!writer.write(2, &2) && !writer.write(3, &3));
    drop(visits);
    assert_eq!(reader.try_next(), Err(TapError::Empty));
    assert_eq!((reader.received(), reader.missed()), (2, 2));
    assert_eq!(latest.latest(), Err(TapError::Empty));
    assert_eq!((latest.received(), latest.missed()), (0, 4));
    assert!(writer.write(4, &4));
    assert_eq!(reader.try_next().map(|reading| reading.missed), Ok(2));
}

#[test]
fn latest_is_the_one_before_if_the_newest_was_passed_over() {
    let (mut writer, mut reader, ring) = written(4, 4);
    let visit = stay(&ring, 1);
    assert!(writer.write(4, &4));
    assert!(!writer.write(5, &5));
    drop(visit);
    let reading = reader.latest().unwrap();
    assert_eq!((reading.event, reading.missed), (4, 4));
    assert_eq!((reader.received(), reader.missed()), (1, 5));
    writer.close();
    assert_eq!(reader.latest(), Err(TapError::Closed));
}

#[test]
fn slot_takes_only_as_many_readers_as_it_can_count() {
    let (mut writer, mut reader, ring) = written(2, 1);
    let mut visits = Vec::new();
    while let Ok(visit) = ring.slots.slot(0).enter(ring.slots.lap(0)) {
        visits.push(visit);
    }
    assert_eq!(visits.len(), 0xFFFE);
    assert!(writer.write(1, &1));
    assert_eq!(reader.try_next().map(|reading| (reading.event, reading.missed)), Ok((1, 1)));
    drop(visits);
    assert!(writer.write(2, &2));
    assert_eq!(reader.try_next().map(|reading| reading.event), Ok(2));
}

#[test]
fn a_reader_that_finds_no_entry_jumps_no_further_than_the_end() {
    let (mut writer, mut reader, ring) = written(4, 4);
    let mut visits = Vec::new();
    for position in 0..4 {
        while let Ok(visit) = ring.slots.slot(position).enter(ring.slots.lap(position)) {
            visits.push(visit);
        }
    }
    assert_eq!(reader.try_next(), Err(TapError::Empty));
    assert_eq!((reader.received(), reader.missed()), (0, 4));
    drop(visits);
    assert!(writer.write(4, &4));
    assert_eq!(reader.try_next().map(|reading| (reading.event, reading.missed)), Ok((4, 4)));
}

#[test]
fn slots_tell_apart_what_was_passed_over_and_what_was_overwritten() {
    let slots = Slots::new(1).unwrap();
    assert_eq!(slots.read(0).err(), Some(Absent::PassedOver));
    assert!(slots.write(0, 0, &()) && slots.write(3, 3, &()));
    assert_eq!(slots.read(2).err(), Some(Absent::Overwritten));
    assert_eq!(slots.read(3).map(|entry| entry.sequence), Ok(3));
    assert_eq!(slots.read(4).err(), Some(Absent::PassedOver));
}

/// The lap code has 48 bits: the code after the last one is 0.
#[test]
fn laps_may_use_up_their_bits() {
    let slots = Slots::new(1).unwrap();
    let last = (1 << 48) - 2;
    assert!(slots.read(last + 1).is_err()); // never written
    for position in [0, last, last + 1, last + 2] {
        assert!(slots.write(position, position, &()));
        assert_eq!(slots.read(position).map(|entry| entry.sequence), Ok(position));
    }
    assert_eq!(slots.read(last).err(), Some(Absent::Overwritten));
    assert_eq!(slots.read(last + 3).err(), Some(Absent::PassedOver));
}
