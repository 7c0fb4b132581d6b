//! Numbers as text, with as many digits as a reader can use.

/// The text of a missing value.
pub(crate) const NONE: &str = "-";

/// Returns `value` with about three digits.
pub(crate) fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Returns the numbers from `low` to `high`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("{} .. {}", rounded(low), rounded(high))
}

/// Returns a rate in the unit that suits it: rates of one table may differ by a factor of a thousand.
pub(crate) fn rate(per_second: f64) -> String {
    match per_second {
        1e6.. => format!("{} M/s", rounded(per_second / 1e6)),
        1e3.. => format!("{} k/s", rounded(per_second / 1e3)),
        _ => format!("{} /s", rounded(per_second)),
    }
}

/// Returns a time in the unit that suits it.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        1e9.. => format!("{} s", rounded(ns / 1e9)),
        1e6.. => format!("{} ms", rounded(ns / 1e6)),
        1e3.. => format!("{} us", rounded(ns / 1e3)),
        _ => format!("{} ns", rounded(ns)),
    }
}

/// Returns where the threads of a row run.
pub(crate) fn placement(pinned: bool) -> &'static str {
    if pinned { "each thread on its own CPU" } else { "threads on any CPU" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_about_three_digits() {
        for (value, text) in [(0.0, "0.00"), (9.876, "9.88"), (98.76, "98.8"), (987.6, "988")] {
            assert_eq!(rounded(value), text);
        }
    }

    #[test]
    fn rates_and_times_have_the_unit_that_suits_them() {
        assert_eq!([rate(2.5e6), rate(250e3), rate(12.0)], ["2.50 M/s", "250 k/s", "12.0 /s"]);
        assert_eq!([time(85.0), time(1_200.0), time(2e9)], ["85.0 ns", "1.20 us", "2.00 s"]);
    }
}
