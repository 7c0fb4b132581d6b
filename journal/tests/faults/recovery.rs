//! The rules of recovery, one by one.

use lapwing_journal::error::{Defect, OpenError};
use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
use lapwing_journal::{Journal, Options, Plain};

const SEGMENT_BYTES: u64 = 1024;
/// Bytes of the header of a segment, and of a frame with one event.
const HEADER: usize = 80;
const FRAME: usize = 64;

fn options() -> Options {
    Options::new().segment_bytes(SEGMENT_BYTES).prepare_ahead(false)
}

fn open(disk: &SimulatedDisk) -> Result<Journal<u64>, OpenError> {
    options().open_simulated::<u64, Plain>(disk)
}

/// Writes the events below `end`, one to a frame, and syncs those below `synced`.
fn write(journal: &Journal<u64>, end: u64, synced: u64) {
    let mut writer = journal.writer();
    for event in journal.next_sequence()..end {
        if event == synced {
            journal.sync().unwrap();
        }
        writer.write(&[event], event).unwrap();
    }
    if end == synced {
        journal.sync().unwrap();
    }
}

fn all(journal: &Journal<u64>) -> Vec<u64> {
    let mut events = Vec::new();
    let reader = journal.read(journal.recovered().oldest).unwrap();
    reader.for_each(0, |_, event| events.push(*event)).unwrap();
    events
}

fn segments(disk: &SimulatedDisk) -> Vec<String> {
    disk.names().into_iter().filter(|name| name.ends_with(".journal")).collect()
}

#[test]
fn a_torn_tail_is_cut_and_reported() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk).unwrap();
    write(&journal, 5, 3);
    disk.crash(Crash::Process);
    disk.damage(&segments(&disk)[0], HEADER + 3 * FRAME + 60);

    let journal = open(&disk).unwrap();
    let recovered = journal.recovered();
    assert_eq!((recovered.next_sequence, recovered.cut_bytes), (3, 2 * FRAME as u64));
    let (file, offset) = recovered.cut.clone().unwrap();
    assert!(file.ends_with("00000000000000000000.journal"));
    assert_eq!(offset, (HEADER + 3 * FRAME) as u64);
    assert_eq!(all(&journal), [0, 1, 2]);
}

#[test]
fn damage_to_synced_events_names_file_and_offset_and_changes_nothing() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk).unwrap();
    write(&journal, 5, 5);
    write(&journal, 6, 0); // says that five are synced
    disk.crash(Crash::Process);
    disk.damage(&segments(&disk)[0], HEADER + 2 * FRAME + 60);

    let before = disk.contents(&segments(&disk)[0]);
    let Err(OpenError::Damaged(damage)) = open(&disk) else { panic!("it is damaged") };
    assert_eq!((damage.sequence, damage.offset), (2, (HEADER + 2 * FRAME) as u64));
    assert_eq!(damage.defect, Defect::Synced { synced: 5 });
    assert_eq!(disk.contents(&segments(&disk)[0]), before);
    assert_eq!(
        damage.to_string(),
        "synced events are unreadable: file=/simulated/00000000000000000000.journal, \
         offset=208, sequence=2, synced=5"
    );
}

#[test]
fn damage_in_an_old_segment_and_a_missing_segment_are_errors() {
    for is_missing in [false, true] {
        let disk = SimulatedDisk::new();
        let journal = open(&disk).unwrap();
        write(&journal, 100, 100);
        journal.close().unwrap();
        disk.crash(Crash::Process);
        let old = segments(&disk)[2].clone();
        if is_missing {
            disk.remove(&old);
        } else {
            disk.damage(&old, HEADER + 60);
        }
        let Err(OpenError::Damaged(damage)) = open(&disk) else { panic!("it is damaged") };
        let first: u64 = old[..20].parse().unwrap();
        assert_eq!((damage.sequence, damage.file.ends_with(&old)), (first, !is_missing));
    }
}

#[test]
fn a_crash_while_a_segment_is_begun_is_no_damage() {
    for seed in 0..200 {
        let disk = SimulatedDisk::new();
        // The segment is full after 14 frames.
        let journal = open(&disk).unwrap();
        write(&journal, 15, 13);
        disk.crash(Crash::Power { seed, loss: Loss::Sectors });
        drop(journal);
        let journal = open(&disk).unwrap();
        assert!((13..=15).contains(&journal.next_sequence()));
        assert!(all(&journal).into_iter().eq(0..journal.next_sequence()));
    }
}

#[test]
fn what_was_cut_does_not_come_back() {
    let disk = SimulatedDisk::new();
    let journal = open(&disk).unwrap();
    write(&journal, 5, 3);
    disk.crash(Crash::Process);
    disk.damage(&segments(&disk)[0], HEADER + 3 * FRAME + 60);
    drop(journal);
    let journal = open(&disk).unwrap();
    disk.crash(Crash::Process); // so that no mark of a close is written
    drop(journal);
    // The byte is what it was: as if the disk had had it all the time.
    disk.damage(&segments(&disk)[0], HEADER + 3 * FRAME + 60);
    assert_eq!(open(&disk).unwrap().next_sequence(), 3);
}

#[test]
fn events_of_another_shape_are_refused() {
    let disk = SimulatedDisk::new();
    drop(open(&disk).unwrap());
    let other = options().open_simulated::<u32, Plain>(&disk);
    assert!(matches!(other, Err(OpenError::OtherShape { found: (8, 0), expected: (4, 0) })));
    let other = options().schema(1).open_simulated::<u64, Plain>(&disk);
    assert!(matches!(other, Err(OpenError::OtherShape { .. })));
}

#[test]
fn an_empty_segment_may_be_replaced_by_a_larger_one() {
    for seed in 0..50 {
        let disk = SimulatedDisk::new();
        drop(open(&disk).unwrap());
        let larger = options().segment_bytes(4 * SEGMENT_BYTES);
        let journal = larger.open_simulated::<u64, Plain>(&disk).unwrap();
        journal.writer().write(&[7; 200], 0).unwrap(); // more than fits into the first segment
        disk.crash(Crash::Power { seed, loss: Loss::Sectors });
        drop(journal);
        assert!([0, 200].contains(&open(&disk).unwrap().next_sequence()));
    }
}

/// A program was killed between the rename of the first segment and the sync of its folder. The
/// next one opened the journal, wrote and synced, and a power cut lost all of it: the name of the
/// segment was not durable.
#[test]
fn what_is_synced_survives_a_kill_of_an_earlier_program_at_any_call() {
    for calls in 0..40 {
        let disk = SimulatedDisk::new();
        disk.crash_after(calls, Crash::Process);
        if let Ok(journal) = open(&disk) {
            let mut writer = journal.writer();
            let _ = (0..20).try_for_each(|event| {
                writer.write(&[event], event)?;
                journal.sync()?;
                Ok::<_, lapwing_journal::error::WriteError>(())
            });
        }
        disk.crash(Crash::Process);

        let journal = open(&disk).unwrap();
        let next = journal.next_sequence();
        write(&journal, next + 1, next + 1);
        disk.crash(Crash::Power { seed: 0, loss: Loss::All });
        drop(journal);
        assert_eq!(open(&disk).unwrap().next_sequence(), next + 1, "calls={calls}");
    }
}

/// A process was killed after it had named the first segment and before it synced the folder. The
/// next process confirmed events, and a power cut left an empty journal.
#[test]
fn a_name_that_a_killed_process_has_left_is_durable_before_an_event_is_confirmed() {
    let disk = SimulatedDisk::new();
    disk.fail_folder_syncs(1);
    open(&disk).unwrap_err();
    disk.crash(Crash::Process);

    let journal = open(&disk).unwrap();
    write(&journal, 5, 5);
    disk.crash(Crash::Power { seed: 0, loss: Loss::All });
    drop(journal);
    assert_eq!(open(&disk).unwrap().next_sequence(), 5);
}

/// The sync of the mark of a close failed, and the mark was only in the system's memory. The next
/// program found it there and did not write it again. A power cut left a hole before the events that
/// this program had confirmed.
#[test]
fn a_mark_of_a_close_that_was_not_synced_is_written_again() {
    for seed in 0..20 {
        let disk = SimulatedDisk::new();
        disk.crash(Crash::Power { seed, loss: Loss::All });
        let journal = open(&disk).unwrap();
        write(&journal, 1, 1);
        disk.fail_syncs(1);
        journal.close().unwrap_err();

        let journal = open(&disk).unwrap();
        write(&journal, 2, 2);
        disk.crash(Crash::Power { seed: 0, loss: Loss::All });
        drop(journal);
        assert_eq!(open(&disk).unwrap().next_sequence(), 2, "seed={seed}");
    }
}

/// The sync of the folder failed after each of two removals, and a power cut kept the second one
/// only. The journal had a hole.
#[test]
fn removals_whose_sync_has_failed_leave_no_hole() {
    for seed in 0..50 {
        let disk = SimulatedDisk::new();
        disk.crash(Crash::Power { seed, loss: Loss::All });
        let journal = open(&disk).unwrap();
        write(&journal, 100, 100);
        disk.fail_folder_syncs(2);
        journal.remove_before(100).unwrap_err();
        journal.remove_before(100).unwrap_err();
        disk.crash(Crash::Power { seed, loss: Loss::Sectors });
        drop(journal);
        assert_eq!(open(&disk).unwrap().next_sequence(), 100, "seed={seed}");
    }
}

/// Writes five events. The fourth is torn, and the fifth is readable. All bytes are on the disk.
fn make_torn_end(disk: &SimulatedDisk) {
    let journal = open(disk).unwrap();
    write(&journal, 5, 5);
    disk.crash(Crash::Process);
    disk.damage(&segments(disk)[0], HEADER + 3 * FRAME + 60);
}

/// After a cut, the journal wanted another segment, although the one that was cut had room.
#[test]
fn a_torn_end_on_a_full_disk_is_cut_and_the_journal_goes_on() {
    for loss in [Loss::All, Loss::Torn, Loss::Sectors, Loss::None] {
        for seed in 0..20 {
            let disk = SimulatedDisk::new();
            make_torn_end(&disk);
            disk.set_space(Some(0));

            let journal = open(&disk).unwrap();
            assert_eq!((journal.next_sequence(), journal.recovered().cut_bytes), (3, 128));
            write(&journal, 6, 0);
            journal.sync().unwrap();
            disk.crash(Crash::Power { seed, loss });
            let journal = open(&disk).unwrap();
            assert!(all(&journal).into_iter().eq(0..6));
            assert_eq!((disk.times_full(), segments(&disk).len()), (0, 1));
        }
    }
}

/// The frame after a torn one was readable. Once the torn one was written again, it continued the
/// journal, unless it was erased for good first.
#[test]
fn a_readable_frame_after_a_torn_one_does_not_come_back_if_recovery_fails() {
    for seed in 0..200 {
        let disk = SimulatedDisk::new();
        make_torn_end(&disk);
        disk.crash(Crash::Power { seed, loss: Loss::None }); // seeds which sectors a sync loses
        // Recovery ends after each of its calls, and its first sync fails.
        for calls in 0..12 {
            disk.crash_after(calls, Crash::Process);
            let opened = open(&disk);
            disk.crash(Crash::Process);
            drop(opened);
            disk.fail_syncs(1);
            open(&disk).unwrap_err();
            if seed.is_multiple_of(2) {
                disk.crash(Crash::Power { seed: seed + calls as u64, loss: Loss::Sectors });
            }
            disk.fail_syncs(0);
        }
        let journal = open(&disk).unwrap();
        let next = journal.next_sequence();
        assert_eq!(next, 3);
        journal.writer().write(&[100 + next], next).unwrap();
        journal.sync().unwrap();
        disk.crash(Crash::Power { seed, loss: Loss::Sectors });
        let events = all(&open(&disk).unwrap());
        assert!(events.iter().copied().eq((0..next).chain([100 + next])), "{seed}: {events:?}");
    }
}
