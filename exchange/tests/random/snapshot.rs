//! Snapshots and hashes of random states.

use exchange::Exchange;
use exchange::engine::Engine;
use exchange::state::{BookState, SnapshotError, State};
use exchange::types::Command;
use proptest::prelude::*;
use proptest::sample::Index;

use super::drafts::{self, Draft, drafts};
use super::{COMMANDS, reports_of};

/// Returns commands that fit to the states that they meet.
fn commands_of(script: &[Draft]) -> Vec<Command> {
    let mut engine = Engine::default();
    let mut commands = drafts::opening();
    for command in &commands {
        reports_of(&mut engine, command);
    }
    for draft in script {
        let command = draft.command(&engine.state());
        reports_of(&mut engine, &command);
        commands.push(command);
    }
    commands
}

fn restored(bytes: &[u8]) -> Engine {
    let state = State::from_bytes(bytes).expect("a snapshot can be read");
    Engine::from_state(&state).expect("an exchange was in this state")
}

proptest! {
    #![proptest_config(lapwing_proof::cases(60))]

    /// The restored engine has another history of slabs and tables, and reports the same.
    #[test]
    fn a_restored_engine_goes_on_as_if_nothing_had_happened(
        script in prop::collection::vec(drafts(), 1..COMMANDS),
        cut in any::<Index>(),
    ) {
        let commands = commands_of(&script);
        let (before, after) = commands.split_at(cut.index(commands.len()));
        let mut engine = Engine::default();
        for command in before {
            reports_of(&mut engine, command);
        }
        let snapshot = engine.state().to_bytes();
        let mut restored = restored(&snapshot);
        prop_assert_eq!(restored.state().hash(), engine.state().hash());
        prop_assert_eq!(restored.state().to_bytes(), snapshot);
        for command in after {
            prop_assert_eq!(reports_of(&mut restored, command), reports_of(&mut engine, command));
            prop_assert_eq!(restored.state().hash(), engine.state().hash());
        }
        prop_assert_eq!(restored.state(), engine.state());
    }

    #[test]
    fn a_changed_byte_is_seen(
        script in prop::collection::vec(drafts(), 1..40),
        place in any::<Index>(),
        change in 1..=255_u8,
    ) {
        let mut engine = Engine::default();
        for command in commands_of(&script) {
            reports_of(&mut engine, &command);
        }
        let mut bytes = engine.state().to_bytes();
        let length = bytes.len();
        bytes[place.index(length)] ^= change;
        prop_assert!(State::from_bytes(&bytes).is_err());
        bytes[place.index(length)] ^= change;
        prop_assert!(State::from_bytes(&bytes[..place.index(length)]).is_err(), "cut");
        bytes.push(0);
        prop_assert!(State::from_bytes(&bytes).is_err(), "longer");
    }

    /// A wrong state with a right hash is refused, or it is one that an exchange can be in.
    #[test]
    fn a_forged_state_never_panics(
        script in prop::collection::vec(drafts(), 1..60),
        place in any::<Index>(),
        change in 1..=255_u8,
        more in prop::collection::vec(drafts(), 1..20),
    ) {
        let mut engine = Engine::default();
        for command in commands_of(&script) {
            reports_of(&mut engine, &command);
        }
        let bytes = engine.state().to_bytes();
        let forged = forge(&bytes, place, change);
        let Ok(state) = State::from_bytes(&forged) else { return Ok(()) };
        if state.check().is_err() || state.books.iter().any(is_large) {
            prop_assert!(state.check().is_ok() || Engine::from_state(&state).is_err());
            return Ok(());
        }
        let mut engine = Engine::from_state(&state).expect("the state has passed its check");
        prop_assert_eq!(engine.state(), state);
        for draft in more {
            let command = draft.command(&engine.state());
            reports_of(&mut engine, &command);
            prop_assert_eq!(engine.state().check(), Ok(()));
        }
    }
}

/// Whether a book is valid, but would take too long in a test.
fn is_large(book: &BookState) -> bool {
    book.spec.highest - book.spec.lowest > 4_096 || book.spec.max_orders > 4_096
}

/// Returns a snapshot with a changed byte and the hash that belongs to it.
fn forge(bytes: &[u8], place: Index, change: u8) -> Vec<u8> {
    let mut parts = bytes[..bytes.len() - size_of::<u64>()].to_vec();
    let length = parts.len();
    parts[place.index(length)] ^= change;
    let hash = twox_hash::XxHash3_64::oneshot(&parts);
    parts.extend_from_slice(&hash.to_le_bytes());
    parts
}

#[test]
fn a_snapshot_says_what_is_wrong_with_it() {
    let bytes = Engine::default().state().to_bytes();
    assert_eq!(State::from_bytes(&bytes), Ok(State::default()));
    assert_eq!(State::from_bytes(&[]), Err(SnapshotError::TooShort));
    assert_eq!(State::from_bytes(&bytes[..20]), Err(SnapshotError::TooShort));
    let mut other = bytes.clone();
    other[0] ^= 1;
    assert_eq!(State::from_bytes(&other), Err(SnapshotError::NoSnapshot));
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert_eq!(State::from_bytes(&newer), Err(SnapshotError::Version { found: 9 }));
    let mut damaged = bytes;
    damaged[24] ^= 1;
    assert_eq!(State::from_bytes(&damaged), Err(SnapshotError::Hash));
}
