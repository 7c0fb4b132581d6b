//! How recorded frames are read, in order. Not here: what is done about frames that are not
//! readable (`recovery`).

pub(crate) mod reader; // frames with their events, for programs
pub(crate) mod walker; // frames of one segment
pub(crate) mod window; // a file, read in large pieces
