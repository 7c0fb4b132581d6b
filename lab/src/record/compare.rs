//! The comparison of rows of one cell, round by round: what both contenders of a ratio share, such as a slow minute
//! of the machine, cancels out.

use lapwing_lab_stats::{interval_of_median, median};

use super::{Ratio, Record, figure};

/// Sets the ratio of each of `records` to the baseline of its cell. `baseline` selects it among the records of one
/// cell, by its index; a cell without a baseline has no ratios.
pub(crate) fn compare(records: &mut [Record], baseline: impl Fn(&[&Record]) -> Option<usize>) {
    let ratios = records.iter().map(|record| ratio(record, records, &baseline)).collect::<Vec<_>>();
    for (record, ratio) in records.iter_mut().zip(ratios) {
        record.ratio = ratio;
    }
}

fn ratio(
    record: &Record,
    records: &[Record],
    baseline: impl Fn(&[&Record]) -> Option<usize>,
) -> Option<Ratio> {
    let cell = records.iter().filter(|other| other.cell == record.cell).collect::<Vec<_>>();
    let baseline = cell[baseline(&cell)?];
    let ratios = in_rounds(record, baseline);
    Some(Ratio {
        to: baseline.contender.clone(),
        median: median(ratios.iter().copied())?,
        interval: interval_of_median(&ratios)?,
    })
}

/// Returns the rate of `record` relative to that of `other`, for each round that both have.
pub(crate) fn in_rounds(record: &Record, other: &Record) -> Vec<f64> {
    let rounds = record.each(figure::PER_SECOND).zip(other.each(figure::PER_SECOND));
    rounds.map(|(own, other)| own / other).collect()
}

/// Selects the contender `name`, if it ran.
pub(crate) fn named(name: &str) -> impl Fn(&[&Record]) -> Option<usize> {
    move |cell| cell.iter().position(|record| record.contender == name)
}

/// Selects the contender `name`, or the last one of the cell if it did not run.
pub(crate) fn named_or_last(name: &str) -> impl Fn(&[&Record]) -> Option<usize> {
    let named = named(name);
    move |cell| named(cell).or_else(|| cell.len().checked_sub(1))
}

/// Selects the contender with the highest median rate.
pub(crate) fn fastest(cell: &[&Record]) -> Option<usize> {
    (0..cell.len()).max_by(|one, other| cell[*one].rate().total_cmp(&cell[*other].rate()))
}

#[cfg(test)]
mod tests {
    use super::super::Key;
    use super::super::tests::record;
    use super::*;

    #[test]
    fn ratios_are_those_of_each_round() {
        let mut records = [record("one", &[10.0, 1.0, 30.0]), record("other", &[20.0, 20.0, 20.0])];
        compare(&mut records, fastest);
        let ratios = records.each_ref().map(|record| record.ratio.clone().unwrap());
        assert_eq!((&*ratios[0].to, ratios[0].median, ratios[1].median), ("other", 0.5, 1.0));
        assert!(ratios[0].interval.0 <= 0.5 && ratios[0].interval.1 >= 0.5);
    }

    #[test]
    fn the_last_row_is_the_baseline_where_the_named_one_did_not_run() {
        let mut records = [record("one", &[10.0]), record("other", &[20.0])];
        compare(&mut records, named_or_last("one"));
        assert_eq!(records[1].ratio.as_ref().unwrap().median, 2.0);
        compare(&mut records, named_or_last("absent"));
        assert_eq!(records[0].ratio.as_ref().unwrap().to, "other");
        compare(&mut records, named("absent"));
        assert!(records[0].ratio.is_none());
    }

    #[test]
    fn other_work_is_not_compared() {
        let mut records =
            [record("one", &[10.0]), record("other", &[20.0]).in_cell(Key::RING, 64_u64)];
        compare(&mut records, named_or_last("one"));
        assert_eq!(records[1].ratio.as_ref().unwrap().to, "other");
    }
}
