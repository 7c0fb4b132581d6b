//! Columns: a heading, and what it says about a record.

use lapwing_lab_stats::Percentiles;

use super::table::Heading;
use super::{notes, text};
use crate::record::{Key, Label, Record, figure};

/// A column of a table of records.
pub(crate) struct Column<'a> {
    heading: Heading,
    cell: Box<dyn Fn(&Record) -> String + 'a>,
}

impl<'a> Column<'a> {
    /// Creates a column of words.
    pub(crate) fn words(name: &str, cell: impl Fn(&Record) -> String + 'a) -> Self {
        let heading = Heading { name: name.to_owned(), is_number: false, leaves: 0 };
        Self { heading, cell: Box::new(cell) }
    }

    /// Creates a column of numbers. `None` is shown as a dash.
    pub(crate) fn numbers(name: &str, cell: impl Fn(&Record) -> Option<String> + 'a) -> Self {
        let heading = Heading { name: name.to_owned(), is_number: true, leaves: 0 };
        let cell = move |record: &Record| cell(record).unwrap_or_else(|| text::NONE.to_owned());
        Self { heading, cell: Box::new(cell) }
    }

    /// Sets how early a narrow terminal leaves it out: 1 is first. A column that was left out comes back if it fits in
    /// the place of a wider one. Columns without a number always stay.
    pub(crate) const fn leaves(mut self, order: u8) -> Self {
        self.heading.leaves = order;
        self
    }

    /// Returns its text about `record`.
    pub(crate) fn cell(&self, record: &Record) -> String {
        (self.cell)(record)
    }

    /// Returns its heading.
    pub(super) fn into_heading(self) -> Heading {
        self.heading
    }
}

/// Returns the column of a label of the cell, or of a fact, in words.
pub(crate) fn label<'a>(name: &str, key: Key) -> Column<'a> {
    Column::words(name, move |record| record.text(key))
}

/// Returns the column of a label of the cell, or of a fact, in numbers. A count is shown with all its digits.
pub(crate) fn number<'a>(name: &str, key: Key) -> Column<'a> {
    Column::numbers(name, move |record| match record.label(key)? {
        Label::Number(number) => Some(text::rounded(*number)),
        Label::Count(count) => Some(count.to_string()),
        Label::Word(_) => None,
    })
}

/// Returns the column of the contenders.
pub(crate) fn contender<'a>() -> Column<'a> {
    Column::words("contender", |record| record.contender.clone())
}

/// Returns the column of waits and placements.
pub(crate) fn setting<'a>() -> Column<'a> {
    Column::words("wait", Record::setting)
}

/// Returns the column of the medians of a figure, converted to a unit.
pub(crate) fn median<'a>(name: &str, figure: &'a str, unit: fn(f64) -> f64) -> Column<'a> {
    Column::numbers(name, move |record| record.median(figure).map(unit).map(text::rounded))
}

/// Returns the column of the smallest and the largest value of a figure, converted to a unit.
pub(crate) fn range<'a>(figure: &'a str, unit: fn(f64) -> f64) -> Column<'a> {
    Column::numbers("min .. max", move |record| {
        let (one, other) = record.range(figure)?;
        let (one, other) = (unit(one), unit(other));
        Some(text::interval(one.min(other), one.max(other)))
    })
}

/// Returns the column of a percentile of the delays of one part of the path, in nanoseconds.
pub(crate) fn delay<'a>(
    name: &str,
    part: &'a str,
    percentile: fn(&Percentiles) -> f64,
) -> Column<'a> {
    Column::numbers(name, move |record| {
        record.delays_of(part).map(|delays| format!("{:.0}", percentile(delays)))
    })
}

/// Returns the column of the median rates, each in the unit that suits it.
pub(crate) fn rate<'a>() -> Column<'a> {
    Column::numbers("rate", |record| record.median(figure::PER_SECOND).map(text::rate))
}

/// Returns the column of the quartiles of the rates.
pub(crate) fn quartiles<'a>() -> Column<'a> {
    Column::numbers("quartiles", |record| {
        let (low, high) = record.quartiles(figure::PER_SECOND)?;
        Some(format!("{} .. {}", text::rate(low), text::rate(high)))
    })
}

/// Returns the column of how many times as fast as the baseline each row is. Its name has the baseline's.
pub(crate) fn ratio<'a>(records: &[&Record]) -> Column<'a> {
    ratio_to(&format!("x {}", baseline(records)))
}

/// Returns the column of how many times as fast as the baseline of its cell each row is.
pub(crate) fn ratio_to<'a>(name: &str) -> Column<'a> {
    Column::numbers(name, |record| record.ratio.as_ref().map(|ratio| text::rounded(ratio.median)))
}

/// Returns the column of the share of runs below a tenth of the median, in percent.
pub(crate) fn stalled<'a>() -> Column<'a> {
    Column::numbers("stalled %", |record| {
        Some(format!("{:.0}", 100.0 * notes::stalled_share(record)))
    })
}

/// Returns the column of how many times as long as the baseline each row takes.
pub(crate) fn times_as_long<'a>(name: &str) -> Column<'a> {
    Column::numbers(name, |record| {
        record.ratio.as_ref().map(|ratio| text::rounded(1.0 / ratio.median))
    })
}

/// Returns the column of the 95 % intervals of the ratios.
pub(crate) fn interval<'a>() -> Column<'a> {
    Column::numbers("95 %", |record| {
        let (low, high) = record.ratio.as_ref()?.interval;
        Some(text::interval(low, high))
    })
}

/// Returns the column of the working threads of a run.
pub(crate) fn threads<'a>() -> Column<'a> {
    Column::numbers("threads", |record| Some(record.threads.to_string()))
}

/// Returns the column of the CPUs in use.
pub(crate) fn cpus<'a>() -> Column<'a> {
    median("CPUs", figure::CPUS, same)
}

/// Returns the column of the mean lengths of batches.
pub(crate) fn batch<'a>() -> Column<'a> {
    median("events/batch", figure::BATCH, same)
}

/// Returns the column of voluntary and involuntary context switches per second.
pub(crate) fn switches<'a>() -> Column<'a> {
    Column::numbers("switches/s", |record| {
        let voluntary = record.median(figure::VOLUNTARY)?;
        let involuntary = record.median(figure::INVOLUNTARY)?;
        Some(format!("{voluntary:.0} + {involuntary:.0}"))
    })
}

/// Returns the contender that `records` are compared with.
pub(crate) fn baseline<'a>(records: &[&'a Record]) -> &'a str {
    let ratio = records.iter().find_map(|record| record.ratio.as_ref());
    ratio.map_or("baseline", |ratio| &ratio.to)
}

/// The unit of a figure as it is.
pub(crate) const fn same(value: f64) -> f64 {
    value
}

/// Millions.
pub(crate) const fn millions(value: f64) -> f64 {
    value / 1e6
}

/// Nanoseconds from one to the next, of so many per second.
pub(crate) const fn nanoseconds(per_second: f64) -> f64 {
    1e9 / per_second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_shown_as_one_and_a_measure_with_its_digits() {
        let record = Record::new("test", "lapwing", 2)
            .in_cell(Key::CONSUMERS, 8_u64)
            .in_cell(Key::new("share"), 0.5);
        let cells =
            ["consumers", "share", "absent"].map(|key| number(key, Key::new(key)).cell(&record));
        assert_eq!(cells, ["8", "0.50", text::NONE]);
    }
}
