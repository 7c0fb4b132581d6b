//! A snapshot as a table for a terminal.

use std::fmt;

use super::snapshot::{Snapshot, StageSnapshot};
use super::text::{counted, rounded_down, visible};

/// The upstream entry of a first stage.
const PRODUCERS: &str = "producers";

/// A column: its heading, whether it is aligned to the left as text, and its cell for a stage.
struct Column {
    head: &'static str,
    is_text: bool,
    cell: fn(&StageSnapshot) -> String,
}

const fn words(head: &'static str, cell: fn(&StageSnapshot) -> String) -> Column {
    Column { head, is_text: true, cell }
}

const fn figures(head: &'static str, cell: fn(&StageSnapshot) -> String) -> Column {
    Column { head, is_text: false, cell }
}

const COLUMNS: [Column; 11] = [
    words("stage", |stage| visible(&stage.name)),
    words("after", upstream),
    figures("sequence", |stage| stage.sequence.to_string()),
    ACKNOWLEDGED,
    figures("lag", |stage| stage.lag.to_string()),
    figures("available", |stage| stage.available.to_string()),
    words("state", |stage| stage.state.to_string()),
    figures("for at least", |stage| rounded_down(stage.state_for)),
    figures("batches", |stage| stage.batches.to_string()),
    figures("parks", |stage| stage.parks.to_string()),
    figures("wakes", |stage| stage.wakes.to_string()),
];

/// Shown only if some stage asks for acknowledgements.
const ACKNOWLEDGED: Column = figures("acknowledged", |stage| {
    stage.acknowledged.map_or_else(String::new, |sequence| sequence.to_string())
});

impl fmt::Display for Snapshot {
    /// Prints the ring on one line, then each stage on a line. The last line names what limits the
    /// ring, if [one snapshot](Self::bottleneck) shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (free, capacity) = (self.free_slots, self.capacity);
        write!(f, "ring {:?}: {}, {free} of {capacity} slots free", self.ring, self.state)?;
        write!(f, ", {} published", self.published)?;
        if self.claimed != self.published {
            write!(f, ", {} claimed", self.claimed)?;
        }
        if self.dropped > 0 {
            write!(f, ", {} dropped", self.dropped)?;
        }
        if self.waiting_producers > 0 {
            write!(f, ", {}", waiting(self.waiting_producers))?;
        }
        let is_acknowledged = self.stages.iter().any(|stage| stage.acknowledged.is_some());
        let is_shown = |column: &&Column| is_acknowledged || column.head != ACKNOWLEDGED.head;
        let columns: Vec<_> = COLUMNS.iter().filter(is_shown).collect();
        let heads = columns.iter().map(|column| column.head.to_owned()).collect();
        let row = |stage| columns.iter().map(|column| (column.cell)(stage)).collect();
        let rows: Vec<Vec<String>> =
            [heads].into_iter().chain(self.stages.iter().map(row)).collect();
        let are_text: Vec<_> = columns.iter().map(|column| column.is_text).collect();
        write_table(f, &rows, &are_text)?;
        if let Some(bottleneck) = self.bottleneck() {
            write!(f, "\nlimited by {bottleneck}")?;
        }
        Ok(())
    }
}

/// Writes each row on a new line and pads the cells to the column width. Text is aligned to the
/// left.
pub(super) fn write_table(
    f: &mut fmt::Formatter<'_>,
    rows: &[Vec<String>],
    are_text: &[bool],
) -> fmt::Result {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..are_text.len()).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(are_text).zip(&widths);
        let cells = cells.map(|((cell, is_text), width)| padded(cell, *is_text, *width));
        write!(f, "\n{}", cells.collect::<Vec<_>>().join("  "))?;
    }
    Ok(())
}

/// Names of the stages that `stage` directly depends on.
fn upstream(stage: &StageSnapshot) -> String {
    let names: Vec<_> = stage.upstream.iter().map(|name| visible(name)).collect();
    if names.is_empty() { PRODUCERS.to_owned() } else { names.join(", ") }
}

fn padded(cell: &str, is_text: bool, width: usize) -> String {
    if is_text { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}

/// "1 producer waits", "2 producers wait".
pub(super) fn waiting(producers: u64) -> String {
    counted(producers, "producer waits", "producers wait")
}
