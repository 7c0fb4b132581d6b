//! What a run is: the keys of `config.yaml`, what each may be, and what holds without the file. Not
//! here: how a file is read (`config_file`), how many threads follow (`layout`).

use clap::ValueEnum;
use serde::Serialize;

/// Most orders of one run: what a strategy keeps of each takes 44 bytes.
pub(super) const MAX_ORDERS: u64 = 20_000_000;

/// The settings of a measurement: the original's keys, and `mode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Config {
    /// Strategies, which fire orders.
    pub(super) n_strategies: usize,
    /// Venues, each with a gateway.
    pub(super) m_venues: usize,
    /// Orders that one strategy fires in a run.
    pub(super) orders_per_strategy: u32,
    /// The time over which they are fired.
    pub(super) window_ms: u64,
    /// Shortest delay of an order at a venue.
    pub(super) d_min_us: u64,
    /// Longest delay of an order at a venue.
    pub(super) d_max_us: u64,
    /// Runs of each technique that count.
    pub(super) repeats: u32,
    /// Slots of a hand-off that several threads send to.
    pub(super) shared_cap: usize,
    /// Slots of a hand-off with one sender.
    pub(super) spsc_cap: usize,
    /// How often the orders in flight are counted.
    pub(super) sample_us: u64,
    /// Times that the orchestrator works for an order: a block of results for each.
    pub(super) orch_work_sweep: Vec<u64>,
    /// How roles share threads.
    pub(super) mode: ModeName,
}

/// How roles share threads, as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum ModeName {
    /// `threads` if there is a CPU for each, `shared` otherwise.
    Auto,
    /// A thread for each role.
    Threads,
    /// One for all strategies, one for the orchestrator, one for all gateways.
    Shared,
}

impl Config {
    /// What holds on a machine with `cpus` CPUs where no file says otherwise: the setup of the
    /// published results if each of its threads has a CPU, else the scaled one.
    pub(super) fn default_for(cpus: usize) -> Self {
        let published = Self::published();
        if published.roles() <= cpus { published } else { Self::scaled() }
    }

    /// The setup of the published results, on 16 CPUs.
    pub(super) fn published() -> Self {
        Self {
            n_strategies: 8,
            m_venues: 4,
            orders_per_strategy: 500_000,
            window_ms: 10_000,
            d_min_us: 5_000,
            d_max_us: 500_000,
            repeats: 5,
            shared_cap: 8_192,
            spsc_cap: 8_192,
            sample_us: 50,
            orch_work_sweep: vec![0, 500, 1_000, 1_500],
            mode: ModeName::Auto,
        }
    }

    /// What fits a small machine: 20,000 orders in a second, held for 1 to 20 ms.
    pub(super) fn scaled() -> Self {
        Self {
            n_strategies: 2,
            m_venues: 2,
            orders_per_strategy: 10_000,
            window_ms: 1_000,
            d_min_us: 1_000,
            d_max_us: 20_000,
            sample_us: 1_000,
            orch_work_sweep: vec![0, 1_000],
            ..Self::published()
        }
    }

    /// The scaled setup for less than a minute, all techniques together.
    pub(super) fn quick() -> Self {
        Self { window_ms: 500, orders_per_strategy: 5_000, repeats: 3, ..Self::scaled() }
    }

    /// Threads if each role has its own: the strategies, the gateways, the orchestrator and the
    /// sampler.
    pub(super) const fn roles(&self) -> usize {
        self.n_strategies + self.m_venues + 2
    }

    /// Orders of one run.
    pub(super) const fn orders(&self) -> u64 {
        self.n_strategies as u64 * self.orders_per_strategy as u64
    }

    /// The time over which orders are fired.
    pub(super) const fn window_ns(&self) -> u64 {
        self.window_ms * 1_000_000
    }

    /// The longest delay.
    pub(super) const fn d_max_ns(&self) -> u64 {
        self.d_max_us * 1_000
    }

    /// The shortest delay.
    pub(super) const fn d_min_ns(&self) -> u64 {
        self.d_min_us * 1_000
    }

    /// Orders in flight when they are most, by Little's law: rate times mean delay, if orders spend
    /// their time at the venues and nowhere else. In a window that is shorter than a delay they
    /// have not all had the time to pile up.
    pub(super) fn expected_in_flight(&self) -> f64 {
        let window = self.window_ns() as f64;
        let (shortest, longest) = (self.d_min_ns() as f64, self.d_max_ns() as f64);
        let until = window.clamp(shortest, longest);
        let mean = if longest > shortest {
            let drawn_before = (until * until - shortest * shortest) / 2.0;
            (drawn_before + until * (longest - until)) / (longest - shortest)
        } else {
            longest
        };
        self.orders() as f64 / window * mean.min(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_setup_needs_a_cpu_for_each_thread() {
        assert_eq!(Config::default_for(14), Config::published());
        assert_eq!(Config::default_for(13), Config::scaled());
        assert_eq!(Config::default_for(2), Config::scaled());
    }

    #[test]
    fn orders_in_flight_are_rate_times_mean_delay() {
        assert!((Config::published().expected_in_flight() - 101_000.0).abs() < 1e-3);
        assert!((Config::scaled().expected_in_flight() - 210.0).abs() < 1e-6);
    }

    #[test]
    fn short_window_holds_no_more_orders_in_flight_than_it_fires() {
        let config = Config { window_ms: 1, d_min_us: 5_000, d_max_us: 9_000, ..Config::scaled() };
        assert!((config.expected_in_flight() - config.orders() as f64).abs() < 1e-6);
    }
}
