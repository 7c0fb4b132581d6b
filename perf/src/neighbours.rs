//! How much of the machine others used while we measured: other processes, and on a virtual machine
//! the other guests of its host. On a busy machine two threads may share one CPU, and then even a
//! faster number says nothing about two.

use std::process;
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// A shorter watch says nothing: the system counts CPU time in ticks of about 10 ms.
const SHORTEST_WATCH: Duration = Duration::from_millis(500);

/// A watch over the CPUs.
pub(crate) struct Neighbours {
    /// What the system counted when it was last asked.
    system: System,
    /// CPU time of this process when the watch began; none if the system does not tell.
    own_before: Option<Duration>,
    /// When the watch began.
    started_at: Instant,
}

impl Neighbours {
    /// Begins to watch.
    pub(crate) fn watch() -> Self {
        let mut system = System::new();
        system.refresh_cpu_usage();
        let own_before = own_cpu_time(&mut system);
        Self { system, own_before, started_at: Instant::now() }
    }

    /// CPUs that others used since the watch began, as a mean; none if it was too short or the
    /// system does not tell.
    pub(crate) fn cpus_used(mut self) -> Option<f64> {
        let elapsed = self.started_at.elapsed();
        if elapsed < SHORTEST_WATCH {
            return None;
        }
        self.system.refresh_cpu_usage();
        let busy_part = f64::from(self.system.global_cpu_usage()) / 100.0;
        let busy_cpus = busy_part * self.system.cpus().len() as f64;

        let own = own_cpu_time(&mut self.system)?.saturating_sub(self.own_before?);
        let own_cpus = own.as_secs_f64() / elapsed.as_secs_f64();
        Some((busy_cpus - own_cpus).max(0.0))
    }
}

/// CPU time that this process has used so far; none if the system does not tell.
fn own_cpu_time(system: &mut System) -> Option<Duration> {
    let own = Pid::from_u32(process::id());
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&[own]),
        false,
        ProcessRefreshKind::nothing().with_cpu(),
    );

    let process = system.process(own)?;
    Some(Duration::from_millis(process.accumulated_cpu_time()))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn short_watch_says_nothing() {
        assert_eq!(Neighbours::watch().cpus_used(), None);
    }

    #[test]
    fn others_use_no_more_than_the_machine_has() {
        let neighbours = Neighbours::watch();
        thread::sleep(SHORTEST_WATCH);
        if let Some(cpus) = neighbours.cpus_used() {
            let all = System::new_all().cpus().len() as f64;
            assert!((0.0..=all).contains(&cpus), "cpus={cpus}");
        }
    }
}
