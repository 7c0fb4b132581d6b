//! The value of a counter: the increases of a figure, whatever the figure was at first.

/// The sum of the increases of a figure.
#[derive(Debug, Default)]
pub(crate) struct Total {
    sum: u64,
    /// The highest figure so far; `None` if the next one is the first of a consumer.
    figure: Option<u64>,
}

impl Total {
    /// Adds the increase of the figure. Figures may fall for a moment: the sequence of a group of
    /// workers, or that of a ring while it is being closed.
    pub(crate) fn add(&mut self, figure: u64) {
        let before = self.figure.unwrap_or(figure);
        self.sum += figure.saturating_sub(before);
        self.figure = Some(figure.max(before));
    }

    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }

    /// Whether `figure` is below the highest so far.
    pub(crate) fn has_fallen_to(&self, figure: u64) -> bool {
        self.figure.is_some_and(|highest| figure < highest)
    }

    /// Makes the next figure the first of a consumer, and so not an increase.
    pub(crate) fn begin_again(&mut self) {
        self.figure = None;
    }
}
