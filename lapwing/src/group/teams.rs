//! Which member of a team owns a key. Not here: when the team changes (`routes`).

use super::MAX_WORKERS;

/// Odd, and near the golden ratio of 2^64, so that the high half of a product is spread evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the indices of the workers in the bit set `team`, in order.
pub(super) fn members_of(team: u64) -> Box<[u8]> {
    (0..MAX_WORKERS as u8).filter(|worker| team >> worker & 1 == 1).collect()
}

/// Returns which of `members` owns the events with this key; `None` if there are no members.
#[inline]
pub(super) fn owner_among(members: &[u8], key: u64) -> Option<u8> {
    let spread = key.wrapping_mul(SPREAD) >> 32;
    let member = (spread * members.len() as u64) >> 32;
    members.get(member as usize).copied()
}
