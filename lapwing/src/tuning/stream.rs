//! What counts as a stream of events, and how a pause between two polls or claims adapts to it.
//! Used by `line_ownership`, `back_off` and the pacing of consumers.

use std::ops::RangeInclusive;

/// Fewest events found together that count as a stream.
pub(crate) const FEWEST: u64 = 16;
/// A stream has at least one event per this many pause hints, which take about 50 ns. At lower
/// rates, a pause delays events by more time than it saves.
const HINTS_PER_EVENT: u32 = 4;

/// Returns the pause that follows one of `gap` pause hints, during which `events` arrived. Doubles
/// the pause, within `bounds`, if the events form a stream, so that a longer pause finds more of
/// them. Halves it otherwise.
pub(crate) fn learnt(gap: u32, events: u64, bounds: RangeInclusive<u32>) -> u32 {
    let is_stream = events > u64::from(1 + gap / HINTS_PER_EVENT);
    if is_stream { (2 * gap).clamp(*bounds.start(), *bounds.end()) } else { gap / 2 }
}
