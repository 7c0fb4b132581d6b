//! What counts as a stream of events, and how the gap between two polls or claims adapts to it.

use std::ops::RangeInclusive;

/// Fewest events found together in a stream.
pub(crate) const FEWEST: u64 = 16;
/// A stream has at least one event for this many pause hints, about 50 ns. At lower rates, a gap delays
/// events more than it saves.
const HINTS_PER_EVENT: u32 = 4;

/// The gap that follows one of `gap` pause hints in which `events` came. Twice as long, within `bounds`, if
/// the events came in a stream, so that a longer gap finds more of them; else half as long.
pub(crate) fn learnt(gap: u32, events: u64, bounds: RangeInclusive<u32>) -> u32 {
    let is_stream = events > u64::from(1 + gap / HINTS_PER_EVENT);
    if is_stream { (2 * gap).clamp(*bounds.start(), *bounds.end()) } else { gap / 2 }
}
