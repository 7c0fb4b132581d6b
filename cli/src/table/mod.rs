//! The graph as a table: a row for the producers, then one for each stage. Not here: how it is drawn
//! (`screen`, `text`).

use std::time::Duration;

use lapwing::monitor::StageState;

use crate::figures::{Awaited, Figures, StageFigures};
use crate::words::{columns, cut, optional_rate, rounded_down, visible};

/// The space between two columns.
pub(crate) const GAP: &str = "  ";
/// The columns of a bar.
const BAR: usize = 6;
/// The columns that a name, and a list of names, has at most, and the least that a cut one has.
const NAME: usize = 24;
const SHORTEST_NAME: usize = 12;
/// Columns by which a stage is indented for each stage before it, and the most.
const INDENT: usize = 2;
const MOST_INDENTS: usize = 4;

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Stage,
    After,
    State,
    For,
    WaitsFor,
    Sequence,
    Unacknowledged,
    Lag,
    Bar,
    EventsPerSecond,
    PerBatch,
    Parks,
    WakeUps,
}

/// All columns, from left to right.
const COLUMNS: [Column; 13] = [
    Column::Stage,
    Column::After,
    Column::State,
    Column::For,
    Column::WaitsFor,
    Column::Sequence,
    Column::Lag,
    Column::Bar,
    Column::Unacknowledged,
    Column::EventsPerSecond,
    Column::PerBatch,
    Column::Parks,
    Column::WakeUps,
];

/// The columns that a narrow terminal lacks, the first one first. The others are always there.
const LEAVE: [Column; 9] = [
    Column::Bar,
    Column::WakeUps,
    Column::After,
    Column::For,
    Column::Parks,
    Column::PerBatch,
    Column::Sequence,
    Column::Unacknowledged,
    Column::WaitsFor,
];

/// How a row is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Producers,
    Stage { state: StageState, is_culprit: bool },
}

/// A row: its cells, in the order of the columns of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) look: Look,
    pub(crate) cells: Vec<String>,
}

/// A table that fits a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// Each with its width.
    pub(crate) columns: Vec<(Column, usize)>,
    pub(crate) rows: Vec<Row>,
}

impl Column {
    fn head(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::After => "after",
            Self::State => "state",
            Self::For => "for ≥",
            Self::WaitsFor => "waits for",
            Self::Sequence => "sequence",
            Self::Unacknowledged => "unacked",
            Self::Lag => "lag",
            Self::Bar => "",
            Self::EventsPerSecond => "events/s",
            Self::PerBatch => "batch",
            Self::Parks => "parks/s",
            Self::WakeUps => "wakes/s",
        }
    }

    /// Whether it is aligned to the left.
    fn is_text(self) -> bool {
        matches!(self, Self::Stage | Self::After | Self::State | Self::WaitsFor | Self::Bar)
    }

    fn of_producers(self, figures: &Figures) -> String {
        match self {
            Self::Stage => "producers".to_owned(),
            Self::State if figures.waiting_producers > 0 => {
                format!("{} waiting", figures.waiting_producers)
            }
            Self::WaitsFor => list(&figures.producers_wait_for),
            Self::Sequence => figures.published.to_string(),
            Self::EventsPerSecond => optional_rate(figures.published_per_second),
            _ => String::new(),
        }
    }

    fn of_stage(self, stage: &StageFigures, capacity: usize) -> String {
        let rates = stage.rates.as_ref();
        match self {
            Self::Stage => {
                let indent = INDENT * (stage.depth + 1).min(MOST_INDENTS);
                format!("{}{}", " ".repeat(indent), cut(&visible(&stage.name), NAME))
            }
            Self::After => after(&stage.after),
            Self::State => stage.state.to_string(),
            Self::For => optional_duration(stage.state_for),
            Self::WaitsFor => list(&stage.waits_for),
            Self::Sequence => stage.sequence.to_string(),
            Self::Unacknowledged => stage.acknowledged.map_or_else(String::new, |acknowledged| {
                stage.sequence.saturating_sub(acknowledged).to_string()
            }),
            Self::Lag => stage.lag.to_string(),
            Self::Bar => bar(stage.lag, capacity as u64, BAR),
            Self::EventsPerSecond => optional_rate(rates.map(|rates| rates.events_per_second)),
            Self::PerBatch => {
                let length = rates.and_then(|rates| rates.events_per_batch);
                length.map_or_else(|| "-".to_owned(), |length| format!("{length:.1}"))
            }
            Self::Parks => optional_rate(rates.map(|rates| rates.parks_per_second)),
            Self::WakeUps => optional_rate(rates.map(|rates| rates.wake_ups_per_second)),
        }
    }
}

impl Table {
    /// Makes a table of at most `width` columns, without those for which there is no space. It is
    /// wider if even the last ones do not fit.
    pub(crate) fn fitting(figures: &Figures, width: usize) -> Self {
        let has_acknowledgements = figures.stages.iter().any(|stage| stage.acknowledged.is_some());
        let mut kept = COLUMNS.to_vec();
        kept.retain(|column| *column != Column::Unacknowledged || has_acknowledgements);
        let mut table = Self::with(figures, &kept);
        for column in LEAVE {
            if table.width() <= width {
                break;
            }
            kept.retain(|kept| *kept != column);
            table = Self::with(figures, &kept);
        }
        table.cut_names(width);
        table
    }

    /// Makes a table with all columns.
    pub(crate) fn whole(figures: &Figures) -> Self {
        Self::fitting(figures, usize::MAX)
    }

    fn with(figures: &Figures, kept: &[Column]) -> Self {
        let producers = Row {
            look: Look::Producers,
            cells: kept.iter().map(|column| column.of_producers(figures)).collect(),
        };
        let stages = figures.stages.iter().map(|stage| Row {
            look: Look::Stage { state: stage.state, is_culprit: stage.is_culprit },
            cells: kept.iter().map(|column| column.of_stage(stage, figures.capacity)).collect(),
        });
        let rows: Vec<_> = [producers].into_iter().chain(stages).collect();
        let width = |(at, column): (usize, &Column)| {
            let cells = rows.iter().map(|row| columns(&row.cells[at]));
            let widest = cells.max().unwrap_or(0).max(columns(column.head()));
            (*column, if *column == Column::Bar { BAR } else { widest })
        };
        let columns = kept.iter().enumerate().map(width).collect();
        Self { columns, rows }
    }

    fn width(&self) -> usize {
        let gaps = GAP.len() * self.columns.len().saturating_sub(1);
        gaps + self.columns.iter().map(|(_, width)| width).sum::<usize>()
    }

    /// Cuts the names of stages until the table fits.
    fn cut_names(&mut self, width: usize) {
        let excess = self.width().saturating_sub(width);
        let least = SHORTEST_NAME.min(self.columns[0].1);
        let kept = (self.columns[0].1).saturating_sub(excess).max(least);
        self.columns[0].1 = kept;
        for row in &mut self.rows {
            row.cells[0] = cut(&row.cells[0], kept);
        }
    }

    /// Returns the headings, padded to the widths of their columns.
    pub(crate) fn heads(&self) -> Vec<String> {
        let heads: Vec<_> = self.columns.iter().map(|(column, _)| column.head()).collect();
        self.padded(&heads)
    }

    /// Returns the cells of a row, padded to the widths of their columns.
    pub(crate) fn cells(&self, row: &Row) -> Vec<String> {
        self.padded(&row.cells.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn padded(&self, cells: &[&str]) -> Vec<String> {
        let padded = self.columns.iter().zip(cells).map(|((column, width), cell)| {
            let space = " ".repeat(width.saturating_sub(columns(cell)));
            if column.is_text() { format!("{cell}{space}") } else { format!("{space}{cell}") }
        });
        padded.collect()
    }
}

/// Returns a bar of at most `width` blocks. It has one as soon as there is something.
pub(crate) fn bar(part: u64, whole: u64, width: usize) -> String {
    let blocks = (u128::from(part) * width as u128).div_ceil(u128::from(whole.max(1)));
    "█".repeat((blocks as usize).min(width))
}

fn after(names: &[String]) -> String {
    if names.is_empty() {
        return "producers".to_owned();
    }
    let names: Vec<_> = names.iter().map(|name| visible(name)).collect();
    cut(&names.join(", "), NAME)
}

fn list(awaited: &[Awaited]) -> String {
    cut(&awaited.iter().map(Awaited::to_string).collect::<Vec<_>>().join(", "), NAME)
}

fn optional_duration(duration: Option<Duration>) -> String {
    duration.map_or_else(|| "-".to_owned(), rounded_down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::figures;

    fn names(table: &Table) -> Vec<Column> {
        table.columns.iter().map(|(column, _)| *column).collect()
    }

    #[test]
    fn a_narrow_table_lacks_columns_in_their_order() {
        let figures = figures();
        let whole = Table::whole(&figures);
        assert_eq!(names(&whole).len(), COLUMNS.len());
        let mut widths = Vec::new();
        for width in (0..=whole.width()).rev() {
            let table = Table::fitting(&figures, width);
            let missing = COLUMNS.len() - table.columns.len();
            for column in COLUMNS {
                let is_left = LEAVE[..missing].contains(&column);
                assert_eq!(is_left, !names(&table).contains(&column), "{column:?} of {width}");
            }
            widths.push(table.width());
        }
        assert!(widths.is_sorted_by(|wide, narrow| wide >= narrow));
        assert!(*widths.last().unwrap() <= crate::screen::SMALLEST.0.into(), "{widths:?}");
    }

    #[test]
    fn a_table_without_acknowledgements_has_no_column_for_them() {
        let mut figures = figures();
        figures.stages.iter_mut().for_each(|stage| stage.acknowledged = None);
        assert!(!names(&Table::whole(&figures)).contains(&Column::Unacknowledged));
    }

    #[test]
    fn a_bar_shows_a_little_and_never_too_much() {
        assert_eq!(bar(0, 64, 8), "");
        assert_eq!(bar(1, 1 << 30, 8), "█");
        assert_eq!(bar(64, 64, 8), "█".repeat(8));
        assert_eq!(bar(65, 64, 8), "█".repeat(8));
        assert_eq!(bar(1, 0, 8), "█".repeat(8));
    }
}
