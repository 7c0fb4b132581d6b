//! Lapwing without its tuning: the adapter of `lapwing` again, for the library with `--cfg
//! lapwing_plain` (`lab/plain`). It takes the same settings, so the tuning is the only difference.

#[path = "../rings/crew.rs"]
mod crew; // threads for the ends of a ring
#[path = "lapwing/one_ring/mod.rs"]
mod one_ring; // one ring for the whole graph

use lapwing_plain as library;

pub(super) use self::one_ring::contender;

/// The name on the command line and in every report.
const NAME: &str = "lapwing-plain";

#[cfg(test)]
mod tests {
    use super::library::Poller;

    /// The ends of a ring contain their advice, which is empty without the tuning.
    #[test]
    fn it_has_nothing_to_tune() {
        assert!(size_of::<Poller<u64>>() < size_of::<lapwing::Poller<u64>>());
    }
}
