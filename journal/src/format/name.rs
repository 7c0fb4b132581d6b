//! The names of files. A name has the sequence with all its digits, so names sort like sequences.

use lapwing::Sequence;

/// The file that a process locks.
pub(crate) const LOCK: &str = "lock";
/// The file that says where the journal was closed.
pub(crate) const CLOSED: &str = "closed";
/// A snapshot that is being written.
pub(crate) const NEW_SNAPSHOT: &str = "snapshot.tmp";

const SEGMENT: &str = ".journal";
const SNAPSHOT: &str = ".snapshot";
const SPARE: (&str, &str) = ("spare-", ".tmp");
const DIGITS: usize = 20;

/// The name of the segment that begins with `first`.
pub(crate) fn segment(first: Sequence) -> String {
    format!("{first:020}{SEGMENT}")
}

/// The first sequence of the segment with this name.
pub(crate) fn parse_segment(name: &str) -> Option<Sequence> {
    parse(name, SEGMENT)
}

/// The name of the snapshot of the state before the event `sequence`.
pub(crate) fn snapshot(sequence: Sequence) -> String {
    format!("{sequence:020}{SNAPSHOT}")
}

/// The sequence of the snapshot with this name.
pub(crate) fn parse_snapshot(name: &str) -> Option<Sequence> {
    parse(name, SNAPSHOT)
}

/// The name of the `number`th spare segment.
pub(crate) fn spare(number: u64) -> String {
    let (begin, end) = SPARE;
    format!("{begin}{number}{end}")
}

/// Returns whether this is the name of a spare segment.
pub(crate) fn is_spare(name: &str) -> bool {
    name.starts_with(SPARE.0) && name.ends_with(SPARE.1)
}

fn parse(name: &str, end: &str) -> Option<Sequence> {
    let digits = name.strip_suffix(end)?;
    let is_number = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_sequence() {
        for first in [0, 7, u64::MAX] {
            assert_eq!(parse_segment(&segment(first)), Some(first));
            assert_eq!(parse_snapshot(&snapshot(first)), Some(first));
        }
    }

    #[test]
    fn other_names_are_no_segments() {
        let others =
            ["lock", "7.journal", "0000000000000000000a.journal", "99999999999999999999.journal"];
        for name in others.into_iter().chain([spare(1).as_str(), &snapshot(1)]) {
            assert_eq!(parse_segment(name), None, "{name}");
        }
    }
}
