//! A journal that was closed cleanly and has lost its end since.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use lapwing_journal::error::{Defect, OpenError};
use lapwing_journal::faults::SimulatedDisk;
use lapwing_journal::inspect::inspect;
use lapwing_journal::{Journal, Options, Plain};

const SEGMENT_BYTES: u64 = 1024;
/// Events, one to a frame, that a segment has room for.
const EVENTS_OF_A_SEGMENT: u64 = 13;

fn open(folder: &Path) -> Result<Journal<u64>, OpenError> {
    Options::new().segment_bytes(SEGMENT_BYTES).prepare_ahead(false).open(folder)
}

/// Opens the journal, writes and syncs the events below `end`, and closes it.
fn close_at(folder: &Path, end: u64) {
    let journal = open(folder).unwrap();
    write(&journal, end);
    journal.close().unwrap();
}

fn write(journal: &Journal<u64>, end: u64) {
    let mut writer = journal.writer();
    for event in journal.next_sequence()..end {
        writer.write(&[event], event).unwrap();
    }
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = contents(folder).into_iter().map(|(path, _)| path).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "journal"));
    files
}

/// All files, sorted, with their bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = names.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    files.sort();
    files
}

/// The files as a crash leaves them, while the journal is open.
fn copy(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for (path, bytes) in contents(folder) {
        fs::write(copy.path().join(path.file_name().unwrap()), bytes).unwrap();
    }
    copy
}

/// The journal must not open, and nothing may change.
fn check_damaged(folder: &Path, what: &str) -> lapwing_journal::error::Damage {
    let before = contents(folder);
    let Err(OpenError::Damaged(inspected)) = inspect(folder, |_| {}) else {
        panic!("inspect: {what}")
    };
    let Err(OpenError::Damaged(damage)) = open(folder) else { panic!("open: {what}") };
    assert_eq!(damage, inspected, "{what}");
    assert!(contents(folder) == before, "{what}: nothing is changed");
    damage
}

/// 408 of 2,048 lengths opened without an error, and with fewer events.
#[test]
fn a_closed_journal_whose_last_segment_is_shortened_is_damaged() {
    for ends in [[0, 5], [12, 13], [13, 14]] {
        let folder = tempfile::tempdir().unwrap();
        ends.into_iter().for_each(|end| close_at(folder.path(), end));
        let last = segments(folder.path()).pop().unwrap();
        for length in (0..SEGMENT_BYTES).rev() {
            OpenOptions::new().write(true).open(&last).unwrap().set_len(length).unwrap();
            let damage = check_damaged(folder.path(), &format!("{ends:?}, length={length}"));
            assert_eq!(damage.file, last, "{damage}");
            assert!(damage.offset <= length && damage.sequence <= ends[1], "{damage}");
        }
    }
}

/// Without a close nothing says where it ended, but a segment never becomes shorter by itself.
#[test]
fn a_journal_that_was_not_closed_and_is_shortened_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path()).unwrap();
    write(&journal, 20);
    journal.sync().unwrap();
    let copy = copy(folder.path());
    assert_eq!(inspect(copy.path(), |_| {}).unwrap().end, 20);
    let last = segments(copy.path()).pop().unwrap();
    for length in (80..SEGMENT_BYTES).rev() {
        OpenOptions::new().write(true).open(&last).unwrap().set_len(length).unwrap();
        let damage = check_damaged(copy.path(), &format!("length={length}"));
        assert_eq!(damage.defect, Defect::Shortened { bytes: SEGMENT_BYTES });
    }
}

/// The mark of the close went with the segment.
#[test]
fn a_closed_journal_without_its_last_segments_is_damaged() {
    let full = EVENTS_OF_A_SEGMENT;
    // Also where an earlier close has marked the end of the segment that is left.
    for ends in [[1, 3 * full + 5], [3 * full, 3 * full + 1], [2 * full, 3 * full]] {
        let folder = tempfile::tempdir().unwrap();
        ends.into_iter().for_each(|end| close_at(folder.path(), end));
        for removed in segments(folder.path()).iter().rev() {
            fs::remove_file(removed).unwrap();
            let damage = check_damaged(folder.path(), &format!("{ends:?}, {removed:?}"));
            assert_eq!(damage.defect, Defect::Closed { end: ends[1] });
        }
    }
}

/// A segment that came back from an old copy had a mark of its own.
#[test]
fn a_closed_journal_with_an_older_copy_of_its_last_segment_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let last = folder.path().join("00000000000000000000.journal");
    let copies = [1, 2, 7, 9].map(|end| {
        close_at(folder.path(), end);
        fs::read(&last).unwrap()
    });
    let (newest, older) = copies.split_last().unwrap();
    for copy in older {
        fs::write(&last, copy).unwrap();
        check_damaged(folder.path(), "an older copy");
    }
    fs::write(&last, newest).unwrap();
    assert_eq!(open(folder.path()).unwrap().next_sequence(), 9);
}

/// Each segment is as it was after one of the closes, or is missing. With the file of the last close,
/// the journal has all events that it had then, or does not open.
#[test]
fn no_mixture_of_older_copies_passes_for_the_closed_journal() {
    let folder = tempfile::tempdir().unwrap();
    let closes = [3, 12, 17, 26, 30].map(|end| {
        close_at(folder.path(), end);
        contents(folder.path())
    });
    let files = segments(folder.path());
    let versions: Vec<_> = files.iter().map(|file| versions(&closes, file)).collect();
    let (mut opened, mut refused) = (0, 0);
    for mixture in 0..versions.iter().map(Vec::len).product() {
        let mut rest: usize = mixture;
        for (file, versions) in files.iter().zip(&versions) {
            match &versions[rest % versions.len()] {
                Some(bytes) => fs::write(file, bytes).unwrap(),
                None => _ = fs::remove_file(file),
            }
            rest /= versions.len();
        }
        match inspect(folder.path(), |_| {}) {
            Ok(found) => {
                assert_eq!(found.end, 30, "mixture={mixture}");
                opened += 1;
            }
            Err(OpenError::Damaged(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(opened > 0 && refused > opened, "opened={opened}, refused={refused}");
}

/// The different contents that a file had, and `None` for a file that is missing.
fn versions(closes: &[Vec<(PathBuf, Vec<u8>)>], file: &Path) -> Vec<Option<Vec<u8>>> {
    let all = closes.iter().flatten().filter(|(path, _)| path == file);
    let mut versions: Vec<_> = all.map(|(_, bytes)| Some(bytes.clone())).chain([None]).collect();
    versions.sort();
    versions.dedup();
    versions
}

#[test]
fn the_error_says_where_the_events_should_be_and_how_many_there_were() {
    let folder = tempfile::tempdir().unwrap();
    close_at(folder.path(), 5);
    let last = segments(folder.path()).pop().unwrap();
    OpenOptions::new().write(true).open(&last).unwrap().set_len(300).unwrap();
    let damage = check_damaged(folder.path(), "shortened");
    assert_eq!(
        damage.to_string(),
        format!(
            "events are missing that the journal had when it was closed: file={}, offset=272, \
             sequence=3, closed=5",
            last.display()
        )
    );
}

/// The end in the file is a lower bound, so events that follow a close are no contradiction.
#[test]
fn a_journal_that_goes_on_after_a_close_opens() {
    let folder = tempfile::tempdir().unwrap();
    close_at(folder.path(), 5);
    let file = fs::read(folder.path().join("closed")).unwrap();
    let journal = open(folder.path()).unwrap();
    write(&journal, 30);
    journal.sync().unwrap();
    let copy = copy(folder.path());
    assert_eq!(fs::read(copy.path().join("closed")).unwrap(), file);
    assert_eq!(inspect(copy.path(), |_| {}).unwrap().end, 30);
    assert_eq!(open(copy.path()).unwrap().next_sequence(), 30);
}

#[test]
fn a_damaged_file_closed_is_named_and_may_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    close_at(folder.path(), 5);
    let closed = folder.path().join("closed");
    let intact = fs::read(&closed).unwrap();
    for offset in 0..intact.len() {
        let mut bytes = intact.clone();
        bytes[offset] ^= 0x55;
        fs::write(&closed, bytes).unwrap();
        let damage = check_damaged(folder.path(), &format!("offset={offset}"));
        assert_eq!((&damage.file, damage.defect), (&closed, Defect::ClosedFile));
        fs::write(&closed, &intact[..offset]).unwrap();
        let opened = inspect(folder.path(), |_| {});
        assert_eq!(opened.is_err(), offset > 0, "{offset} bytes are left");
    }
    fs::remove_file(&closed).unwrap();
    close_at(folder.path(), 6);
    assert_eq!(fs::read(&closed).unwrap().len(), intact.len(), "the next close makes it again");
}

#[test]
fn a_file_closed_of_another_journal_is_an_error() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    close_at(one.path(), 5);
    close_at(other.path(), 5);
    fs::copy(other.path().join("closed"), one.path().join("closed")).unwrap();
    assert_eq!(check_damaged(one.path(), "another").defect, Defect::OtherJournal);
}

/// A journal whose folder was emptied except for the file `closed` would begin anew.
#[test]
fn a_folder_of_which_only_the_file_closed_is_left_is_no_new_journal() {
    let folder = tempfile::tempdir().unwrap();
    close_at(folder.path(), 5);
    segments(folder.path()).iter().for_each(|path| fs::remove_file(path).unwrap());
    let damage = check_damaged(folder.path(), "no segment");
    assert_eq!(damage.file, folder.path().join("closed"));
    fs::remove_file(&damage.file).unwrap();
    assert_eq!(open(folder.path()).unwrap().next_sequence(), 0);
}

/// A shutdown on a full disk ends without an error.
#[test]
fn a_close_needs_no_space() {
    let disk = SimulatedDisk::new();
    let options = Options::new().segment_bytes(SEGMENT_BYTES).prepare_ahead(false);
    let journal = options.open_simulated::<u64, Plain>(&disk).unwrap();
    disk.set_space(Some(0));
    write(&journal, 5);
    journal.close().unwrap();
    assert_eq!(disk.times_full(), 0);
}

/// A journal that was not closed, of which the end is unreadable, looked like one whose last write
/// was never synced. What a snapshot proved to be synced was cut.
#[test]
fn what_the_caller_knows_to_be_synced_is_not_cut() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path()).unwrap();
    write(&journal, 5);
    let segment = segments(folder.path()).pop().unwrap();
    let bytes = fs::read(&segment).unwrap();
    std::mem::forget(journal); // killed
    let other = tempfile::tempdir().unwrap();
    let end = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    let mut damaged = bytes.clone();
    damaged[end] ^= 1;
    fs::write(other.path().join(segment.file_name().unwrap()), &damaged).unwrap();

    let options = || Options::new().segment_bytes(SEGMENT_BYTES).prepare_ahead(false);
    let before = contents(other.path());
    match options().synced_to(5).open::<u64>(other.path()) {
        Err(OpenError::Damaged(damage)) => {
            assert_eq!((damage.sequence, damage.defect), (4, Defect::Synced { synced: 5 }));
        }
        opened => panic!("{opened:?}"),
    }
    let segments_of = |contents: Vec<(PathBuf, Vec<u8>)>| -> Vec<_> {
        let is_segment = |(path, _): &(PathBuf, Vec<u8>)| path.extension().is_some();
        contents.into_iter().filter(is_segment).collect()
    };
    assert_eq!(segments_of(contents(other.path())), segments_of(before), "nothing is changed");
    assert_eq!(options().synced_to(4).open::<u64>(other.path()).unwrap().next_sequence(), 4);

    let empty = tempfile::tempdir().unwrap();
    options().synced_to(1).open::<u64>(empty.path()).unwrap_err();
    assert!(segments(empty.path()).is_empty(), "a journal that is missing is not begun anew");
}
