//! The output of results: tables for people, JSON for programs. The records of every throughput
//! table contain [`Speed`](crate::measure::row::Speed).

pub(crate) mod html; // `lapwing report`: a page with plots
pub(crate) mod json; // the file of `--json`
pub(crate) mod rates; // runs with a fixed length
pub(crate) mod settings; // the name of a row's setting
pub(crate) mod strategies; // the default against the best other strategy
pub(crate) mod table; // the tables on standard output

pub(crate) use crate::record::Missing;

/// Returns each of `items` once, in the order of their first occurrence.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
