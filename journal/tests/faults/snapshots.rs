//! Which snapshots are there after a fault.

use std::{fs, thread};

use lapwing_journal::faults::{Crash, Loss, SimulatedDisk};
use lapwing_journal::{Options, Plain, Snapshots};

/// Bytes of the header of a snapshot.
const HEADER: usize = 40;
const SEGMENT_BYTES: u64 = 1024;

fn name(sequence: u64) -> String {
    format!("{sequence:020}.snapshot")
}

/// Changes the state of a snapshot.
fn damage(disk: &SimulatedDisk, sequence: u64) {
    disk.damage(&name(sequence), HEADER + 1);
}

/// Bytes that all files have.
fn used(disk: &SimulatedDisk) -> u64 {
    let names = disk.names().into_iter();
    names.map(|name| disk.contents(&name).unwrap().len() as u64).sum()
}

#[test]
fn a_damaged_snapshot_is_skipped_and_reported() {
    let disk = SimulatedDisk::new();
    let snapshots = Snapshots::open_simulated(&disk).unwrap();
    for sequence in [10, 20, 30] {
        snapshots.write(sequence, &sequence.to_le_bytes()).unwrap();
    }
    assert_eq!(snapshots.oldest().unwrap(), Some(20)); // two are kept
    disk.damage("00000000000000000030.snapshot", 41);
    let latest = snapshots.latest().unwrap();
    assert_eq!(latest.snapshot.unwrap().sequence, 20);
    assert!(latest.damaged[0].ends_with("00000000000000000030.snapshot"));
}

#[test]
fn a_power_cut_leaves_the_old_snapshot_or_the_new_one() {
    for seed in 0..200 {
        let disk = SimulatedDisk::new();
        let snapshots = Snapshots::open_simulated(&disk).unwrap();
        snapshots.write(1, &[1; 2000]).unwrap();
        disk.fail_syncs(1);
        snapshots.write(2, &[2; 2000]).unwrap_err();
        disk.crash(Crash::Power { seed, loss: Loss::Sectors });
        let latest = Snapshots::open_simulated(&disk).unwrap().latest().unwrap();
        assert_eq!(latest.snapshot.map(|snapshot| snapshot.state), Some(vec![1; 2000]));
    }
}

#[test]
fn a_power_cut_at_any_call_keeps_the_latest_snapshot_that_was_confirmed() {
    for (calls, seed) in (0..7).flat_map(|calls| (0..50).map(move |seed| (calls, seed))) {
        let disk = SimulatedDisk::new();
        let snapshots = Snapshots::open_simulated(&disk).unwrap().keep(1);
        snapshots.write(1, &[1; 2000]).unwrap();
        disk.crash_after(calls, Crash::Power { seed, loss: Loss::Sectors });
        // If its removal of the old one fails, the call has failed after the new one is durable.
        let is_confirmed = snapshots.write(2, &[2; 2000]).is_ok();
        let latest = Snapshots::open_simulated(&disk).unwrap().latest().unwrap();
        let found = latest.snapshot.expect("one of the two is there").sequence;
        assert!(latest.damaged.is_empty());
        assert!(found == 2 || (found == 1 && !is_confirmed), "calls={calls} seed={seed}");
    }
}

/// The space that a failed snapshot had taken was free only after the next one.
#[test]
fn a_snapshot_that_fails_takes_no_space() {
    let faults: [fn(&SimulatedDisk); 3] = [
        |disk| disk.set_space(Some(used(disk) + 1000)),
        |disk| disk.fail_write(1000),
        |disk| disk.fail_syncs(1),
    ];
    for fault in faults {
        let disk = SimulatedDisk::new();
        let snapshots = Snapshots::open_simulated(&disk).unwrap();
        snapshots.write(1, &[1; 2000]).unwrap();
        fault(&disk);
        snapshots.write(2, &[2; 2000]).unwrap_err();
        assert_eq!(disk.names(), [name(1)]);
    }
}

/// The writer waited for space that the temporary file of a snapshot had. No event passed, so no
/// further snapshot removed it.
#[test]
fn a_journal_gets_the_space_of_a_snapshot_that_found_too_little() {
    let disk = SimulatedDisk::new();
    let options = Options::new().segment_bytes(SEGMENT_BYTES).prepare_ahead(false);
    let journal = options.open_simulated::<u64, Plain>(&disk).unwrap();
    let snapshots = Snapshots::open_simulated(&disk).unwrap();
    disk.set_space(Some(used(&disk) + SEGMENT_BYTES));
    assert!(snapshots.write(1, &[1; 2000]).unwrap_err().is_full());
    let mut writer = journal.writer();
    for event in 0..20 {
        writer.write(&[event], event).unwrap(); // the second segment begins
    }
}

/// After a restart on a full disk, the same happened with the file that a crash had left.
#[test]
fn what_a_crash_has_left_of_a_snapshot_takes_no_space() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snapshot.tmp"), [1; 1000]).unwrap();
    Snapshots::open(folder.path()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A disk that could not read the latest snapshot was an error, although an older one was intact.
#[test]
fn a_snapshot_that_the_disk_cannot_read_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = Snapshots::open(folder.path()).unwrap();
    snapshots.write(1, b"state").unwrap();
    let unreadable = folder.path().join(name(2));
    fs::create_dir(&unreadable).unwrap(); // reading it is an error
    let latest = snapshots.latest().unwrap();
    assert_eq!((latest.snapshot.unwrap().sequence, latest.damaged), (1, vec![unreadable]));
}

/// A damaged snapshot was one of the two that are kept, so a single intact one was left.
#[test]
fn a_damaged_snapshot_does_not_count_among_those_that_are_kept() {
    let disk = SimulatedDisk::new();
    let snapshots = Snapshots::open_simulated(&disk).unwrap();
    snapshots.write(100, b"state").unwrap();
    snapshots.write(200, b"state").unwrap();
    damage(&disk, 200);
    snapshots.write(300, b"state").unwrap();
    assert_eq!(snapshots.oldest().unwrap(), Some(100));
    snapshots.write(400, b"state").unwrap();
    assert_eq!(disk.names(), [name(300), name(400)], "two later ones are intact");
}

/// With damage to all snapshots, the journal before the oldest was removed. It was all that was
/// left.
#[test]
fn a_damaged_snapshot_is_not_the_oldest() {
    for length in [1, 1 << 20, (3 << 20) + 7] {
        let disk = SimulatedDisk::new();
        let snapshots = Snapshots::open_simulated(&disk).unwrap();
        snapshots.write(100, &vec![1; length]).unwrap();
        disk.damage(&name(100), HEADER + length - 1);
        assert_eq!(snapshots.oldest().unwrap(), None);
        snapshots.write(200, &vec![2; length]).unwrap();
        assert_eq!(snapshots.oldest().unwrap(), Some(200));
    }
}

/// A program that began again with an older state lost each new snapshot at once: those of the
/// state that it had left have later sequences.
#[test]
fn a_new_snapshot_stays_although_later_ones_exist() {
    let disk = SimulatedDisk::new();
    let snapshots = Snapshots::open_simulated(&disk).unwrap();
    for sequence in [100, 200, 50, 60] {
        snapshots.write(sequence, b"state").unwrap();
        assert!(disk.names().contains(&name(sequence)), "{sequence}");
    }
    assert_eq!(disk.names(), [name(60), name(100), name(200)]);
}

/// Two threads wrote one temporary file, and a snapshot got the state of another one.
#[test]
fn threads_may_share_snapshots() {
    let disk = SimulatedDisk::new();
    let snapshots = Snapshots::open_simulated(&disk).unwrap().keep(1);
    snapshots.write(0, b"state").unwrap();
    thread::scope(|scope| {
        let snapshots = &snapshots;
        let write = |sequences: std::ops::Range<u64>| {
            for sequence in sequences.step_by(2) {
                snapshots.write(sequence, &[7; 1000]).unwrap();
            }
        };
        let writing = [scope.spawn(move || write(1..1_000)), scope.spawn(move || write(2..1_000))];
        while !writing.iter().all(|thread| thread.is_finished()) {
            let latest = snapshots.latest().unwrap();
            assert!(latest.snapshot.is_some() && latest.damaged.is_empty());
            assert!(snapshots.oldest().unwrap().is_some());
        }
    });
    assert_eq!(snapshots.latest().unwrap().snapshot.unwrap().sequence, 999);
}

/// A process was killed before it synced the name of a snapshot. The next process began with that
/// snapshot and removed what it contains from the journal. Then a power cut took the snapshot.
#[test]
fn a_snapshot_that_is_found_survives_a_power_cut() {
    let disk = SimulatedDisk::new();
    let snapshots = Snapshots::open_simulated(&disk).unwrap();
    disk.fail_folder_syncs(1);
    snapshots.write(1, b"state").unwrap_err();
    disk.crash(Crash::Process);

    let found = Snapshots::open_simulated(&disk).unwrap().oldest().unwrap();
    disk.crash(Crash::Power { seed: 0, loss: Loss::All });
    assert_eq!(Snapshots::open_simulated(&disk).unwrap().oldest().unwrap(), found);
}

/// A snapshot whose name could not be synced was not written, and was there all the same.
#[test]
fn a_snapshot_whose_name_is_not_durable_is_not_there() {
    let disk = SimulatedDisk::new();
    let snapshots = Snapshots::open_simulated(&disk).unwrap();
    snapshots.write(1, b"state").unwrap();
    disk.fail_folder_syncs(1);
    snapshots.write(2, b"state").unwrap_err();
    assert_eq!((disk.names(), snapshots.oldest().unwrap()), (vec![name(1)], Some(1)));
}
