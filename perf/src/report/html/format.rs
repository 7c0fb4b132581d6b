//! Numbers as text: a suitable number of digits, and a suitable unit.

/// The text of a missing value.
pub(crate) const NONE: &str = "–";
/// A value that is below a unit by at most this fraction counts as the unit.
const ROUNDING: f64 = 1e-9;

/// A unit with its size in the smallest unit.
type Unit = (f64, &'static str);

const TIMES: [Unit; 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const RATES: [Unit; 4] = [(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")];

/// Formats `value` with about three significant digits and separated thousands.
pub(crate) fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => return grouped(value),
        10.0.. => 1,
        0.1.. | 0.0 => 2,
        0.001.. => 4,
        _ => return format!("{value:.1e}"),
    };
    format!("{value:.decimals$}")
}

/// Formats `value` like [`figure`], or as a dash if there is none.
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), figure)
}

/// Formats `value` rounded to a whole number with separated thousands.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

/// Formats a count with separated thousands, or as a dash if there is none.
#[allow(clippy::cast_precision_loss)] // counts of events: exact up to 2^53
pub(crate) fn count(value: Option<u64>) -> String {
    value.map_or_else(|| NONE.to_owned(), |count| grouped(count as f64))
}

/// Returns the range of some figures.
pub(crate) fn range(min: f64, max: f64) -> String {
    format!("{} .. {}", figure(min), figure(max))
}

/// Formats a time in a suitable unit, with three digits: `85.0 ns`, `1.20 µs`.
pub(crate) fn precise_time(ns: f64) -> String {
    let (value, unit) = in_unit(ns, &TIMES);
    format!("{} {unit}", figure(value))
}

/// Formats a time in a suitable unit: `85 ns`, `1.2 µs`.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = in_unit(ns, &TIMES);
    format!("{} {unit}", short(value))
}

/// Formats a rate in a suitable unit: `250 k/s`, `1.2 M/s`.
pub(crate) fn rate(per_second: f64) -> String {
    let (value, unit) = in_unit(per_second, &RATES);
    format!("{} {unit}", short(value))
}

/// Formats `value` in the first of `units` that it reaches, or in the last.
fn in_unit(value: f64, units: &[Unit; 4]) -> (f64, &'static str) {
    let reached = units.iter().find(|(size, _)| value >= *size * (1.0 - ROUNDING));
    let (size, name) = reached.unwrap_or(&units[units.len() - 1]);
    (value / size, name)
}

/// Formats `value` with at most three significant digits and without trailing zeros.
pub(crate) fn short(value: f64) -> String {
    let text = figure(value);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_about_three_digits() {
        let cases = [
            (0.0, "0.00"),
            (0.0123, "0.0123"),
            (0.000_04, "4.0e-5"),
            (0.3, "0.30"),
            (9.87, "9.87"),
            (98.76, "98.8"),
            (987.6, "988"),
            (1_234_567.0, "1,234,567"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn times_and_rates_have_the_unit_that_suits_them() {
        assert_eq!(time(85.0), "85 ns");
        assert_eq!(time(1_200.0), "1.2 µs");
        assert_eq!(time(2e9), "2 s");
        assert_eq!(rate(250_000.0), "250 k/s");
        assert_eq!(rate(12.0), "12 /s");
    }
}
