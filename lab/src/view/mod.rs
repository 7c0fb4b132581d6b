//! How records are shown. An experiment describes its tables and charts once, in a [`View`]; the terminal prints the
//! tables, and the page has both.
//!
//! ```text
//! records --> View --> tables of columns --> terminal
//!                |                      \
//!                \--> charts ------------> page
//! ```
//!
//! A column is a heading and a function from a record to a text (`column`), so a further column is one line in the
//! list of its experiment.

pub(crate) mod chart; // bars and lines
pub(crate) mod column; // the columns that experiments share
pub(crate) mod notes; // sentences below the tables
mod page; // `lapwing-lab report`
mod table; // rows of texts
pub(crate) mod terminal; // tables on standard output
pub(crate) mod text; // numbers as text

pub(crate) use self::chart::{Axis, Bar, Bars, Chart, Lines, Series};
pub(crate) use self::column::Column;
pub(crate) use self::page::{ReportArguments, run};
pub(crate) use self::table::Table;
use crate::record::{Record, by};

/// How the records of one experiment are shown.
#[derive(Debug)]
pub(crate) struct View {
    /// The experiment, as on the command line and in its records.
    pub(crate) experiment: &'static str,
    /// The heading of its section.
    pub(crate) title: &'static str,
    /// What is measured, and how to read it.
    pub(crate) lead: &'static str,
    /// The tables over its records.
    pub(crate) tables: fn(&[&Record]) -> Vec<Table>,
    /// The charts over its records.
    pub(crate) charts: fn(&[&Record]) -> Vec<Chart>,
    /// What a reader must know about these numbers, beyond what holds for every table.
    pub(crate) notes: fn(&[&Record]) -> Vec<String>,
}

/// Returns `records` by their captions, such as [`text::placement`]. If all have the same one, it is left blank.
pub(crate) fn by_caption<'a>(
    records: &[&'a Record],
    caption: impl Fn(&Record) -> String,
) -> Vec<(String, Vec<&'a Record>)> {
    let mut groups = by(records, caption);
    if let [(caption, _)] = &mut groups[..] {
        caption.clear();
    }
    groups
}

/// Returns nothing: an experiment without charts.
pub(crate) fn no_charts(_: &[&Record]) -> Vec<Chart> {
    Vec::new()
}
