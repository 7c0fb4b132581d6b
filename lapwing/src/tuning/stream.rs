//! How long to keep away from a stream of events, for whoever finds, or lets through, several of them then.

use std::ops::RangeInclusive;

/// Events that are found together in a stream, at least.
pub(crate) const FEWEST: u64 = 16;
/// One event for so many pause hints, some 50 ns, is a stream. Slower ones are not worth the time that
/// each event is kept waiting.
const HINTS_PER_EVENT: u32 = 4;

/// The gap after one of `gap` pause hints in which so many `events` came: twice as long, within `bounds`, if they
/// came so close together that a longer one finds more of them; else half.
pub(crate) fn learnt(gap: u32, events: u64, bounds: RangeInclusive<u32>) -> u32 {
    let is_stream = events > u64::from(1 + gap / HINTS_PER_EVENT);
    if is_stream { (2 * gap).clamp(*bounds.start(), *bounds.end()) } else { gap / 2 }
}
