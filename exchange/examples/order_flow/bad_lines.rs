//! The skipped lines: their number, and the first few with reasons.

use std::fmt;

use exchange::flows::lobster::message::MessageError;

/// The number of bad lines that are listed. Every line of an unsuitable file is bad.
const TOLD: usize = 10;

/// Skipped lines. `Display` prints a report with one line each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BadLines {
    count: u64,
    /// Line number and reason of the first `TOLD` lines.
    first: Vec<(u64, MessageError)>,
}

impl BadLines {
    /// Records that line `number` was skipped.
    pub(crate) fn record(&mut self, number: u64, reason: &MessageError) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push((number, reason.clone()));
        }
    }

    /// Returns the number of skipped lines, including those that are not listed.
    #[must_use]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

impl fmt::Display for BadLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, reason) in &self.first {
            writeln!(f, "line {number} skipped: {reason}")?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            untold => writeln!(f, "and {untold} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ten_are_told_with_number_and_reason_and_the_rest_counted() {
        let mut bad_lines = BadLines::default();
        assert_eq!(bad_lines.to_string(), "");
        for number in 1..=12 {
            bad_lines.record(number * 100, &MessageError::Blank);
        }
        let report = bad_lines.to_string();
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[0], "line 100 skipped: the line is empty");
        assert_eq!(lines[9], "line 1000 skipped: the line is empty");
        assert_eq!(lines[10], "and 2 more");
    }
}
