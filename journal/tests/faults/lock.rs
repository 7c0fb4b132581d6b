//! One journal at a time has a folder open for writing.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use lapwing_journal::error::{OpenError, WriteError};
use lapwing_journal::{Journal, Options};

fn open(folder: &Path) -> Result<Journal<u64>, OpenError> {
    Options::new().segment_bytes(1024).prepare_ahead(false).open(folder)
}

fn write(journal: &Journal<u64>, end: u64) {
    let mut writer = journal.writer();
    for event in journal.next_sequence()..end {
        writer.write(&[event], event).unwrap();
    }
    assert_eq!(journal.sync().unwrap(), end);
}

/// A program that removed a lock that it took for stale let a second writer in. Both confirmed
/// events, and the journal was damaged.
#[test]
fn a_lock_whose_file_was_removed_still_holds() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path()).unwrap();
    write(&journal, 5);
    fs::remove_file(folder.path().join("lock")).unwrap();
    let second = open(folder.path()).unwrap_err();
    assert!(matches!(second, OpenError::Locked { .. }), "{second}");
    write(&journal, 30);
    journal.close().unwrap();
    assert_eq!(open(folder.path()).unwrap().next_sequence(), 30);
}

/// The first journal went on in the folder of the second one.
#[test]
fn a_journal_stays_in_its_folder_if_another_one_gets_the_name() {
    let base = tempfile::tempdir().unwrap();
    let (folder, moved) = (base.path().join("journal"), base.path().join("moved"));
    let journal = open(&folder).unwrap();
    write(&journal, 5);
    fs::rename(&folder, &moved).unwrap();
    let second = open(&folder).unwrap();
    write(&second, 20);
    write(&journal, 30);
    journal.close().unwrap();
    second.close().unwrap();
    let ends = [moved, folder].map(|folder| open(&folder).unwrap().next_sequence());
    assert_eq!(ends, [30, 20]);
}

/// A journal that stages share could not be closed before they were gone. A closed one must not
/// remove what another journal in the folder has.
#[test]
fn a_shared_journal_is_closed_once_and_leaves_the_folder_to_the_next_one() {
    let (folder, archive) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let journal = Arc::new(open(folder.path()).unwrap());
    write(&journal, 500);
    let shared = Arc::clone(&journal);
    journal.close().unwrap();
    assert!(matches!(shared.close(), Err(WriteError::Closed)), "the second time");
    let refused = shared.writer().write(&[500], 500);
    assert!(matches!(refused, Err(WriteError::Closed)), "{refused:?}");

    let next = open(folder.path()).unwrap();
    write(&next, 600);
    assert_eq!(shared.remove_before(400).unwrap_err().kind(), ErrorKind::NotConnected);
    let moved = shared.archive_before(400, archive.path());
    assert_eq!(moved.unwrap_err().kind(), ErrorKind::NotConnected);
    assert!(next.read(0).is_ok());
    drop((journal, shared)); // closes nothing a second time
    write(&next, 700);
    assert!(next.remove_before(400).unwrap() > 0 && next.read(400).is_ok());
}

/// Two threads that removed the same segments got an error of the system.
#[test]
fn several_threads_remove_segments_while_another_writes() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while journal.synced() < 2_000 {
                    journal.remove_before(journal.synced().saturating_sub(100)).unwrap();
                }
            });
        }
        scope.spawn(|| (0..=2_000).step_by(20).for_each(|end| write(&journal, end)));
    });
    journal.close().unwrap();
    assert!(journal.read(0).is_err() && journal.read(1_900).is_ok());
}
