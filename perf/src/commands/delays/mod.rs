//! What `latency` and `sweep` have in common: rows of delays instead of speeds, their records and files.

pub(super) mod hgrm; // files of percentiles
mod record; // what a report says of a row
mod row; // who carries the events, at which load, its runs
mod segment; // what a report says of a segment

pub(super) use self::record::Record;
pub(super) use self::row::{Carrier, Row, Run};
pub(super) use self::segment::Segment;

/// The topology in every report.
const TOPOLOGY: &str = "pipeline";
