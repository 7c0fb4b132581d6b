//! Old segments are archived.

use std::fs;
use std::path::Path;

use lapwing_journal::error::FileError;
use lapwing_journal::{Journal, Options, read_range};

/// Opens the journal with room for `events` events in a segment, and writes up to `end` events.
fn fill(folder: &Path, events: u64, value: u64, end: u64) -> Journal<u64> {
    let options = Options::new().segment_bytes(80 + 56 + 64 * events).prepare_ahead(false);
    let journal = options.open::<u64>(folder).unwrap();
    let mut writer = journal.writer();
    for event in journal.next_sequence()..end {
        writer.write(&[value], event).unwrap();
    }
    journal.sync().unwrap();
    journal
}

fn sum(folder: &Path, end: u64) -> u64 {
    let mut sum = 0;
    read_range::<u64>(folder, 0..end).unwrap().for_each(0, |_, event| sum += event).unwrap();
    sum
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".journal"));
    names.sort();
    names
}

fn check_refused(archived: Result<usize, FileError>, file: &Path, says: &str) {
    let error = archived.unwrap_err();
    assert!(error.to_string().contains(says), "{error}");
    assert_eq!(error.file(), file);
}

/// A second journal, or one that was wiped, wrote over what was archived, and returned `Ok`.
#[test]
fn a_segment_of_another_journal_is_never_written_over_in_an_archive() {
    let [one, other, archive] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    assert_eq!(fill(one.path(), 10, 1, 35).archive_before(35, archive.path()).unwrap(), 3);
    // With segments of the same names, and with other ones.
    for events in [10, 12] {
        let other = fill(&other.path().join(events.to_string()), events, 2, 35);
        let last = archive.path().join("00000000000000000020.journal");
        check_refused(other.archive_before(35, archive.path()), &last, "another journal");
        assert_eq!((sum(archive.path(), 30), names(archive.path()).len()), (30, 3));
        other.read(0).unwrap();
    }
}

/// The archive has a file of that name from elsewhere.
#[test]
fn a_file_is_never_written_over_in_an_archive() {
    let [folder, archive] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let file = archive.path().join("00000000000000000010.journal");
    fs::write(&file, "a file").unwrap();
    let journal = fill(folder.path(), 10, 1, 35);
    check_refused(journal.archive_before(35, archive.path()), &file, "another file of this name");
    assert_eq!(fs::read(&file).unwrap(), b"a file");
    assert_eq!(journal.read(10).unwrap().left(), 10..35, "the first segment is archived");
}

/// The call would have removed each segment from its only place.
#[test]
fn the_folder_of_the_journal_is_no_archive() {
    let folder = tempfile::tempdir().unwrap();
    let journal = fill(folder.path(), 10, 1, 35);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(".", &link).unwrap();
    for archive in [folder.path(), &link] {
        let first = archive.join("00000000000000000000.journal");
        check_refused(journal.archive_before(35, archive), &first, "the folder of the journal");
        assert_eq!(sum(folder.path(), 35), 35);
    }
    let missing = folder.path().join("missing");
    check_refused(journal.archive_before(35, &missing), &missing, "No such file");
}

/// A segment is in both folders after a crash between the two steps.
#[test]
fn archiving_goes_on_after_a_crash() {
    let [folder, archive] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let journal = fill(folder.path(), 10, 1, 35);
    let first = "00000000000000000000.journal";
    fs::hard_link(folder.path().join(first), archive.path().join(first)).unwrap();
    assert_eq!(journal.archive_before(35, archive.path()).unwrap(), 3);
    assert_eq!((sum(archive.path(), 30), names(folder.path()).len()), (30, 1));
}
