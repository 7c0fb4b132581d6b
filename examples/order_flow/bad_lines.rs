//! Lines that were skipped: how many, and the first few of them with their reasons.

use std::fmt;

use super::message::MessageError;

/// How many bad lines are told one by one. A file of another kind is all bad lines.
const TOLD: usize = 10;

/// Skipped lines; displays as a report of a line each.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BadLines {
    count: u64,
    /// Line number and reason of the first `TOLD` of them.
    first: Vec<(u64, MessageError)>,
}

impl BadLines {
    /// Notes that line `number` was skipped.
    pub fn record(&mut self, number: u64, reason: &MessageError) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push((number, reason.clone()));
        }
    }

    /// All that were skipped, told or not.
    #[must_use]
    pub fn count(&self) -> u64 {
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
