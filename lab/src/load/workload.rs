//! The amount of data of one run: number and size of events, slots, and batches. The graph is in
//! `topologies`, the length of a run in `calibration`.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::ValueEnum;
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::machine::placement::Placement;

/// All parameters of one run of one contender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    /// Events of all producers together, at least 1.
    pub(crate) events: u32,
    /// Slots of the ring and of every queue; a power of two.
    pub(crate) ring: usize,
    /// Size of one event.
    pub(crate) event_bytes: EventBytes,
    /// How a producer publishes.
    pub(crate) publish: Publish,
    /// The placement of the threads.
    pub(crate) placement: Placement,
}

/// Size of one event in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventBytes {
    /// One word. Eight of them fill a cache line.
    #[value(name = "8")]
    B8,
    /// Half a cache line.
    #[value(name = "32")]
    B32,
    /// One cache line.
    #[value(name = "64")]
    B64,
    /// Four cache lines.
    #[value(name = "256")]
    B256,
}

impl EventBytes {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::B8, Self::B32, Self::B64, Self::B256];

    /// Returns the size in bytes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::B8 => 8,
            Self::B32 => 32,
            Self::B64 => 64,
            Self::B256 => 256,
        }
    }
}

/// How a producer publishes its events, if it has a choice. Queues have no batches and send one by
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Publish {
    /// One claim and one publication per event.
    One,
    /// One claim and one publication per this many events.
    Batch(NonZeroUsize),
}

impl fmt::Display for Publish {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => formatter.write_str("one"),
            Self::Batch(size) => write!(formatter, "batch:{size}"),
        }
    }
}

impl Serialize for Publish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Error of parsing a [`Publish`].
#[derive(Debug, Error)]
#[error("expected `one` or `batch:N` with N at least 1")]
pub(crate) struct PublishSyntax;

impl FromStr for Publish {
    type Err = PublishSyntax;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "one" {
            return Ok(Self::One);
        }
        let size = text.strip_prefix("batch:").ok_or(PublishSyntax)?;
        size.parse().map(Self::Batch).map_err(|_| PublishSyntax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publish_reads_what_it_prints() {
        for text in ["one", "batch:1", "batch:64"] {
            assert_eq!(text.parse::<Publish>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn publish_refuses_other_words() {
        for text in ["", "two", "batch", "batch:", "batch:0", "batch:-1", "batch:x"] {
            assert!(text.parse::<Publish>().is_err(), "text={text:?}");
        }
    }
}
