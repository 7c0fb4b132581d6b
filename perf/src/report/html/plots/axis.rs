//! Scales and ticks: the position of a value on an axis, and the labelled values.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use crate::report::html::format;

/// Values that differ by this factor use a logarithmic axis. Otherwise the smallest bar would be
/// hardly visible.
const LOGARITHMIC_FROM: f64 = 20.0;
/// The approximate number of ticks on a linear axis.
const LINEAR_TICKS: f64 = 5.0;
/// Up to this many decades, an axis also has ticks at 2 and 5.
const FINE_DECADES: f64 = 2.0;
/// From this many decades on, some decades have no tick.
const MOST_DECADE_TICKS: f64 = 8.0;
/// Least length of a logarithmic axis.
const LEAST_DECADES: f64 = 0.5;
/// The fraction of an axis that a label takes.
const LABEL_ROOM: f64 = 0.085;
/// Logarithms that differ by less are equal.
const ROUNDING: f64 = 1e-9;
/// The furthest of [`Scale::Percentile`]: 99.999 %.
const MOST_NINES: f64 = 5.0;

/// The mapping from values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As they are.
    Linear,
    /// By their logarithm to base 10.
    Logarithmic,
    /// Percentiles, by the logarithm of the remainder above them: 0, 90, 99 and 99.9 have equal
    /// distances.
    Percentile,
}

/// An axis: positions from `low` to `high`, with ticks.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    scale: Scale,
    /// The position where it begins.
    pub(crate) low: f64,
    /// The position where it ends.
    pub(crate) high: f64,
    /// Positions with their labels.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Its quantity and unit.
    pub(crate) title: String,
}

impl Scale {
    /// Returns the position of `value`. A value outside of the scale is at its end.
    pub(crate) fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.max(f64::MIN_POSITIVE).log10(),
            Self::Percentile => {
                let above = (1.0 - value / 100.0).max(10_f64.powf(-MOST_NINES));
                -above.log10()
            }
        }
    }

    /// Returns the scale for bars of these lengths.
    pub(crate) fn for_bars(values: impl IntoIterator<Item = f64>) -> Self {
        let (least, most) = bounds(values);
        if least > 0.0 && most / least >= LOGARITHMIC_FROM {
            Self::Logarithmic
        } else {
            Self::Linear
        }
    }
}

impl Axis {
    /// Creates an axis from zero to the maximum of `values`, labelled by `label`.
    pub(crate) fn linear(
        title: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
        label: fn(f64) -> String,
    ) -> Self {
        let (_, most) = bounds(values);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_step(most / LINEAR_TICKS);
        let mut ticks = Vec::new();
        let mut value = 0.0;
        while value < most + step * 0.01 || ticks.len() < 2 {
            ticks.push((value, label(value)));
            value += step;
        }
        let last = ticks.last().map_or(step, |(position, _)| *position);
        let high = if last >= most { last } else { most };
        Self { scale: Scale::Linear, low: 0.0, high, ticks, title: title.into() }
    }

    /// Creates an axis around all of `values`, labelled by `label`. Values that are not above zero
    /// are at its start.
    pub(crate) fn logarithmic(
        title: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
        label: fn(f64) -> String,
    ) -> Self {
        let (least, most) = bounds(values.into_iter().filter(|value| *value > 0.0));
        let (least, most) = if least > most { (1.0, 10.0) } else { (least, most) };
        let (first, last) = (least.log10(), most.log10());
        // It starts and ends at 1, 2 or 5 times a power of ten. With whole decades, half of it
        // could be empty.
        let fine = multiples_of_decades(&[1.0, 2.0, 5.0], 1.0, first.floor(), last.ceil());
        let low = fine.iter().rfind(|end| **end <= first + ROUNDING).copied();
        let low = low.unwrap_or_else(|| first.floor());
        let least_high = last.max(low + LEAST_DECADES);
        let high = fine.iter().find(|end| **end >= least_high - ROUNDING).copied();
        let high = high.unwrap_or_else(|| least_high.ceil());
        let inside = log_ticks(low, high);
        let ticks = inside.into_iter().map(|tick| (tick, label(10_f64.powf(tick)))).collect();
        Self { scale: Scale::Logarithmic, low, high, ticks, title: title.into() }
    }

    /// Creates an axis for bars. It starts at zero, or is logarithmic from a round value below the
    /// minimum, so that the minimum has a bar as well.
    pub(crate) fn bars(title: &str, values: &[f64], label: fn(f64) -> String) -> Self {
        match Scale::for_bars(values.iter().copied()) {
            Scale::Logarithmic => {
                let (least, _) = bounds(values.iter().copied());
                let floor = round_below(least * 0.8);
                let values = values.iter().copied().chain([floor]);
                Self::logarithmic(format!("{title}, logarithmic"), values, label)
            }
            _ => Self::linear(title, values.iter().copied(), label),
        }
    }

    /// Creates an axis of percentiles from 0 to the maximum of `percentiles`, and at least to 99.
    pub(crate) fn percentiles(percentiles: impl IntoIterator<Item = f64>) -> Self {
        let scale = Scale::Percentile;
        let inside = percentiles.into_iter().filter(|percentile| *percentile < 100.0);
        let (_, most) = bounds(inside.map(|percentile| scale.position(percentile)));
        let known = ["0", "90", "99", "99.9", "99.99", "99.999"];
        let high = most.ceil().clamp(2.0, MOST_NINES);
        let positions = (0_u32..).map(f64::from).zip(known);
        let ticks = positions.take_while(|(position, _)| *position <= high);
        Self {
            scale,
            low: 0.0,
            high,
            ticks: ticks.map(|(position, label)| (position, format!("{label} %"))).collect(),
            title: "percentile of all events".into(),
        }
    }

    /// Returns the position of `value` between 0, the start, and 1, the end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let position = self.scale.position(value);
        ((position - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns the label of the tick nearest to `position`.
    pub(crate) fn label(&self, position: f64) -> String {
        let distance = |tick: &&(f64, String)| (tick.0 - position).abs();
        let nearest = self.ticks.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// An axis of positions for `plotters`, which puts lines and labels at the ticks.
impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    #[allow(clippy::cast_possible_truncation)] // pixels
    fn map(&self, position: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (position - self.low) / (self.high - self.low);
        first + (f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(position, _)| *position).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

/// Returns the minimum and the maximum of the finite `values`. They are reversed if there are none.
fn bounds(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(start, |(least, most), value| (least.min(value), most.max(value)))
}

/// Returns the positions of the ticks from `low` to `high`, as dense as their maximum number
/// allows.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = high - low;
    let multiples: &[f64] = if decades <= FINE_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = (decades / MOST_DECADE_TICKS).ceil().max(1.0);
    let mut ticks = multiples_of_decades(multiples, step, low.floor(), high.ceil());
    ticks.retain(|tick| *tick >= low - ROUNDING && *tick <= high + ROUNDING);
    // The ends get ticks as well, if their labels fit.
    let room = (high - low) * LABEL_ROOM;
    if ticks.first().is_none_or(|first| *first - low >= room) {
        ticks.insert(0, low);
    }
    if ticks.last().is_none_or(|last| high - last >= room) {
        ticks.push(high);
    }
    ticks
}

/// Returns the logarithms of `multiples` of every `step`th power of ten from `first` to `last`.
fn multiples_of_decades(multiples: &[f64], step: f64, first: f64, last: f64) -> Vec<f64> {
    let mut ticks = Vec::new();
    let mut decade = first;
    while decade <= last {
        ticks.extend(multiples.iter().map(|multiple| decade + multiple.log10()));
        decade += step;
    }
    ticks
}

/// Returns the smallest of 1, 2, 2.5 or 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let decade = 10_f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 2.5, 5.0].into_iter().find(|times| times * decade >= step * 0.999);
    times.unwrap_or(10.0) * decade
}

/// Returns the largest of 1, 2 or 5 times a power of ten that is at most `value`.
fn round_below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let times = [5.0, 2.0].into_iter().find(|times| times * decade <= value);
    times.unwrap_or(1.0) * decade
}

/// Returns the label of a plain number.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format::short(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn linear_axis_begins_at_zero_and_has_round_steps() {
        let axis = Axis::linear("", [3.0, 47.0], number);
        assert_eq!(labels(&axis), ["0", "10", "20", "30", "40"]);
        assert!(axis.high >= 47.0);
    }

    #[test]
    fn logarithmic_axis_has_a_tick_for_each_decade_around_its_values() {
        let axis = Axis::logarithmic("", [85.0, 2e6], format::time);
        assert_eq!(labels(&axis), ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]);
        assert!(axis.share(85.0) > 0.0 && axis.share(1e6) < 1.0);
    }

    #[test]
    fn percentiles_have_equal_distances_for_each_nine() {
        let axis = Axis::percentiles([0.0, 50.0, 99.99, 100.0]);
        assert_eq!(labels(&axis), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        assert!((axis.share(99.0) - 0.5).abs() < 1e-9);
        assert!((axis.share(100.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn bars_are_logarithmic_only_where_the_least_would_vanish() {
        assert_eq!(Scale::for_bars([5.0, 50.0]), Scale::Linear);
        assert_eq!(Scale::for_bars([1.0, 50.0]), Scale::Logarithmic);
    }

    #[test]
    fn an_axis_stands_whatever_the_values() {
        for values in [vec![], vec![0.0], vec![1.0, 1.0], vec![1e-300, 1e300], vec![f64::INFINITY]]
        {
            for axis in [
                Axis::linear("", values.clone(), number),
                Axis::logarithmic("", values.clone(), number),
                Axis::bars("", &values, number),
                Axis::percentiles(values.clone()),
            ] {
                assert!(axis.low < axis.high, "{values:?} {axis:?}");
                assert!((2..200).contains(&axis.ticks.len()), "{values:?} {axis:?}");
            }
        }
    }
}
