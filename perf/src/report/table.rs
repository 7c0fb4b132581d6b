//! What the tables on standard output have in common: Markdown, so that they can be pasted into a report
//! as they are.

use std::{env, io};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table, presets};
use terminal_size::{Width, terminal_size_of};

use super::Missing;
use crate::machine::Machine;
use crate::measure::row::Speed;
use crate::measure::statistics::Spread;

/// CPUs that others may use on a machine that still counts as quiet.
const QUIET_CPUS: f64 = 0.1;

/// Columns of an output that is no terminal, unless `COLUMNS` says otherwise.
const COLUMNS: usize = 100;

/// What stands where there is no value.
pub(crate) const NONE: &str = "-";

/// That every run of `rows` gave the right answer: there is no report otherwise.
pub(crate) fn verified<'a>(rows: impl Iterator<Item = &'a Speed>) -> String {
    let (rows, runs) = rows.fold((0, 0), |(rows, runs), speed| (rows + 1, runs + speed.runs.len()));
    format!("all verified: {rows} rows, {runs} runs, the right answer")
}

/// A warning, if others used the machine meanwhile.
pub(crate) fn disturbance(machine: &Machine) -> Option<String> {
    let others = machine.cpus_used_by_others.filter(|cpus| *cpus > QUIET_CPUS)?;
    Some(format!(
        "others used {others:.2} CPUs meanwhile: repeat on a quiet machine before you compare"
    ))
}

/// A table without rows, whose columns from `first_number` on are aligned to the right.
pub(crate) fn empty(columns: &[&str], first_number: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(columns.iter().map(Cell::new));
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// `table` within the columns of the terminal. It leaves out columns until it fits: those of `least_needed`, the first one
/// first. A line below it names what is left out.
pub(crate) fn fitted(table: Table, least_needed: &[&str]) -> String {
    within(columns(), table, least_needed)
}

/// [`fitted`], within so many columns.
fn within(columns: usize, mut table: Table, least_needed: &[&str]) -> String {
    let fits = |table: &Table| table.lines().all(|line| line.chars().count() <= columns);
    let header = table.header().into_iter().flat_map(|row| row.cell_iter());
    let header = header.map(Cell::content).collect::<Vec<_>>();
    let index = |name: &&str| header.iter().position(|content| content == name);
    let mut hidden = Vec::new();
    for index in least_needed.iter().filter_map(index) {
        if fits(&table) {
            break;
        }
        set_hidden(&mut table, index, true);
        hidden.push(index);
    }
    // A narrow column may fit in the place of a wide one.
    for position in (0..hidden.len()).rev() {
        set_hidden(&mut table, hidden[position], false);
        if fits(&table) {
            hidden.remove(position);
        } else {
            set_hidden(&mut table, hidden[position], true);
        }
    }
    if hidden.is_empty() {
        return table.to_string();
    }
    let left_out =
        hidden.iter().map(|index| header[*index].as_str()).collect::<Vec<_>>().join(", ");
    format!(
        "{table}\nleft out, for {columns} columns (COLUMNS=200 shows them, --json has them): {left_out}"
    )
}

/// Hides a column of `table`, or shows it.
fn set_hidden(table: &mut Table, index: usize, is_hidden: bool) {
    if let Some(column) = table.column_mut(index) {
        if is_hidden {
            column.set_constraint(ColumnConstraint::Hidden);
        } else {
            column.remove_constraint();
        }
    }
}

/// The columns of the terminal, or of the output.
fn columns() -> usize {
    let terminal = terminal_size_of(io::stdout()).map(|(Width(columns), _)| usize::from(columns));
    let asked_for = || env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(asked_for).unwrap_or(COLUMNS)
}

/// What stands below a table for each contender that is `missing`.
pub(crate) fn absences(missing: &[Missing]) -> impl Iterator<Item = String> {
    missing.iter().map(|Missing { contender, reason }| format!("not run: {contender}: {reason}"))
}

/// A value as `text` writes it, or a sign that there is none.
pub(crate) fn or_none<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), text)
}

/// A rate in the unit that suits it: rates of one table may differ by a factor of a thousand.
pub(crate) fn rate(per_second: f64) -> String {
    match per_second {
        1e6.. => format!("{} M/s", rounded(per_second / 1e6)),
        1e3.. => format!("{} k/s", rounded(per_second / 1e3)),
        _ => format!("{} /s", rounded(per_second)),
    }
}

/// A time in the unit that suits it.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        1e9.. => format!("{} s", rounded(ns / 1e9)),
        1e6.. => format!("{} ms", rounded(ns / 1e6)),
        1e3.. => format!("{} us", rounded(ns / 1e3)),
        _ => format!("{} ns", rounded(ns)),
    }
}

/// A range of numbers.
pub(crate) fn range(spread: Spread) -> String {
    interval(spread.min, spread.max)
}

/// The numbers from `low` to `high`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("{} .. {}", rounded(low), rounded(high))
}

/// A number with as many decimals as a reader can use.
pub(crate) fn rounded(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of 41 columns.
    fn table() -> Table {
        let mut table = empty(&["contender", "rate", "range"], 1);
        table.add_row(["lapwing", "100", "99.1 .. 101.2"]);
        table
    }

    #[test]
    fn a_table_that_fits_is_left_as_it_is() {
        assert_eq!(within(100, table(), &["range"]), table().to_string());
    }

    #[test]
    fn a_table_that_does_not_fit_leaves_out_what_is_needed_least() {
        let text = within(30, table(), &["no such column", "range", "rate"]);
        assert!(text.contains("100") && !text.contains("101.2"), "{text}");
        assert!(text.ends_with("--json has them): range"), "{text}");
        let text = within(28, table(), &["rate", "range"]);
        assert!(text.contains("100") && text.ends_with("--json has them): range"), "{text}");
        assert!(within(1, table(), &["range"]).contains("lapwing"), "{text}");
    }
}
