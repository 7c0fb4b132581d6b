//! Files of percentiles in the format of HdrHistogram's plotter.

use std::fmt::Write;

use hdrhistogram::Histogram;

/// Points of a curve for each halving of the remaining distance to 100 %, as in the files of
/// HdrHistogram's own tools.
const POINTS_PER_HALVING: u32 = 5;

/// Returns the content of such a file, in nanoseconds.
pub(crate) fn text(histogram: &Histogram<u64>) -> String {
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut seen = 0;
    for point in histogram.iter_quantiles(POINTS_PER_HALVING) {
        seen += point.count_since_last_iteration();
        let (value, quantile) = (point.value_iterated_to(), point.quantile_iterated_to());
        let left = 1.0 - quantile;
        let inverse = if left > 0.0 { format!("{:.2}", 1.0 / left) } else { "Infinity".to_owned() };
        // Writing to a string never fails.
        let _ = writeln!(text, "{value:>12}.000 {quantile:>14.12} {seen:>10} {inverse:>14}");
    }
    let (mean, deviation) = (histogram.mean(), histogram.stdev());
    let (max, count) = (histogram.max(), histogram.len());
    let _ = write!(
        text,
        "#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]\n\
         #[Max     = {max:>12}.000, Total count    = {count:>12}]\n"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_with_the_whole_count() {
        let mut histogram = Histogram::new(3).unwrap();
        (1..=100).for_each(|delay| histogram.record(delay).unwrap());
        let text = text(&histogram);
        let last = text.lines().rfind(|line| !line.starts_with('#')).unwrap();
        let columns = last.split_whitespace().collect::<Vec<_>>();
        assert_eq!(columns, ["100.000", "1.000000000000", "100", "Infinity"]);
        assert!(text.ends_with("Total count    =          100]\n"), "{text}");
    }
}
