//! How results are shown: tables and a page for people, JSON for programs. Every table of speeds
//! has [`Speed`](crate::measure::row::Speed) in its records.

pub(crate) mod html; // `lapwing report`: a page with plots
pub(crate) mod json; // the file of `--json`
pub(crate) mod rates; // runs of a given time
pub(crate) mod settings; // how a row says what it is set to
pub(crate) mod strategies; // the default against the best other strategy
pub(crate) mod table; // the tables on standard output

use serde::Serialize;

/// A contender that cannot take part.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Missing {
    /// Its name.
    pub(crate) contender: String,
    /// Why not, in a few words.
    pub(crate) reason: String,
}

/// Each of `items` once, in the order of their first.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
