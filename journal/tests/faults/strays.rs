//! Files with names of segments that are no part of the journal.

use std::fs;
use std::path::{Path, PathBuf};

use lapwing_journal::error::{Defect, OpenError, ReadError};
use lapwing_journal::inspect::inspect;
use lapwing_journal::{Journal, Options, read_range};

/// Events, one to a frame, that a segment has room for.
const EVENTS_OF_A_SEGMENT: u64 = 10;
/// Events of the journal: three segments.
const EVENTS: u64 = 25;

fn open(folder: &Path) -> Result<Journal<u64>, OpenError> {
    let bytes = 80 + 56 + 64 * EVENTS_OF_A_SEGMENT;
    Options::new().segment_bytes(bytes).prepare_ahead(false).open(folder)
}

fn segment(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.journal"))
}

/// A journal with synced events whose last frames do not say so.
fn make(folder: &Path, events: u64) -> Journal<u64> {
    let journal = open(folder).unwrap();
    let mut writer = journal.writer();
    (0..events).for_each(|event| writer.write(&[event], event).unwrap());
    assert_eq!(journal.sync().unwrap(), events);
    journal
}

/// The journal as a crash has left it: it was not closed.
fn copy(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

fn read(journal: &Journal<u64>, from: u64) -> Result<Vec<u64>, ReadError> {
    let mut events = Vec::new();
    journal.read(from)?.for_each(0, |_, event| events.push(*event))?;
    Ok(events)
}

/// Begin of a file with the name of a segment: in one, between frames of one, before the next one.
const STRAYS: [u64; 4] = [1, 5, 9, 15];

/// A file between two segments whose header is no header took the segments behind it with it. The
/// events were synced.
#[test]
fn an_unreadable_segment_does_not_hide_a_readable_one_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let _journal = make(folder.path(), EVENTS);
    for (stray, bytes) in STRAYS.into_iter().flat_map(|first| {
        let older = fs::read(segment(folder.path(), 10)).unwrap();
        [(first, vec![]), (first, vec![7; 300]), (first, older)]
    }) {
        let copy = copy(folder.path());
        fs::write(segment(copy.path(), stray), bytes).unwrap();
        let found = inspect(copy.path(), |_| {}).unwrap();
        assert_eq!((found.end, found.removed_segments), (EVENTS, 1), "stray={stray}");
        let journal = open(copy.path()).unwrap();
        assert!(read(&journal, 0).unwrap().into_iter().eq(0..EVENTS), "stray={stray}");
        assert!(!segment(copy.path(), stray).exists());
    }
}

/// The same for a reader beside an open journal: it stopped there.
#[test]
fn an_unreadable_segment_does_not_stop_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let journal = make(folder.path(), EVENTS);
    for stray in STRAYS {
        fs::write(segment(folder.path(), stray), [7; 300]).unwrap();
    }
    for from in 0..=EVENTS {
        assert!(read(&journal, from).unwrap().into_iter().eq(from..EVENTS), "from={from}");
    }
    // A reader names a segment that should be there.
    fs::write(segment(folder.path(), 20), [7; 300]).unwrap();
    let Err(ReadError::Damaged(damage)) = read(&journal, 3) else { panic!("it is damaged") };
    assert_eq!((damage.file, damage.sequence), (segment(folder.path(), 20), 20));
}

/// A file that began below the sequence stood for the segment that it was in, which was removed
/// with events that were to be kept.
#[test]
fn an_unreadable_segment_does_not_take_the_one_before_it() {
    for (sequence, oldest) in [(5, 0), (8, 0), (10, 0), (11, 10), (18, 10), (20, 10), (25, 20)] {
        let folder = tempfile::tempdir().unwrap();
        let journal = make(folder.path(), EVENTS);
        for stray in STRAYS {
            fs::write(segment(folder.path(), stray), [7; 300]).unwrap();
        }
        journal.remove_before(sequence).unwrap();
        assert_eq!(read(&journal, oldest).unwrap()[0], oldest, "sequence={sequence}");
        let copy = copy(folder.path());
        assert_eq!(open(copy.path()).unwrap().recovered().oldest, oldest, "sequence={sequence}");
    }
}

/// It was removed, with its events and those of the journal behind it.
#[test]
fn a_segment_of_another_journal_is_an_error_wherever_it_is() {
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (_journal, _other) = (make(folder.path(), EVENTS), make(other.path(), EVENTS + 10));
    for first in [10, 20, 30] {
        let copy = copy(folder.path());
        fs::copy(segment(other.path(), first), segment(copy.path(), first)).unwrap();
        let Err(OpenError::Damaged(damage)) = open(copy.path()) else { panic!("first={first}") };
        let expected = (segment(copy.path(), first), Defect::OtherJournal);
        assert_eq!((damage.file, damage.defect), expected);
        let read = read_range::<u64>(copy.path(), 0..EVENTS).unwrap().for_each(0, |_, _| {});
        match read {
            Err(ReadError::Damaged(damage)) => assert_eq!(damage.defect, Defect::OtherJournal),
            other => assert!(other.is_ok() && first > EVENTS, "{other:?}, first={first}"),
        }
    }
}
