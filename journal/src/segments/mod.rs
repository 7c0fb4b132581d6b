//! The files of segments: what is in a folder, how the frames of one are read and written, and how
//! the next one is made. Not here: how the bytes look (`format`), and what is done about frames that
//! are not readable (`recovery`).

pub(crate) mod folder; // the segments of a folder
pub(crate) mod spares; // segments that are prepared ahead
pub(crate) mod tail; // the segment that is written
pub(crate) mod window; // a file, read in large pieces

pub(crate) mod making; // a spare becomes a segment
pub(crate) mod walker; // the frames of a segment, in order
