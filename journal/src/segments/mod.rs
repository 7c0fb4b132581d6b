//! The segment that is written, and the ones that will be. Not here: how the bytes look (`format`).

pub(crate) mod making; // a spare becomes a segment
pub(crate) mod spares; // segments that are prepared ahead
pub(crate) mod tail; // the segment that is written
