//! Memory growth: the resident memory between episodes, when no ring is alive.

use std::fs;

/// What growth cannot be told from noise: pages of the program that are used for the first
/// time, and parts of the heap.
pub(super) const NOISE_BYTES: i64 = 4 << 20;
/// Settings of glibc for the child. With its defaults it keeps the memory of rings that have ended,
/// in an arena for each of several threads, and growth could not be told from that.
pub(super) const ALLOCATOR: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "65536")];
/// The part of the samples that each median is taken of.
const PART: usize = 10;
/// Fewest samples.
const FEWEST: usize = 2 * PART;

/// Samples of the resident memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    samples: Vec<u64>,
}

impl Memory {
    /// Takes a sample, if the system reports the figure.
    pub(super) fn sample(&mut self) {
        self.samples.extend(resident());
    }

    /// Returns by how much the memory has grown: the median of the last tenth of the samples minus
    /// that of the second tenth. The first tenth warms up. `None` with too few samples.
    pub(super) fn growth(&self) -> Option<i64> {
        let part = self.samples.len() / PART;
        if self.samples.len() < FEWEST {
            return None;
        }
        let after_warm_up = median(&self.samples[part..2 * part]);
        let at_end = median(&self.samples[self.samples.len() - part..]);
        Some(at_end.cast_signed() - after_warm_up.cast_signed())
    }
}

/// Returns the middle of some samples.
fn median(samples: &[u64]) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// Returns the resident memory of this process, in bytes.
pub(super) fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages = statm.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_since_the_warm_up() {
        let steady = (0..100).map(|number| if number < 10 { 5 } else { 9 });
        assert_eq!(Memory { samples: steady.collect() }.growth(), Some(0));
        let leak = Memory { samples: (0..100).collect() };
        assert_eq!(leak.growth(), Some(80));
        assert_eq!(Memory { samples: vec![1, 2, 3] }.growth(), None);
    }
}
