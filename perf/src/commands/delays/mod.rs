//! The common parts of `latency` and `sweep`: rows of delays instead of speeds, their records and
//! files.

pub(super) mod hgrm; // files of percentiles
mod record; // the record of a row
mod row; // the carrier of the events, its load, its runs
mod segment; // the record of a segment

pub(super) use self::record::Record;
pub(super) use self::row::{Carrier, Row, Run};
pub(super) use self::segment::Segment;

/// The topology in every report.
const TOPOLOGY: &str = "pipeline";
