//! A table: headings, and rows of texts.

use serde::Serialize;

use super::column::Column;
use crate::record::Record;

/// A table for the terminal and for the page.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    /// What its rows have in common. Empty for the only table of an experiment.
    pub(crate) caption: String,
    /// Its columns.
    pub(crate) headings: Vec<Heading>,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
}

/// The head of a column.
#[derive(Debug, Serialize)]
pub(crate) struct Heading {
    /// Its name, with the unit.
    pub(crate) name: String,
    /// Whether it holds numbers, which are aligned to the right.
    pub(crate) is_number: bool,
    /// How early a narrow terminal leaves it out: 1 is first, 0 is never.
    pub(crate) leaves: u8,
}

/// A row.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// A text for each column.
    pub(crate) cells: Vec<String>,
    /// Whether it is Lapwing's.
    pub(crate) is_own: bool,
}

impl Table {
    /// Creates a table with a row for each of `records`.
    pub(crate) fn of(
        caption: impl Into<String>,
        records: &[&Record],
        columns: Vec<Column<'_>>,
    ) -> Self {
        let row = |record: &&Record| Row {
            cells: columns.iter().map(|column| column.cell(record)).collect(),
            is_own: record.is_own(),
        };
        let rows = records.iter().map(row).collect();
        let headings = columns.into_iter().map(Column::into_heading).collect();
        Self { caption: caption.into(), headings, rows }
    }

    /// Creates a table without rows, for rows that are not one record each.
    pub(crate) fn empty(caption: impl Into<String>, words: &[&str], numbers: &[&str]) -> Self {
        let heading =
            |name: &&str, is_number| Heading { name: (*name).to_owned(), is_number, leaves: 0 };
        let words = words.iter().map(|name| heading(name, false));
        let headings = words.chain(numbers.iter().map(|name| heading(name, true))).collect();
        Self { caption: caption.into(), headings, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, is_own: bool, cells: Vec<String>) {
        self.rows.push(Row { cells, is_own });
    }

    /// Sets which columns a narrow terminal leaves out, the first one first.
    pub(crate) fn leaving(mut self, names: &[&str]) -> Self {
        for heading in &mut self.headings {
            let place = names.iter().position(|name| *name == heading.name);
            heading.leaves = place.map_or(0, |place| u8::try_from(place + 1).unwrap_or(u8::MAX));
        }
        self
    }
}
