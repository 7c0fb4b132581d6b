//! The results of a run as rows of a table, and the comparison of two runs.

use std::fmt;

use super::bad_lines::BadLines;
use super::order_book::{Level, OrderBook};
use super::tape::Tape;

const COLUMN_WIDTH: usize = 20;

/// The result of a run over an input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Lines of the input, valid and invalid.
    pub(crate) lines: u64,
    /// Lines that are not a message.
    pub(crate) bad_lines: BadLines,
    /// Lines that are a message.
    pub(crate) messages: u64,
    /// Records in the journal.
    pub(crate) journalled: u64,
    /// Trades.
    pub(crate) trades: u64,
    /// Shares traded.
    pub(crate) volume: u64,
    /// Messages that name an order that is not in the book.
    pub(crate) unknown_orders: u64,
    /// Messages that contradict the book.
    pub(crate) contradictions: u64,
    /// Highest bid at the end.
    pub(crate) best_bid: Option<Level>,
    /// Lowest ask at the end.
    pub(crate) best_ask: Option<Level>,
}

impl Figures {
    /// Collects the results of the parts at the end of a run.
    #[must_use]
    pub(crate) fn new(
        lines: u64,
        bad_lines: BadLines,
        journalled: u64,
        tape: &Tape,
        book: &OrderBook,
    ) -> Self {
        Self {
            lines,
            bad_lines,
            messages: tape.messages(),
            journalled,
            trades: tape.trades(),
            volume: tape.volume(),
            unknown_orders: book.unknown_orders(),
            contradictions: book.contradictions(),
            best_bid: book.best_bid(),
            best_ask: book.best_ask(),
        }
    }

    /// Returns the name and the value of each figure, in the order of the table.
    fn rows(&self) -> [(&'static str, String); 10] {
        let level =
            |level: Option<Level>| level.map_or("none".to_owned(), |level| level.to_string());
        [
            ("lines", self.lines.to_string()),
            ("bad lines", self.bad_lines.count().to_string()),
            ("messages", self.messages.to_string()),
            ("journalled", self.journalled.to_string()),
            ("trades", self.trades.to_string()),
            ("volume", self.volume.to_string()),
            ("unknown orders", self.unknown_orders.to_string()),
            ("contradictions", self.contradictions.to_string()),
            ("best bid", level(self.best_bid)),
            ("best ask", level(self.best_ask)),
        ]
    }
}

/// The figures of the ring and of the plain loop for the same input. `Display` prints a table with
/// a verdict.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    /// The figures of the graph.
    pub(crate) ring: &'a Figures,
    /// The figures of the plain loop.
    pub(crate) plain: &'a Figures,
}

impl Comparison<'_> {
    /// Whether all figures are equal, including the reasons of the listed bad lines.
    #[must_use]
    pub(crate) fn is_identical(&self) -> bool {
        self.ring == self.plain
    }
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<16}{:>COLUMN_WIDTH$}{:>COLUMN_WIDTH$}", "", "disruptor", "plain loop")?;
        for ((name, ring), (_, plain)) in self.ring.rows().iter().zip(&self.plain.rows()) {
            let mark = if ring == plain { "" } else { "  <-- differs" };
            writeln!(f, "{name:<16}{ring:>COLUMN_WIDTH$}{plain:>COLUMN_WIDTH$}{mark}")?;
        }
        f.write_str(if self.is_identical() { "identical" } else { "NOT identical" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(lines: u64) -> Figures {
        Figures::new(lines, BadLines::default(), 0, &Tape::default(), &OrderBook::default())
    }

    #[test]
    fn equal_figures_are_identical_and_no_row_is_marked() {
        let (ring, plain) = (figures(3), figures(3));
        let comparison = Comparison { ring: &ring, plain: &plain };
        assert!(comparison.is_identical());
        let table = comparison.to_string();
        assert!(table.ends_with("\nidentical"), "{table}");
        assert!(!table.contains("differs"), "{table}");
    }

    #[test]
    fn the_row_that_differs_is_marked() {
        let (ring, plain) = (figures(3), figures(4));
        let comparison = Comparison { ring: &ring, plain: &plain };
        assert!(!comparison.is_identical());
        let table = comparison.to_string();
        let marked: Vec<&str> = table.lines().filter(|row| row.ends_with("<-- differs")).collect();
        assert_eq!(marked.len(), 1, "{table}");
        assert!(marked[0].starts_with("lines"), "{table}");
        assert!(table.ends_with("\nNOT identical"), "{table}");
    }
}
