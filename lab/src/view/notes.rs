//! Sentences about records that several experiments have below their tables.

use lapwing_lab_stats::median;

use crate::record::{Key, Label, OWN, Record, by, by_cell, fastest, figure, in_rounds};

/// A cell whose ratio to the best rival is at least this counts as close.
const CLOSE: f64 = 0.9;
/// A run below this fraction of the median of its row has stalled.
const STALLED_PART: f64 = 0.1;
/// The name of Lapwing's default strategy.
const DEFAULT_WAIT: &str = "adaptive";

/// Returns in how many cells each setting of Lapwing is at least as fast as the best rival.
pub(crate) fn standings(records: &[&Record]) -> Vec<String> {
    let mut settings = Vec::<(String, Vec<f64>)>::new();
    for cell in by_cell(records) {
        let rivals = cell.iter().copied().filter(|record| !record.is_own()).collect::<Vec<_>>();
        let Some(rival) = fastest(&rivals).map(|index| rivals[index]) else { continue };
        for own in cell.iter().filter(|record| record.is_own()) {
            let Some(ratio) = median(in_rounds(own, rival)) else { continue };
            match settings.iter_mut().find(|(setting, _)| *setting == own.setting()) {
                Some((_, ratios)) => ratios.push(ratio),
                None => settings.push((own.setting(), vec![ratio])),
            }
        }
    }
    let standing = |(setting, ratios): (String, Vec<f64>)| {
        let from = |least: f64| ratios.iter().filter(|ratio| **ratio >= least).count();
        let (first, cells, close) = (from(1.0), ratios.len(), from(CLOSE));
        format!(
            "{OWN} {setting}: at least as fast as the best rival in {first} of {cells} cells, and not more than 10 % \
             slower in {close}"
        )
    };
    settings.into_iter().map(standing).collect()
}

/// Returns the speed of Lapwing's default strategy relative to its best other one, for each cell that has both.
pub(crate) fn default_against_best(records: &[&Record]) -> Vec<String> {
    let compared = |cell: Vec<&Record>| {
        let (own, others): (Vec<_>, Vec<_>) = cell
            .into_iter()
            .filter(|record| record.is_own() && record.has_default_placement())
            .partition(|record| record.setting() == DEFAULT_WAIT);
        let best = others[fastest(&others)?];
        let ratio = median(in_rounds(own.first()?, best))?;
        let setting = best.setting();
        let words = best.cell.values().filter(|label| matches!(label, Label::Word(_)));
        let words = words.map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let work = best.label(Key::TOPOLOGY).map_or(words, ToString::to_string);
        Some(format!(
            "{OWN}'s default in {work}: {ratio:.2} times the speed of its best other wait, {setting}"
        ))
    };
    by_cell(records).into_iter().filter_map(compared).collect()
}

/// Returns the share of the runs of `record` below a tenth of their median.
pub(crate) fn stalled_share(record: &Record) -> f64 {
    let stalled =
        record.each(figure::PER_SECOND).filter(|rate| *rate < record.rate() * STALLED_PART);
    stalled.count() as f64 / record.runs.len().max(1) as f64
}

/// Returns how many runs of each contender stalled, over all of its rows, if any did.
pub(crate) fn stalled(records: &[&Record]) -> Option<String> {
    let of_contender = |(contender, rows): (String, Vec<&Record>)| {
        let runs = rows.iter().map(|record| record.runs.len()).sum::<usize>();
        let stalled =
            rows.iter().map(|record| stalled_share(record) * record.runs.len() as f64).sum::<f64>();
        (stalled > 0.5).then(|| format!("{contender} {stalled:.0} of {runs}"))
    };
    let contenders = by(records, |record| record.contender.clone());
    let stalled = contenders.into_iter().filter_map(of_contender).collect::<Vec<_>>();
    (!stalled.is_empty())
        .then(|| format!("runs below a tenth of the median of their row: {}", stalled.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Figures;

    fn record(contender: &str, wait: &str, rates: &[f64]) -> Record {
        let mut record = Record::new("throughput", contender, 2).in_cell(Key::TOPOLOGY, "unicast");
        record.wait = Some(wait.to_owned());
        let run = |rate: &f64| Figures::from([(figure::PER_SECOND.to_owned(), *rate)]);
        record.runs = rates.iter().map(run).collect();
        record
    }

    #[test]
    fn a_tie_is_first_and_a_tenth_is_close() {
        let rival = record("rtrb", "yield", &[10.0]);
        let owns = [10.0, 20.0, 9.5, 5.0].map(|rate| record(OWN, "adaptive", &[rate]));
        let records = owns.iter().chain([&rival]).collect::<Vec<_>>();
        let text = standings(&records).remove(0);
        assert!(text.contains("in 2 of 4 cells") && text.ends_with("slower in 3"), "{text}");
    }

    #[test]
    fn the_default_is_compared_with_the_best_other_strategy() {
        let owns = [
            record(OWN, "adaptive", &[5.0]),
            record(OWN, "yielding", &[10.0]),
            record(OWN, "blocking", &[1.0]),
        ];
        let notes = default_against_best(&owns.iter().collect::<Vec<_>>());
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("unicast: 0.50") && notes[0].ends_with("yielding"), "{notes:?}");
        assert!(default_against_best(&[&owns[0]]).is_empty());
    }

    #[test]
    fn a_run_below_a_tenth_of_the_median_is_stalled() {
        let (one, other) =
            (record("kanal", "park", &[10.0, 0.9, 10.0, 12.0]), record(OWN, "adaptive", &[1.0]));
        assert_eq!(stalled_share(&one), 0.25);
        let text = stalled(&[&one, &other, &one]).unwrap();
        assert_eq!(text, "runs below a tenth of the median of their row: kanal 2 of 8");
        assert_eq!(stalled(&[&other]), None);
    }
}
