//! The due times of orders, for each strategy. They are drawn once, and every technique uses them
//! in every run, so that all have the same load.

use super::config::Config;
use super::random::Random;

/// The seed of the first strategy's due times, as in the original. Another strategy mixes its
/// number in.
const SEED: u64 = 0x5C4E_D000;

/// The due times of every strategy, in nanoseconds from the start of a run, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schedule(Vec<Vec<u64>>);

impl Schedule {
    /// Draws the due times: uniformly over the window, independently for each strategy.
    pub(super) fn new(config: &Config) -> Self {
        let strategies = 0..config.n_strategies as u64;
        let moments = strategies.map(|strategy| {
            let mut random = Random::new(SEED ^ strategy);
            let orders = 0..config.orders_per_strategy;
            let mut moments = orders.map(|_| random.below(config.window_ns())).collect::<Vec<_>>();
            moments.sort_unstable();
            moments
        });
        Self(moments.collect())
    }

    /// Returns the due times of each strategy.
    pub(super) fn of_strategies(&self) -> &[Vec<u64>] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config { n_strategies: 3, orders_per_strategy: 500, window_ms: 2, ..Config::scaled() }
    }

    #[test]
    fn schedule_of_a_config_is_always_the_same() {
        assert_eq!(Schedule::new(&config()), Schedule::new(&config()));
    }

    #[test]
    fn strategies_fire_in_order_within_the_window_and_each_in_its_own_way() {
        let schedule = Schedule::new(&config());
        let [first, second, third] = schedule.of_strategies() else { panic!("three strategies") };
        for moments in [first, second, third] {
            assert_eq!(moments.len(), 500);
            assert!(moments.is_sorted());
            assert!(moments.iter().all(|moment| *moment < 2_000_000));
        }
        assert!(first != second && second != third && first != third);
    }
}
