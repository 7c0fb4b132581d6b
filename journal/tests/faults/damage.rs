//! One byte of a journal changes.

use lapwing_journal::error::OpenError;
use lapwing_journal::faults::{Crash, SimulatedDisk};
use lapwing_journal::{Journal, Options, Plain};
use proptest::sample::Index;

use super::events::Words;
use super::play::Player;
use super::steps::Step;

/// Changes a byte of one of the segments. The journal must then have all events that it is known to
/// have synced, or name the damage and change nothing.
pub(crate) fn change_a_byte(segment_bytes: u64, steps: &[Step], place: Index, is_closed: bool) {
    let mut player = Player::<Words>::new(segment_bytes, false);
    for step in steps {
        player.step(*step);
    }
    if is_closed {
        player.step(Step::Close);
    }
    player.disk.crash(Crash::Process);

    let (name, offset) = choose(&player.disk, place);
    player.disk.damage(&name, offset);
    let before = contents(&player.disk);
    let options = Options::new().segment_bytes(segment_bytes).prepare_ahead(false);
    match options.open_simulated::<[u64; 3], Plain>(&player.disk) {
        Ok(journal) => check(&player, &journal, is_closed),
        Err(OpenError::Damaged(damage)) => {
            assert!(damage.file.ends_with(&name), "{damage}: changed {name} at {offset}");
            assert!(damage.offset <= offset as u64, "{damage}: changed {name} at {offset}");
            assert!(contents(&player.disk) == before, "nothing is changed");
        }
        // The header of the oldest segment.
        Err(error) => panic!("{error}"),
    }
}

/// Without the mark of a clean close, damage to the last events looks like a write that was never
/// synced.
fn check(player: &Player<Words>, journal: &Journal<[u64; 3]>, is_closed: bool) {
    let expected = player.model.expected(journal.recovered().oldest);
    let mut found = Vec::new();
    let reader = journal.read(journal.recovered().oldest).expect("it has its oldest event");
    reader.for_each([0; 3], |sequence, event| found.push((sequence, *event))).expect("readable");
    assert!(expected.starts_with(&found), "no other events");
    if is_closed {
        assert_eq!(found, expected, "all was synced, and the mark says so");
    }
}

/// Returns a byte of a segment or of the file `closed`.
fn choose(disk: &SimulatedDisk, place: Index) -> (String, usize) {
    let names = disk.names().into_iter();
    let files = names.filter(|name| name.ends_with(".journal") || name == "closed");
    let bytes = files.flat_map(|name| {
        let length = disk.contents(&name).expect("it exists").len();
        (0..length).map(move |offset| (name.clone(), offset))
    });
    let bytes: Vec<_> = bytes.collect();
    place.get(&bytes).clone()
}

fn contents(disk: &SimulatedDisk) -> Vec<(String, Option<Vec<u8>>)> {
    disk.names().into_iter().map(|name| (name.clone(), disk.contents(&name))).collect()
}
