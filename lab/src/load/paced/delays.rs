//! Delays as histograms, for each hop and for the end-to-end path.

use hdrhistogram::Histogram;
use lapwing_lab_stats::histogram;

/// The segments of an event's path, in the order of [`Delays::segments`].
pub(crate) const SEGMENTS: [&str; 4] = ["hop-1", "hop-2", "hop-3", END_TO_END];

/// The last segment: from the intended send to the receipt at the last stage.
pub(crate) const END_TO_END: &str = "end-to-end";

/// The delays of the events of one run.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// A histogram for each of [`SEGMENTS`], in nanoseconds.
    pub(crate) segments: [Histogram<u64>; SEGMENTS.len()],
}

impl Delays {
    /// Creates empty delays.
    pub(crate) fn new() -> Self {
        Self { segments: [(); SEGMENTS.len()].map(|()| histogram()) }
    }

    /// Returns the histogram of the end-to-end path.
    pub(crate) fn end_to_end(&self) -> &Histogram<u64> {
        &self.segments[SEGMENTS.len() - 1]
    }

    /// Adds delays of the end-to-end path.
    pub(crate) fn add_end_to_end(&mut self, other: &Histogram<u64>) {
        let own = &mut self.segments[SEGMENTS.len() - 1];
        own.add(other).expect("all histograms have the same bounds");
    }
}
