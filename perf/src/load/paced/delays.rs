//! Delays as histograms, for each hop and for the end-to-end path.

use hdrhistogram::Histogram;

/// The longest distinguishable delay, in nanoseconds: 100 s. A longer one counts as this.
const LONGEST_NS: u64 = 100_000_000_000;
/// Significant decimal digits of a delay.
const DIGITS: u8 = 3;

/// The segments of an event's path, in the order of [`Delays::segments`].
pub(crate) const SEGMENTS: [&str; 4] = ["hop-1", "hop-2", "hop-3", "end-to-end"];

/// The delays of the events of one or several runs.
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

    /// Adds those of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        for (own, other) in self.segments.iter_mut().zip(&other.segments) {
            // All histograms have the same bounds, so it always fits.
            own.add(other).expect("all histograms have the same bounds");
        }
    }
}

/// Returns an empty histogram of delays. Its memory has been touched, so no page fault occurs while
/// the clock runs.
pub(crate) fn histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are constants");
    let mut delay = 1;
    while delay < LONGEST_NS {
        histogram.saturating_record(delay);
        delay += histogram.equivalent_range(delay);
    }
    histogram.reset();
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_histogram_is_empty_and_takes_any_delay() {
        let mut histogram = histogram();
        assert_eq!(histogram.len(), 0);
        for delay in [0, 1, LONGEST_NS, u64::MAX] {
            histogram.saturating_record(delay);
        }
        assert_eq!(histogram.len(), 4);
    }

    #[test]
    fn delays_of_two_runs_add_up() {
        let (mut one, mut other) = (Delays::new(), Delays::new());
        one.segments[3].saturating_record(10);
        other.segments[3].saturating_record(30);
        one.add(&other);
        assert_eq!(one.end_to_end().len(), 2);
        assert_eq!(one.end_to_end().max(), 30);
    }
}
