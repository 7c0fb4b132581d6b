//! Median and quartiles of a few runs, as the laboratory has them.

/// Returns the median, or `None` if there are no values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(f64::midpoint(sorted[(sorted.len() - 1) / 2], upper))
}

/// Returns the quartiles at the nearest rank, or `None` if there are no values.
pub(crate) fn quartiles(values: &[f64]) -> Option<[f64; 2]> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let lower = last / 4;
    Some([sorted[lower], sorted[last - lower]])
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_sorted_values() {
        let values = [9.0, 1.0, 3.0, 2.0, 7.0, 8.0, 4.0, 6.0, 5.0];
        assert_eq!((median(&values), quartiles(&values)), (Some(5.0), Some([3.0, 7.0])));
        assert_eq!((median(&[1.0, 4.0]), median(&[]), quartiles(&[])), (Some(2.5), None, None));
    }
}
