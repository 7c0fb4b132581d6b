//! CPU time that other processes used during the measurement, and on a virtual machine other guests
//! of the host. On a busy machine two threads can share one CPU. Then even a faster number does not
//! describe two CPUs.

use std::process;
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The shortest interval that gives a figure. The system counts CPU time in ticks of about 10 ms.
const SHORTEST_WATCH: Duration = Duration::from_millis(500);

/// A measurement of the CPU time of other processes.
#[derive(Debug)]
pub struct Neighbours {
    /// The counts of the system at the last query.
    system: System,
    /// CPU time of this process at the start, or `None` if the system does not report it.
    own_before: Option<Duration>,
    /// The start of the measurement.
    started_at: Instant,
}

impl Neighbours {
    /// Starts the measurement.
    #[must_use]
    pub fn watch() -> Self {
        let mut system = System::new();
        system.refresh_cpu_usage();
        let own_before = own_cpu_time(&mut system);
        Self { system, own_before, started_at: Instant::now() }
    }

    /// Returns the mean number of CPUs that others used since the start. Returns `None` if the
    /// interval was too short or the system does not report CPU time.
    #[must_use]
    pub fn cpus_used(mut self) -> Option<f64> {
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

/// Returns the CPU time of this process and of those that it has started. Compilers and rivals in
/// other languages are not neighbours. Returns `None` if the system does not report it.
fn own_cpu_time(system: &mut System) -> Option<Duration> {
    let own = Pid::from_u32(process::id());
    let cpu = ProcessRefreshKind::nothing().with_cpu();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, cpu);

    let processes = system.processes().values().filter(|process| process.thread_kind().is_none());
    let alive = processes.filter(|process| process.pid() == own || process.parent() == Some(own));
    let milliseconds = alive.map(|process| process.accumulated_cpu_time()).sum();
    system.process(own)?;
    Some(Duration::from_millis(milliseconds) + cpu_time_of_ended_children().unwrap_or_default())
}

/// Returns the CPU time of the children that have ended, and of theirs, or `None` if the system
/// does not report it.
#[cfg(target_os = "linux")]
fn cpu_time_of_ended_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // `cutime` and `cstime`, counted from the end of the name, which can contain spaces.
    let after_name = stat.rsplit_once(')')?.1;
    let times = after_name.split_whitespace().skip(13).take(2);
    let ticks = times.map(str::parse::<u64>).sum::<Result<u64, _>>().ok()?;
    let per_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

/// Returns `None`: this system does not report the CPU time of children that have ended.
#[cfg(not(target_os = "linux"))]
fn cpu_time_of_ended_children() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Creates a child that computes until it is killed.
    #[cfg(target_os = "linux")]
    fn busy_child() -> process::Child {
        process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_is_no_neighbour_while_it_lives_and_after() {
        let mut system = System::new();
        let used = |system: &mut System| own_cpu_time(system).unwrap();
        let before = used(&mut system);
        let mut child = busy_child();
        let pid = Pid::from_u32(child.id());
        let of_child = |system: &System| system.process(pid).map(|it| it.accumulated_cpu_time());
        while of_child(&system) < Some(50) {
            used(&mut system);
            thread::yield_now();
        }
        assert!(used(&mut system) - before >= Duration::from_millis(50));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(used(&mut system) - before >= Duration::from_millis(50));
    }

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
