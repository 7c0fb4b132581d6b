//! The assignment of roles to threads on this machine, and its reason.

use std::num::NonZeroUsize;
use std::thread;

use super::config::{Config, ModeName};
use super::roles::{Bell, Idle, Role, Shift};
use crate::machine::placement::Placement;

/// Threads if roles share them: strategies and sampler, orchestrator, gateways.
const SHARED_THREADS: usize = 3;

/// The assignment of roles to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// One thread per role.
    Threads,
    /// One thread for strategies and sampler, one for the orchestrator, one for the gateways.
    Shared,
}

/// The assignment of a run's roles to the CPUs of this machine.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The assignment of roles to threads.
    pub(super) mode: Mode,
    /// Threads of a run.
    pub(super) threads: usize,
    /// Whether each thread is bound to its own CPU.
    pub(super) pinned: bool,
    /// CPUs that this process may use.
    cpus: usize,
    /// The mode and its reason.
    pub(super) reason: String,
}

/// The roles of a run.
pub(super) struct Cast<'a> {
    /// Every strategy.
    pub(super) strategies: Vec<&'a mut dyn Role>,
    /// The orchestrator.
    pub(super) orchestrator: &'a mut dyn Role,
    /// Every gateway.
    pub(super) gateways: Vec<&'a mut dyn Role>,
    /// The sampler.
    pub(super) sampler: &'a mut dyn Role,
}

/// The bells of the shared threads.
#[derive(Debug, Default)]
pub(super) struct Bells {
    strategies: Bell,
    orchestrator: Bell,
    gateways: Bell,
}

impl Mode {
    /// Returns the name in every report.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Shared => "shared",
        }
    }
}

/// Returns the number of CPUs that this process may use.
pub(super) fn cpus() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

impl Layout {
    /// Returns the layout of `config` on a machine with `cpus`.
    pub(super) fn new(config: &Config, cpus: usize) -> Self {
        let roles = config.roles();
        let fits = roles <= cpus;
        let mode = match config.mode {
            ModeName::Threads => Mode::Threads,
            ModeName::Shared => Mode::Shared,
            ModeName::Auto if fits => Mode::Threads,
            ModeName::Auto => Mode::Shared,
        };
        let threads = if mode == Mode::Threads { roles } else { SHARED_THREADS };
        let pinned = mode == Mode::Threads && fits && Placement::Pinned.pins(roles);
        let reason = reason(config, mode, cpus, pinned);
        Self { mode, threads, pinned, cpus, reason }
    }

    /// Returns the placement of the threads.
    pub(super) const fn placement(&self) -> Placement {
        if self.pinned { Placement::Pinned } else { Placement::Free }
    }

    /// Returns a warning if threads outnumber CPUs.
    pub(super) fn over_subscribed(&self) -> Option<String> {
        let Self { threads, cpus, .. } = self;
        (threads > cpus).then(|| {
            format!(
                "oversubscribed: {threads} threads on {cpus} CPUs, so the scheduler affects the \
                 results"
            )
        })
    }

    /// Returns the threads of a run with their roles.
    pub(super) fn shifts<'a>(&self, cast: Cast<'a>, bells: &'a Bells) -> Vec<Shift<'a>> {
        match self.mode {
            Mode::Threads => self.of_their_own(cast),
            Mode::Shared => shared(cast, bells),
        }
    }

    /// Returns a thread for each role. The sampler comes first, because the system prefers the
    /// first CPU for its own work.
    fn of_their_own<'a>(&self, cast: Cast<'a>) -> Vec<Shift<'a>> {
        let has_cpu = self.threads <= self.cpus;
        let shift = |name: &str, role: &'a mut dyn Role| Shift {
            name: name.to_owned(),
            roles: vec![role],
            idle: if has_cpu { Idle::Spin } else { Idle::Yield },
        };
        let mut shifts = vec![shift("sampler", cast.sampler)];
        shifts.extend(cast.strategies.into_iter().map(|role| shift("strategy", role)));
        shifts.push(shift("orchestrator", cast.orchestrator));
        shifts.extend(cast.gateways.into_iter().map(|role| shift("gateway", role)));
        shifts
    }
}

/// Returns three threads for all roles.
fn shared<'a>(cast: Cast<'a>, bells: &'a Bells) -> Vec<Shift<'a>> {
    let Bells { strategies, orchestrator, gateways } = bells;
    let shift = |name: &str, roles: Vec<&'a mut dyn Role>, own: &'a Bell, to: Vec<&'a Bell>| {
        Shift { name: name.to_owned(), roles, idle: Idle::park(own, to) }
    };
    let mut firing = cast.strategies;
    firing.push(cast.sampler);
    vec![
        shift("strategies", firing, strategies, vec![orchestrator]),
        shift("orchestrator", vec![cast.orchestrator], orchestrator, vec![strategies, gateways]),
        shift("gateways", cast.gateways, gateways, vec![orchestrator]),
    ]
}

/// Returns the mode and its reason.
fn reason(config: &Config, mode: Mode, cpus: usize, pinned: bool) -> String {
    let roles = config.roles();
    let (strategies, venues) = (config.n_strategies, config.m_venues);
    let why = if config.mode == ModeName::Auto {
        let relation = if roles <= cpus { "have" } else { "would outnumber" };
        format!(
            "{strategies} strategies + {venues} gateways + 2 = {roles} threads {relation} {cpus} \
             CPUs"
        )
    } else {
        "the configuration says so".to_owned()
    };
    let how = match mode {
        Mode::Shared => {
            "strategies share a thread, gateways share a thread, idle threads yield and park"
        }
        Mode::Threads if pinned => "a thread for each role, pinned, busy polling",
        Mode::Threads if roles <= cpus => "a thread for each role, not pinned, busy polling",
        Mode::Threads => "a thread for each role, not pinned, idle threads yield",
    };
    format!("mode {}: {why}: {how}", mode.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_share_threads_where_they_would_outnumber_the_cpus() {
        let config = Config::scaled(); // 2 + 2 + 2
        assert_eq!(Layout::new(&config, 6).mode, Mode::Threads);
        let small = Layout::new(&config, 2);
        assert_eq!((small.mode, small.threads, small.pinned), (Mode::Shared, 3, false));
        assert!(small.reason.contains("= 6 threads would outnumber 2 CPUs"), "{}", small.reason);
        assert!(small.over_subscribed().unwrap().contains("3 threads on 2 CPUs"));
        assert_eq!(Layout::new(&config, 3).over_subscribed(), None);
    }

    #[test]
    fn mode_that_is_asked_for_is_taken() {
        let threads = Config { mode: ModeName::Threads, ..Config::scaled() };
        let layout = Layout::new(&threads, 2);
        assert_eq!((layout.mode, layout.threads, layout.pinned), (Mode::Threads, 6, false));
        assert!(layout.reason.contains("the configuration says so"), "{}", layout.reason);

        let shared = Config { mode: ModeName::Shared, ..Config::scaled() };
        assert_eq!(Layout::new(&shared, 64).mode, Mode::Shared);
    }
}
