//! Recorded events are read, also while the journal is open.

use lapwing_journal::error::ReadError;
use lapwing_journal::{Journal, read_range};

/// A range that ended in a gap was read on until a frame was unreadable, and then was damaged.
#[test]
fn a_range_ends_at_its_end_in_a_gap_too() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::<u64>::open(folder.path()).unwrap();
    let mut writer = journal.writer();
    writer.write(&[0, 1, 2], 0).unwrap();
    writer.write(&[6, 7], 6).unwrap(); // 3 to 5 were given up
    let recorded = [0, 1, 2, 6, 7];
    for (from, end) in (0..=8).flat_map(|end| (0..=end).map(move |from| (from, end))) {
        let mut reader = read_range::<u64>(folder.path(), from..end).unwrap();
        let mut events = Vec::new();
        while let Some(frame) = reader.next_frame().unwrap() {
            events.extend(frame.events().map(|(sequence, _)| sequence));
        }
        let expected = recorded.into_iter().filter(|event| (from..end).contains(event));
        assert_eq!(events, expected.collect::<Vec<_>>(), "{from}..{end}");
        assert!(reader.left().is_empty(), "{from}..{end}");
    }
}

/// Events of another length were read as parts of those that were written.
#[test]
fn events_of_another_length_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::<u64>::open(folder.path()).unwrap();
    journal.writer().write(&[7, 8], 0).unwrap();
    let read = read_range::<u32>(folder.path(), 0..2).unwrap().for_each(0, |_, _| {});
    assert!(matches!(read, Err(ReadError::EventBytes { found: 8, expected: 4 })), "{read:?}");
}
