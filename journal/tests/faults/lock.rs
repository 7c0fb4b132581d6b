//! One journal at a time has a folder open for writing.

use std::fs;
use std::path::Path;

use lapwing_journal::error::OpenError;
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
