//! What a counter adds: the increase of a figure, whatever the figure was at first.

/// A figure that grows.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// The highest figure so far; `None` if the next one is the first of its ring or consumer.
    highest: Option<u64>,
}

impl Growth {
    /// Returns the increase up to `figure`. A figure may fall for a moment: the sequence of a group
    /// of workers, or that of a ring while it is being closed. What it then regains is no increase.
    pub(crate) fn up_to(&mut self, figure: u64) -> u64 {
        let highest = self.highest.unwrap_or(figure);
        self.highest = Some(highest.max(figure));
        figure.saturating_sub(highest)
    }

    /// Whether `figure` is below the highest so far.
    pub(crate) fn has_fallen_to(&self, figure: u64) -> bool {
        self.highest.is_some_and(|highest| figure < highest)
    }

    /// Makes the next figure the first one, and so not an increase.
    pub(crate) fn begin_again(&mut self) {
        self.highest = None;
    }
}
