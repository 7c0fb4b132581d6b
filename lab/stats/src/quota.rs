//! The CPU quota of a container on Linux: control groups, versions 1 and 2. A quota below the
//! number of CPUs stops threads in the middle of a run.

use std::fs;
use std::path::Path;

/// The group of a container, version 2: quota and period in microseconds, or `max`.
const VERSION_2: &str = "/sys/fs/cgroup/cpu.max";
/// The same in version 1, in two files. A quota of -1 means no quota.
const VERSION_1: [&str; 2] =
    ["/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"];

/// Returns the mean number of CPUs that the quota allows, or `None` without a quota.
pub(crate) fn cpus() -> Option<f64> {
    let one_line = read(VERSION_2).or_else(|| {
        let [quota, period] = VERSION_1.map(read);
        Some(format!("{} {}", quota?, period?))
    });
    parse(&one_line?)
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(path)).ok().map(|text| text.trim().to_owned())
}

/// Parses `QUOTA PERIOD` as a number of CPUs.
fn parse(line: &str) -> Option<f64> {
    let (quota, period) = line.split_once(' ')?;
    let quota = quota.parse::<f64>().ok().filter(|quota| *quota > 0.0)?;
    let period = period.parse::<f64>().ok().filter(|period| *period > 0.0)?;
    Some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_is_a_number_of_cpus() {
        assert_eq!(parse("150000 100000"), Some(1.5));
    }

    #[test]
    fn no_quota_is_none() {
        for line in ["max 100000", "-1 100000", "", "100000", "100000 0"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
