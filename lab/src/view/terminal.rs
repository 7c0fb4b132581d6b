//! Tables on standard output: Markdown, so that they can be pasted into a report as they are.

use std::{env, io};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table as Grid, presets};
use terminal_size::{Width, terminal_size_of};

use super::{Table, View};
use crate::machine::Machine;
use crate::record::{Missing, Record};

/// Columns of an output that is no terminal, unless `COLUMNS` says otherwise.
const COLUMNS: usize = 100;

/// Returns all tables of `view`, and what a reader must know about them.
pub(crate) fn render(
    view: &View,
    records: &[Record],
    missing: &[Missing],
    machine: &Machine,
) -> String {
    let records = records.iter().collect::<Vec<_>>();
    let tables = (view.tables)(&records);
    let mut parts = tables.iter().map(|table| fitted(table, columns())).collect::<Vec<_>>();
    let mut notes = missing
        .iter()
        .map(|Missing { contender, reason }| format!("not run: {contender}: {reason}"))
        .collect::<Vec<_>>();
    notes.extend((view.notes)(&records));
    notes.extend(common_notes(&records, machine));
    parts.push(notes.join("\n"));
    parts.join("\n\n")
}

/// Returns what holds for every table: that all answers were right, and what disturbed the runs.
fn common_notes(records: &[&Record], machine: &Machine) -> Vec<String> {
    let runs = records.iter().map(|record| record.runs.len()).sum::<usize>();
    let mut notes =
        vec![format!("all verified: {} rows, {runs} runs, the right answer", records.len())];
    notes.extend(crowded(records, machine));
    if records.iter().any(|record| !record.has_default_placement()) {
        notes.push(
            "after a wait of lapwing: auto is as many threads as there are CPUs without those of the producers, and \
             a number is the number of threads; where none is named, each consumer has a thread"
                .to_owned(),
        );
    }
    notes.extend(machine.disturbance());
    notes
}

/// Returns which rows had more threads than CPUs, so that the scheduler decides with the contender.
pub(crate) fn crowded(records: &[&Record], machine: &Machine) -> Option<String> {
    let cpus = machine.available_parallelism();
    let most = records.iter().map(|record| record.threads).max()?;
    (most > cpus).then(|| {
        let rows = records.iter().filter(|record| record.threads > cpus).count();
        format!("{rows} of {} rows have more threads than the {cpus} usable CPUs, up to {most}: the scheduler counts", records.len())
    })
}

/// Returns `table` within so many columns of the terminal. A line below it names what is left out.
fn fitted(table: &Table, width: usize) -> String {
    let mut grid = grid(table);
    let fits = |grid: &Grid| grid.lines().all(|line| line.chars().count() <= width);
    let mut optional = (0..table.headings.len())
        .filter(|index| table.headings[*index].leaves > 0)
        .collect::<Vec<_>>();
    optional.sort_by_key(|index| table.headings[*index].leaves);
    let mut hidden = Vec::new();
    for index in optional {
        if fits(&grid) {
            break;
        }
        set_hidden(&mut grid, index, true);
        hidden.push(index);
    }
    // A narrow column may fit in the place of a wide one.
    for position in (0..hidden.len()).rev() {
        set_hidden(&mut grid, hidden[position], false);
        if fits(&grid) {
            hidden.remove(position);
        } else {
            set_hidden(&mut grid, hidden[position], true);
        }
    }
    let caption =
        if table.caption.is_empty() { String::new() } else { format!("{}:\n\n", table.caption) };
    if hidden.is_empty() {
        return format!("{caption}{grid}");
    }
    let names = hidden
        .iter()
        .map(|index| table.headings[*index].name.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        "{caption}{grid}\nleft out, for {width} columns (COLUMNS=200 shows them, --json has them): {names}"
    )
}

/// Returns the whole table. A first column that repeats the text above it is left blank.
fn grid(table: &Table) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(presets::ASCII_MARKDOWN);
    grid.set_header(table.headings.iter().map(|heading| Cell::new(&heading.name)));
    let mut above = None;
    for row in &table.rows {
        let first = row.cells.first();
        let repeats =
            first == above && table.headings.first().is_some_and(|heading| !heading.is_number);
        above = first;
        let cells = row.cells.iter().enumerate();
        grid.add_row(
            cells.map(|(index, text)| if index == 0 && repeats { "" } else { text.as_str() }),
        );
    }
    for (heading, column) in table.headings.iter().zip(grid.column_iter_mut()) {
        if heading.is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid
}

/// Hides a column of `grid`, or shows it.
fn set_hidden(grid: &mut Grid, index: usize, is_hidden: bool) {
    if let Some(column) = grid.column_mut(index) {
        if is_hidden {
            column.set_constraint(ColumnConstraint::Hidden);
        } else {
            column.remove_constraint();
        }
    }
}

/// Returns the columns of the terminal, or of the output.
fn columns() -> usize {
    let terminal = terminal_size_of(io::stdout()).map(|(Width(columns), _)| usize::from(columns));
    let asked_for = || env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(asked_for).unwrap_or(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of 41 columns.
    fn table() -> Table {
        let mut table = Table::empty("", &["contender"], &["rate", "range"]);
        table.add(true, ["lapwing", "100", "99.1 .. 101.2"].map(str::to_owned).into());
        table
    }

    #[test]
    fn a_table_that_fits_is_left_as_it_is() {
        let text = fitted(&table().leaving(&["range"]), 100);
        assert!(text.contains("101.2") && !text.contains("left out"), "{text}");
    }

    #[test]
    fn a_table_that_does_not_fit_leaves_out_what_is_needed_least() {
        let text = fitted(&table().leaving(&["range", "rate"]), 30);
        assert!(text.contains("100") && !text.contains("101.2"), "{text}");
        assert!(text.ends_with("--json has them): range"), "{text}");
        let text = fitted(&table().leaving(&["rate", "range"]), 28);
        assert!(text.contains("100") && text.ends_with("--json has them): range"), "{text}");
        assert!(fitted(&table().leaving(&["range"]), 1).contains("lapwing"));
    }

    #[test]
    fn a_repeated_first_word_is_blank() {
        let mut table = table();
        table.add(false, ["lapwing", "1", "2"].map(str::to_owned).into());
        assert_eq!(fitted(&table, 100).matches("lapwing").count(), 1);
    }
}
