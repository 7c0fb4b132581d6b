//! Lapwing's default strategy compared with those that a user would have to choose.

use crate::measure::row::Speed;
use crate::measure::statistics::median;

/// Returns the speed of the `default` strategy relative to that of the best other one, as the
/// median of the per-round ratios. `rows` are those of Lapwing in one `graph`, each with its
/// strategy. Returns `None` unless both ran.
pub(crate) fn default_against_best<'a>(
    graph: &str,
    default: &str,
    rows: impl Iterator<Item = (&'a str, &'a Speed)>,
) -> Option<String> {
    let (own, others): (Vec<_>, Vec<_>) = rows.partition(|(wait, _)| *wait == default);
    let (_, own) = own.into_iter().next()?;
    let speed = |speed: &Speed| speed.median_events_per_second;
    let (name, best) =
        others.into_iter().max_by(|(_, one), (_, other)| speed(one).total_cmp(&speed(other)))?;
    let rounds = own.runs.iter().zip(&best.runs);
    let ratios = rounds.map(|(own, best)| own.events_per_second / best.events_per_second);
    let ratio = median(ratios)?;
    Some(format!(
        "lapwing's default in {graph}: {ratio:.2} of the speed of its best other wait, {name}"
    ))
}
