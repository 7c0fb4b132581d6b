//! The settings of a run: the keys of `config.yaml`, their limits, and their defaults. The parser
//! of the file is in `config_file`, the number of threads in `layout`.

use clap::ValueEnum;

/// The maximum number of orders of one run. A strategy stores 44 bytes per order.
pub(super) const MAX_ORDERS: u64 = 20_000_000;

/// The settings of a measurement: the original's keys, and `mode`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Strategies, which fire orders.
    pub(super) n_strategies: usize,
    /// Venues, each with a gateway.
    pub(super) m_venues: usize,
    /// Orders that one strategy sends in a run.
    pub(super) orders_per_strategy: u32,
    /// The time over which they are sent.
    pub(super) window_ms: u64,
    /// The shortest delay of an order at a venue.
    pub(super) d_min_us: u64,
    /// The longest delay of an order at a venue.
    pub(super) d_max_us: u64,
    /// Counted runs of each technique.
    pub(super) repeats: u32,
    /// Slots of a hand-off with several senders.
    pub(super) shared_cap: usize,
    /// Slots of a hand-off with one sender.
    pub(super) spsc_cap: usize,
    /// The interval between samples of the orders in flight.
    pub(super) sample_us: u64,
    /// The orchestrator's work for an order, in nanoseconds. Each value adds a block of results.
    pub(super) orch_work_sweep: Vec<u64>,
    /// The assignment of roles to threads.
    pub(super) mode: ModeName,
}

/// The requested assignment of roles to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    /// `threads` if each role has a CPU, `shared` otherwise.
    Auto,
    /// One thread per role.
    Threads,
    /// One thread for all strategies, one for the orchestrator, one for all gateways.
    Shared,
}

impl Config {
    /// Returns the defaults on a machine with `cpus` CPUs: the setup of the published results if
    /// each of its threads has a CPU, else the scaled one.
    pub(super) fn default_for(cpus: usize) -> Self {
        let published = Self::published();
        if published.roles() <= cpus { published } else { Self::scaled() }
    }

    /// Returns the setup of the published results, on 16 CPUs.
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

    /// Returns a setup for a small machine: 20,000 orders in a second, held for 1 to 20 ms.
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

    /// Returns the scaled setup in less than a minute for all techniques together.
    pub(super) fn quick() -> Self {
        Self { window_ms: 500, orders_per_strategy: 5_000, repeats: 3, ..Self::scaled() }
    }

    /// Returns the values that hold for all runs of a measurement, by their keys.
    pub(super) fn values(&self) -> [(&'static str, u64); 9] {
        [
            ("n_strategies", self.n_strategies as u64),
            ("m_venues", self.m_venues as u64),
            ("orders_per_strategy", self.orders_per_strategy.into()),
            ("window_ms", self.window_ms),
            ("d_min_us", self.d_min_us),
            ("d_max_us", self.d_max_us),
            ("shared_cap", self.shared_cap as u64),
            ("spsc_cap", self.spsc_cap as u64),
            ("sample_us", self.sample_us),
        ]
    }

    /// Returns the number of threads if each role has its own: the strategies, the gateways, the
    /// orchestrator and the sampler.
    pub(super) const fn roles(&self) -> usize {
        self.n_strategies + self.m_venues + 2
    }

    /// Returns the orders of one run.
    pub(super) const fn orders(&self) -> u64 {
        self.n_strategies as u64 * self.orders_per_strategy as u64
    }

    /// Returns the time over which orders are sent.
    pub(super) const fn window_ns(&self) -> u64 {
        self.window_ms * 1_000_000
    }

    /// Returns the longest delay.
    pub(super) const fn d_max_ns(&self) -> u64 {
        self.d_max_us * 1_000
    }

    /// Returns the shortest delay.
    pub(super) const fn d_min_ns(&self) -> u64 {
        self.d_min_us * 1_000
    }

    /// Returns the maximum of orders in flight by Little's law: rate times mean delay, if orders
    /// spend time only at the venues. It also covers a window that is shorter than a delay, in
    /// which fewer orders accumulate.
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
