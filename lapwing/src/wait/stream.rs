//! When events come as a stream, for whoever keeps away for a while so as to find several of them.

/// One event for so many pause hints, some 50 ns, is a stream. Slower ones are not worth the time that
/// each event is kept waiting.
const HINTS_PER_EVENT: u32 = 4;

/// Whether `events` came so close together in a gap of so many pause hints that a longer gap finds more
/// of them.
pub(crate) fn is_stream(events: u64, gap: u32) -> bool {
    events > u64::from(1 + gap / HINTS_PER_EVENT)
}
